//! `diadem autoalloc slurm` with made-up commands of Slurm, which run jobs on this machine: two at a time, and the others wait.
//! `deploy/test slurm` has the real Slurm.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use crate::harness::{Completed, Folder, Running, published, until};

/// A job is a folder with a number: its script, its options, its state, and its log.
const SBATCH: &str = r#"
cd slurm || exit
id=$(($(ls | wc -l) + 1))
mkdir "$id"
cat > "$id/script"
echo "$@" > "$id/options"
[ ! -e ../refuses ] || { echo 'sbatch: error: invalid partition specified: night' >&2; exit 1; }
if [ "$(cat */state 2> /dev/null | grep -c RUNNING)" -lt 2 ]; then
    echo RUNNING > "$id/state"
    export SLURM_JOB_ID="$id" SLURMD_NODENAME="node$id" SLURM_CPUS_ON_NODE=1
    (sh "$id/script" && echo COMPLETED > "$id/state" || echo FAILED > "$id/state") > "$id/log" 2>&1 &
else
    echo PENDING > "$id/state"
fi
echo "$id"
"#;
const SQUEUE: &str = r#"
cd slurm && for id in *; do [ ! -e "$id/state" ] || echo "$id|$(cat "$id/state")|0:02|1"; done
"#;
const SCANCEL: &str = r#"
shift
for id; do [ "$(cat "slurm/$id/state")" != PENDING ] || echo CANCELLED > "slurm/$id/state"; done
"#;
const SCONTROL: &str = r#"
echo " JobState=$(cat "slurm/$3/state") ExitCode=1:0"; echo " StdOut=$PWD/slurm/$3/log"
"#;

/// A folder with a Slurm without jobs.
fn with_slurm() -> Folder {
    let folder = Folder::new();
    fs::create_dir(folder.path().join("slurm")).unwrap();
    fs::create_dir(folder.path().join("bin")).unwrap();
    for (name, script) in
        [("sbatch", SBATCH), ("squeue", SQUEUE), ("scancel", SCANCEL), ("scontrol", SCONTROL)]
    {
        let file = folder.path().join("bin").join(name);
        fs::write(&file, format!("#!/bin/sh{script}")).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
    }
    folder
}

fn autoalloc(folder: &Folder, args: &str) -> Command {
    let mut command = folder.diadem(&format!("autoalloc slurm --time 8h {args}"));
    let path = format!("{}:{}", folder.path().join("bin").display(), std::env::var("PATH").unwrap());
    // The jobs do not outlive the test for long.
    command.env("DIADEM_GIVE_UP_AFTER", "1s").env("DIADEM_ON_COORDINATOR_LOST", "exit");
    command.env("DIADEM_METHOD", "search").env("DIADEM_ISA", "portable").env("PATH", path);
    command
}

fn start(folder: &Folder, args: &str, log: &str) -> Running {
    folder.start_command(&mut autoalloc(folder, args), log)
}

/// How many jobs are in that state.
fn jobs(folder: &Folder, state: &str) -> usize {
    let files =
        fs::read_dir(folder.path().join("slurm")).unwrap().map(|job| job.unwrap().path().join("state"));
    files.filter(|file| fs::read_to_string(file).is_ok_and(|text| text.trim() == state)).count()
}

#[test]
fn run_counted_by_jobs_cancels_those_that_wait() {
    let folder = with_slurm();
    let (coordinator, address) = folder.serve("coordinator --n 16 --method search --run run --json", "log");
    let allocation =
        start(&folder, &format!("--max-workers 5 --coordinator http://{address}"), "autoalloc.log");
    let ended = allocation.end();
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(ended.stderr.contains("submitted 5 jobs"), "{ended:?}");
    assert!(ended.stderr.contains("the run is complete; cancelled 3 waiting jobs"), "{ended:?}");
    assert_eq!(coordinator.end().json()["total"], published(16));
    until("the jobs have ended", || jobs(&folder, "COMPLETED") == 2);
    assert_eq!(jobs(&folder, "CANCELLED"), 3);
    assert!(folder.ledger("run").contains("\"node1-1\""));
}

#[test]
fn second_start_finds_the_jobs_of_the_first() {
    let folder = with_slurm();
    let (_coordinator, address) = folder.serve("coordinator --n 20 --run run", "log");
    let args = format!("--max-workers 5 --coordinator http://{address} -- --partition=night");
    let first = start(&folder, &args, "first.log");
    until("jobs are submitted", || first.says("submitted 5 jobs"));
    first.kill();
    let second = start(&folder, &args, "second.log");
    until("it begins", || second.says("waiting=3 running=2"));
    second.terminate();
    let ended = second.end();
    assert_eq!(ended.code, Some(143), "{ended:?}");
    assert!(ended.stderr.contains("cancelled 3 waiting jobs; left 2 running jobs to count"), "{ended:?}");
    assert_eq!((jobs(&folder, "RUNNING"), jobs(&folder, "CANCELLED")), (2, 3));
    let options = fs::read_to_string(folder.path().join("slurm/1/options")).unwrap();
    assert!(options.contains("--partition=night --parsable --job-name=diadem-auto-20-"), "{options}");
}

#[test]
fn jobs_that_fail_at_once_are_reported_with_their_log() {
    let folder = with_slurm();
    let (_coordinator, address) = folder.serve("coordinator --n 20 --run run", "log");
    let mut command = autoalloc(&folder, &format!("--max-workers 2 --coordinator http://{address}"));
    let allocation = folder.start_command(command.env("DIADEM_METHOD", "wrong"), "autoalloc.log");
    until("it reports a failure", || allocation.says("the next job is submitted in 20s"));
    allocation.interrupt();
    let ended = allocation.end();
    assert_eq!(ended.code, Some(130), "{ended:?}");
    let failure = ended.stderr.lines().find(|line| line.contains("the next job")).unwrap();
    for words in ["(FAILED, exit code 1)", "\"wrong\"", "DIADEM_METHOD", "; its log is "] {
        assert!(failure.contains(words), "no {words} in {failure}");
    }
    assert_eq!(jobs(&folder, "FAILED"), 2);
}

#[test]
fn refused_first_job_ends_the_command() {
    let folder = with_slurm();
    let (_coordinator, address) = folder.serve("coordinator --n 20 --run run", "log");
    fs::write(folder.path().join("refuses"), "").unwrap();
    let args = format!("--max-workers 2 --coordinator http://{address}");
    let ended = start(&folder, &args, "autoalloc.log").end();
    assert_eq!(ended.code, Some(1), "{ended:?}");
    let reason = "diadem: sbatch has failed: sbatch: error: invalid partition specified: night";
    assert!(ended.stderr.contains(reason), "{ended:?}");
}

#[test]
fn missing_slurm_is_named_and_dry_run_needs_none() {
    let folder = Folder::new();
    let (_coordinator, address) = folder.serve("coordinator --n 20 --run run", "log");
    let line = format!("autoalloc slurm --time 8h --max-workers 2 --coordinator http://{address}");
    let mut command = folder.diadem(&line);
    let refused = Completed::of(command.env("PATH", folder.path()).output().unwrap());
    refused.refused(&["cannot start squeue", "login node"]);
    let mut command = folder.diadem(&format!("{line} --dry-run -- --partition=night"));
    let shown = Completed::of(command.env("PATH", folder.path()).output().unwrap());
    assert_eq!(shown.code, Some(0), "{shown:?}");
    assert!(shown.stdout.starts_with("sbatch ") && shown.stdout.ends_with("END_OF_JOB\n"), "{shown:?}");
    assert!(shown.stdout.contains(&format!("coordinator=http://{address}\n")), "{shown:?}");
    folder
        .run(&format!("{line} -- --array=1-9"))
        .refused(&["--array=1-9", "--max-workers limits their number"]);
}
