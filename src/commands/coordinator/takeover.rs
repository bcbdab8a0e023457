//! What `--take-over` would change, and the way back.

use std::path::Path;
use std::process::ExitCode;

use dashboard::words;
use domain::{counted, quoted};
use records::Takeover;
use records::run_directory::notes::HigherTerm;

use crate::output::print;
use crate::progress::during;

/// How a takeover is undone, wherever the former coordinator is.
pub const WAY_BACK: &str = "to undo: stop this coordinator, and start the former one once with --take-over; what was recorded here \
    since is counted again. To lose nothing, let diadem follow copy this run to the former machine, stop this coordinator, and take \
    over there";

/// Prints what a takeover of this run directory would change.
pub fn foresee(run: &Path) -> anyhow::Result<ExitCode> {
    let takeover = during("reading the ledger", || Takeover::foreseen(run))?;
    print(&in_words(run, &takeover))?;
    Ok(ExitCode::SUCCESS)
}

fn in_words(run: &Path, takeover: &Takeover) -> String {
    let Takeover { before, after, records, done, .. } = takeover;
    let last = takeover.last.map_or("none yet".to_owned(), words::date);
    let kind = if takeover.is_copy { "a follower's copy" } else { "not a follower's copy" };
    let mut lines = vec![
        format!("with --dry-run nothing is changed; the takeover of {}, {kind}:", run.display()),
        format!("term: {before} -> {after}"),
        format!(
            "it has: {}, {}; the last count: {last}",
            counted(*records, "record"),
            counted(*done, "counted unit")
        ),
        format!("it may lack: {}", lack(takeover)),
        format!("it stops: {}", stopped(takeover)),
    ];
    if let Some(pid) = &takeover.writer {
        lines.push(format!(
            "first: process {pid} writes in {}; stop it, or the takeover is refused",
            quoted(&run.to_string_lossy())
        ));
    }
    lines.push(WAY_BACK.to_owned());
    lines.join("\n")
}

/// The acknowledged records that the folder may lack, as far as it can know.
fn lack(takeover: &Takeover) -> String {
    match (takeover.is_copy, takeover.replicas) {
        (false, _) => {
            "everything that another coordinator of the run has recorded; its units are counted again"
                .to_owned()
        }
        (true, 0) => {
            "counts acknowledged after its last record, because the run waits for no follower; they are \
                      counted again"
                .to_owned()
        }
        (true, replicas) => format!(
            "nothing acknowledged, if no other follower has more records: each count waited for {}",
            counted(replicas, "follower")
        ),
    }
}

/// Whom the takeover stops.
fn stopped(takeover: &Takeover) -> String {
    match &takeover.other {
        Some(HigherTerm { term, coordinator }) => format!(
            "the coordinator {coordinator} of term {term}, as soon as a worker or follower has met both; workers and \
             followers move here"
        ),
        None => format!(
            "any other coordinator up to term {}, as soon as a worker or follower has met both; workers and followers \
             move here",
            takeover.before
        ),
    }
}
