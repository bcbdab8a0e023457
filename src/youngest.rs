//! Of several addresses that were given, that of the youngest coordinator: workers count for it, so what an operator wishes is
//! for it, and what is shown is its.

use worker::{CoordinatorError, LeftAlone, Remote, TwoRuns};

use crate::log::say;

/// Has the youngest coordinator called from now on, and says which others are left alone. Whether one was found.
///
/// # Errors
/// Two runs are served at the addresses.
pub async fn call_youngest(remote: &Remote) -> Result<bool, TwoRuns> {
    let left_alone = remote.call_highest_term().await?;
    for LeftAlone { address, term, is_rival } in left_alone.iter().flatten() {
        if *is_rival {
            say(format_args!(
                "diadem: warning: {address} serves term {} of this run too: it has forked, and this one is left alone; stop one of them",
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

/// Asks the youngest coordinator; where none says its term, one address after the other.
///
/// # Errors
/// Two runs are served at the addresses: then nobody is asked.
pub async fn ask_youngest<T>(
    remote: &Remote,
    wish: impl AsyncFn(&Remote) -> Result<T, CoordinatorError>,
) -> Result<Result<T, CoordinatorError>, TwoRuns> {
    let others = if call_youngest(remote).await? { 1 } else { remote.addresses() };
    let mut asked = wish(remote).await;
    for _ in 1..others {
        if asked.is_err() {
            asked = wish(remote).await;
        }
    }
    Ok(asked)
}
