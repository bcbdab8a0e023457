//! `diadem status`: how far a coordinator's run is, or runs that no coordinator serves.

mod credits;
mod holder;
mod json;
mod shares;
mod text;
mod wait;

use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context;
use domain::{Phase, RunStatus};
use tracing::Level;
use worker::Remote;

use crate::access::{JOIN, STATUS, credentials, refreshed_remote};
use crate::args::{ObserverArgs, StatusArgs};
use crate::exit::UNSOUND;
use crate::highest_term::{ask_highest_term, call_highest_term};
use crate::log;
use crate::output::{listing, print, verdict};
use crate::signals::{Signal, Signals};
use holder::Who;

pub use holder::{held_text, held_value};

pub fn run(args: &StatusArgs) -> anyhow::Result<ExitCode> {
    let who = args.machine.as_deref().map(Who::Machine).or(args.worker.as_deref().map(Who::Worker));
    if let Some(who) = who {
        return show_holder(args, who);
    }
    if !args.runs.is_empty() {
        return listing(shares::show(&args.runs, args.json, args.families));
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    if args.wait {
        // Only what DIADEM_LOG asks for: the command itself prints the warnings.
        log::start(Level::ERROR);
        let ended = runtime.block_on(wait(&args.observer, args.give_up_after));
        // Keys on a file system that hangs must not hold up the exit.
        runtime.shutdown_background();
        return match ended? {
            WaitEnd::Run(status) => show(&status, args.json),
            WaitEnd::Signal(signal) => Ok(signal.exit_code()),
        };
    }
    let (addresses, keys) = (&args.observer.coordinator, &args.observer.keys);
    let credentials = credentials(keys.as_deref(), [STATUS, JOIN])?;
    let status = runtime.block_on(async {
        let remote = Remote::typed(addresses, &credentials)?;
        Ok::<_, anyhow::Error>(ask_highest_term(&remote, async |remote| remote.status().await).await?)
    })?;
    show(&status.with_context(|| nothing_from(addresses))?, args.json)
}

/// What the error of the addresses means. Several addresses stand in the error itself.
fn nothing_from(addresses: &[String]) -> String {
    match addresses {
        [address] => format!("no status from {address}"),
        _ => "no status from any address".into(),
    }
}

/// Prints what a machine or a worker did.
fn show_holder(args: &StatusArgs, who: Who<'_>) -> anyhow::Result<ExitCode> {
    let found = if args.runs.is_empty() {
        let ObserverArgs { coordinator: addresses, keys } = &args.observer;
        let credentials = credentials(keys.as_deref(), [STATUS, JOIN])?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let found = runtime.block_on(async {
            let remote = Remote::new(addresses, &credentials)?;
            let ask = async |remote: &Remote| holder::served(remote, &remote.status().await?, who).await;
            Ok::<_, anyhow::Error>(ask_highest_term(&remote, ask).await?)
        })?;
        found.with_context(|| nothing_from(addresses))??
    } else {
        holder::on_record(&args.runs, who)?
    };
    listing(print(&found.shown(args.json)).map(|()| ExitCode::SUCCESS))
}

/// Why `--wait` ends.
enum WaitEnd {
    Run(Box<RunStatus>),
    Signal(Signal),
}

async fn wait(observer: &ObserverArgs, give_up_after: Duration) -> anyhow::Result<WaitEnd> {
    let mut signals = Signals::new()?;
    let remote = refreshed_remote(&observer.coordinator, observer.keys.clone(), [STATUS, JOIN])?;
    call_highest_term(&remote).await?;
    let remote = remote.giving_up_after(Some(give_up_after));
    tokio::select! {
        status = wait::until_ended(remote, give_up_after) => Ok(WaitEnd::Run(Box::new(status?))),
        signal = signals.next() => Ok(WaitEnd::Signal(signal)),
    }
}

/// Prints the status. The exit code is nonzero if the answer is withheld.
fn show(status: &RunStatus, is_json: bool) -> anyhow::Result<ExitCode> {
    let text = if is_json { json::value(status).to_string() } else { text::text(status) };
    listing(verdict(&text, (status.phase == Phase::Withheld).then_some(ExitCode::from(UNSOUND))))
}

/// Units that are open: not counted and not lent.
fn open(status: &RunStatus) -> u64 {
    status.units.saturating_sub(status.done + status.leased)
}
