//! Published tables compared with a ledger: any bytes, of which only the true ones may be believed.

#![no_main]

use std::sync::LazyLock;
use std::time::Duration;

use libfuzzer_sys::fuzz_target;
use queens::{Board, Plan, PlanSpec};
use records::export::{By, TableFormat, TableSource};
use records::run_directory::RunDirectory;
use records::shard::Shard;
use records::{Audit, audit};
use tempfile::TempDir;

static RUN: LazyLock<(TempDir, RunDirectory, Audit)> = LazyLock::new(|| {
    let folder = TempDir::new().unwrap();
    let plan = Plan::derive(PlanSpec::new(Board::new(5).unwrap())).unwrap();
    let directory = RunDirectory::begin(folder.path(), plan, Shard::default(), Duration::ZERO).unwrap();
    let audit = audit(&directory).unwrap();
    (folder, directory, audit)
});

fuzz_target!(|bytes: &[u8]| {
    let (_, directory, audit) = &*RUN;
    let source = TableSource { directory, standing: &audit.standing, totals: audit.totals };
    let mut file = bytes;
    if let Ok((by, _)) = source.compare(&mut file) {
        let truth = |format| {
            let mut table = Vec::new();
            source.write(format, by, &mut table).unwrap();
            table
        };
        assert!(By::ALL.contains(&by));
        assert!([TableFormat::Csv, TableFormat::JsonLines].into_iter().any(|format| truth(format) == bytes));
    }
});
