//! Output files of `--out`. They are written whole or not at all, and never over a file of a run.

use std::fs::{self, File, Permissions};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use records::regular_file;
use records::run_directory::RunDirectory;
use rustix::fs::{OFlags, fcntl_setfl};
use rustix::io::Errno;
use tempfile::NamedTempFile;

/// The mode of a new file, before the umask.
const MODE: u32 = 0o666;

/// Files that the process has open already go by these names.
const OPEN_DESCRIPTORS: [&str; 4] = ["/dev/stdout", "/dev/stderr", "/dev/fd", "/proc"];

/// How long the reader of a pipe may take to come.
const READER_TIMEOUT: Duration = Duration::from_secs(10);

/// The pause between two attempts to open the pipe.
const RETRY_PAUSE: Duration = Duration::from_millis(10);

/// An output file.
#[derive(Clone, Debug)]
pub struct OutputFile {
    /// As it was named.
    path: PathBuf,
    /// Its path, with links resolved.
    target: PathBuf,
}

impl OutputFile {
    /// The file of that name, which need not exist. Writes nothing yet, so that a command can refuse the file
    /// before its work.
    ///
    /// # Errors
    /// It can be no file, or is one of a run's own.
    pub fn named(path: &Path) -> anyhow::Result<Self> {
        if path == Path::new("-") {
            bail!("- is no file: use /dev/stdout for standard output, or ./- for a file of that name");
        }
        if path.is_dir() {
            bail!("cannot write {}: it is a directory; name a file", path.display());
        }
        if path.as_os_str().as_encoded_bytes().ends_with(b"/") {
            bail!("cannot write {}: there is no such directory; name a file", path.display());
        }
        let target = without_links(path).with_context(|| format!("cannot write {}", path.display()))?;
        if let Some(run) = RunDirectory::of_file(&target).or_else(|| RunDirectory::of_file(path)) {
            bail!("{} is a file of the run in {}: name another one", path.display(), run.display());
        }
        Ok(Self { path: path.to_owned(), target })
    }

    /// Whether it is the file of that name.
    pub fn is(&self, other: &Path) -> bool {
        without_links(other).is_ok_and(|other| other == self.target)
    }

    /// Writes the file by that function. The old content stays until the new content is on disk, except in
    /// pipes and devices.
    ///
    /// # Errors
    /// The file cannot be written, or the function fails.
    pub fn write<T>(
        &self,
        write: impl FnOnce(&mut BufWriter<&File>) -> anyhow::Result<T>,
    ) -> anyhow::Result<T> {
        let written = if self.is_stream() { self.write_stream(write) } else { self.write_whole(write) };
        written.with_context(|| format!("cannot write {}", self.path.display()))
    }

    /// True for a pipe, a device or an open file, which cannot be replaced.
    fn is_stream(&self) -> bool {
        self.is_open() || fs::metadata(&self.target).is_ok_and(|found| !found.is_file())
    }

    fn write_stream<T>(
        &self,
        write: impl FnOnce(&mut BufWriter<&File>) -> anyhow::Result<T>,
    ) -> anyhow::Result<T> {
        buffered(&self.open_stream()?, write)
    }

    fn open_stream(&self) -> io::Result<File> {
        let mut options = File::options();
        // A file that a shell has opened with >> keeps its content.
        options.append(true);
        if self.is_open() || !regular_file::is_named_pipe(&self.target) {
            return options.open(&self.path);
        }
        // Otherwise opening it would wait for a reader, perhaps forever.
        options.custom_flags(OFlags::NONBLOCK.bits().cast_signed());
        let pipe = open_once_read(|| options.open(&self.path))?;
        fcntl_setfl(&pipe, OFlags::APPEND)?;
        Ok(pipe)
    }

    fn is_open(&self) -> bool {
        OPEN_DESCRIPTORS.iter().any(|open| self.path.starts_with(open))
    }

    fn write_whole<T>(
        &self,
        write: impl FnOnce(&mut BufWriter<&File>) -> anyhow::Result<T>,
    ) -> anyhow::Result<T> {
        let draft = self.draft()?;
        let written = buffered(draft.as_file(), write)?;
        draft.as_file().sync_all()?;
        draft.persist(&self.target).map_err(|error| error.error)?;
        Ok(written)
    }

    /// An empty file beside it, which goes away unless it gets its name.
    fn draft(&self) -> io::Result<NamedTempFile> {
        let folder = self.target.parent().unwrap_or(Path::new("/"));
        let mut draft = tempfile::Builder::new();
        draft.prefix(".diadem-").suffix(".new");
        match fs::metadata(&self.target) {
            Ok(before) => {
                // Without the right to write the file, do not replace it either.
                File::options().append(true).open(&self.target)?;
                let draft = draft.tempfile_in(folder)?;
                draft.as_file().set_permissions(before.permissions())?;
                Ok(draft)
            }
            Err(_) => draft.permissions(Permissions::from_mode(MODE)).tempfile_in(folder),
        }
    }
}

/// The pipe as that function opens it, once it has a reader.
fn open_once_read(open: impl Fn() -> io::Result<File>) -> io::Result<File> {
    let begun = Instant::now();
    loop {
        match open() {
            Err(error) if Errno::from_io_error(&error) == Some(Errno::NXIO) => {
                if begun.elapsed() > READER_TIMEOUT {
                    return Err(io::Error::new(io::ErrorKind::TimedOut, "nobody reads from that pipe"));
                }
                thread::sleep(RETRY_PAUSE);
            }
            opened => return opened,
        }
    }
}

fn buffered<T>(
    file: &File,
    write: impl FnOnce(&mut BufWriter<&File>) -> anyhow::Result<T>,
) -> anyhow::Result<T> {
    let mut out = BufWriter::new(file);
    let written = write(&mut out)?;
    out.flush()?;
    Ok(written)
}

/// The path without links, relative names, and dots; its last part need not be there.
fn without_links(path: &Path) -> io::Result<PathBuf> {
    match fs::canonicalize(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            // A link that leads nowhere is written through.
            if let Ok(goal) = fs::read_link(path) {
                return without_links(&path.with_file_name("").join(goal));
            }
            let name = path.file_name().ok_or(error)?;
            Ok(fs::canonicalize(regular_file::folder_of(path))?.join(name))
        }
        found => found,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(path: &Path, text: &str) -> anyhow::Result<()> {
        OutputFile::named(path)?.write(|out| Ok(out.write_all(text.as_bytes())?))
    }

    #[test]
    fn failed_write_keeps_the_old_file_only() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("table.csv");
        let failed = || {
            OutputFile::named(&path)?.write(|out| {
                out.write_all(b"half of a ")?;
                out.flush()?;
                Err::<(), _>(io::Error::from(io::ErrorKind::StorageFull).into())
            })
        };
        failed().unwrap_err();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        written(&path, "good").unwrap();
        let said = format!("{:#}", failed().unwrap_err());
        assert!(said.contains("cannot write") && said.contains("storage"), "{said}");
        assert_eq!(fs::read_to_string(&path).unwrap(), "good");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn output_file_keeps_mode_and_link_target() {
        let folder = tempfile::tempdir().unwrap();
        let [path, link, open] = ["table.csv", "link", "open"].map(|name| folder.path().join(name));
        std::os::unix::fs::symlink("table.csv", &link).unwrap();
        written(&link, "through a link to nothing").unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o640)).unwrap();
        written(&link, "through a link").unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read_to_string(&path).unwrap(), "through a link");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
        // A new file has the mode of the umask, as usual.
        written(&folder.path().join("new"), "new").unwrap();
        File::create(&open).unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode();
        assert_eq!(mode(&folder.path().join("new")), mode(&open));
    }

    #[test]
    fn devices_are_written_and_full_device_fails() {
        written(Path::new("/dev/null"), "gone").unwrap();
        let said = format!("{:#}", written(Path::new("/dev/full"), "much").unwrap_err());
        assert!(said.starts_with("cannot write /dev/full: "), "{said}");
    }

    #[test]
    fn impossible_output_path_is_refused_first() {
        let folder = tempfile::tempdir().unwrap();
        for path in [folder.path().to_owned(), folder.path().join("no/where"), PathBuf::new()] {
            OutputFile::named(&path).unwrap_err();
        }
    }
}
