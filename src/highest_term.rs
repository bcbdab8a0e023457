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
/// address after the other; the error then has the reason of each.
///
/// # Errors
/// Two runs are served at the addresses; then no request is sent.
pub async fn ask_highest_term<T>(
    remote: &Remote,
    wish: impl AsyncFn(&Remote) -> Result<T, CoordinatorError>,
) -> Result<Result<T, CoordinatorError>, TwoRuns> {
    let tries = if call_highest_term(remote).await? { 1 } else { remote.addresses() };
    let mut failures = Vec::new();
    for _ in 1..tries {
        let address = remote.address();
        match wish(remote).await {
            Ok(answer) => return Ok(Ok(answer)),
            Err(error) => failures.push((address, error)),
        }
    }
    let address = remote.address();
    Ok(wish(remote).await.map_err(|error| joined(failures, address, error)))
}

/// The last error, with the reasons of all addresses if none can be reached.
fn joined(
    earlier: Vec<(String, CoordinatorError)>,
    address: String,
    last: CoordinatorError,
) -> CoordinatorError {
    let is_absent = |error: &CoordinatorError| matches!(error, CoordinatorError::Unavailable(_));
    if earlier.is_empty() || !is_absent(&last) || !earlier.iter().all(|(_, error)| is_absent(error)) {
        return last;
    }
    let failures = earlier.into_iter().chain([(address, last)]);
    let reasons: Vec<String> = failures.map(|(address, error)| format!("{address}: {error}")).collect();
    CoordinatorError::Unavailable(reasons.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn absent_coordinators_each_have_their_reason() {
        let absent = |why: &str| CoordinatorError::Unavailable(why.into());
        let joined = |first, last| joined(vec![("http://a:1".into(), first)], "http://b:1".into(), last);
        let both = joined(absent("No route to host"), absent("Connection refused"));
        assert_eq!(both.to_string(), "http://a:1: No route to host; http://b:1: Connection refused");
        let refused = CoordinatorError::Refused("not this run".into());
        assert_eq!(joined(absent("No route to host"), refused).to_string(), "not this run");
    }
}
