//! Compiles the .proto file with protox, so that no protoc is needed.

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let contract = "proto/diadem/v1/coordinator.proto";
    println!("cargo::rerun-if-changed={contract}");
    let descriptors = protox::compile([contract], ["proto"])?;
    tonic_prost_build::configure().compile_fds(descriptors)?;
    Ok(())
}
