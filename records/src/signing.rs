//! The key with which a coordinator signs certificates of a run: Ed25519, in its own file.

use std::io;
use std::path::{Path, PathBuf};

use ring::rand::SystemRandom;
use ring::signature::{ED25519, Ed25519KeyPair, KeyPair, UnparsedPublicKey};
use rustls_pki_types::PrivatePkcs8KeyDer;
use rustls_pki_types::pem::PemObject;
use thiserror::Error;

use crate::regular_file;

/// A private key is shorter, with whatever text around it, in bytes.
const MAX_KEY_BYTES: u64 = 1 << 16;

/// The file in the run directory where no other is named.
const NAME: &str = "certify.key";

/// A key that cannot be used.
#[derive(Debug, Error)]
pub enum KeyError {
    /// The disk would not do it.
    #[error("cannot read or make the key {}: {source}", .path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// Its file has other content.
    #[error(
        "{} is no Ed25519 key in PKCS#8, as DER or PEM; restore it from a copy, or move it away and a new one is made",
        .0.display()
    )]
    Malformed(PathBuf),
}

/// A private key.
#[derive(Debug)]
pub struct SigningKey(Ed25519KeyPair);

impl SigningKey {
    /// The file of the key in that run directory, where no other is named.
    pub fn file_of_run(directory: &Path) -> PathBuf {
        directory.join(NAME)
    }

    /// The key in this file. It is created if the file is missing. A file without a valid key is left unchanged.
    ///
    /// # Errors
    /// It cannot be read or made.
    pub fn open(path: &Path) -> Result<Self, KeyError> {
        let io = |source| KeyError::Io { path: path.to_owned(), source };
        let bytes = match regular_file::read_or_stream(path, MAX_KEY_BYTES) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => make(path).map_err(io)?,
            Err(error) => return Err(io(error)),
        };
        let pem = PrivatePkcs8KeyDer::from_pem_slice(&bytes).ok();
        let der = pem.as_ref().map_or(&*bytes, PrivatePkcs8KeyDer::secret_pkcs8_der);
        // Other programs leave the public key out.
        let key = Ed25519KeyPair::from_pkcs8_maybe_unchecked(der);
        key.map(Self).map_err(|_| KeyError::Malformed(path.to_owned()))
    }

    /// The public key, as 64 hexadecimal digits.
    pub fn public(&self) -> String {
        hex(self.0.public_key().as_ref())
    }

    /// The signature of these bytes, as 128 hexadecimal digits.
    pub fn sign(&self, bytes: &[u8]) -> String {
        hex(self.0.sign(bytes).as_ref())
    }
}

/// The points of small order in all encodings that are decoded, except for the highest bit of their last byte. Such a
/// public key has no private key, and anybody can make matching signatures.
const OF_SMALL_ORDER: [&str; 7] = [
    "0000000000000000000000000000000000000000000000000000000000000000",
    "0100000000000000000000000000000000000000000000000000000000000000",
    "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
    "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
    "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
];

fn is_of_small_order(public: &[u8]) -> bool {
    let Some((last, others)) = public.split_last() else { return false };
    let point = hex(&[others, &[last & 0x7F]].concat());
    OF_SMALL_ORDER.contains(&&*point)
}

/// Whether the signature of these bytes was made with the private key to that public one; both in hexadecimal digits.
pub fn is_signed(public: &str, bytes: &[u8], signature: &str) -> bool {
    let is_signed = |public: Vec<u8>, signature: Vec<u8>| {
        !is_of_small_order(&public)
            && UnparsedPublicKey::new(&ED25519, public).verify(bytes, &signature).is_ok()
    };
    unhex(public).zip(unhex(signature)).is_some_and(|(public, signature)| is_signed(public, signature))
}

/// A new key in this file, which only its owner can read.
fn make(path: &Path) -> io::Result<Vec<u8>> {
    let key = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new())
        .map_err(|_| io::Error::other("the system has no random numbers"))?;
    match regular_file::create(path, key.as_ref(), 0o600) {
        // By another coordinator that was started with the same name.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => regular_file::read(path, MAX_KEY_BYTES),
        made => made.map(|()| key.as_ref().to_vec()),
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}"))
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    let is_hex = text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    let digits = |at| u8::from_str_radix(&text[at..at + 2], 16).ok();
    (is_hex && text.len().is_multiple_of(2)).then(|| (0..text.len()).step_by(2).map(digits).collect())?
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::system::is_private;
    use std::fs;

    #[test]
    fn a_key_is_made_once_is_private_and_signs() {
        let folder = tempfile::tempdir().unwrap();
        let key = SigningKey::open(&SigningKey::file_of_run(folder.path())).unwrap();
        let path = folder.path().join(NAME);
        assert!(is_private(&path));
        assert_eq!(SigningKey::open(&path).unwrap().public(), key.public());
        let signature = key.sign(b"said");
        assert_eq!((key.public().len(), signature.len()), (64, 128));
        assert!(is_signed(&key.public(), b"said", &signature));
        assert!(!is_signed(&key.public(), b"sald", &signature));
        assert!(!is_signed(&key.public(), b"said", &key.sign(b"sald")));
        for broken in ["", "0", "zz", &signature[2..], &signature.to_uppercase()] {
            assert!(!is_signed(&key.public(), b"said", broken), "{broken}");
        }
        let other = SigningKey::open(&folder.path().join("other.key")).unwrap();
        assert!(!is_signed(&other.public(), b"said", &signature));
    }

    #[test]
    fn foreign_key_is_accepted_and_malformed_file_is_kept() {
        // RFC 8410, 10.3.
        let text = "-----BEGIN PRIVATE KEY-----\n\
                    MC4CAQAwBQYDK2VwBCIEINTuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9EdVhC\n\
                    -----END PRIVATE KEY-----\n";
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("key.pem");
        fs::write(&path, text).unwrap();
        let public = SigningKey::open(&path).unwrap().public();
        assert_eq!(public, "19bf44096984cdfe8541bac167dc3b96c85086aa30b6b6cb0c5c38ad703166e1");
        for broken in ["no key", ""] {
            fs::write(&path, broken).unwrap();
            let error = SigningKey::open(&path).unwrap_err();
            assert!(matches!(error, KeyError::Malformed(_)) && error.to_string().contains("move it away"));
            assert_eq!(fs::read_to_string(&path).unwrap(), broken);
        }
        fs::remove_file(&path).unwrap();
        SigningKey::open(&path).unwrap();
    }

    #[test]
    fn public_key_of_small_order_is_rejected() {
        // With the neutral point for the key and for the commitment, and 0 for the answer, the equation holds for all bytes.
        let neutral = format!("01{}", "0".repeat(62));
        let signature = neutral.clone() + &"0".repeat(64);
        let key = UnparsedPublicKey::new(&ED25519, unhex(&neutral).unwrap());
        assert!(key.verify(b"anything", &unhex(&signature).unwrap()).is_ok());
        assert!(!is_signed(&neutral, b"anything", &signature));
        assert!(OF_SMALL_ORDER.iter().all(|point| !is_signed(point, b"anything", &signature)));
    }
}
