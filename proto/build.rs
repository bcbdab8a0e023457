//! Compiles the .proto file with protox, so that no protoc is needed.

use std::env;
use std::path::Path;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let contract = "proto/diadem/v1/coordinator.proto";
    println!("cargo::rerun-if-changed={contract}");
    let descriptors = protox::compile([contract], ["proto"])?;
    tonic_prost_build::configure().build_server(false).compile_fds(descriptors.clone())?;
    // The server apart, around the same messages: it reads them with a codec of its own.
    let server = Path::new(&env::var("OUT_DIR")?).join("server");
    std::fs::create_dir_all(&server)?;
    tonic_prost_build::configure()
        .build_client(false)
        .extern_path(".diadem.v1", "crate::v1")
        .codec_path("crate::strict::StrictCodec")
        .out_dir(server)
        .compile_fds(descriptors)?;
    Ok(())
}
