//! What operating systems do differently with files: one interface, and a file for each family of systems.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
pub use unix::*;
#[cfg(windows)]
pub use windows::*;

/// The identity of a file, which shows whether it was replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileState {
    /// The device that it is on.
    pub device: u64,
    /// Its number there.
    pub inode: u64,
    /// Its bytes.
    pub size: u64,
}
