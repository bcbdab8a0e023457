//! The estimated remaining time relative to the true time.

use super::*;

/// One estimate of the remaining time, relative to the true time with the connected threads.
struct Look {
    expected: f64,
    low: f64,
    high: f64,
}

/// A simulated machine. A unit takes `slower` times as long as expected on average, and up to twice that. If all cores
/// count, it takes `crowded` times as long again.
#[derive(Clone, Copy)]
struct Machine {
    cores: f64,
    slower: f64,
    crowded: f64,
}

/// A run of units that are expected to take `unit` seconds: each thread counts one after the other, and reports what it counted in a quarter of a second.
/// It is looked at ten times in each phase of (threads, seconds).
fn looks(machine: Machine, unit: f64, phases: &[(u32, f64)]) -> Vec<Vec<Look>> {
    let Machine { cores, .. } = machine;
    let (mut speed, mut begun) = (Speed::new(unit, 0, 0.0, 0.0), 0.0);
    let mut random = 1u64;
    let mut found = Vec::new();
    for &(threads, seconds) in phases {
        let at = |seconds: f64| Duration::from_secs_f64(seconds);
        speed.note_threads(at(begun), threads.into());
        let share = (cores / f64::from(threads)).min(1.0);
        let slower = machine.slower * if f64::from(threads) >= cores { machine.crowded } else { 1.0 };
        let mut reports = Vec::new();
        for _ in 0..threads {
            let (mut now, mut reported, mut gathered) = (begun, begun, Vec::new());
            while now < begun + seconds {
                random =
                    random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let took = 2.0 * slower * unit * (random >> 33) as f64 / (1u64 << 31) as f64;
                now += took / share;
                gathered.push(took);
                if now > reported + GATHERING_TIME {
                    reports.extend(gathered.drain(..).map(|took| (now, took)));
                    reported = now;
                }
            }
        }
        reports.sort_by(|one, other| one.0.total_cmp(&other.0));
        let mut reports = reports.into_iter().peekable();
        let mut of_phase = Vec::new();
        for look in 1..=10 {
            let now = begun + seconds * f64::from(look) / 10.0;
            while let Some((when, took)) = reports.next_if(|(when, _)| *when <= now) {
                speed.add_unit(at(when), false, unit, took);
            }
            let left = speed.left(at(now), RemainingWork { symmetric: 0.0, completions: 1000.0 }).unwrap();
            let truth = 1000.0 * slower / cores.min(f64::from(threads));
            let [expected, low, high] =
                [left.expected, left.low, left.high].map(|time| time.as_secs_f64() / truth);
            of_phase.push(Look { expected, low, high });
        }
        found.push(of_phase);
        begun += seconds;
    }
    found
}

#[test]
fn time_left_allows_for_changing_and_crowded_workers() {
    let (mut all, mut close, mut right) = (0, 0, 0);
    for (cores, slower, crowded, unit) in [
        (8.0, 1.0, 1.0, 2.0),
        (8.0, 3.0, 1.0, 2.0),
        (2.0, 0.5, 1.0, 2.0),
        (2.0, 1.5, 1.5, 2.0),
        (2.0, 1.0, 1.5, 0.01),
        (4.0, 2.0, 1.3, 0.1),
    ] {
        let seconds = 20.0 * slower * unit + 2.0;
        let machine = Machine { cores, slower, crowded };
        for looks in looks(machine, unit, &[(1, seconds), (4, seconds), (2, seconds)]) {
            let end = looks.last().expect("there are ten");
            assert!((0.85..1.15).contains(&end.expected), "{cores} {slower} {unit}: {}", end.expected);
            all += looks.len();
            close += looks.iter().filter(|look| (0.8..1.2).contains(&look.expected)).count();
            right += looks.iter().filter(|look| look.low <= 1.0 && 1.0 <= look.high).count();
        }
    }
    assert!(close * 10 > all * 9 && right * 10 > all * 9, "{close} close and {right} right of {all}");
}

#[test]
fn time_left_range_narrows_as_units_are_counted() {
    let mut speed = Speed::new(2.0, 0, 0.0, 0.0);
    let rest = RemainingWork { symmetric: 3.0, completions: 3000.0 };
    assert_eq!(Speed::new(1.0, 9, 1.0, 1.0).left(Duration::ZERO, RemainingWork::default()), None);
    speed.note_threads(Duration::ZERO, 10);
    let first = speed.left(Duration::ZERO, rest).unwrap();
    assert!(first.high > 4 * first.low && first.low < Duration::from_mins(5));
    let mut now = Duration::ZERO;
    for _ in 0..500 {
        now += Duration::from_millis(200);
        speed.add_unit(now, false, 2.0, 2.0);
    }
    let later = speed.left(now, rest).unwrap();
    assert!(later.high < later.low.mul_f64(1.4), "{later:?}");
}

#[test]
fn fast_symmetric_counts_do_not_speed_up_other_units() {
    let mut speed = Speed::new(1.0, 0, 0.0, 0.0);
    speed.note_threads(Duration::ZERO, 1);
    let mut now = Duration::ZERO;
    for (is_symmetric, processor) in [(true, 0.1), (false, 1.0)] {
        for _ in 0..20 {
            now += Duration::from_secs_f64(processor);
            speed.add_unit(now, is_symmetric, 1.0, processor);
        }
    }
    let left = speed.left(now, RemainingWork { symmetric: 100.0, completions: 100.0 }).unwrap();
    assert!((left.expected.as_secs_f64() / 110.0 - 1.0).abs() < 0.1, "{left:?}");
}

#[test]
fn silent_threads_are_assumed_busy_for_limited_time() {
    let rest = RemainingWork { symmetric: 0.0, completions: 4e9 };
    let at = Duration::from_secs;
    let mut speed = Speed::new(400.0, 0, 0.0, 0.0);
    speed.note_threads(at(0), 2);
    let left = |speed: &Speed, now: u64| speed.left(at(now), rest).unwrap().expected.as_secs_f64() / 2e9;
    // From the start, or after symmetric counts of a second each.
    for short in [0, 270] {
        (1..=short).for_each(|now| (0..2).for_each(|_| speed.add_unit(at(now), true, 1.0, 1.0)));
        for silence in (0..=700).step_by(10) {
            let left = left(&speed, short + silence);
            assert!((0.9..1.1).contains(&left), "after {short} and {silence}: {left}");
        }
    }
    // One thread reports its unit; the other thread has done as much of its own.
    speed.add_unit(at(970), false, 400.0, 700.0);
    assert!((0.9..2.0).contains(&left(&speed, 1000)), "{}", left(&speed, 1000));
    assert!((0.9..2.0).contains(&left(&speed, 5000)), "{}", left(&speed, 5000));
    assert_eq!(speed.left(at(100_000), rest), None, "they hang");
}

#[test]
fn slow_machine_is_assumed_busy_in_first_units() {
    let (slower, unit) = (20.0, 1.0);
    // Half a unit of theirs and two of them, after symmetric counts that take next to nothing.
    let mut speed = Speed::new(unit, 0, 0.0, 0.0);
    speed.note_threads(Duration::ZERO, 1);
    (0..90).for_each(|_| speed.add_unit(Duration::from_millis(40), true, 4e-4, 4e-4));
    for silence in 10..40 {
        let left = speed
            .left(Duration::from_secs(silence), RemainingWork { symmetric: 0.0, completions: 1000.0 })
            .unwrap();
        let [low, high] = [left.low, left.high].map(|time| time.as_secs_f64() / 1000.0 / slower);
        assert!(low <= 1.0 && high <= 2.0, "after {silence} s: {left:?}");
    }
}

#[test]
fn a_board_without_work_is_done_at_once() {
    let mut speed = Speed::new(0.0, 0, 0.0, 0.0);
    speed.note_threads(Duration::ZERO, 1);
    for silence in [0, 5, 1000] {
        let left = speed
            .left(Duration::from_millis(silence), RemainingWork { symmetric: 0.0, completions: 0.0 })
            .unwrap();
        assert_eq!(left.high, Duration::ZERO, "after {silence} ms");
    }
}

#[test]
fn a_resumed_run_knows_how_fast_it_was() {
    let mut speed = Speed::new(1.0, 1_000_000, 1e6, 3e6);
    speed.note_threads(Duration::ZERO, 1);
    let left = speed.left(Duration::ZERO, RemainingWork { symmetric: 0.0, completions: 100.0 }).unwrap();
    assert!((left.expected.as_secs_f64() / 300.0 - 1.0).abs() < 0.02, "{left:?}");
}
