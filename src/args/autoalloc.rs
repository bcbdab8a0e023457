//! The arguments of `diadem autoalloc`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand};

use super::value::{ValueError, time, whole};

/// Let a batch engine start workers while there is work.
#[derive(Debug, Args)]
pub struct AutoallocArgs {
    #[command(subcommand)]
    pub engine: Engine,
}

#[derive(Debug, Subcommand)]
pub enum Engine {
    Slurm(SlurmArgs),
}

/// Submit workers to Slurm while units are open.
///
/// Each job is one worker, with a thread for each processor of the job. The command runs until the run has ended. Then, and
/// after Ctrl-C or SIGTERM, it cancels the jobs that wait; running jobs finish. Started again with the same options of
/// sbatch, it finds its jobs. If jobs fail at once, it submits one job at a time, at growing intervals.
///
/// All nodes must reach the coordinator, this program, and the folder of --keys, by the same names as this machine.
#[derive(Debug, Args)]
#[command(override_usage = "\
diadem autoalloc slurm --max-workers K --time TIME --coordinator URL
         [OPTIONS] [-- OPTION...]")]
#[command(after_help = "\
Examples:
  diadem autoalloc slurm --max-workers 200 --time 8h \\
     --coordinator https://10.0.0.7:7227 --keys keys/worker \\
     -- --partition=batch --cpus-per-task=16
  diadem autoalloc slurm --max-workers 50 --time 4h \\
     --coordinator @diadem-27.url --keys diadem-27-keys/worker --dry-run

Variables such as DIADEM_NICE=19 are the options of the workers.")]
pub struct SlurmArgs {
    /// Coordinator URL; may be repeated.
    ///
    /// Several, also with commas between, are tried in turn. @FILE stands for the addresses in a file.
    #[arg(long, value_name = "URL", value_delimiter = ',', required = true)]
    pub coordinator: Vec<String>,
    /// Folder with ca.pem and join.token.
    ///
    /// Or with client.pem and client.key. The workers use it, too.
    #[arg(long, value_name = "DIR")]
    pub keys: Option<PathBuf>,
    /// Most jobs at a time, waiting or running.
    ///
    /// At most ten of them wait.
    #[arg(long, value_name = "K", value_parser = whole::<u32>(1..=4096))]
    pub max_workers: u32,
    /// Time limit of each job, as in 90m, 8h.
    ///
    /// A worker drains in the last sixth of it, of at most twenty minutes.
    #[arg(long, value_name = "TIME", value_parser = job_time)]
    pub time: Duration,
    /// Print the job, and submit nothing.
    #[arg(long)]
    pub dry_run: bool,
    /// Options for sbatch, after --.
    #[arg(last = true, value_name = "OPTION", value_parser = sbatch_option)]
    pub sbatch: Vec<String>,
}

/// The least time in which a worker does some work before it drains.
const SHORTEST_JOB: Duration = Duration::from_mins(2);

fn job_time(text: &str) -> Result<Duration, ValueError> {
    let is_long_enough = |time: &Duration| *time >= SHORTEST_JOB;
    let limit = time(text)?;
    Some(limit).filter(is_long_enough).ok_or_else(|| ValueError::new(text, "a time of at least 2m"))
}

/// Options of sbatch with which a job would not be one worker, or sbatch would not return.
const NOT_FOR_ONE_WORKER: [&str; 5] = ["--array", "-a", "--wait", "-W", "--wrap"];

/// A word that may stand in a command line of sbatch.
fn sbatch_option(text: &str) -> Result<String, ValueError> {
    let name = text.split('=').next().unwrap_or(text);
    if NOT_FOR_ONE_WORKER.contains(&name) {
        let wanted = "an option for jobs of one worker each: leave it out; --max-workers limits their number";
        return Err(ValueError::new(text, wanted));
    }
    Ok(text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sbatch_option_for_several_jobs_is_refused() {
        for option in ["--partition=batch", "-p", "batch", "--wait-all-nodes=1", "--account=a"] {
            assert_eq!(sbatch_option(option).as_deref(), Ok(option));
        }
        for option in ["--array=1-9", "--array", "-a", "--wait", "-W", "--wrap=true"] {
            assert!(sbatch_option(option).is_err(), "{option}");
        }
    }

    #[test]
    fn job_time_below_two_minutes_is_refused() {
        assert_eq!(job_time("8h"), Ok(Duration::from_hours(8)));
        assert!(job_time("119s").is_err() && job_time("8").is_err());
    }
}
