//! A reader of a run finds the same loss as a start, and no loss in an intact run.

use std::collections::BTreeMap;
use std::thread;

use super::acknowledged::{acknowledged, refuse_loss};
use super::*;
use crate::audit::{AuditError, audit};
use crate::certificate::PublishedHead;
use crate::ledger::{LedgerError, Writer, read_marks};
use crate::merge::merge;
use crate::replay::beginning;
use crate::run_directory::RunDirectory;
use crate::run_directory::secret::{self, lease_key};
use crate::shard::Shard;
use crate::store::{OpenOptions, Store};
use crate::testing::known_run;
use tempfile::TempDir;

const SECOND: &str = "ledger/000002.jsonl";

/// A run with two files of its ledger, of a record each, and a checkpoint that knows both.
fn with_two_files() -> (TempDir, RunDirectory) {
    let folder = TempDir::new().unwrap();
    let (store, ..) = Store::open(known_run::options(folder.path())).unwrap();
    let mut writer = Writer::new(&store.directory().ledger(), store.end().clone()).with_file_size(1);
    drop(store);
    for unit in 0..2 {
        writer.commit(&[known_run::record(unit)], Duration::ZERO, 1).unwrap();
    }
    drop(Store::open(known_run::options(folder.path())).unwrap());
    let directory = RunDirectory::open(folder.path()).unwrap();
    assert_eq!(acknowledged(&directory).as_ref(), Some(writer.end()));
    (folder, directory)
}

/// Every file of a run.
fn files(run: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let folders = [run.to_owned(), run.join("ledger"), run.join("checkpoint")];
    let entries = folders.into_iter().filter_map(|folder| fs::read_dir(folder).ok());
    let paths = entries.flatten().map(|entry| entry.unwrap().path());
    paths.filter(|path| path.is_file()).map(|path| (path.clone(), fs::read(path).unwrap())).collect()
}

/// Copies a folder with the folders in it.
fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        if entry.path().is_dir() {
            copy_folder(&entry.path(), &to.join(entry.file_name()));
        } else {
            fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
        }
    }
}

/// A way to lose acknowledged records of a run whose ledger has two files.
type Harm = fn(&Path);

const HARMS: [Harm; 4] = [
    |run| fs::remove_file(run.join(SECOND)).unwrap(),
    |run| fs::write(run.join(SECOND), "").unwrap(),
    |run| {
        let half = fs::read(run.join(SECOND)).unwrap();
        fs::write(run.join(SECOND), &half[..half.len() / 2]).unwrap();
    },
    // The same number of records, but different ones.
    |run| {
        fs::remove_file(run.join(SECOND)).unwrap();
        fs::remove_dir_all(run.join("checkpoint")).unwrap();
        let (mut store, ..) = Store::open(known_run::options(run)).unwrap();
        store.commit(&[known_run::record(7)], Duration::ZERO, 1).unwrap();
    },
];

#[test]
fn audit_reports_loss_until_accepted() {
    for harm in HARMS {
        let (folder, directory) = with_two_files();
        let kept = TempDir::new().unwrap();
        let kept = kept.path().join("checkpoint");
        copy_folder(&directory.checkpoint(), &kept);
        harm(folder.path());
        fs::remove_dir_all(directory.checkpoint()).unwrap();
        copy_folder(&kept, &directory.checkpoint());
        let before = files(folder.path());
        let lost = audit(&directory).unwrap_err();
        assert!(
            matches!(lost, AuditError::Ledger(LedgerError::Lost { .. } | LedgerError::Rewritten { .. })),
            "{lost:?}"
        );
        assert_eq!(PublishedHead::of(&directory).unwrap_err().to_string(), lost.to_string());
        let out = TempDir::new().unwrap();
        let unmerged = merge(&out.path().join("joint"), &[folder.path().to_owned()]).unwrap_err();
        assert_eq!(unmerged.to_string(), lost.to_string());
        assert_eq!(files(folder.path()), before);
        let refused = Store::open(known_run::options(folder.path())).unwrap_err();
        assert_eq!(lost.to_string(), refused.to_string());
        let accepting = OpenOptions { accept_loss: true, ..known_run::options(folder.path()) };
        drop(Store::open(accepting).unwrap());
        audit(&directory).unwrap();
        PublishedHead::of(&directory).unwrap();
        merge(&out.path().join("joint"), &[folder.path().to_owned()]).unwrap();
    }
}

#[test]
fn unusable_checkpoint_proves_no_loss() {
    let unusable: [Harm; 4] = [
        |run| fs::remove_dir_all(run.join("checkpoint")).unwrap(),
        |run| {
            fs::remove_dir_all(run.join("checkpoint")).unwrap();
            fs::write(run.join("checkpoint"), "damaged").unwrap();
        },
        |run| {
            fs::remove_dir_all(run.join("checkpoint")).unwrap();
            fs::create_dir(run.join("checkpoint")).unwrap();
        },
        |run| fs::remove_file(run.join(secret::NAME)).unwrap(),
    ];
    for spoil in unusable {
        let (folder, directory) = with_two_files();
        fs::remove_file(folder.path().join(SECOND)).unwrap();
        audit(&directory).unwrap_err();
        spoil(folder.path());
        let before = files(folder.path());
        assert_eq!(audit(&directory).unwrap().standing.done(), 1);
        assert_eq!(files(folder.path()), before, "no key is made");
    }
}

#[test]
fn replaced_checkpoint_proves_no_loss() {
    let (folder, directory) = with_two_files();
    let known = acknowledged(&directory).unwrap();
    fs::remove_file(folder.path().join(SECOND)).unwrap();
    let end = read_marks(&directory.ledger(), &beginning(&directory), |_| ()).unwrap().end;
    refuse_loss(&directory, Some(&known), &end).unwrap_err();
    let accepting = OpenOptions { accept_loss: true, ..known_run::options(folder.path()) };
    drop(Store::open(accepting).unwrap());
    refuse_loss(&directory, Some(&known), &end).unwrap();
}

#[test]
fn audit_of_growing_ledger_reports_no_loss() {
    let folder = TempDir::new().unwrap();
    let (store, mut standing, _) = Store::open(known_run::options(folder.path())).unwrap();
    let directory = store.directory().clone();
    let mut writer = Writer::new(&directory.ledger(), store.end().clone()).with_file_size(1);
    let mut checkpoint = Checkpoint::new(directory.checkpoint(), lease_key(folder.path()).unwrap());
    let plan = known_run::plan();
    let counting = thread::spawn(move || {
        for unit in 0..plan.units() {
            let record = known_run::record(unit);
            writer.commit(std::slice::from_ref(&record), Duration::ZERO, 1).unwrap();
            standing.apply(&plan, Shard::default(), &record).unwrap();
            checkpoint.save(store.directory().run().hash(), &plan, writer.end(), &standing).unwrap();
        }
    });
    while !counting.is_finished() {
        audit(&directory).unwrap();
    }
    counting.join().unwrap();
    assert_eq!(audit(&directory).unwrap().missing, None);
}
