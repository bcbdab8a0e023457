//! The commands of Slurm. Accounting (sacct) is not needed.

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::{fs, io};

use thiserror::Error;
use tokio::task::spawn_blocking;

use super::job_script::JobScript;
use super::queue::{FORMAT, Job, JobId};
use crate::host;

/// A command of Slurm has failed.
#[derive(Debug, Error)]
pub enum SlurmError {
    #[error(
        "cannot start {program} ({why}): start diadem autoalloc where Slurm's commands are in the PATH, as on a login node"
    )]
    Start { program: &'static str, why: io::Error },
    #[error("{program} has failed: {why}")]
    Failed { program: &'static str, why: String },
}

/// What Slurm knows of a job that has ended.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct JobEnd {
    /// As in `FAILED`.
    pub state: String,
    pub exit_code: String,
    pub log: Option<PathBuf>,
}

/// The user's jobs of that name, also those that have ended lately, the oldest first.
pub async fn list(name: &str) -> Result<Vec<Job>, SlurmError> {
    let of_name = format!("--name={name}");
    let format = format!("--format={FORMAT}");
    let arguments = ["--me", "--noheader", "--states=all", &of_name, &format].map(str::to_owned);
    let text = output("squeue", arguments.to_vec(), None).await?;
    let mut jobs: Vec<Job> = text.lines().filter_map(Job::read).collect();
    jobs.sort_by_key(|job| job.id);
    Ok(jobs)
}

/// Submits a job.
pub async fn submit(job: &JobScript) -> Result<JobId, SlurmError> {
    let text = output("sbatch", job.options().to_vec(), Some(job.text().to_owned())).await?;
    // The number, and behind a semicolon the cluster.
    let number = text.trim().split(';').next().and_then(|number| number.parse().ok());
    number.map(JobId).ok_or_else(|| SlurmError::Failed {
        program: "sbatch",
        why: format!(
            "it printed {:?} instead of a job's number; only options may stand after --",
            text.trim()
        ),
    })
}

/// Cancels those of the jobs that still wait.
pub async fn cancel_waiting(jobs: &[JobId]) -> Result<(), SlurmError> {
    let ids = jobs.iter().map(|id| id.0.to_string());
    output("scancel", ["--state=PENDING".to_owned()].into_iter().chain(ids).collect(), None).await.map(drop)
}

/// How a job has ended, where Slurm still knows that.
pub async fn job_end(id: JobId) -> Option<JobEnd> {
    let arguments = ["show", "job", &id.0.to_string()].map(str::to_owned);
    output("scontrol", arguments.to_vec(), None).await.ok().map(|text| read_job_end(&text))
}

fn read_job_end(text: &str) -> JobEnd {
    let field = |name: &str| {
        let mut fields = text.split_whitespace();
        fields.find_map(|field| field.strip_prefix(name)?.strip_prefix('=')).map(str::to_owned)
    };
    JobEnd {
        state: field("JobState").unwrap_or_default(),
        // The number of a signal may stand behind it.
        exit_code: field("ExitCode").unwrap_or_default().trim_end_matches(":0").to_owned(),
        log: field("StdOut").map(PathBuf::from),
    }
}

impl JobEnd {
    /// The last line of its log, where this machine sees the log.
    pub fn last_line(&self) -> Option<String> {
        let text = fs::read(self.log.as_ref()?).ok()?;
        let text = String::from_utf8_lossy(&text);
        text.lines().map(str::trim).rfind(|line| !line.is_empty()).map(str::to_owned)
    }
}

/// The output of a command of Slurm.
async fn output(
    program: &'static str,
    arguments: Vec<String>,
    input: Option<String>,
) -> Result<String, SlurmError> {
    let failed = |why: String| SlurmError::Failed { program, why };
    let run = spawn_blocking(move || run(program, arguments, input));
    let (succeeded, text, errors) = match run.await {
        Ok(run) => run.map_err(|why| SlurmError::Start { program, why })?,
        Err(error) => return Err(failed(error.to_string())),
    };
    if succeeded {
        return Ok(text);
    }
    let last = errors.lines().map(str::trim).rfind(|line| !line.is_empty());
    Err(failed(last.unwrap_or("it gives no reason").to_owned()))
}

/// Runs a program. Returns whether it succeeded, and what it wrote.
fn run(
    program: &'static str,
    arguments: Vec<String>,
    input: Option<String>,
) -> io::Result<(bool, String, String)> {
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    // Ctrl-C must not end a program that has just submitted a job.
    host::group_apart(&mut command);
    let mut child = command.spawn()?;
    // A program that fails at once does not read its input, and then its own error counts.
    child.stdin.take().and_then(|mut stdin| stdin.write_all(input.unwrap_or_default().as_bytes()).ok());
    let output = child.wait_with_output()?;
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    Ok((output.status.success(), text(output.stdout), text(output.stderr)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn end_of_a_job_is_read_from_scontrol() {
        let text = "JobId=7 JobName=diadem-auto\n   JobState=FAILED Reason=NonZeroExitCode Dependency=(null)\n   \
                    Requeue=0 Restarts=0 BatchFlag=1 Reboot=0 ExitCode=1:0\n   StdOut=/runs/diadem-auto-7.log\n";
        let end = read_job_end(text);
        assert_eq!((&*end.state, &*end.exit_code), ("FAILED", "1"));
        assert_eq!(end.log, Some("/runs/diadem-auto-7.log".into()));
        assert_eq!(read_job_end("ExitCode=0:9").exit_code, "0:9");
        assert_eq!(read_job_end(""), JobEnd::default());
    }
}
