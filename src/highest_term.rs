//! The coordinator of the highest term, among several addresses. Workers count for it, so operator requests
//! go to it and its status is shown.

use worker::{CoordinatorError, LeftAlone, Remote, TwoRuns};

use crate::log::say;

/// Uses the coordinator of the highest term from now on, and warns of the others. Returns whether a
/// coordinator was found.
///
/// # Errors
/// Two runs are served at the addresses.
pub async fn call_highest_term(remote: &Remote) -> Result<bool, TwoRuns> {
    let left_alone = remote.call_highest_term().await?;
    for LeftAlone { address, term, is_rival } in left_alone.iter().flatten() {
        if *is_rival {
            say(format_args!(
                "diadem: warning: {address} serves term {} of this run, too, and is left alone; the run \
                 has forked, stop one of them",
                term.number
            ));
        } else {
            say(format_args!(
                "diadem: warning: {address} serves an older term {} of this run and is left alone",
                term.number
            ));
        }
    }
    Ok(left_alone.is_some())
}

/// Sends a request to the coordinator of the highest term. If no coordinator returns its term, tries one
/// address after the other.
///
/// # Errors
/// Two runs are served at the addresses; then no request is sent.
pub async fn ask_highest_term<T>(
    remote: &Remote,
    wish: impl AsyncFn(&Remote) -> Result<T, CoordinatorError>,
) -> Result<Result<T, CoordinatorError>, TwoRuns> {
    let others = if call_highest_term(remote).await? { 1 } else { remote.addresses() };
    let mut asked = wish(remote).await;
    for _ in 1..others {
        if asked.is_err() {
            asked = wish(remote).await;
        }
    }
    Ok(asked)
}
