//! Admission of callers: credentials, limits on connections, and TLS. The gRPC service and the dashboard use the same
//! rules.

mod access;
mod bearers;
mod caller;
mod connections;
mod encryption;
mod guard;
mod seats;

pub use access::Access;
pub use bearers::{Bearers, TokenHash};
pub use caller::{Caller, Right};
pub use connections::{Clients, Connection, Rules};
pub use encryption::{Encryption, ServerKeys, UnusableKeys};
pub use guard::Guard;
pub use seats::{Crowded, Limits, Peer, Seats};
