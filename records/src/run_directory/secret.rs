//! The private key with which coordinators of a run sign and recognise their leases.

use std::io;
use std::path::Path;

use crate::regular_file;
use crate::run_directory::LeaseKey;

/// The file in the run directory. Its readers could report counts of units that they never held, and seal a checkpoint.
pub const NAME: &str = "lease.key";

/// The key of this run directory. If it is missing or damaged, a new key is created. Earlier leases then cannot be
/// proven, and their units are lent again.
///
/// # Errors
/// The file cannot be read, or a new one cannot be written.
pub fn lease_key(directory: &Path) -> io::Result<LeaseKey> {
    if let Some(key) = found(directory)? {
        return Ok(key);
    }
    let bytes: [u8; LeaseKey::BYTES] = rand::random();
    let key = LeaseKey::new(bytes);
    keep(directory, &key)?;
    Ok(key)
}

/// The complete key in that run directory, if any. Never writes.
///
/// # Errors
/// The file cannot be read.
pub fn found(directory: &Path) -> io::Result<Option<LeaseKey>> {
    match regular_file::read(&directory.join(NAME), LeaseKey::BYTES as u64) {
        Ok(bytes) => Ok(bytes.try_into().ok().map(LeaseKey::new)),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::FileTooLarge) => {
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// Puts the key into that run directory.
///
/// # Errors
/// The disk would not do it.
pub fn keep(directory: &Path, key: &LeaseKey) -> io::Result<()> {
    regular_file::replace(&directory.join(NAME), key.bytes(), 0o600)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::system::is_private;
    use std::fs;

    #[test]
    fn lease_key_is_private_and_kept_until_damaged() {
        let folder = tempfile::tempdir().unwrap();
        lease_key(folder.path()).unwrap();
        let path = folder.path().join(NAME);
        let first = fs::read(&path).unwrap();
        assert!(is_private(&path));
        lease_key(folder.path()).unwrap();
        assert_eq!(fs::read(&path).unwrap(), first);
        fs::File::create(&path).unwrap().set_len(1 << 36).unwrap();
        lease_key(folder.path()).unwrap();
        for damaged in [&first[1..], &[&first[..], b"\n"].concat()] {
            fs::write(&path, damaged).unwrap();
            lease_key(folder.path()).unwrap();
            let second = fs::read(&path).unwrap();
            assert!(second.len() == LeaseKey::BYTES && second != first);
        }
    }
}
