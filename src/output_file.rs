//! Output files of `--out`. They are written whole or not at all, and never over a file of a run.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{self, Path, PathBuf};

use anyhow::{Context, bail};
use records::regular_file;
use records::run_directory::RunDirectory;
use tempfile::NamedTempFile;

use crate::host;

/// The mode of a new file, before the umask.
const MODE: u32 = 0o666;

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
            bail!("- is no file: {}, or use ./- for a file of that name", host::STDOUT_ADVICE);
        }
        if path.is_dir() {
            bail!("cannot write {}: it is a directory; name a file", path.display());
        }
        if path.as_os_str().to_string_lossy().ends_with(path::is_separator) {
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
        host::is_open_descriptor(&self.path) || fs::metadata(&self.target).is_ok_and(|found| !found.is_file())
    }

    fn write_stream<T>(
        &self,
        write: impl FnOnce(&mut BufWriter<&File>) -> anyhow::Result<T>,
    ) -> anyhow::Result<T> {
        buffered(&host::open_stream(&self.path, &self.target)?, write)
    }

    fn write_whole<T>(
        &self,
        write: impl FnOnce(&mut BufWriter<&File>) -> anyhow::Result<T>,
    ) -> anyhow::Result<T> {
        let draft = self.draft()?;
        let written = buffered(draft.as_file(), write)?;
        draft.as_file().sync_all()?;
        regular_file::persist(draft, &self.target)?;
        Ok(written)
    }

    /// An empty file beside it, which goes away unless it gets its name.
    fn draft(&self) -> io::Result<NamedTempFile> {
        let folder = regular_file::folder_of(&self.target);
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
            Err(_) => regular_file::temporary_file(&mut draft, MODE, folder),
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
    use std::fs::Permissions;
    use std::os::unix::fs::PermissionsExt;

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
