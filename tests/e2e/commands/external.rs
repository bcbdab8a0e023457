//! Counts by another program: the reference programs, and programs that hang, crash or chatter.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use crate::harness::{Completed, Folder, until, until_within};
use crate::tools;

/// A script that starts a process and waits for it.
pub const HANGS: &str = "sleep 1000 & echo $! > pid.new; mv pid.new pid; wait";

pub const TOOLS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tools/external");

/// The commands that run the reference programs. The one in C is built in the folder.
fn reference_programs(folder: &Folder) -> Vec<String> {
    let mut programs = vec![format!("python3 '{TOOLS}/count.py'")];
    if tools::is_there("cc") {
        let mut cc = Command::new("cc");
        cc.args(["-std=c99", "-Wall", "-Wextra", "-Werror", "-O2", "-o", "count-c"]);
        assert!(cc.arg(format!("{TOOLS}/count.c")).current_dir(folder.path()).status().unwrap().success());
        programs.push("./count-c".to_owned());
    }
    programs
}

pub fn external(folder: &Folder, args: &str, program: &str) -> Command {
    let mut command = folder.diadem(args);
    command.args(["--external", program]);
    command
}

fn run(folder: &Folder, args: &str, program: &str) -> Completed {
    Completed::of(external(folder, args, program).output().unwrap())
}

/// A folder with a finished run.
fn counted() -> Folder {
    let folder = Folder::new();
    folder.run("count 10 --run run --quiet");
    folder
}

/// A program in `lies.py` that is right in the self-test of n = 12, and never afterwards.
pub fn write_lies(folder: &Folder) {
    let lies = format!(
        "import json, sys\nsource = open('{TOOLS}/count.py').read()\nexec(source.split('for line in')[0])\n\
         for line in sys.stdin:\n    asked = json.loads(line)\n    \
         count = Position(asked['n'], asked['columns'], asked['rights']).completions() + (asked['n'] != 12)\n    \
         print(json.dumps({{'id': asked['id'], 'count': count}}), flush=True)\n"
    );
    fs::write(folder.path().join("lies.py"), lies).unwrap();
}

/// The command of a shell script, which is written to the folder.
pub fn script(folder: &Folder, text: &str) -> String {
    fs::write(folder.path().join("script"), text).unwrap();
    "sh script".to_owned()
}

/// Whether the process lives whose number the program has written to this file.
pub fn process(pid: &Path) -> impl Fn() -> bool + use<> {
    let number = fs::read_to_string(pid).unwrap();
    let path = Path::new("/proc").join(number.trim());
    // A process that has ended may still wait for its parent.
    move || fs::read_to_string(path.join("stat")).is_ok_and(|stat| !stat.contains(") Z"))
}

#[test]
fn reference_programs_recount_every_unit() {
    let folder = Folder::new();
    let programs = reference_programs(&folder);
    for (n, method) in [(1, "search"), (10, "search"), (11, "search"), (12, "meet")] {
        folder.run(&format!("count {n} --method {method} --run {n} --quiet"));
        for program in &programs {
            let words = run(&folder, &format!("verify {n} --recount all"), program);
            assert_eq!(words.code, Some(0), "{words:?}");
            let again = format!("units found again by the external program {program}\n");
            assert!(words.stdout.contains(&again), "{words:?}");
        }
    }
    let report = run(&folder, "verify 12 --recount 20 --seed 7 --json", &programs[0]).json();
    assert_eq!((&report["recount"]["units"], &report["sound"]), (&20.into(), &true.into()));
    assert_eq!(report["recount"]["external"], *programs[0]);
}

#[test]
fn wrong_external_count_fails_the_verification() {
    let folder = counted();
    let before = folder.ledger("run");
    let wrong = r#"sed -u 's/{"id":\([0-9]*\),.*/{"id":\1,"count":1234567}/'"#;
    let outcome = run(&folder, "verify run --recount all", &script(&folder, wrong));
    assert_eq!(outcome.code, Some(3), "{outcome:?}");
    let error = outcome.stderr.lines().last().unwrap();
    assert!(error.starts_with("diadem: unit ") && error.contains(": the ledger says "), "{error}");
    assert!(error.ends_with("the external program finds 1234567"), "either may be wrong: {error}");
    let report = run(&folder, "verify run --recount all --json", "sh script");
    assert!(report.code == Some(3) && report.stdout.contains(r#""sound":false"#), "{report:?}");
    assert_eq!(folder.ledger("run"), before);
}

#[test]
fn program_that_does_not_answer_gets_one_sentence() {
    let folder = counted();
    let before = folder.ledger("run");
    let long = "read line; head -c 5000 /dev/zero | tr '\\0' x; sleep 60";
    for (text, words) in [
        ("sleep 60", "the external program has not answered within 1s; allow more with --external-timeout"),
        (
            "read line; echo 'out of\tideas' >&2; echo >&2; exit 7",
            r#"(exit status: 7); its last line on stderr: "out of\tideas""#,
        ),
        ("read line; kill -9 $$", "(signal: 9 (SIGKILL)); it wrote nothing to stderr"),
        ("exec >&-; sleep 1", "(exit status: 0)"),
        (
            "read line; echo ready; sleep 60",
            r#"the external program wrote "ready"; an answer is a line such as {"id":5,"count":42}"#,
        ),
        (long, "the external program wrote a line of more than 1000 bytes"),
        (
            r#"read line; echo '{"id":987654321,"count":1}'; sleep 60"#,
            "the external program answered for unit 987654321",
        ),
        (r#"read line; echo '{"id":1,"count":-1}'; sleep 60"#, "wrote \"{\\\"id\\\":1,\\\"count\\\":-1}\""),
    ] {
        let program = script(&folder, text);
        let outcome = run(&folder, "verify run --recount 1 --external-timeout 1s", &program);
        let sentence = outcome.stderr.lines().last().unwrap();
        assert_eq!(outcome.code, Some(1), "{text}: {outcome:?}");
        assert!(sentence.contains(words), "{text}: {outcome:?}");
        assert!(!outcome.stdout.contains("recount") && !outcome.stderr.contains("panicked"), "{outcome:?}");
    }
    let missing = run(&folder, "verify run", "./missing 1");
    assert!(missing.code == Some(1), "{missing:?}");
    assert!(
        missing.stderr.contains("cannot start the external program ./missing: No such file"),
        "{missing:?}"
    );
    assert_eq!(folder.ledger("run"), before, "nothing is recorded");
}

#[test]
fn second_answer_is_refused() {
    let folder = counted();
    let text = format!("python3 -u '{TOOLS}/count.py' | sed -u p");
    let outcome = run(&folder, "verify run --recount 1", &script(&folder, &text));
    assert_eq!(outcome.code, Some(1), "{outcome:?}");
    assert!(outcome.stderr.contains(" unasked; it must write one line for each line"), "{outcome:?}");
}

#[test]
fn hanging_program_ends_with_the_command() {
    let folder = counted();
    let hangs = script(&folder, HANGS);
    let pid = folder.path().join("pid");
    let late = run(&folder, "verify run --threads 1 --external-timeout 500ms", &hangs);
    assert_eq!(late.code, Some(1), "{late:?}");
    let lives = process(&pid);
    until_within(Duration::from_secs(10), "what the program started has ended", || !lives());
    for (signal, code) in [(rustix::process::Signal::TERM, 143), (rustix::process::Signal::INT, 130)] {
        fs::remove_file(&pid).unwrap();
        let verify = folder.start_command(&mut external(&folder, "verify run --threads 1", &hangs), "log");
        until("the program runs", || pid.exists());
        let lives = process(&pid);
        assert!(lives());
        verify.signal(signal);
        assert_eq!(verify.end().code, Some(code));
        until_within(Duration::from_secs(10), "what the program started has ended", || !lives());
    }
}

#[test]
fn wrong_use_of_external_is_refused() {
    let folder = counted();
    run(&folder, "verify run", "'count").refused(&["'count", "a program and its arguments"]);
    for (args, words) in [("verify run --method meet", "--external"), ("verify --certificate file", "<DIR>")]
    {
        let refused = run(&folder, args, "cat");
        assert_eq!(refused.code, Some(2), "{refused:?}");
        refused.refused(&[words]);
    }
    folder.run("verify run --external-timeout 2m").refused(&["--external"]);
}
