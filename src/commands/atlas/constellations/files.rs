//! The files of `diadem atlas constellations`: written, checked, and counted from.

use std::collections::HashSet;
use std::io::{Cursor, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Context, bail};
use atlas::constellation_file::{ConstellationFile, FileCount, Kind, positions};
use domain::counted;
use queens::kernel::Stop;
use queens::plan::PlanSpec;
use queens::{Board, Totals};
use records::shard::Shard;
use records::{Agreement, regular_file};
use tracing::Level;
use zip::write::SimpleFileOptions;
use zip::{DateTime, ZipWriter};

use crate::args::KernelChoice;
use crate::args::atlas::Boards;
use crate::completions::{CompletionCounter, best_method};
use crate::host::memory::fitting_kernel;
use crate::log::{self, say};
use crate::output::{print, span, verdict};
use crate::output_file::OutputFile;
use crate::progress::during;
use crate::signals::Interruption;

/// The files of the largest board are shorter.
const LONGEST: u64 = 4 << 20;

/// Writes both files of the board.
pub fn export(board: Board, folder: &Path) -> anyhow::Result<()> {
    export_files(std::iter::once(board), folder).map(|_| ())
}

/// Writes the files of all boards, and one ZIP file that holds them.
pub fn export_all(boards: Boards, folder: &Path) -> anyhow::Result<()> {
    let files = export_files(boards.iter(), folder)?;
    let zip = folder.join(boards.zip_name());
    let bytes = zipped(&files)?;
    OutputFile::named(&zip)?.write(|out| Ok(out.write_all(&bytes)?))?;
    print(&format!("{}: all {} files, {} bytes", zip.display(), files.len(), bytes.len()))
}

/// Writes the files of the boards. Returns their names and contents.
fn export_files(
    boards: impl DoubleEndedIterator<Item = Board>,
    folder: &Path,
) -> anyhow::Result<Vec<(String, Vec<u8>)>> {
    let boards = boards.flat_map(|board| Kind::ALL.map(|kind| (board, kind)));
    // Nothing is written if one of the boards has no files.
    let files: Vec<_> =
        boards.map(|(board, kind)| ConstellationFile::of(board, kind)).collect::<Result<_, _>>()?;
    std::fs::create_dir_all(folder)
        .with_context(|| format!("cannot make the directory {}", folder.display()))?;
    let mut written = Vec::new();
    for file in files {
        let (name, bytes) = (file.kind.file_name(file.board), file.to_bytes());
        let path = folder.join(&name);
        OutputFile::named(&path)?.write(|out| Ok(out.write_all(&bytes)?))?;
        let (records, kind) = (file.orbits.len(), file.kind);
        print(&format!("{}: {records} {kind} constellations, {} bytes", path.display(), bytes.len()))?;
        written.push((name, bytes));
    }
    Ok(written)
}

/// The files as a ZIP archive. Their time is always the same, so that equal files make equal archives.
fn zipped(files: &[(String, Vec<u8>)]) -> anyhow::Result<Vec<u8>> {
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default().last_modified_time(DateTime::default());
    for (name, bytes) in files {
        archive.start_file(name, options)?;
        archive.write_all(bytes)?;
    }
    Ok(archive.finish()?.into_inner())
}

fn read_bytes(path: &Path, longest: u64) -> anyhow::Result<Vec<u8>> {
    regular_file::read_or_stream(path, longest).with_context(|| format!("cannot read {}", path.display()))
}

fn no_constellation_file(path: &Path, board: Board) -> String {
    format!("{} is no constellation file of n = {board}", path.display())
}

/// Checks a file.
pub fn import(board: Board, path: &Path) -> anyhow::Result<()> {
    let file = ConstellationFile::from_bytes(board, &read_bytes(path, LONGEST)?)
        .with_context(|| no_constellation_file(path, board))?;
    let (records, kind) = (file.orbits.len(), file.kind);
    print(&format!("{}: all {records} {kind} constellations of n = {board}, each once", path.display()))
}

/// The longest file to count from.
const LONGEST_TO_COUNT: u64 = 1 << 30;

/// Counts the completions of all records of the files. Of all constellations of a kind, or of both, also the solutions of their images.
pub fn count(board: Board, paths: &[PathBuf], choice: KernelChoice) -> anyhow::Result<ExitCode> {
    log::start(Level::WARN);
    let interruption = Interruption::listen()?;
    let paths = paths.to_owned();
    let counted = interruption.unless_raised(move |_| counted_of(board, &paths, choice)).transpose()?;
    let Some((found, agrees)) = counted else {
        say(format_args!("diadem: stopped; nothing is kept of the count"));
        return Ok(interruption.exit_code().unwrap_or(ExitCode::FAILURE));
    };
    verdict(&found, (!agrees).then_some(ExitCode::FAILURE))
}

/// The result, and whether it agrees with the published values.
fn counted_of(board: Board, paths: &[PathBuf], choice: KernelChoice) -> anyhow::Result<(String, bool)> {
    let files = paths.iter().map(|path| read_bytes(path, LONGEST_TO_COUNT));
    let files: Vec<Vec<u8>> = files.collect::<anyhow::Result<_>>()?;
    let mut records = 0;
    for (path, bytes) in paths.iter().zip(&files) {
        let read = positions(board, bytes)
            .and_then(|mut positions| positions.try_fold(0, |number, position| position.map(|_| number + 1)));
        records += read.with_context(|| no_constellation_file(path, board))?;
    }
    let whole = files.iter().map(|bytes| ConstellationFile::from_bytes(board, bytes).ok());
    let whole: Option<Vec<ConstellationFile>> = whole.collect();
    let kinds: HashSet<Kind> = whole.iter().flatten().map(|file| file.kind).collect();
    if let Some(whole) = whole.as_ref().filter(|whole| kinds.len() < whole.len()) {
        bail!("both files hold the {} constellations; one of each kind is counted together", whole[0].kind);
    }
    let choice = fitting_kernel(choice, board, 0);
    let kernel = choice.kernel(&PlanSpec::for_kernel(board, best_method(board)))?;
    let counter = CompletionCounter { kernel: &*kernel, threads: choice.threads, shows_progress: true };
    let begun = Instant::now();
    let (mut sum, mut completions) = (0, Vec::new());
    let all = files.iter().filter_map(|bytes| positions(board, bytes).ok()).flatten().flatten();
    counter.count(all, records, |found| {
        sum += found;
        if whole.is_some() {
            completions.push(found);
        }
        Ok(())
    })?;
    let (answer, agrees) = if let Some(whole) = &whole {
        of_whole(board, whole, &completions, choice.threads)?
    } else {
        let why = format!("these are not all constellations of n = {board}, so this is not Q({board})");
        (format!("{sum} completions: {why}"), true)
    };
    let found = format!(
        "{answer}\n{} in {} with {}, kernel {}",
        counted(records as u64, if whole.is_some() { "constellation" } else { "record" }),
        span(begun.elapsed()),
        counted(choice.threads, "thread"),
        kernel.name(),
    );
    Ok((found, agrees))
}

/// The solutions of all images of the constellations of one kind or of both, and whether they agree with the published values.
fn of_whole(
    board: Board,
    files: &[ConstellationFile],
    completions: &[u128],
    threads: u32,
) -> anyhow::Result<(String, bool)> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads as usize).build()?;
    let (mut total, mut rest, stop) = (FileCount::default(), completions, Stop::new());
    for file in files {
        let (own, others) = rest.split_at(file.orbits.len());
        let count = during("counting the symmetric solutions", || pool.install(|| file.total(own, &stop)));
        total = total.and(count.context("the count was stopped")?);
        rest = others;
    }
    let classes = total.classes();
    let (answer, agrees) = if let [file] = files {
        (format!("from the {} constellations alone", file.kind), true)
    } else {
        let agreement = Agreement::of(board, Shard::default(), &classes);
        (agreement.words().to_owned(), !agreement.is_wrong())
    };
    let (solutions, Totals { a, p, r, .. }) = (total.solutions, classes);
    Ok((format!("Q({board}) = {solutions}: {answer}\nA = {a}, P = {p}, R = {r}"), agrees))
}
