//! The interface to scripts and service managers: exit codes, and the end of a worker after a signal.

use std::io::{PipeReader, Write};
use std::process::Command;
use std::time::{Duration, Instant};

use rustix::fs::{OFlags, fcntl_setfl};
use rustix::process::Signal;

use crate::credentials::keys;
use crate::harness::{Folder, Running, free_address, in_time, stays, until};
use crate::held_file::HeldFile;

#[test]
fn interrupted_command_exits_with_signal_code() {
    let folder = Folder::new();
    for (command, run) in [
        ("count 19 --method search --isa portable --quiet --run a", "a"),
        ("coordinator --n 19 --run b --listen 127.0.0.1:0", "b"),
    ] {
        let [interrupted, terminated] = [true, false].map(|interrupts| {
            let before = folder.counts(run);
            let running = folder.start(command, &format!("{run}-{interrupts}.log"));
            let has_begun = || match run {
                "a" => folder.counts(run) > before,
                _ => running.says("serving"),
            };
            until("it works", || has_begun() && running.heeds_signals());
            if interrupts {
                running.interrupt()
            } else {
                running.terminate()
            }
            running.end()
        });
        assert_eq!(interrupted.code, Some(130), "{interrupted:?}");
        assert_eq!(terminated.code, Some(143), "{terminated:?}");
        assert!(terminated.stderr.contains("resume with: diadem"), "{terminated:?}");
    }
    let bench = folder.start("bench --n 20 --seconds 600 --threads 1 --json", "log");
    until("it works", || bench.heeds_signals());
    bench.interrupt();
    assert_eq!(bench.end().code, Some(130));
}

/// A command that hangs while it prints, until the other end of the pipe is dropped.
fn hangs(folder: &Folder, command: &str) -> (PipeReader, Running) {
    let (unread, taken) = std::io::pipe().unwrap();
    // Fill the pipe, so that no more can be written.
    fcntl_setfl(&taken, OFlags::NONBLOCK).unwrap();
    while (&taken).write(&[b' '; 4096]).is_ok() {}
    fcntl_setfl(&taken, OFlags::empty()).unwrap();
    let mut running = folder.start_printing(&mut folder.diadem(command), taken, "log");
    until("it listens", || running.heeds_signals());
    stays(Duration::from_millis(500), "it hangs", || !running.has_ended());
    (unread, running)
}

#[test]
fn a_bench_that_hangs_ends_at_the_second_signal() {
    let folder = Folder::new();
    let (_unread, mut bench) = hangs(&folder, "bench --n 8 --seconds 1 --threads 1");
    until("it ends", || {
        bench.interrupt();
        bench.has_ended()
    });
    assert_eq!(bench.end().code, Some(130));
}

#[test]
fn hanging_count_ends_at_second_or_third_signal() {
    let folder = Folder::new();
    folder.run("count 8 --run run --quiet");
    for third in [false, true] {
        let (_unread, mut count) = hangs(&folder, "count 8 --run run --quiet");
        count.interrupt();
        stays(Duration::from_millis(500), "it hangs", || !count.has_ended());
        count.terminate();
        let asked = Instant::now();
        stays(Duration::from_millis(500), "it has its last words", || !count.has_ended());
        if third {
            count.terminate();
        }
        let ended = count.end();
        in_time(Duration::from_secs(if third { 1 } else { 3 }), asked);
        assert_eq!(ended.code, Some(143), "{ended:?}");
    }
}

#[test]
fn rings_are_drawn_with_closed_stdout() {
    let folder = Folder::new();
    let (unread, taken) = std::io::pipe().unwrap();
    drop(unread);
    let ended =
        folder.start_printing(&mut folder.diadem("atlas rings 8 --svg rings.svg"), taken, "log").end();
    assert_eq!(ended.code, Some(0));
    assert!(folder.path().join("rings.svg").exists());
}

#[test]
fn signal_ends_worker_with_hanging_keys() {
    let folder = keys();
    let Some(held) = HeldFile::against_all(&folder, "keys/worker/ca.pem") else { return };
    let address = free_address();
    let worker =
        folder.start(&format!("worker --coordinator https://{address} --keys keys/worker"), "worker.log");
    held.is_waited_for();
    worker.terminate();
    let ended = worker.end();
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(held.is_still_waited_for(), "it ended only when it could read them");
}

#[test]
fn sighup_ends_like_sigterm_unless_nohup() {
    let folder = Folder::new();
    for (way, code) in [("env --default-signal=HUP", 143), ("nohup", 130)] {
        let diadem = folder.diadem("count 19 --method search --isa portable --quiet");
        let mut words = way.split(' ');
        let mut command = Command::new(words.next().unwrap());
        command.args(words).arg(diadem.get_program()).args(diadem.get_args());
        let running = folder.start_command(&mut command, "log");
        let has_run = || folder.path().join("diadem-19/run.json").exists();
        until("it works", || has_run() && running.heeds_signals());
        assert_eq!(running.heeds(Signal::HUP), code == 143, "{way}");
        running.hang_up();
        if code == 130 {
            running.interrupt();
        }
        let ended = running.end();
        assert!(ended.code == Some(code) && ended.stderr.contains("resume with: diadem"), "{way}: {ended:?}");
    }
}

#[test]
fn run_without_answer_has_its_own_exit_code() {
    let folder = Folder::new();
    folder.run("count 10 --run run --quiet");
    folder.run("count 10 --run part --shard 1/2 --quiet");
    // Incomplete.
    assert_eq!(folder.run("merge joint part").code, Some(3));
    assert_eq!(folder.run("verify joint").code, Some(3));
    assert_eq!(folder.run("certify joint").code, Some(3));
    // Damaged.
    let ledger = folder.ledger("run");
    let path = folder.path().join("run/ledger/000001.jsonl");
    std::fs::write(
        &path,
        ledger.replacen("\"kind\":\"count\",\"unit\":", "\"kind\":\"count\",\"unit\":1", 1),
    )
    .unwrap();
    for command in [
        "verify run",
        "count 10 --run run --quiet",
        "coordinator --run run",
        "merge other run",
        "export run --csv",
        "retract run --unit 1 --reason x",
        "follow http://127.0.0.1:9 --run run",
    ] {
        assert_eq!(folder.run(command).code, Some(3), "{command}");
    }
    std::fs::write(folder.path().join("part/run.json"), "rubbish").unwrap();
    for command in ["status part", "merge other part", "retract part --unit 1 --reason x"] {
        assert_eq!(folder.run(command).code, Some(3), "{command}");
    }
    std::fs::remove_dir_all(folder.path().join("run/ledger")).unwrap();
    for command in [
        "status run",
        "verify run",
        "report run",
        "export run --csv",
        "merge other run",
        "count 10 --run run --quiet",
        "coordinator --run run",
        "follow http://127.0.0.1:9 --run run",
    ] {
        let lost = folder.run(command);
        assert!(lost.code == Some(3) && lost.stderr.contains("but no folder ledger"), "{command}: {lost:?}");
    }
    // Somebody has made one.
    std::fs::create_dir(folder.path().join("run/ledger")).unwrap();
    let lost = folder.run("count 10 --run run --quiet");
    assert!(lost.code == Some(3) && lost.stderr.contains("checkpoint knows of"), "{lost:?}");
    // Missing, or not understood.
    assert_eq!(folder.run("verify nowhere").code, Some(1));
    assert_eq!(folder.run("coordinator --run nowhere").code, Some(2));
}

#[test]
fn permanent_errors_exit_2() {
    let folder = Folder::new();
    folder.run("count 10 --run run --quiet");
    let address = free_address();
    for command in [
        "count ten",
        "count 9 --run run",
        "count 10 --run run --families 1,1,2",
        "count 8 --run new --centre 9,1,0",
        "coordinator --n 9 --run run",
        "coordinator --n 9 --run new --listen 0.0.0.0:0",
        &format!("coordinator --n 9 --run new --listen {address} --http {address}"),
        "worker --coordinator foo",
        "policy run --replicas 1 --reason x",
        "estimate 40 --machines 5x5",
        "atlas picture constellation 8 --unit 90 --out unit.svg",
        "atlas picture constellation 8 --orbit 79 --out orbit.svg",
    ] {
        let wrong = folder.run(command);
        assert_eq!(wrong.code, Some(2), "{command}: {wrong:?}");
    }
    assert_eq!(folder.run("verify").code, Some(2));
    assert_eq!(folder.run("count --help").code, Some(0));
}

#[test]
fn draining_worker_finishes_units_and_returns_leases() {
    let folder = Folder::new();
    // Units of some seconds, by the slowest kernel.
    let (coordinator, address) =
        folder.serve("coordinator --n 20 --families 0,1,0 --run run --double-check none", "log");
    let worker = |name: &str, more: &str| {
        let command = format!("worker --coordinator http://{address} --threads 1 --name {name} {more}");
        folder.start(&command, &format!("{name}.log"))
    };
    let status = || {
        let status = folder.run(&format!("status --coordinator http://{address} --json"));
        serde_json::from_str::<serde_json::Value>(&status.stdout).ok()
    };
    let holds = |count: u64| status().is_some_and(|status| status["leased"].as_u64() >= Some(count));
    let first = worker("first", "--drain 60s");
    let mut last = (0, Instant::now());
    until("it counts a unit that takes a while", || {
        let counts = folder.counts("run");
        last = if counts == last.0 { last } else { (counts, Instant::now()) };
        counts > 0 && last.1.elapsed() > Duration::from_millis(500) && holds(2)
    });
    let before = folder.counts("run");
    first.terminate();
    until("others may have the rest", || {
        status().is_some_and(|status| status["leased"] == 1 || status["leased"] == 0)
    });
    let ended = first.end();
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(ended.stderr.contains("draining") && ended.stderr.contains("broken_off=0"), "{ended:?}");
    assert!(folder.counts("run") > before, "what it counted is lost");

    coordinator.kill();
    // Units of years, but for the first two.
    let coordinator = folder.serve_at(
        &address,
        "coordinator --n 28 --families 0,1,0 --run long --double-check none",
        "log",
    );
    let second = worker("second", "--drain 1h --isa portable --method search");
    until("it holds one of the others", || {
        status().is_some_and(|status| status["done"] == 2 && status["leased"].as_u64() >= Some(1))
    });
    second.interrupt();
    until("it drains", || {
        std::fs::read_to_string(folder.path().join("second.log")).unwrap().contains("draining")
    });
    let asked = Instant::now();
    second.interrupt();
    let ended = second.end();
    in_time(Duration::from_secs(3), asked);
    assert_eq!(ended.code, Some(130), "{ended:?}");
    // A status may be some moments old.
    until("it holds nothing", || status().is_some_and(|status| status["leased"] == 0));
    let known = status().unwrap();
    assert_eq!(known["disputed"].as_u64().unwrap_or(0), 0, "nobody is blamed: {known}");
    coordinator.kill();
}

#[test]
fn sigterm_with_sighup_at_once_is_a_single_request() {
    let folder = Folder::new();
    // Units of years: none of them ends a worker that drains.
    let (_coordinator, address) =
        folder.serve("coordinator --n 32 --families 0,1,0 --run run --double-check none", "log");
    let leased = || {
        let status = folder.run(&format!("status --coordinator http://{address} --json"));
        let status = serde_json::from_str::<serde_json::Value>(&status.stdout).ok()?;
        status["leased"].as_u64()
    };
    let started = |log: &str, drain: &str| {
        let work =
            format!("worker --coordinator http://{address} --threads 1 --isa portable --method search");
        let worker = folder.diadem(&format!("{work} --drain {drain}"));
        let mut command = Command::new("env");
        command.arg("--default-signal=HUP").arg(worker.get_program()).args(worker.get_args());
        let worker = folder.start_command(&mut command, log);
        until("it holds one", || leased() >= Some(1));
        worker
    };
    let drains = |worker: &Running| until("it drains", || worker.says("draining"));
    let term_first = started("term-first", "3s");
    term_first.terminate();
    drains(&term_first);
    term_first.hang_up();
    let ended = term_first.end();
    assert!(ended.code == Some(0) && ended.stderr.contains("draining"), "{ended:?}");
    until("it holds nothing", || leased() == Some(0));
    // Both come within a moment, as at the end of a session. A busy machine may handle the second one too late.
    let is_one_ask = (0..5).any(|attempt| {
        let hup_first = started(&format!("hup-first-{attempt}"), "3s");
        hup_first.hang_up();
        // Two waiting signals may come in the other order.
        drains(&hup_first);
        hup_first.terminate();
        let ended = hup_first.end();
        until("it holds nothing", || leased() == Some(0));
        ended.code == Some(0) && ended.stderr.contains("draining")
    });
    assert!(is_one_ask, "SIGTERM ended it at once each time");
    // Some time passes in between.
    let mut later = started("later", "1h");
    later.hang_up();
    drains(&later);
    stays(Duration::from_secs(1), "it drains", || !later.has_ended());
    later.terminate();
    assert_eq!(later.end().code, Some(143));
}
