//! The files of `diadem atlas constellations`: written, checked, and counted from.

use std::collections::HashSet;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Context, bail};
use atlas::constellation_file::{ConstellationFile, FileCount, Kind};
use domain::counted;
use queens::kernel::{Method, Stop};
use queens::plan::PlanSpec;
use queens::{Board, known};
use records::regular_file;

use crate::args::KernelChoice;
use crate::output::{print, span, verdict};
use crate::output_file::OutputFile;

/// The files of the largest board are shorter.
const LONGEST: u64 = 4 << 20;

/// Writes both files of the board.
pub fn export(board: Board, folder: &Path) -> anyhow::Result<()> {
    let files = Kind::ALL.into_iter().map(|kind| ConstellationFile::of(board, kind));
    let files: Vec<_> = files.collect::<Result<_, _>>()?;
    std::fs::create_dir_all(folder)
        .with_context(|| format!("cannot make the directory {}", folder.display()))?;
    for file in files {
        let path = folder.join(file.kind.file_name(board));
        let bytes = file.to_bytes();
        OutputFile::named(&path)?.write(|out| Ok(out.write_all(&bytes)?))?;
        let (records, kind) = (file.orbits.len(), file.kind);
        print(&format!("{}: {records} {kind} constellations, {} bytes", path.display(), bytes.len()))?;
    }
    Ok(())
}

fn read(board: Board, path: &Path) -> anyhow::Result<ConstellationFile> {
    let bytes = regular_file::read_or_stream(path, LONGEST)
        .with_context(|| format!("cannot read {}", path.display()))?;
    ConstellationFile::from_bytes(board, &bytes)
        .with_context(|| format!("{} is no constellation file of n = {board}", path.display()))
}

/// Checks a file.
pub fn import(board: Board, path: &Path) -> anyhow::Result<()> {
    let file = read(board, path)?;
    let (records, kind) = (file.orbits.len(), file.kind);
    print(&format!("{}: all {records} {kind} constellations of n = {board}, each once", path.display()))
}

/// Counts the solutions of the constellations in one file, or in both of the board.
pub fn count(board: Board, paths: &[PathBuf], choice: &KernelChoice) -> anyhow::Result<ExitCode> {
    let files: Vec<_> = paths.iter().map(|path| read(board, path)).collect::<anyhow::Result<_>>()?;
    let kinds: HashSet<Kind> = files.iter().map(|file| file.kind).collect();
    if kinds.len() < files.len() {
        bail!("both files hold the {} constellations; one of each kind is counted together", files[0].kind);
    }
    // The search counts single constellations best. Halves that meet count whole families.
    let kernel = choice.kernel(&PlanSpec::for_kernel(board, Method::Search))?;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(choice.threads as usize).build()?;
    let begun = Instant::now();
    let stop = Stop::new();
    let counts = files.iter().map(|file| pool.install(|| file.count(&*kernel, &stop)));
    let counts: Vec<FileCount> = counts.collect::<Option<_>>().context("the count was stopped")?;
    let total = counts.into_iter().fold(FileCount::default(), FileCount::and);
    let classes = total.classes();
    let (answer, agrees) = match known::totals(board) {
        _ if kinds.len() == 1 => (format!("from the {} constellations alone", files[0].kind), true),
        Some(known) if known == classes => ("agrees with the published value".to_owned(), true),
        Some(_) => ("DIFFERS FROM THE PUBLISHED VALUE".to_owned(), false),
        None => ("no value has been published".to_owned(), true),
    };
    let found = format!(
        "Q({board}) = {}: {answer}\nA = {}, P = {}, R = {}\n{} constellations in {} with {}, kernel {}",
        total.solutions,
        classes.a,
        classes.p,
        classes.r,
        files.iter().map(|file| file.orbits.len()).sum::<usize>(),
        span(begun.elapsed()),
        counted(choice.threads, "thread"),
        kernel.name(),
    );
    verdict(&found, (!agrees).then_some(ExitCode::FAILURE))
}
