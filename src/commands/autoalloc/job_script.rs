//! The job that is submitted: the options of sbatch, and a script for one worker.

use std::env;
use std::path::{Path, absolute};
use std::time::Duration;

use anyhow::Context;
use domain::{RunStatus, quoted};

use crate::args::SlurmArgs;

/// What the script does after its variables are set.
const BODY: &str = include_str!("worker.sh");

/// The longest time before the limit at which a worker drains. A unit of n = 28 takes six minutes.
const LONGEST_WARNING: Duration = Duration::from_mins(20);

/// Slurm may be this late with its signal, and the worker needs time to hand in its last counts.
const LAST_CALLS: Duration = Duration::from_secs(30);

/// A job of one worker.
pub struct JobScript {
    name: String,
    text: String,
    /// The options of sbatch.
    options: Vec<String>,
}

impl JobScript {
    /// The job for workers of that run. Its name depends on the run and on the user's options of sbatch, so that each
    /// such queue finds its own jobs.
    pub fn new(args: &SlurmArgs, status: &RunStatus) -> anyhow::Result<Self> {
        let program = env::current_exe().context("this program does not know its own path")?;
        let warning = (args.time / 6).min(LONGEST_WARNING);
        let drain = warning.saturating_sub(LAST_CALLS.min(warning / 2));
        let name = job_name(status, &args.sbatch);
        let defaults = [
            "--output=diadem-auto-%j.log".to_owned(),
            "--open-mode=append".to_owned(),
            // A new job takes the place of a lost job.
            "--no-requeue".to_owned(),
            format!("--signal=B:TERM@{}", warning.as_secs()),
        ];
        // The last of two options counts.
        let fixed = [
            "--parsable".to_owned(),
            format!("--job-name={name}"),
            format!("--time={}", args.time.as_secs().div_ceil(60)),
        ];
        let options = defaults.into_iter().chain(args.sbatch.iter().cloned()).chain(fixed).collect();
        let keys = args.keys.as_deref().map(of_any_folder).transpose()?;
        let addresses = args.coordinator.iter().map(|address| address_of_any_folder(address));
        let addresses = addresses.collect::<anyhow::Result<Vec<_>>>()?;
        let text = format!(
            "#!/bin/sh\ndiadem={}\ncoordinator={}\nkeys={}\ndrain={}s\n{BODY}",
            quoted(&of_any_folder(&program)?),
            quoted(&addresses.join(",")),
            quoted(&keys.unwrap_or_default()),
            drain.as_secs(),
        );
        Ok(Self { name, text, options })
    }

    /// The name of all jobs.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The script.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The arguments of sbatch, which reads the script from its input.
    pub fn options(&self) -> &[String] {
        &self.options
    }

    /// The command that submits the job, for a shell.
    pub fn shown(&self) -> String {
        let options: Vec<String> = self.options.iter().map(|option| quoted(option)).collect();
        format!("sbatch {} << 'END_OF_JOB'\n{}END_OF_JOB", options.join(" "), self.text)
    }
}

fn job_name(status: &RunStatus, options: &[String]) -> String {
    let run = status.run.map_or_else(|| status.fingerprint.to_string(), |run| format!("{:032x}", run.0));
    let hash = blake3::hash([&[run][..], options].concat().join("\n").as_bytes()).to_hex();
    format!("diadem-auto-{}-{}", status.board.n(), &hash[..8])
}

/// The path as a job may name it, whatever folder it begins in.
fn of_any_folder(path: &Path) -> anyhow::Result<String> {
    let path = absolute(path).with_context(|| format!("cannot find {}", path.display()))?;
    let text = path.to_str().with_context(|| {
        format!("{} is not UTF-8, which a job cannot name: use another path", path.display())
    })?;
    Ok(text.to_owned())
}

/// The address as a job may name it: a file of addresses by its full path.
fn address_of_any_folder(address: &str) -> anyhow::Result<String> {
    match address.strip_prefix('@') {
        Some(file) => Ok(format!("@{}", of_any_folder(Path::new(file))?)),
        None => Ok(address.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use domain::RunId;

    use super::*;
    use crate::samples::running;

    fn args(sbatch: &[&str]) -> SlurmArgs {
        SlurmArgs {
            coordinator: vec!["http://a:1".into(), "@a b.url".into()],
            keys: Some("keys/worker".into()),
            max_workers: 4,
            time: Duration::from_hours(8),
            dry_run: false,
            sbatch: sbatch.iter().map(ToString::to_string).collect(),
        }
    }

    #[test]
    fn job_name_differs_by_run_and_by_options() {
        let status = |run| RunStatus { run: Some(RunId(run)), ..running() };
        let name = |run, options: &[&str]| JobScript::new(&args(options), &status(run)).unwrap().name;
        assert_eq!(name(1, &["--qos=low"]), name(1, &["--qos=low"]));
        assert_ne!(name(1, &[]), name(2, &[]));
        assert_ne!(name(1, &[]), name(1, &["--qos=low"]));
    }

    #[test]
    fn options_of_the_user_override_only_the_defaults() {
        let job = JobScript::new(&args(&["--output=x", "--time=1"]), &running()).unwrap();
        let last = |name: &str| job.options.iter().rfind(|option| option.starts_with(name)).unwrap().clone();
        assert_eq!((last("--output="), last("--time=")), ("--output=x".to_owned(), "--time=480".to_owned()));
        assert_eq!(last("--signal="), "--signal=B:TERM@1200");
    }

    #[test]
    fn paths_in_the_script_are_absolute_and_quoted() {
        let text = JobScript::new(&args(&[]), &running()).unwrap().text;
        let here = env::current_dir().unwrap();
        let here = here.to_str().unwrap();
        let wanted = [
            format!("coordinator={}", quoted(&format!("http://a:1,@{here}/a b.url"))),
            format!("keys={}", quoted(&format!("{here}/keys/worker"))),
            "drain=1170s".to_owned(),
        ];
        for line in wanted {
            assert!(text.lines().any(|found| found == line), "no {line} in {text}");
        }
    }
}
