//! Workers with very different speeds: each holds as much as it can count in time, and all finish together.

use std::collections::VecDeque;
use std::time::Duration;

use domain::{Lease, UnitCount, WorkerId};
use queens::kernel::Method;
use records::DoubleCheck;

use super::worker::{Habit, SimulatedWorker};
use super::{Truth, World};

/// The work of the run, in seconds of one core.
const RUN: f64 = 2000.0;

/// A worker asks for as much as it counts in this time.
const AHEAD: f64 = 10.0;

/// Time of a request, its answer and the gathering before it: the minimum interval between two requests of a worker.
const ASKS_EVERY: Duration = Duration::from_millis(250);

const STEP: Duration = Duration::from_millis(50);

/// A worker's threads and the units that they hold.
struct Device {
    id: WorkerId,
    /// Relative to one core.
    thread_speed: f64,
    queue: VecDeque<Lease>,
    asks_next: Duration,
    /// The unit of each thread, with its start and end in seconds.
    threads: [Option<(Lease, f64, f64)>; 2],
}

impl Device {
    fn join(world: &mut World, k: usize, machine: &str, thread_speed: f64) -> Self {
        let simulated = SimulatedWorker { machine: machine.into(), ..SimulatedWorker::new(k, Habit::Honest) };
        let registration = domain::Registration { threads: 2, ..simulated.registration(&world.truth) };
        let id = world.core.register(world.now, registration).unwrap().worker;
        Self { id, thread_speed, queue: VecDeque::new(), asks_next: world.now, threads: [None; 2] }
    }

    fn held(&self) -> Vec<Lease> {
        let in_threads = self.threads.iter().flatten().map(|(lease, ..)| *lease);
        in_threads.chain(self.queue.iter().copied()).collect()
    }

    /// Seconds of a thread for the unit.
    fn time(&self, world: &World, lease: Lease) -> f64 {
        let plan = &world.truth.plan;
        RUN * plan.weight(lease.unit) as f64 / plan.total_weight() as f64 / self.thread_speed
    }

    /// Reports finished counts, starts further units, and requests more units.
    fn step(&mut self, world: &mut World) {
        let now = world.now.as_secs_f64();
        for thread in 0..2 {
            // A thread may end several units within a step.
            loop {
                let free_since = match self.threads[thread] {
                    Some((_, _, until)) if until > now => break,
                    Some((lease, since, until)) => {
                        self.report(world, lease, until - since);
                        until
                    }
                    None => now,
                };
                self.threads[thread] = None;
                let Some(lease) = self.queue.pop_front() else { break };
                self.threads[thread] = Some((lease, free_since, free_since + self.time(world, lease)));
            }
        }
        let ahead: f64 = self.queue.iter().map(|lease| self.time(world, *lease)).sum::<f64>() / 2.0;
        if ahead < AHEAD && world.now >= self.asks_next {
            self.asks_next = world.now + ASKS_EVERY;
            self.queue.extend(world.core.lease(world.now, self.id, 1000).unwrap());
        }
    }

    fn report(&self, world: &mut World, lease: Lease, seconds: f64) {
        let count = world.truth.count(lease.unit, Method::Search);
        let cpu = Duration::from_secs_f64(seconds);
        let count = UnitCount { lease, completions: count.completions, nodes: count.nodes, cpu };
        let (_, records) = world.core.judge(world.now, 0, self.id, &count).unwrap();
        world.commit(Some(self.id), &records, false);
    }
}

/// The duration of a run relative to its duration without any waiting.
fn takes(truth: &std::sync::Arc<Truth>, machines: &[(&str, f64)]) -> f64 {
    let mut world = World::new(truth, DoubleCheck::None, &[], 7);
    let mut devices: Vec<_> = (0..)
        .zip(machines)
        .map(|(k, (machine, thread_speed))| Device::join(&mut world, k, machine, *thread_speed))
        .collect();
    let all: f64 = devices.iter().map(|device| 2.0 * device.thread_speed).sum();
    let ideal = RUN / all;
    while !world.core.is_complete() {
        world.now += STEP;
        let is_second = world.now.subsec_nanos() == 0;
        for device in &mut devices {
            device.step(&mut world);
            if is_second {
                world.core.renew(world.now, device.id, &device.held()).unwrap();
            }
        }
        if is_second {
            world.core.tick(world.now);
        }
        assert!(world.now.as_secs_f64() < 100.0 * ideal, "it does not end");
    }
    assert!(world.is_exact());
    world.now.as_secs_f64() / ideal
}

#[test]
fn a_card_and_slow_processors_end_together() {
    let truth = Truth::of(12, 50);
    let processors = [("a", 1.0), ("b", 1.0), ("c", 1.0), ("d", 1.0)];
    let alike = takes(&truth, &processors);
    let with_card: Vec<_> = processors.into_iter().chain([("a/gpu0", 40.0)]).collect();
    let with_card = takes(&truth, &with_card);
    assert!(alike < 1.15 && with_card < 1.15, "{alike} {with_card}");
}
