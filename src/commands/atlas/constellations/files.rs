//! The files of `diadem atlas constellations`: written, checked, and counted from.

use std::collections::HashSet;
use std::io::{Cursor, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Context, bail};
use atlas::constellation_file::{ConstellationFile, FileCount, Kind};
use domain::counted;
use queens::Board;
use queens::kernel::{Method, Stop};
use queens::plan::PlanSpec;
use records::shard::Shard;
use records::{Agreement, regular_file};
use zip::write::SimpleFileOptions;
use zip::{DateTime, ZipWriter};

use crate::args::KernelChoice;
use crate::args::atlas::Boards;
use crate::output::{print, span, verdict};
use crate::output_file::OutputFile;

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
    let (answer, agrees) = if kinds.len() == 1 {
        (format!("from the {} constellations alone", files[0].kind), true)
    } else {
        let agreement = Agreement::of(board, Shard::default(), &classes);
        (agreement.words().to_owned(), !agreement.is_wrong())
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
