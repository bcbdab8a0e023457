//! Workers with a graphics card. PoCL runs the same code on the processor. Without OpenCL these tests are
//! skipped with a message, unless `DIADEM_TEST_TOOLS` requires OpenCL.

use std::fs;

use serde_json::Value;

use crate::harness::{Folder, Running, published, until};

/// Whether OpenCL has a device here that counts right.
fn has_card(folder: &Folder) -> bool {
    let listed = folder.run("gpus --json");
    let usable = listed
        .stdout
        .lines()
        .any(|line| serde_json::from_str(line).is_ok_and(|card: Value| card["usable"] == true));
    assert!(usable || std::env::var_os("DIADEM_TEST_TOOLS").is_none(), "no OpenCL: {listed:?}");
    if !usable {
        eprintln!("skipped: there is no OpenCL");
    }
    usable
}

#[test]
fn whole_boards_are_counted_on_a_card() {
    let folder = Folder::new();
    if !has_card(&folder) {
        return;
    }
    for (method, n) in ["search", "meet"].into_iter().flat_map(|method| (8..=14).map(move |n| (method, n))) {
        let counted = folder.run(&format!("count {n} --gpu all --in-memory --method {method} --json"));
        let answer = counted.json();
        assert_eq!(answer["total"], published(n), "{answer}");
        assert_eq!((&answer["isa"], &answer["kernel"]), (&"opencl".into(), &method.into()), "{answer}");
    }
}

#[test]
fn the_speed_of_cards_is_measured_by_both_methods() {
    let folder = Folder::new();
    if !has_card(&folder) {
        return;
    }
    let bench = folder.run("bench --n 14 --gpu all --seconds 2 --json");
    let measured = &bench.stdout;
    let lines: Vec<Value> = measured.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    for method in ["search", "meet"] {
        let of_method = |line: &&Value| line["kernel"] == method && line["isa"] == "opencl";
        let line = lines.iter().find(of_method).unwrap_or_else(|| panic!("{measured}"));
        assert!(line["card"].is_u64() && line["ns_per_solution"].as_f64() > Some(0.0), "{line}");
    }
    let is_there = folder.run("gpus --json").stdout.lines().any(|line| !line.contains("\"kind\":\"cpu\""));
    assert_eq!(bench.stderr.contains("OpenCL finds no card here"), !is_there, "{bench:?}");
    folder.run("bench --gpu all --isa portable").refused(&["--gpu", "--isa"]);
    let estimate = folder.run("estimate 14 --gpu 0 --seconds 4 --json").json();
    for (of, methods) in [
        ("gpu_seconds", ["gpu0/search", "gpu0/meet"]),
        ("core_seconds", ["search/portable", "meet/portable"]),
    ] {
        let work = estimate[of].as_object().unwrap();
        assert!(methods.iter().all(|method| work[*method].as_f64() > Some(0.0)), "{estimate}");
    }
}

#[test]
fn checked_run_on_card_and_threads_survives_kills() {
    let folder = Folder::new();
    if !has_card(&folder) {
        return;
    }
    let (coordinator, address) =
        folder.serve("coordinator --n 14 --method search --run run --double-check all --json", "c.log");
    let worker = |what: &str, log: &str| {
        folder.start(&format!("worker --coordinator http://{address} --machine rack {what}"), log)
    };
    let killed = worker("--gpu 0", "killed.log");
    until("the card counts", || folder.counts("run") > 20);
    killed.kill();
    let workers: [Running; 2] =
        [worker("--gpu all --threads 1", "both.log"), worker("--threads 1", "cpu.log")];
    let answer = coordinator.end().json();
    assert_eq!(answer["total"], published(14), "{answer}");
    let worth = &answer["worth"];
    assert_eq!(worth["conflicts"], 0, "{worth}");
    for worker in workers {
        assert_eq!(worker.end().code, Some(0));
    }
    let ledger = folder.ledger("run");
    // PoCL is no card: its counts belong to the processor.
    assert!(ledger.contains(r#""machine":"rack","kernel":"search/opencl""#) || ledger.contains("rack/gpu0"));
    assert!(
        ledger.contains(r#""machine":"rack","kernel":"search/avx"#) || ledger.contains("search/portable")
    );
    assert_eq!(folder.run("verify run --recount 20").code, Some(0));
}

#[test]
fn unbuildable_kernels_leave_no_run_behind() {
    let folder = Folder::new();
    if !has_card(&folder) || !folder.run("gpus").stdout.contains("PoCL") {
        return;
    }
    let refusing = |command: &str| {
        // PoCL adds these options to every build.
        let output = folder.diadem(command).env("POCL_EXTRA_BUILD_FLAGS", "-include /nonexistent.h").output();
        crate::harness::Completed::of(output.unwrap())
    };
    refusing("count 8 --gpu all").refused(&["gpu", "cannot build the kernels"]);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "nothing was begun");
    folder.run("count 8 --quiet");
    assert_eq!(
        refusing("count 8 --gpu all --json").json()["total"],
        published(8),
        "what is finished needs no card"
    );
}

#[test]
fn time_limit_during_card_setup_leaves_no_run_behind() {
    let folder = Folder::new();
    if !has_card(&folder) {
        return;
    }
    for milliseconds in [0, 100, 200, 300, 400, 500] {
        let folder = Folder::new();
        // PoCL's cache is there, so that each run ends while it compiles.
        let cache = tempfile::tempdir().unwrap();
        let stopped = folder
            .diadem(&format!("count 22 --gpu all --run run --for {milliseconds}ms"))
            .env("POCL_CACHE_DIR", cache.path())
            .output();
        let stopped = crate::harness::Completed::of(stopped.unwrap());
        assert_eq!(stopped.code, Some(143), "{stopped:?}");
        assert!(stopped.stderr.contains("no run was begun"), "{stopped:?}");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "nothing was begun");
    }
}

#[test]
fn card_counts_with_the_only_buildable_method() {
    let folder = Folder::new();
    if !has_card(&folder) || !folder.run("gpus").stdout.contains("PoCL") {
        return;
    }
    // A word of the other method's code, with its meaning removed.
    let mut command = folder.diadem("count 22 --gpu all --in-memory");
    let counting = folder.start_command(command.env("POCL_EXTRA_BUILD_FLAGS", "-Dsearch=1"), "count.log");
    until("the card is ready", || counting.says("OpenCL finds no card here"));
    counting.terminate();
    assert_eq!(counting.end().code, Some(143));
}

#[test]
fn card_with_a_single_buildable_method_is_usable() {
    let folder = Folder::new();
    if !has_card(&folder) || !folder.run("gpus").stdout.contains("PoCL") {
        return;
    }
    let listed = |command: &str, flag: &str| {
        let output = folder.diadem(command).env("POCL_EXTRA_BUILD_FLAGS", flag).output();
        crate::harness::Completed::of(output.unwrap()).stdout
    };
    // A word of that method's code, with its meaning removed.
    for (flag, lacking, there) in [("-Dsearch=1", "search", "meet"), ("-Djoin=1", "meet", "search")] {
        let text = listed("gpus", flag);
        assert!(text.contains(&format!("counts a known board right: {there} in ")), "{text}");
        let why = format!("does not count by {lacking}: the driver of gpu0");
        assert!(text.contains(&why) && text.contains("cannot build the kernels"), "{text}");
        let json = listed("gpus --json", flag);
        let card: Value = serde_json::from_str(json.lines().next().unwrap()).unwrap();
        assert_eq!(card["usable"], true, "{card}");
        assert!(card["seconds"][there].is_f64() && card["seconds"][lacking].is_null(), "{card}");
        assert!(card["why_not"][lacking].is_string() && card["why_not"][there].is_null(), "{card}");
    }
    let none = listed("gpus --json", "-include /nonexistent.h");
    let card: Value = serde_json::from_str(none.lines().next().unwrap()).unwrap();
    assert_eq!(card["usable"], false, "{card}");
    assert!(card["why_not"]["meet"].is_string() && card["why_not"]["search"].is_string(), "{card}");
}

#[test]
fn bench_measures_card_with_the_working_method() {
    let folder = Folder::new();
    if !has_card(&folder) || !folder.run("gpus").stdout.contains("PoCL") {
        return;
    }
    let measured = |command: &str| {
        let output = folder.diadem(command).env("POCL_EXTRA_BUILD_FLAGS", "-Djoin=1").output().unwrap();
        let measured = crate::harness::Completed::of(output);
        let why = "n = 12, meet/gpu0 was not measured: the driver of gpu0";
        assert!(measured.stderr.contains(why), "{measured:?}");
        measured
    };
    let bench = measured("bench --n 12 --gpu all --seconds 1 --json");
    let line: Value = serde_json::from_str(&bench.stdout).unwrap();
    assert_eq!((bench.code, &line["kernel"]), (Some(1), &"search".into()), "{bench:?}");
    let estimate = measured("estimate 12 --gpu all --seconds 2 --json");
    let gpu_seconds = &estimate.json()["gpu_seconds"];
    assert!(gpu_seconds["gpu0/search"].is_f64() && gpu_seconds["gpu0/meet"].is_null(), "{estimate:?}");
    assert_eq!(estimate.code, Some(0), "{estimate:?}");
}

#[test]
fn count_ends_if_card_cannot_make_remaining_checks() {
    let folder = Folder::new();
    if !has_card(&folder) || !folder.run("gpus").stdout.contains("PoCL") {
        return;
    }
    let counted = folder
        .diadem("count 9 --gpu all --method meet --double-check all --run run")
        .env("POCL_EXTRA_BUILD_FLAGS", "-Dsearch=1")
        .output()
        .unwrap();
    let counted = crate::harness::Completed::of(counted);
    assert!(counted.stderr.contains("counts by one method only"), "{counted:?}");
    assert_eq!(counted.code, Some(1), "{counted:?}");
    for words in ["only checks are left by a method", "without --gpu", "resume with"] {
        assert!(counted.stderr.contains(words), "{counted:?}");
    }
    assert_eq!(folder.run("count 9 --run run --json").json()["total"], published(9));
}

#[test]
fn card_worker_drains_if_driver_handles_signals_too() {
    let folder = Folder::new();
    if !has_card(&folder) {
        return;
    }
    let (coordinator, address) =
        folder.serve("coordinator --n 20 --method search --run run --double-check none", "c.log");
    let worker = folder.start(
        &format!("worker --coordinator http://{address} --gpu all --method search --drain 4m"),
        "w.log",
    );
    until("it counts", || folder.counts("run") > 0);
    worker.terminate();
    let ended = worker.end();
    assert_eq!((ended.code, ended.stderr.contains("draining")), (Some(0), true), "{ended:?}");
    coordinator.kill();
}

#[test]
fn stopped_card_count_names_the_resume_command() {
    let folder = Folder::new();
    if !has_card(&folder) {
        return;
    }
    let counting = folder.start("count 20 --gpu all --method search --run run", "count.log");
    until("it counts", || folder.counts("run") > 0);
    counting.terminate();
    let ended = counting.end();
    assert_eq!(ended.code, Some(143), "{ended:?}");
    assert!(ended.stderr.contains("stopped; ") && ended.stderr.contains("resume with"), "{ended:?}");
}

#[test]
fn missing_opencl_is_reported_and_count_works_without() {
    let folder = Folder::new();
    let bare = |command: &str| {
        let output = folder
            .diadem(command)
            .env("OCL_ICD_VENDORS", "/nonexistent")
            .env("OPENCL_DYLIB_PATH", "/nonexistent/libOpenCL.so")
            .output()
            .unwrap();
        crate::harness::Completed::of(output)
    };
    for command in
        ["gpus", "count 8 --in-memory --gpu all", "worker --coordinator http://127.0.0.1:1 --gpu 0"]
    {
        bare(command).refused(&["OpenCL"]);
    }
    assert!(bare("count 8 --in-memory").stdout.contains("Q(8) = 92"));
    folder.run("count 8 --in-memory --gpu some").refused(&["\"some\"", "0,2"]);
    if has_card(&folder) {
        folder.run("count 8 --in-memory --gpu 99").refused(&["99", "there"]);
    }
    fs::write(folder.path().join("broken.icd"), "/nonexistent/driver.so\n").unwrap();
    let output = folder.diadem("gpus").env("OCL_ICD_VENDORS", folder.path()).output().unwrap();
    crate::harness::Completed::of(output).refused(&["OpenCL"]);
}
