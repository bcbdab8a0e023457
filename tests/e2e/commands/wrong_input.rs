//! Wrong input gets one clear sentence and a non-zero exit, and loses nothing.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::os::unix::fs::symlink;
use std::process::Command;
use std::time::{Duration, Instant};

use crate::harness::{Completed, Folder, free_address, in_time, published};

#[test]
fn board_sizes_that_cannot_be_are_refused() {
    let folder = Folder::new();
    for n in ["0", "33", "x", "1.5"] {
        folder.run(&format!("count {n}")).refused(&[n, "from 1 to 32"]);
        folder.run(&format!("coordinator --n {n} --run r")).refused(&[n, "from 1 to 32"]);
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn impossible_option_values_are_refused() {
    let folder = Folder::new();
    folder.run("count 8 --method magic").refused(&["there is no method \"magic\"", "auto, meet, search"]);
    folder.run("count 8 --isa mmx").refused(&["mmx", "portable"]);
    folder.run("count 8 --threads 0").refused(&["\"0\" is not a number of threads"]);
    folder.run("count 14 --threads 4096").refused(&["\"4096\" is not a number of threads from 1 to"]);
    assert_eq!(folder.run("count 14 --in-memory --threads 256 --json").json()["total"], published(14));
    folder.run("count 27 --families 8,1,12").refused(&["units", "split it less"]);
    folder.run("count 8 --shard 4/3").refused(&["4/3", "1 <= I <= K"]);
    folder.run("count 8 --shard-from-zero 3/3").refused(&["3/3", "0 <= I < K"]);
    folder.run("count 8 --shard 1/3 --shard-from-zero 0/3").refused(&["cannot be used with"]);
    folder.run("worker --coordinator http://127.0.0.1:1 --give-up-after soon").refused(&["soon"]);
    for time in ["500000000000years", "11years", "18446744073709551615s"] {
        let give_up = format!("worker --coordinator http://127.0.0.1:1 --give-up-after {time}");
        folder.run(&give_up).refused(&[time, "at most ten years"]);
    }
    folder.run("worker --coordinator nonsense").refused(&["nonsense", "http://127.0.0.1:7227"]);
    folder.run("coordinator --run r --listen here").refused(&["here", "127.0.0.1:7227"]);
}

#[test]
fn number_out_of_range_is_refused_with_range() {
    let folder = Folder::new();
    for (command, least_and_most) in [
        ("count 8 --memory", "4 to 65536"),
        ("count 8 --nice", "0 to 19"),
        ("coordinator --n 8 --run r --replicas", "0 to 16"),
        ("policy http://127.0.0.1:1 --reason x --replicas", "0 to 16"),
        ("keys init k --days", "1 to 3650"),
        ("estimate 20 --seed", "0 to 18446744073709551615"),
        ("bench --seed", "0 to 18446744073709551615"),
        ("verify r --seed", "0 to 18446744073709551615"),
        ("retract r --reason x --unit", "0 to 18446744073709551615"),
        ("atlas solutions 8 --first", "1 to 18446744073709551615"),
        ("atlas solutions 8 --random --seed", "0 to 18446744073709551615"),
        ("atlas solutions 8x9 --queens", "1 to 32"),
        ("atlas study 8 --runs", "1 to 1000000"),
        ("atlas study 8 --seed", "0 to 18446744073709551615"),
        ("atlas study 8 --limit", "1 to 18446744073709551615"),
        ("atlas picture search 8 --out s.svg --random --seed", "0 to 18446744073709551615"),
        ("atlas picture constellation 12 --out c.svg --orbit", "1 to 18446744073709551615"),
        ("atlas picture constellation 12 --out c.svg --unit", "0 to 18446744073709551615"),
    ] {
        for wrong in ["x", "-5", "1.5", "99999999999999999999"] {
            let wanted = format!("\"{wrong}\" is not a whole number from {least_and_most} (see ");
            folder.run(&format!("{command} {wrong}")).refused(&[&wanted]);
        }
    }
    let most = folder.run("count 8 --in-memory --memory 4 --nice 0 --json");
    assert_eq!(most.json()["total"], published(8));
    assert_eq!(folder.run("keys init k --days 1").code, Some(0));
    folder.run("estimate x").refused(&["\"x\" is not a whole number from 1 to 1000 (see "]);
}

#[test]
fn wrong_usage_names_the_matching_help() {
    let folder = Folder::new();
    folder.run("count").refused(&["<N>", "(see diadem count --help)"]);
    folder.run("cuont 8").refused(&["'cuont'", "did you mean 'count'?", "(see diadem --help)"]);
    folder.run("coutn 8").refused(&["'coutn'", "did you mean 'count'?"]);
    folder.run("stat").refused(&["'stat'", "did you mean 'status'?"]);
    folder.run("16").refused(&["'16'", "did you mean 'count 16'?"]);
    folder.run("revoke ada").refused(&["'revoke'", "did you mean 'keys revoke'?", "(see diadem --help)"]);
    folder.run("xyzzy").refused(&["there is no command 'xyzzy' (see diadem --help)"]);
    folder.run("count 8 --trheads 2").refused(&["--trheads", "'--threads'", "(see diadem count --help)"]);
    for (typed, meant) in [
        ("coordinator 18", "--n 18"),
        ("coordinator 18 --run r", "--n 18"),
        ("coordinator ./r", "--run ./r"),
        ("worker http://127.0.0.1:7227", "--coordinator http://127.0.0.1:7227"),
        ("worker 127.0.0.1:7227 --threads 2", "--coordinator 127.0.0.1:7227"),
        ("top http://127.0.0.1:7227", "--coordinator http://127.0.0.1:7227"),
        ("resume http://127.0.0.1:7227", "--coordinator http://127.0.0.1:7227"),
        ("bench 14", "--n 14"),
    ] {
        let command = typed.split(' ').next().unwrap();
        folder.run(typed).refused(&[&format!(": use {meant} (see diadem {command} --help)")]);
    }
    folder.run("gpus 8").refused(&["unexpected argument '8' found", "(see diadem gpus --help)"]);
    folder.run("status http://127.0.0.1:7227").refused(&["http://127.0.0.1:7227", "use --coordinator URL"]);
    folder.run("keys init").refused(&["<DIR>", "(see diadem keys init --help)"]);
}

#[test]
fn method_names_the_kernel() {
    let folder = Folder::new();
    let counted = folder.run("count 10 --in-memory --method meet --json").json();
    assert_eq!((&counted["kernel"], &counted["total"]), (&"meet".into(), &published(10).into()));
    folder.run("count 8 --method magic").refused(&["there is no method \"magic\""]);
    let bench = "bench --n 8 --method search --isa portable --seconds 0.01 --json";
    assert!(folder.run(bench).stdout.lines().all(|line| line.contains("\"kernel\":\"search\"")));
}

#[test]
fn error_comes_before_its_hint() {
    let folder = Folder::new();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap();
    let refused = folder.run(&format!("coordinator --n 8 --run r --listen {address}")).stderr;
    let [what, hint] = ["in use", "choose one with --listen"].map(|words| refused.find(words).unwrap());
    assert!(what < hint, "{refused}");
}

#[test]
fn run_directory_of_another_board_is_refused_and_kept() {
    let folder = Folder::new();
    folder.run("count 8 --run run --quiet");
    folder.run("count 9 --run run").refused(&["n = 8", "n = 9"]);
    folder.run("coordinator --n 9 --run run --listen 127.0.0.1:0").refused(&["n = 8", "n = 9"]);
    // The plan of a run never changes: a request for another plan is an error.
    for command in
        ["count 8 --run run --families 1,1,2", "coordinator --run run --listen 127.0.0.1:0 --families 1,1,2"]
    {
        folder.run(command).refused(&[
            "split by constellations",
            "not by families 1,1,2",
            "leave out --families",
        ]);
    }
    assert_eq!(folder.run("count 8 --run run --json").json()["total"], published(8));
}

#[test]
fn missing_or_broken_run_is_refused() {
    let folder = Folder::new();
    folder.run("verify nowhere").refused(&["nowhere", "run.json is missing"]);
    folder.run("coordinator --run nowhere --listen 127.0.0.1:0").refused(&["nowhere", "--n N"]);
    for command in ["coordinator --run nowhere --take-over", "coordinator --n 8 --run nowhere --take-over"] {
        folder.run(command).refused(&["no run in nowhere to take over", "leave out --take-over"]);
    }
    assert!(!folder.path().join("nowhere").exists());
    // A directory that cannot be read may hold a run.
    fs::write(folder.path().join("file"), "").unwrap();
    symlink("loop", folder.path().join("loop")).unwrap();
    for (path, reason) in [("file", "Not a directory"), ("loop", "Too many levels of symbolic links")] {
        for command in ["count 8 --run", "coordinator --run", "coordinator --n 8 --run", "verify"] {
            let said = format!("cannot read {path}/run.json: {reason}");
            folder.run(&format!("{command} {path}")).refused(&[&said]);
        }
    }
    fs::create_dir(folder.path().join("broken")).unwrap();
    fs::write(folder.path().join("broken/run.json"), "{\"n\": 8").unwrap();
    folder.run("count 8 --run broken").refused(&["broken", "not a diadem run"]);
    folder.run("verify broken").refused(&["broken", "not a diadem run"]);
}

#[test]
fn a_run_of_another_plan_version_is_refused() {
    let folder = Folder::new();
    folder.run("count 8 --run run --quiet");
    let path = folder.path().join("run/run.json");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replace("\"version\": 1", "\"version\": 7")).unwrap();
    folder.run("count 8 --run run").refused(&["version 7", "the build that began it", "count again"]);
    let text = text.replace("\"fingerprint\": \"", "\"fingerprint\": \"00");
    fs::write(&path, text).unwrap();
    folder.run("count 8 --run run").refused(&["has plan 00", "the build that began it", "count again"]);
}

#[test]
fn oversized_plan_in_run_is_refused_by_every_command() {
    let folder = Folder::new();
    let plan = r#"{"n":18,"scheme":"constellations","grain":1,"version":1}"#;
    let run = format!(r#"{{"plan":{plan},"fingerprint":"{:032x}","begun":7}}"#, 7);
    fs::create_dir_all(folder.path().join("run/ledger")).unwrap();
    fs::write(folder.path().join("run/run.json"), run).unwrap();
    for command in [
        "verify run",
        "status run",
        "report run",
        "certify run",
        "export run --csv",
        "merge joint run",
        "retract run --unit 1 --reason x",
        "count 18 --run run",
        "coordinator --run run --listen 127.0.0.1:0",
    ] {
        let begun = Instant::now();
        folder.run(command).refused(&["with grain 1 ", "more than 20000000 units", "a larger grain"]);
        in_time(Duration::from_secs(2), begun);
    }
}

#[test]
fn run_with_unknown_fields_is_refused() {
    let folder = Folder::new();
    folder.run("count 8 --run run --quiet");
    let path = folder.path().join("run/run.json");
    let text = fs::read_to_string(&path).unwrap();
    for known in ["\"version\"", "\"begun\""] {
        fs::write(&path, text.replace(known, &format!("\"twist\": 1, {known}"))).unwrap();
        folder.run("count 8 --run run").refused(&["run.json", "\"twist\"", "does not know", "count again"]);
    }
    fs::write(&path, &text).unwrap();
    assert_eq!(folder.run("count 8 --run run --json").json()["total"], published(8));
}

#[test]
fn second_process_on_a_run_is_refused_with_pid() {
    let folder = Folder::new();
    let (coordinator, _) = folder.serve("coordinator --n 12 --run run", "log");
    folder.run("count 12 --run run").refused(&["in use by process", &coordinator.pid().to_string()]);
}

#[test]
fn directories_that_cannot_be_written_are_refused() {
    let folder = Folder::new();
    // Not even root can make a folder there.
    folder.run("count 8 --run /proc/diadem-8").refused(&["/proc/diadem-8"]);
    fs::write(folder.path().join("file"), "").unwrap();
    folder.run("count 8 --run file").refused(&["file"]);
}

#[test]
fn full_disk_ends_count_and_loses_nothing() {
    let folder = Folder::new();
    // The shell's limit on the size of files stands for the disk: writes fail as they would there.
    let limited = |blocks: u32, args: &str| {
        let script =
            format!("trap '' XFSZ; ulimit -f {blocks}; exec {} {args}", env!("CARGO_BIN_EXE_diadem"));
        let output = Command::new("bash").args(["-c", &script]).current_dir(folder.path()).output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    let (code, stderr) = limited(200, "count 14 --run run --quiet");
    assert_eq!(code, Some(1), "{stderr}");
    let what = stderr.find("File too large").expect(&stderr);
    let hint = stderr.find("resume with: diadem count 14 --run run --quiet").expect(&stderr);
    assert!(what < hint, "the error comes first: {stderr}");
    assert!(!stderr.contains("internal error"), "{stderr}");
    let kept = folder.counts("run");
    assert!(kept > 0);
    assert_eq!(folder.run("count 14 --run run --json").json()["total"], published(14));
}

#[test]
fn ports_in_use_and_addresses_open_to_all_are_refused() {
    let folder = Folder::new();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    folder.run(&format!("coordinator --n 8 --run run --listen {address}")).refused(&[&address, "--listen"]);
    folder.run("coordinator --n 8 --run run --listen 0.0.0.0:0").refused(&["0.0.0.0:0", "--insecure"]);
}

#[test]
fn worker_gives_up_on_unreachable_coordinator() {
    let folder = Folder::new();
    let address = free_address();
    let outcome = folder.run(&format!("worker --coordinator http://{address} --give-up-after 1s"));
    assert_eq!(outcome.code, Some(1), "{outcome:?}");
    let last = outcome.stderr.lines().last().unwrap();
    assert!(last.contains("gave up after 1"), "{outcome:?}");
    let at_once = folder.run(&format!("worker --coordinator http://{address} --give-up-after 0s"));
    assert!(at_once.stderr.contains("gave up after 0"), "{at_once:?}");
    folder.run(&format!("status --coordinator http://{address}")).refused(&[&address, "refused"]);
}

#[test]
fn worker_gives_up_on_silent_server_in_time() {
    let folder = Folder::new();
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = silent.local_addr().unwrap();
    // The connection stays open.
    std::thread::spawn(move || silent.incoming().collect::<Vec<_>>());
    let outcome = folder.run(&format!("worker --coordinator http://{address} --give-up-after 2s"));
    assert_eq!(outcome.code, Some(1), "{outcome:?}");
    let after = outcome.stderr.split("gave up after ").nth(1).and_then(|rest| rest.split('s').next());
    let after: f64 = after.unwrap_or_default().parse().unwrap();
    // A call that is not cut has its connection dropped after ten seconds.
    assert!((2.0..9.0).contains(&after), "{outcome:?}");
}

#[test]
fn http_1_server_is_reported_as_no_coordinator() {
    let folder = Folder::new();
    let foreign = TcpListener::bind("127.0.0.1:0").unwrap();
    let web = foreign.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in foreign.incoming() {
            let mut stream = stream.unwrap();
            stream.read_exact(&mut [0; 16]).ok();
            stream.write_all(b"HTTP/1.1 400 Bad Request\r\nconnection: close\r\n\r\n").ok();
        }
    });
    let (mut coordinator, _) = folder.serve("coordinator --n 18 --run run --http 127.0.0.1:0", "log");
    let dashboard = coordinator.dashboard();
    for wrong in [web.to_string(), dashboard] {
        for command in ["status --coordinator", "worker --coordinator", "pause --reason x --coordinator"] {
            folder.run(&format!("{command} http://{wrong}")).refused(&[
                "HTTP/1",
                "no coordinator",
                "--listen",
            ]);
        }
        let follower = folder.start(&format!("follow http://{wrong} --run copy"), "follow.log").end();
        assert!(follower.code == Some(1) && follower.stderr.contains("HTTP/1"), "{follower:?}");
    }
}

#[test]
fn named_pipe_is_refused_as_input_file() {
    let folder = Folder::new();
    let pipe = |name: &str| {
        assert!(Command::new("mkfifo").arg(folder.path().join(name)).status().unwrap().success());
    };
    let refused =
        |args: &str, words: &[&str]| folder.start(args, &args.replace(['/', ' '], "-")).end().refused(words);
    pipe("pipe");
    refused("count 8 --in-memory --config pipe", &["cannot read pipe: it is no regular file"]);
    folder.run("count 8 --quiet --run run");
    for command in ["verify run --heads", "verify run --certificate", "verify run --export"] {
        let verified = folder.start(&format!("{command} pipe"), "verify.log").end();
        assert_eq!(verified.code, Some(1), "{command}: {verified:?}");
        assert!(verified.stderr.ends_with("cannot read pipe: it is no regular file\n"), "{verified:?}");
        fs::remove_file(folder.path().join("verify.log")).unwrap();
    }
    refused("atlas constellations 12 --import pipe", &["cannot read pipe: it is no regular file"]);
    refused("keys renew pipe", &["cannot read pipe/ca.key"]);
    for (file, commands) in [
        ("run.json", &["verify", "status", "count 8 --run", "coordinator --run", "certify"][..]),
        ("ledger/000001.jsonl", &["verify", "status", "count 8 --run", "coordinator --run", "certify"]),
        ("lock", &["count 8 --run", "coordinator --run"]),
        ("lease.key", &["count 8 --run", "coordinator --run"]),
        ("certify.key", &["count 8 --run", "coordinator --run", "certify"]),
        ("notes.json", &["count 8 --run", "coordinator --run"]),
    ] {
        let run = format!("of-{}", file.replace('/', "-"));
        folder.run(&format!("count 8 --quiet --run {run}"));
        fs::remove_file(folder.path().join(&run).join(file)).ok();
        pipe(&format!("{run}/{file}"));
        for command in commands {
            refused(&format!("{command} {run}"), &[&format!("{run}/{file}"), "it is no regular file"]);
        }
    }
}

#[test]
fn process_substitution_is_read() {
    let folder = Folder::new();
    folder.run("count 8 --quiet --run run");
    assert_eq!(folder.run("export run --csv -o table").code, Some(0));
    let verified = |given: &str| {
        let script = format!("exec {} verify run --export {given}", env!("CARGO_BIN_EXE_diadem"));
        let shell = Command::new("bash").args(["-c", &script]).current_dir(folder.path()).output().unwrap();
        let verified = Completed::of(shell);
        assert!(verified.stdout.contains("is that of the ledger"), "{given}: {verified:?}");
    };
    verified("<(cat table)");
    verified("/dev/stdin < table");
    verified("/dev/stdin < <(cat table)");
}

#[test]
fn export_to_unread_pipe_does_not_wait_forever() {
    let folder = Folder::new();
    folder.run("count 8 --quiet --run run");
    assert!(Command::new("mkfifo").arg(folder.path().join("pipe")).status().unwrap().success());
    let export = folder.start("export run --csv --out pipe", "export.log").end();
    assert_eq!(export.code, Some(1), "{export:?}");
    export.refused(&["cannot write pipe: nobody reads from that pipe"]);
}
