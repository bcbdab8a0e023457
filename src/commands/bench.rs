//! `diadem bench`: how fast the kernels count on this machine, and how long a whole board would take.
//!
//! Each line of the table is one kernel on some threads, which counts positions drawn at random ([`measurement`]) until
//! its share of the time is up; [`row`] says what follows from them.

mod measurement;
mod row;

use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use queens::kernel::{Isa, KernelName, Method, kernel};
use queens::plan::Sampler;
use queens::{Board, Plan};

use crate::args::{BenchArgs, new_plan};
use crate::output::print;
use crate::signals;
use measurement::Measurement;
use row::Row;

/// The exit code after Ctrl-C, as shells have it.
const INTERRUPTED: u8 = 130;

pub fn run(args: &BenchArgs) -> anyhow::Result<ExitCode> {
    let interrupted = on_interruption()?;
    if !args.json {
        print(Row::HEAD)?;
    }
    for &n in &args.n {
        let lines = lines(n, args)?;
        let shares: f64 = lines.iter().map(|line| line.share).sum();
        for line in &lines {
            let plan = Plan::derive(new_plan(n, Some(line.kernel.method), args.split.scheme()))?;
            let kernel = kernel(line.kernel.method, Some(line.kernel.isa))?;
            let seconds = args.seconds * line.share / shares;
            let sampler = Sampler::new(&plan);
            let measurement =
                Measurement::take(&sampler, &*kernel, line.threads, seconds, args.seed, &interrupted);
            if let Some(row) = Row::of(&plan, kernel.name(), line.threads, &measurement) {
                print(&if args.json { row.json().to_string() } else { row.text() })?;
            }
            if interrupted.load(Ordering::Relaxed) {
                return Ok(ExitCode::from(INTERRUPTED));
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// A flag that Ctrl-C and SIGTERM set.
fn on_interruption() -> anyhow::Result<Arc<AtomicBool>> {
    let flag = Arc::new(AtomicBool::new(false));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let set = Arc::clone(&flag);
    std::thread::spawn(move || {
        if runtime.block_on(signals::interrupted()).is_ok() {
            set.store(true, Ordering::Relaxed);
        }
    });
    Ok(flag)
}

/// What one line of the table measures.
struct Line {
    kernel: KernelName,
    threads: usize,
    /// Its share of the board's time, relative to that of the other lines.
    share: f64,
}

/// Every kernel that was asked for with one thread; the best of them has as much time as all others together, and another line
/// with all threads.
fn lines(n: Board, args: &BenchArgs) -> anyhow::Result<Vec<Line>> {
    let methods = args.method.0.map_or(Method::ALL.to_vec(), |method| vec![method]);
    let isas = match args.isa.0 {
        Some(isa) => vec![isa],
        None => Isa::ALL.into_iter().filter(|isa| isa.is_available()).collect(),
    };
    let best_isa = args.isa.0.unwrap_or_else(Isa::best);
    let best_method = args.method.0.unwrap_or_else(|| Method::best(n));
    let best = kernel(best_method, Some(best_isa))?.name();
    let kernels =
        methods.iter().flat_map(|method| isas.iter().map(|isa| KernelName { method: *method, isa: *isa }));
    let mut lines: Vec<Line> = kernels.map(|kernel| Line { kernel, threads: 1, share: 1.0 }).collect();
    let threads = args.threads.count() as usize;
    if threads > 1 {
        lines.push(Line { kernel: best, threads, share: 1.0 });
    }
    let others = lines.len() as f64 - 1.0;
    if let Some(line) = lines.iter_mut().find(|line| line.kernel == best) {
        line.share = others.max(1.0);
    }
    Ok(lines)
}
