//! The checked-in code is what the .proto file gives. After a change of the .proto file, or of tonic, renew it with
//! `DIADEM_REGENERATE=1 cargo test -p diadem-proto --test generated`.

use std::path::{Path, PathBuf};
use std::{env, fs};

use tonic_prost_build::FileDescriptorSet;

/// The name that tonic gives to what it generates, after the package in the .proto file.
const GENERATED: &str = "diadem.v1.rs";

#[test]
fn the_checked_in_code_is_what_the_proto_file_gives() {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let contract = package.join("proto");
    let descriptors =
        protox::compile(["diadem/v1/coordinator.proto"], [contract]).expect("the .proto file compiles");
    let generated = [("client", client(descriptors.clone())), ("server", server(descriptors))];
    for (name, generated) in generated {
        let checked_in = package.join("src/generated").join(name).with_extension("rs");
        if env::var_os("DIADEM_REGENERATE").is_some() {
            fs::write(&checked_in, &generated).expect("the source folder can be written");
        }
        let found = fs::read_to_string(&checked_in).expect("the code is checked in");
        assert!(
            found == generated,
            "{} is not what the .proto file gives: renew it with DIADEM_REGENERATE=1",
            checked_in.display()
        );
    }
}

/// The messages, and a client that reads replies as protobuf usually is.
fn client(descriptors: FileDescriptorSet) -> String {
    let folder = empty_folder("client");
    tonic_prost_build::configure()
        .build_server(false)
        .out_dir(&folder)
        .compile_fds(descriptors)
        .expect("a client is generated");
    fs::read_to_string(folder.join(GENERATED)).expect("a client was written")
}

/// The server apart, around the same messages: it reads them with a codec of its own.
fn server(descriptors: FileDescriptorSet) -> String {
    let folder = empty_folder("server");
    tonic_prost_build::configure()
        .build_client(false)
        .extern_path(".diadem.v1", "crate::v1")
        .codec_path("crate::strict::StrictCodec")
        .out_dir(&folder)
        .compile_fds(descriptors)
        .expect("a server is generated");
    fs::read_to_string(folder.join(GENERATED)).expect("a server was written")
}

/// Cargo's folder for the files of tests, so that nothing is generated into the sources but what is compared.
fn empty_folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("generated").join(name);
    if folder.exists() {
        fs::remove_dir_all(&folder).expect("an old folder can be removed");
    }
    fs::create_dir_all(&folder).expect("a folder can be made");
    folder
}
