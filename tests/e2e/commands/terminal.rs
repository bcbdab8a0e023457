//! Output to terminals and to pipes: lines of 80 columns, and escape codes only for terminals that understand
//! them.

use std::fs::{File, OpenOptions, read_to_string};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::process::{Child, Command, Stdio};

use rustix::fs::OFlags;
use rustix::process::{Pid, Signal, kill_process};

use crate::harness::{Completed, Folder, Running, free_address, until};

const COLUMNS: usize = 80;

#[track_caller]
fn fits(text: &str) {
    for line in text.lines() {
        assert!(line.chars().count() <= COLUMNS, "{} columns: {line:?}", line.chars().count());
    }
}

/// Whether codes are in it that set colours: those that end with an m, and have one of the numbers that stand for colours.
fn has_colours(text: &str) -> bool {
    let is_colour = |number: &str| {
        let number: Option<u8> = number.parse().ok();
        number.is_some_and(|number| matches!(number, 30..=38 | 40..=48 | 90..=97 | 100..=107))
    };
    let codes = text.split("\x1b[").skip(1).filter_map(|code| code.split_once('m'));
    codes.into_iter().any(|(numbers, _)| numbers.split(';').any(is_colour))
}

/// The command on a terminal of that kind, made by `script`. The optional prefix is the program that runs it.
fn script(folder: &Folder, term: &str, no_color: bool, prefix: &str, args: &str) -> Command {
    let line = format!("stty rows 24 columns 80; exec {prefix} {} {args}", env!("CARGO_BIN_EXE_diadem"));
    let mut script = Command::new("script");
    script.args(["--quiet", "--return", "--command", &line, "/dev/null"]).current_dir(folder.path());
    script.env("TERM", term).env_remove("NO_COLOR");
    if no_color {
        script.env("NO_COLOR", "1");
    }
    script.stdout(Stdio::piped()).stderr(Stdio::piped());
    script
}

/// The output to the terminal, from stdout and stderr.
fn on_terminal(folder: &Folder, term: &str, no_color: bool, args: &str) -> String {
    Completed::of(script(folder, term, no_color, "", args).output().unwrap()).stdout
}

/// A run without workers.
fn idle(folder: &Folder) -> (Running, String) {
    folder.serve("coordinator --n 20 --run run", "log")
}

/// The names in the lists of commands that a help has.
fn commands(help: &str) -> Vec<String> {
    let list = help.lines().take_while(|line| *line != "Options:");
    let name = |line: &str| {
        let name = line.strip_prefix("  ")?.split(' ').next()?;
        name.starts_with(char::is_lowercase).then(|| name.to_owned())
    };
    list.filter_map(name).filter(|name| name != "help").collect()
}

#[test]
fn all_help_fits_80_columns() {
    let folder = Folder::new();
    let mut pages = vec![String::new()];
    let mut read = 0;
    while let Some(command) = pages.pop() {
        for flag in ["-h", "--help"] {
            let help = folder.run(&format!("{command} {flag}")).stdout;
            fits(&help);
            if flag == "--help" {
                pages.extend(commands(&help).into_iter().map(|name| format!("{command} {name}")));
            }
        }
        read += 1;
    }
    assert!(read > 25, "only {read} commands were looked at");
}

#[test]
fn status_fits_80_columns_with_long_worker_names() {
    let folder = Folder::new();
    let (coordinator, address) = idle(&folder);
    let name = "x".repeat(150);
    let work = format!(
        "worker --coordinator http://{address} --threads 1 --isa portable --name {name} --machine {name}"
    );
    let worker = folder.start(&work, "worker.log");
    let status = || folder.run(&format!("status --coordinator http://{address}")).stdout;
    until("it is there", || !status().contains("no workers"));
    let text = status();
    fits(&text);
    assert!(text.contains("xxx…") && text.contains("lately:"), "{text}");
    drop((worker, coordinator));
}

#[test]
fn messages_fit_80_columns_on_terminals_only() {
    let folder = Folder::new();
    for line in ["count 12 --run run", "verify run", "estimate 12 --seconds 0.2", "estimate 100"] {
        fits(&on_terminal(&folder, "dumb", true, line));
    }
    let refused = "merge joint run no-such-run-as-this-one --force-a-long-sentence";
    fits(&on_terminal(&folder, "dumb", true, refused));
    let elsewhere = folder.run("count 12 --run run").stdout;
    let checked = elsewhere.lines().last().unwrap();
    assert!(
        checked.contains("units were counted twice") && checked.ends_with("no difference"),
        "{elsewhere}"
    );
}

#[test]
fn top_restores_the_terminal_and_requires_a_terminal() {
    let folder = Folder::new();
    let top = format!("top --coordinator http://{}", free_address());
    let [enters, leaves] = ["\x1b[?1049h", "\x1b[?1049l"];
    for (input, word) in [("q", "waiting"), ("?\x1b[Bs2q", "this help")] {
        let mut script = script(&folder, "xterm", true, "", &top).stdin(Stdio::piped()).spawn().unwrap();
        // The terminal keeps keys typed before the program listens, and after that the pipe does.
        script.stdin.as_mut().unwrap().write_all(input.as_bytes()).unwrap();
        let ended = Completed::of(script.wait_with_output().unwrap());
        assert!(ended.code == Some(0) && ended.stdout.contains(word), "{ended:?}");
        let (entered, left) = (ended.stdout.find(enters).unwrap(), ended.stdout.rfind(leaves).unwrap());
        assert!(entered < left && !has_colours(&ended.stdout[left..]), "{ended:?}");
    }
    // A signal ends it likewise; it is sent by another program on the same terminal. By then it has told in red, unless colours
    // are unwanted, that nobody answers.
    for no_color in [false, true] {
        let mut killed = script(&folder, "xterm", no_color, "timeout --foreground --preserve-status 5", &top);
        let mut killed = killed.stdin(Stdio::piped()).spawn().unwrap();
        let nothing_typed = killed.stdin.take();
        let ended = Completed::of(killed.wait_with_output().unwrap());
        drop(nothing_typed);
        assert_eq!(ended.code, Some(143), "{ended:?}");
        assert!(ended.stdout.find(enters).unwrap() < ended.stdout.rfind(leaves).unwrap(), "{ended:?}");
        assert_eq!(has_colours(&ended.stdout), !no_color, "{ended:?}");
    }
    folder.run(&top).refused(&["needs a terminal", "diadem status"]);
    let dumb = on_terminal(&folder, "dumb", false, &top);
    assert!(dumb.contains("needs a terminal") && !dumb.contains('\x1b'), "{dumb:?}");
}

#[test]
fn coordinator_and_worker_log_plain_progress_lines() {
    let folder = Folder::new();
    let (coordinator, address) = idle(&folder);
    let worker = folder.start(&format!("worker --coordinator http://{address} --threads 1"), "worker.log");
    let log = |running: &Running| read_to_string(&running.log).unwrap();
    let told = |running: &Running, word: &str| {
        log(running).lines().find(|line| line.contains(word)).map(str::to_owned)
    };
    until("both have told it", || {
        told(&coordinator, "n = 20: ").is_some() && told(&worker, " units counted, ").is_some()
    });
    for line in [told(&coordinator, "n = 20: "), told(&worker, " units counted, ")] {
        fits(&line.unwrap());
    }
    assert!(!log(&coordinator).contains('\x1b') && !log(&worker).contains('\x1b'));
    assert!(told(&coordinator, " 1 worker").is_some() || log(&coordinator).contains("0 workers"));
}

#[test]
fn progress_on_terminal_respects_no_color() {
    let folder = Folder::new();
    for (term, no_color) in [("xterm", true), ("xterm", false), ("dumb", false)] {
        let seen = on_terminal(&folder, term, no_color, "count 16 --threads 1 --method search --in-memory");
        assert!(seen.contains("Q(16) = 14772512"), "{seen:?}");
        assert_eq!(seen.contains('\x1b'), term != "dumb", "{seen:?}");
        assert!(!has_colours(&seen), "{seen:?}");
    }
}

#[test]
fn waiting_for_silent_input_is_shown() {
    let folder = Folder::new();
    folder.run("count 8 --run run --quiet");
    let waits = |(args, what): (&str, &str)| {
        let args = format!("verify run --recount 0 {args} <(sleep 4)");
        let mut waiting = script(&folder, "xterm", true, "timeout --foreground 4", &args);
        let seen = Completed::of(waiting.env("SHELL", "/bin/bash").output().unwrap());
        assert!(seen.stdout.contains(&format!("reading the {what}: ")), "{args}: {seen:?}");
    };
    std::thread::scope(|scope| {
        for waited in [("--heads", "heads"), ("--certificate", "certificate"), ("--export", "table")] {
            scope.spawn(move || waits(waited));
        }
    });
    // The output of a command, as a shell passes it, is read as a file.
    let script =
        format!("exec {} count 8 --in-memory --config <(echo json = true)", env!("CARGO_BIN_EXE_diadem"));
    let piped = Command::new("bash").args(["-c", &script]).output().unwrap();
    assert_eq!(Completed::of(piped).json()["n"], 8);
}

/// A full terminal that no process reads.
struct UnreadTerminal {
    terminal: File,
    /// The process that owns the terminal, and is stopped.
    script: Child,
}

impl Drop for UnreadTerminal {
    fn drop(&mut self) {
        self.script.kill().ok();
        self.script.wait().ok();
    }
}

fn unread_terminal(folder: &Folder) -> UnreadTerminal {
    let mut script = Command::new("script");
    script
        .args(["--quiet", "--command", "tty >name; exec sleep 1000", "/dev/null"])
        .current_dir(folder.path());
    let script = script.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let name = || read_to_string(folder.path().join("name")).unwrap_or_default();
    until("there is a terminal", || name().ends_with('\n'));
    kill_process(Pid::from_child(&script), Signal::STOP).unwrap();
    let open = |flags: OFlags| {
        let mut options = OpenOptions::new();
        options.write(true).custom_flags((flags | OFlags::NOCTTY).bits().cast_signed());
        options.open(name().trim_end()).unwrap()
    };
    let mut filling = open(OFlags::NONBLOCK);
    let refused = std::iter::from_fn(|| Some(filling.write(&[b'x'; 1024]))).find_map(Result::err).unwrap();
    assert_eq!(refused.kind(), ErrorKind::WouldBlock);
    UnreadTerminal { terminal: open(OFlags::empty()), script }
}

#[test]
fn unread_terminal_does_not_block_progress() {
    let folder = Folder::new();
    folder.run("count 10 --run run --quiet");
    let unread_terminal = unread_terminal(&folder);
    for (args, answer, shown) in [
        ("verify run", "complete; the total agrees", "recount: 0.00 %, 0/50 units"),
        ("estimate 12 --seconds 4 --threads 1", "published: 1.42", " counted, 1 s left"),
        (
            "bench --n 20 --seconds 2 --method search --isa portable --threads 1",
            "search/portable",
            " counted, 1 s left",
        ),
    ] {
        let mut command = folder.diadem(args);
        command
            .env("TERM", "xterm")
            .stdout(Stdio::piped())
            .stderr(unread_terminal.terminal.try_clone().unwrap());
        let mut unread = command.spawn().unwrap();
        until("it ends", || unread.try_wait().unwrap().is_some());
        let unread = Completed::of(unread.wait_with_output().unwrap());
        assert!(unread.code == Some(0) && unread.stdout.contains(answer), "{args}: {unread:?}");
        let read = on_terminal(&folder, "xterm", true, args);
        assert!(read.contains(answer) && read.contains(shown), "{args}: {read:?}");
        assert!(!has_colours(&read), "{args}: {read:?}");
    }
}
