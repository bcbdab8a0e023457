//! Keys and tokens, and processes that use them.

use std::fs;

use rcgen::{Certificate, CertificateParams, DistinguishedName, DnType, Issuer, KeyPair};

use crate::harness::{Folder, Running};

/// A folder with two sets of keys, `keys` and `others`.
pub fn keys() -> Folder {
    let folder = Folder::new();
    for name in ["keys", "others"] {
        assert_eq!(folder.run(&format!("keys init {name} --host coordinator.example")).code, Some(0));
    }
    folder
}

/// A folder with these files, each a copy of another.
pub fn folder_of(folder: &Folder, name: &str, files: &[(&str, &str)]) {
    let made = folder.path().join(name);
    fs::create_dir(&made).unwrap();
    for (file, source) in files {
        fs::copy(folder.path().join(source), made.join(file)).unwrap();
    }
}

/// The content of a file.
pub fn text(folder: &Folder, file: &str) -> String {
    fs::read_to_string(folder.path().join(file)).unwrap().trim().to_owned()
}

/// A coordinator of a run that takes long, with these keys, and its address.
pub fn serve(folder: &Folder, keys: &str) -> (Running, String) {
    folder.serve(&format!("coordinator --n 18 --run run --keys {keys}"), "coordinator.log")
}

/// The same coordinator again, at the address that it had.
pub fn serve_again(folder: &Folder, address: &str, keys: &str) -> Running {
    folder.serve_at(address, &format!("coordinator --n 18 --run run --keys {keys}"), "coordinator.log")
}

/// A worker with these keys, whose log has that name.
pub fn work(folder: &Folder, address: &str, keys: &str, name: &str) -> Running {
    let args = format!(
        "worker --coordinator https://{address} --threads 1 --isa portable --keys {keys} --name {name}"
    );
    folder.start(&args, &format!("{name}.log"))
}

/// A certificate with its key, of an authority that has this key and diadem's name.
pub fn certify(params: CertificateParams, authority_key: KeyPair) -> (Certificate, KeyPair) {
    let mut authority = CertificateParams::default();
    authority.distinguished_name = DistinguishedName::new();
    authority.distinguished_name.push(DnType::CommonName, "diadem authority");
    let key = KeyPair::generate().unwrap();
    (params.signed_by(&key, &Issuer::new(authority, authority_key)).unwrap(), key)
}

/// The key of the authority.
pub fn authority_key(folder: &Folder) -> KeyPair {
    KeyPair::from_pem(&text(folder, "keys/ca.key")).unwrap()
}

/// Gives the coordinator a certificate that has expired.
pub fn let_certificate_expire(folder: &Folder) {
    let mut params = CertificateParams::new(vec!["127.0.0.1".to_owned()]).unwrap();
    params.not_before = rcgen::date_time_ymd(2020, 1, 1);
    params.not_after = rcgen::date_time_ymd(2021, 1, 1);
    let (certificate, key) = certify(params, authority_key(folder));
    fs::write(folder.path().join("keys/coordinator/server.pem"), certificate.pem()).unwrap();
    fs::write(folder.path().join("keys/coordinator/server.key"), key.serialize_pem()).unwrap();
}
