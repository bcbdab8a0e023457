//! The recount by an external program.

use std::error::Error;
use std::sync::atomic::Ordering;

use anyhow::bail;
use queens::Unit;
use queens::kernel::Stop;
use records::verify::{SampleRecount, Verification};

use super::progress::RecountProgress;
use crate::external::ExternalProgram;
use crate::signals::Interruption;

/// Counts the sample again by the program. A signal ends the program, and this with an error.
pub fn recount(
    run: &Verification<'_>,
    program: ExternalProgram,
    threads: u32,
    interruption: &Interruption,
) -> anyhow::Result<SampleRecount> {
    let progress = RecountProgress::new("recount", run.sample_units());
    let is_raised = || interruption.raised().load(Ordering::Relaxed);
    let count = |unit: &Unit, stop: &Stop| -> Result<Option<u64>, Box<dyn Error + Send + Sync>> {
        let is_wanted = || !stop.is_stopped() && !is_raised();
        if !is_wanted() {
            return Ok(None);
        }
        Ok(program.count(unit.id.0, &unit.position, &is_wanted)?)
    };
    let again = run.recount_by_program(&count, threads, &|| progress.advance())?;
    if is_raised() {
        bail!("interrupted");
    }
    program.finish()?;
    Ok(again)
}
