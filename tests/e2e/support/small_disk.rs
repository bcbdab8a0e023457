//! A small disk that a test fills.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A mounted `tmpfs`, unmounted when it is dropped.
pub struct SmallDisk(PathBuf);

impl SmallDisk {
    /// A disk of this many MiB at this path. None if this process may not mount, which only root may.
    pub fn mount(path: PathBuf, mib: u32) -> Option<Self> {
        fs::create_dir(&path).unwrap();
        let size = format!("size={mib}m");
        let mount = Command::new("mount").args(["-t", "tmpfs", "-o", &size, "tmpfs"]).arg(&path).output();
        if mount.is_ok_and(|mount| mount.status.success()) {
            return Some(Self(path));
        }
        println!("skipped: mounting a tmpfs needs root");
        None
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    fn filler(&self) -> PathBuf {
        self.0.join("filler")
    }

    /// Takes all room that is left.
    pub fn fill(&self) {
        let mut filler = fs::File::create(self.filler()).unwrap();
        while filler.write(&[1; 1024]).is_ok() {}
    }

    /// Gives the room back.
    pub fn make_room(&self) {
        fs::remove_file(self.filler()).unwrap();
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        Command::new("umount").arg("-l").arg(&self.0).status().ok();
    }
}
