//! Where the addresses of the coordinator come from: typed, or in a file that is read again when the coordinator is lost. So a
//! coordinator can move, and its workers follow without a restart.

use std::fs::File;
use std::io::Read;

use parking_lot::Mutex;
use tracing::warn;

use crate::address::{AddressError, parse};
use crate::credentials::Credentials;

/// What stands before the name of a file of addresses.
const FILE_MARK: char = '@';

/// The longest file of addresses that is read, in bytes.
const MAX_FILE_SIZE: u64 = 1 << 16;

/// Addresses and files of addresses, as typed.
#[derive(Debug)]
pub struct AddressSource {
    typed: Vec<String>,
    /// What the last reading found.
    last: Mutex<Result<Vec<String>, AddressError>>,
}

impl AddressSource {
    /// Reads the addresses, and returns them with their source if they are in a file.
    pub fn read<A: AsRef<str>>(
        typed: &[A],
        credentials: &Credentials,
    ) -> Result<(Vec<String>, Option<Self>), AddressError> {
        let typed: Vec<String> = typed.iter().map(|typed| typed.as_ref().to_owned()).collect();
        let has_file = typed.iter().any(|typed| typed.starts_with(FILE_MARK));
        let addresses = addresses(&typed, credentials)?;
        let last = Mutex::new(Ok(addresses.clone()));
        Ok((addresses, has_file.then_some(Self { typed, last })))
    }

    /// Reads the addresses again, and returns them if they have changed. Returns none while another thread reads.
    pub fn read_again(&self, credentials: &Credentials) -> Option<Vec<String>> {
        let mut last = self.last.try_lock()?;
        let found = addresses(&self.typed, credentials);
        if *last == found {
            return None;
        }
        if let Err(error) = &found {
            warn!("{error}; the addresses known before stay in use");
        }
        last.clone_from(&found);
        found.ok()
    }
}

/// The present addresses.
fn addresses(typed: &[String], credentials: &Credentials) -> Result<Vec<String>, AddressError> {
    let mut addresses = Vec::new();
    for typed in typed {
        match typed.strip_prefix(FILE_MARK) {
            Some(path) => addresses.extend(addresses_in(path, credentials)?),
            None => addresses.push(typed.clone()),
        }
    }
    Ok(addresses)
}

/// The addresses in a file, on lines or with commas between them.
fn addresses_in(path: &str, credentials: &Credentials) -> Result<Vec<String>, AddressError> {
    let mut text = String::new();
    File::open(path)
        .and_then(|file| file.take(MAX_FILE_SIZE).read_to_string(&mut text))
        .map_err(|error| AddressError::Unreadable(path.to_owned(), error.to_string()))?;
    let addresses = addresses_of(&text);
    let wrong = |why: String| AddressError::WrongFile(path.to_owned(), why);
    if addresses.is_empty() {
        return Err(wrong("it is empty".into()));
    }
    for address in &addresses {
        parse(address, credentials).map_err(|error| wrong(error.to_string()))?;
    }
    Ok(addresses)
}

/// The addresses in a text.
fn addresses_of(text: &str) -> Vec<String> {
    let parts = text.split(['\n', ',']).map(str::trim);
    parts.filter(|address| !address.is_empty()).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_of_addresses_has_lines_or_commas() {
        assert_eq!(addresses_of("http://b:1\r\n\n c:2, http://d:3,\n"), ["http://b:1", "c:2", "http://d:3"]);
        assert_eq!(addresses_of(" \n,"), [""; 0]);
    }
}
