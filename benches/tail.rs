//! The use of the cores at the end of a run: `cargo bench --bench tail [-- N]`.
//!
//! Counts a board (n = 18 by default) with one core and with all cores. Samples the processor time of the
//! process every few milliseconds. Prints the use of its threads over the whole run and over its last tenth.

use std::fs;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const SAMPLE_EVERY: Duration = Duration::from_millis(5);

fn main() {
    let n = std::env::args().skip(1).find(|arg| arg.parse::<u8>().is_ok()).unwrap_or_else(|| "18".into());
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let mut single = None;
    for threads in [1, cores] {
        let samples = count(&n, threads);
        let &(wall, cpu) = samples.last().expect("the run took longer than a sample");
        let &(at, before) =
            samples.iter().rfind(|(at, _)| *at <= wall * 0.9).expect("the run has a last tenth");
        let speed = single.get_or_insert(wall);
        println!(
            "n = {n}, {threads} threads: {wall:.2} s, {:.2} times as fast as one; core use {:.1} %, over the last tenth {:.1} %",
            *speed / wall,
            100.0 * cpu / wall / threads as f64,
            100.0 * (cpu - before) / (wall - at) / threads as f64,
        );
    }
}

/// Wall and processor seconds of a count, sampled until it ends.
fn count(n: &str, threads: usize) -> Vec<(f64, f64)> {
    let mut child = Command::new(env!("CARGO_BIN_EXE_diadem"))
        .args(["count", n, "--in-memory", "--quiet", "--threads", &threads.to_string()])
        .stdout(Stdio::null())
        .spawn()
        .expect("the binary starts");
    let begun = Instant::now();
    let mut samples = Vec::new();
    while child.try_wait().expect("the child can be waited for").is_none() {
        // The times of a thread are lost when it ends; the run is over by then.
        let so_far = samples.last().map_or(0.0, |(_, cpu)| *cpu);
        if let Some(cpu) = processor_seconds(child.id()).filter(|cpu| *cpu >= so_far) {
            samples.push((begun.elapsed().as_secs_f64(), cpu));
        }
        std::thread::sleep(SAMPLE_EVERY);
    }
    samples
}

/// The processor time of a process so far, from the scheduler's account of its threads.
fn processor_seconds(pid: u32) -> Option<f64> {
    let threads = fs::read_dir(format!("/proc/{pid}/task")).ok()?;
    let nanoseconds = threads.filter_map(|thread| {
        let text = fs::read_to_string(thread.ok()?.path().join("schedstat")).ok()?;
        text.split_whitespace().next()?.parse::<f64>().ok()
    });
    Some(nanoseconds.sum::<f64>() / 1e9)
}
