//! The wire contract: the generated protobuf types, and their conversion to the domain types that the rest of the program
//! speaks. Protobuf types go no further than this crate's users at the edge.

#![forbid(unsafe_code)]

mod metadata;
mod protocol;
mod strict;
mod wire;

pub use metadata::{AUTHORIZATION, bearer, for_good, is_for_good};
pub use protocol::{Protocol, ProtocolError};
pub use strict::{StrictCodec, StrictDecoder};
pub use wire::{WireError, malformed, plan_from_reply, plan_reply, run_from_reply, verdicts_from_reply};

/// The types of the service `diadem.v1`, generated from the .proto file. They are checked in, so that building needs no
/// generator; `tests/generated.rs` compares them with what the .proto file gives, and renews them.
#[allow(missing_docs, clippy::pedantic, unused_qualifications)]
pub mod v1 {
    include!("generated/client.rs");
    include!("generated/server.rs");
}
