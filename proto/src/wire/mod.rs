//! Conversion between protobuf and domain types. Received messages are checked here, once.

mod credit;
mod explain;
mod follow;
mod leasing;
mod operator;
mod status;
#[cfg(test)]
mod tests;

use std::time::Duration;

use domain::{RunId, Term, is_unseen};
use queens::PlanSpec;
use queens::kernel::KernelName;
use queens::plan::Fingerprint;
use thiserror::Error;

pub use leasing::verdicts_from_reply;

use crate::protocol::Protocol;
use crate::v1;

/// A message with an invalid value.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{field} cannot be {value}; it must be {wanted}")]
pub struct WireError {
    field: &'static str,
    value: String,
    wanted: &'static str,
}

impl WireError {
    fn new(field: &'static str, value: impl ToString, wanted: &'static str) -> Self {
        let mut value = value.to_string();
        // A text that is too long is not repeated in full.
        if let Some((end, _)) = value.char_indices().nth(LONGEST_SHOWN) {
            value.truncate(end);
            value.push_str(" ...");
        }
        Self { field, value, wanted }
    }
}

/// The gRPC status for a malformed message.
pub fn malformed(error: &WireError) -> tonic::Status {
    tonic::Status::invalid_argument(error.to_string())
}

/// Maximum number of characters of a wrong value in an error.
const LONGEST_SHOWN: usize = 100;

/// Fingerprints have 32 digits.
const LONGEST_FINGERPRINT: usize = 64;

/// More threads than any machine has are refused.
const MOST_THREADS: u32 = 65_536;

/// Larger totals are refused: no board of 32 has as many solutions, and sums of these still fit.
const LARGEST_TOTAL: u128 = 10_u128.pow(36);

/// The plan as announced by the coordinator, with its protocol versions, its run and its term.
pub fn plan_reply(
    spec: PlanSpec,
    fingerprint: &Fingerprint,
    run: Option<RunId>,
    term: Option<Term>,
) -> v1::PlanReply {
    let spec = serde_json::to_string(&spec).expect("a specification is plain data");
    let (fingerprint, term) = (fingerprint.to_string(), term.map(Into::into));
    let run = run_bytes(run);
    Protocol::announce(v1::PlanReply { spec, fingerprint, run, term, ..v1::PlanReply::default() })
}

/// Which run the coordinator serves, and in which term.
///
/// # Errors
/// The coordinator names no run or no term.
pub fn run_from_reply(reply: &v1::PlanReply) -> Result<(RunId, Term), WireError> {
    let run = run_from_bytes(&reply.run)?.ok_or_else(|| WireError::new("a run", "empty", "16 bytes"))?;
    let term =
        reply.term.clone().ok_or_else(|| WireError::new("the coordinator's term", "missing", "there"))?;
    Ok((run, term.try_into()?))
}

/// A run in a message; none if the run has no ledger.
fn run_bytes(run: Option<RunId>) -> Vec<u8> {
    run.map(|RunId(run)| run.to_be_bytes().to_vec()).unwrap_or_default()
}

fn run_from_bytes(bytes: &[u8]) -> Result<Option<RunId>, WireError> {
    if bytes.is_empty() {
        return Ok(None);
    }
    let run =
        bytes.try_into().map_err(|_| WireError::new("a run", format!("{} bytes", bytes.len()), "16 bytes"));
    Ok(Some(RunId(u128::from_be_bytes(run?))))
}

/// The plan as a worker understands it.
///
/// # Errors
/// This release knows no such plan, or the fingerprint is none.
pub fn plan_from_reply(reply: v1::PlanReply) -> Result<(PlanSpec, Fingerprint), WireError> {
    let spec = serde_json::from_str(&reply.spec)
        .map_err(|_| WireError::new("the plan", reply.spec, "one that this release of diadem knows"))?;
    Ok((spec, parse_fingerprint(reply.fingerprint)?))
}

fn parse_fingerprint(text: String) -> Result<Fingerprint, WireError> {
    if text.len() > LONGEST_FINGERPRINT || text.contains(is_unseen) {
        return Err(WireError::new("a fingerprint", format!("{text:?}"), "32 digits"));
    }
    Ok(Fingerprint::from(text))
}

fn parse_kernel(text: &str) -> Result<KernelName, WireError> {
    text.parse()
        .map_err(|_| WireError::new("the kernel", format!("{text:?}"), "one like \"search/portable\""))
}

fn wide(text: &str) -> Result<u128, WireError> {
    let total = text.parse().ok().filter(|total| *total <= LARGEST_TOTAL);
    total.ok_or_else(|| WireError::new("a total", format!("{text:?}"), "a whole number up to 10^36"))
}

fn seconds(seconds: f64) -> Result<Duration, WireError> {
    Duration::try_from_secs_f64(seconds)
        .map_err(|_| WireError::new("a time", seconds, "a number of seconds from 0 on"))
}

fn millis(duration: Duration) -> u64 {
    duration.as_millis().try_into().unwrap_or(u64::MAX)
}
