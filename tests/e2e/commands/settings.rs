//! Options from variables and from a file, and the program's descriptions of itself.

use std::fs;
use std::process::Command;

use crate::harness::{Completed, Folder};

/// The result of the command with these variables.
fn with(folder: &Folder, args: &str, variables: &[(&str, &str)]) -> Completed {
    Completed::of(folder.diadem(args).envs(variables.iter().copied()).output().unwrap())
}

#[test]
fn settings_for_card_and_processor_keep_bench_usable() {
    let folder = Folder::new();
    let measures = |settings: &str, typed: &str| {
        fs::write(folder.path().join("site.toml"), settings).unwrap();
        let line = format!("--config site.toml bench --n 8 --method search --seconds 0.01 --json {typed}");
        let measured = folder.run(&line);
        assert!(measured.stdout.contains("\"card\":null"), "{settings} {typed}: {measured:?}");
    };
    measures("gpu = 'none'\nthreads = 1", "");
    measures("gpu = 'none'\nisa = 'portable'", "--threads 1");
    measures("gpu = 'all'", "--threads 1");
    measures("gpu = 'all'\nthreads = 2", "--isa portable");
    folder.run("bench --n 8 --gpu all --threads 1").refused(&["--gpu", "--threads"]);
}

#[test]
fn command_line_beats_variables_and_file() {
    let folder = Folder::new();
    let file =
        "threads = 1\nin-memory = true\nquiet = true\n[count]\nmethod = \"meet\"\n[bench]\nthreads = 2\n";
    fs::write(folder.path().join("site.toml"), file).unwrap();
    let threads = |args: &str, variables: &[(&str, &str)]| {
        let answer = with(&folder, args, variables).json();
        assert_eq!((&answer["kernel"], &answer["total"]), (&"meet".into(), &"724".into()), "{answer}");
        answer["threads"].as_u64().unwrap()
    };
    assert_eq!(threads("count 10 --json --config site.toml", &[]), 1);
    assert_eq!(threads("--config site.toml count 10 --json", &[("DIADEM_THREADS", "3")]), 3);
    assert_eq!(
        threads("count 10 --json --threads 4", &[("DIADEM_THREADS", "3"), ("DIADEM_CONFIG", "site.toml")]),
        4
    );
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "in memory");
    let kept = with(&folder, "count 8 --run here --quiet", &[("DIADEM_IN_MEMORY", "1")]);
    assert!(kept.code == Some(0) && folder.path().join("here/run.json").exists(), "{kept:?}");
}

#[test]
fn config_shows_options_in_effect_and_origins() {
    let folder = Folder::new();
    fs::write(folder.path().join("site.toml"), "[worker]\nnice = 19\n").unwrap();
    let variables = [("DIADEM_THREADS", "3"), ("DIADEM_THRAEDS", "3"), ("DIADEM_JOIN_TOKEN", "secret")];
    let all = with(&folder, "config --config site.toml", &variables);
    assert_eq!(all.code, Some(0), "{all:?}");
    assert!(all.stdout.contains("nice     19  site.toml [worker]  worker\n"), "{all:?}");
    assert!(all.stdout.contains("DIADEM_THREADS") && all.stdout.contains("count, estimate,"), "{all:?}");
    assert!(all.stdout.ends_with("there is no option for: DIADEM_THRAEDS\n"), "{all:?}");
    assert!(!all.stdout.contains("secret"), "{all:?}");
    let worker = folder.run("config worker --json").json();
    let drain =
        worker["options"].as_array().unwrap().iter().find(|option| option["option"] == "drain").unwrap();
    assert_eq!((&drain["value"], &drain["origin"]), (&"20s".into(), &"default".into()));
    let value = |command: &str, option: &str| {
        let listed = folder.run(&format!("config {command} --json")).json();
        let options = listed["options"].as_array().unwrap().clone();
        let found = options.into_iter().find(|listed| listed["option"] == option);
        found.unwrap_or_else(|| panic!("no {option}"))["value"].clone()
    };
    assert_eq!((value("count", "run"), value("count", "double-check")), ("./diadem-N".into(), "1%".into()));
    assert_eq!(value("worker", "on-coordinator-lost"), "wait; exit if --give-up-after is given");
    let nothing = folder.run("config");
    assert_eq!(nothing.stdout, "nothing is set by a variable or a file\n");
    folder.run("config wroker").refused(&["\"wroker\" is no command with options"]);
    let typed_only = with(&folder, "config", &[("DIADEM_TAKE_OVER", "1")]);
    assert!(typed_only.stdout.ends_with("must be typed: DIADEM_TAKE_OVER\n"), "{typed_only:?}");
}

#[test]
fn config_refuses_settings_that_a_command_refuses() {
    let folder = Folder::new();
    let wrong = with(&folder, "config", &[("DIADEM_THREADS", "2.5")]);
    assert_eq!(wrong.code, Some(2), "{wrong:?}");
    assert!(wrong.stdout.contains("threads  2.5  DIADEM_THREADS  "), "what is in force is shown: {wrong:?}");
    assert!(wrong.stderr.contains("\"2.5\" is not a number of threads"), "{wrong:?}");
    assert_eq!(wrong.stderr.matches("it is from DIADEM_THREADS").count(), 1, "{wrong:?}");
    for (file, words) in [
        ("take-over = true\n", &["--take-over must be typed"][..]),
        ("[coordinator]\ntake-over = true\n", &["--take-over must be typed"]),
        ("[status]\ntake-over = true\n", &["\"take-over\" is no option of the command status"]),
    ] {
        fs::write(folder.path().join("site.toml"), file).unwrap();
        let wrong = folder.run("config --config site.toml");
        assert_eq!(wrong.code, Some(2), "{wrong:?}");
        wrong.refused(words);
    }
    fs::write(folder.path().join("site.toml"), "[worker]\ndrain = \"soon\"\n").unwrap();
    let wrong = folder.run("config --config site.toml");
    assert!(wrong.code == Some(2) && wrong.stderr.contains("soon"), "{wrong:?}");
    assert!(wrong.stderr.contains("it is from site.toml [worker]"), "{wrong:?}");
}

#[test]
fn config_shows_setting_valid_for_some_commands() {
    let folder = Folder::new();
    let method = [("DIADEM_METHOD", "meet")];
    let all = with(&folder, "config", &method);
    assert!(all.code == Some(2) && all.stdout.contains("method  meet  DIADEM_METHOD  "), "{all:?}");
    assert!(all.stderr.contains("there is no method \"meet\"; there are search, permutations"), "{all:?}");
    let count = with(&folder, "config count", &method);
    assert_eq!((count.code, &*count.stderr), (Some(0), ""), "{count:?}");
    assert_eq!(with(&folder, "config atlas solutions", &method).code, Some(2));
}

#[cfg(feature = "atlas")]
#[test]
fn file_has_sections_of_commands_in_a_group() {
    let folder = Folder::new();
    fs::write(folder.path().join("site.toml"), "[\"atlas orbits\"]\ntotals = true\n").unwrap();
    let orbits = folder.run("config atlas orbits --config site.toml").stdout;
    assert!(orbits.contains("site.toml [atlas orbits]"), "{orbits}");
    assert!(folder.run("atlas orbits 8 --config site.toml").stdout.lines().count() < 12);
}

#[test]
fn coordinator_address_is_a_setting_of_every_command() {
    let folder = Folder::new();
    let url = "http://127.0.0.1:1";
    fs::write(folder.path().join("site.toml"), format!("[follow]\ncoordinator = \"{url}\"\n")).unwrap();
    let follow = "follow --run run --give-up-after 10ms";
    let (option, file) = (format!("{follow} --coordinator {url}"), format!("{follow} --config site.toml"));
    for (follow, variable) in [(option.as_str(), "http://b:1"), (&file, ""), (follow, url)] {
        let gone = with(&folder, follow, &[("DIADEM_COORDINATOR", variable)]);
        assert!(
            gone.code == Some(1) && gone.stderr.contains("waiting for the coordinator"),
            "{follow}: {gone:?}"
        );
    }
    let retract = "retract --unit 1 --reason x";
    for command in ["policy --replicas 1 --reason x", retract, "pause --reason x"] {
        let gone = with(&folder, command, &[("DIADEM_COORDINATOR", url)]);
        assert!(gone.code == Some(1) && gone.stderr.contains(url), "{command}: {gone:?}");
    }
    let directory = with(&folder, &format!("{retract} no-run"), &[("DIADEM_COORDINATOR", url)]);
    directory.refused(&["there is no run in no-run"]);
    for command in [follow, retract] {
        let nowhere = with(&folder, command, &[("DIADEM_COORDINATOR", "")]);
        assert!(nowhere.code == Some(2) && nowhere.stderr.contains("URL"), "{command}: {nowhere:?}");
        let (name, _) = command.split_once(' ').unwrap();
        let listed = with(&folder, &format!("config {name}"), &[("DIADEM_COORDINATOR", url)]).stdout;
        assert!(listed.contains(url) && listed.contains("DIADEM_COORDINATOR"), "{listed}");
    }
}

#[test]
fn machine_setting_of_worker_does_not_reach_retract() {
    let folder = Folder::new();
    folder.run("count 8 --run run --quiet");
    let before = folder.ledger("run");
    let variables = [("DIADEM_MACHINE", before.split("\"machine\":\"").nth(1).unwrap())];
    let variables = variables.map(|(name, rest)| (name, rest.split('"').next().unwrap()));
    let forgotten = with(&folder, "retract run --reason x", &variables);
    assert_eq!(forgotten.code, Some(2), "{forgotten:?}");
    forgotten.refused(&["--unit <UNIT>|--machine <MACHINE>|--owner <OWNER>"]);
    assert_eq!(folder.ledger("run"), before);
    let typed = with(&folder, "retract run --unit 0 --reason x", &variables);
    assert_eq!((typed.code, typed.stdout.starts_with("1 unit is open again")), (Some(0), true), "{typed:?}");
    let listed = with(&folder, "config retract", &variables).stdout;
    assert!(!listed.contains("machine") && listed.contains("reason"), "{listed}");
}

#[test]
fn invalid_settings_are_refused_with_their_origin() {
    let folder = Folder::new();
    let wrong = |args: &str, variables: &[(&str, &str)], words: &[&str]| {
        let refused = with(&folder, args, variables);
        assert_eq!(refused.code, Some(2), "{refused:?}");
        refused.refused(words);
    };
    wrong("count 8", &[("DIADEM_THREADS", "many")], &["many", "it is from DIADEM_THREADS"]);
    wrong("count 8", &[("DIADEM_QUIET", "maybe")], &["DIADEM_QUIET: --quiet is \"maybe\"", "true or false"]);
    fs::write(folder.path().join("site.toml"), b"keys = '\xff'").unwrap();
    wrong("count 8 --config site.toml", &[], &["cannot read site.toml", "utf-8"]);
    wrong("count 8 --config nowhere.toml", &[], &["cannot read nowhere.toml", "No such file"]);
    wrong("count 8 --config /dev/zero", &[], &["cannot read /dev/zero", "longer than 1048576 bytes"]);
    for (text, words) in [
        ("thread = 2", &["\"thread\" is no option of any command; did you mean threads?"][..]),
        ("[count]\nstay = true", &["\"stay\" is no option of the command count"]),
        ("threads = ", &["site.toml, line 1"]),
        ("threads = \"many\"", &["many", "it is from site.toml"]),
        ("[count\nthreads = 2", &["site.toml, line 1"]),
    ] {
        fs::write(folder.path().join("site.toml"), text).unwrap();
        wrong("count 8 --config site.toml", &[], words);
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn unreadable_settings_exit_1() {
    let folder = Folder::new();
    let mount_that_comes_late = with(&folder, "count 8", &[("DIADEM_CONFIG", "nfs/away/site.toml")]);
    mount_that_comes_late.refused(&["cannot read nfs/away/site.toml", "No such file"]);
    assert_eq!(mount_that_comes_late.code, Some(1));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn shells_complete_options_values_and_commands() {
    let folder = Folder::new();
    fs::write(folder.path().join("diadem.bash"), folder.run("completions bash").stdout).unwrap();
    for (typed, completed) in [
        ("worker --on-co", "--on-coordinator-lost"),
        ("export --by ", "unit family constellation"),
        ("atlas solutions --format t", "tuple"),
        ("atlas solutions --board c", "cylinder"),
        ("atlas solutions --piece s", "semiqueen superqueen"),
        ("atlas solutions --method p", "permutations"),
        ("count --double-check ", "none 1% 5% all"),
        ("coordinator --double-check a", "all"),
        ("policy --double-check ", "1% 5% all"),
        ("config wor", "worker"),
        ("config keys re", "renew report resume retract revoke"),
    ] {
        let (before, word) = typed.rsplit_once(' ').unwrap();
        let last = before.rsplit(' ').next().unwrap();
        let script = format!(
            "source diadem.bash; COMP_WORDS=(diadem {before} '{word}'); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); \
             _diadem diadem '{word}' {last}; echo ${{COMPREPLY[@]}}"
        );
        let bash = Command::new("bash").args(["-c", &script]).current_dir(folder.path()).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&bash.stdout), format!("{completed}\n"), "{typed}: {bash:?}");
    }
    folder.run("completions tcsh").refused(&["tcsh", "bash, elvish, fish, powershell, zsh"]);
    // Names that are none are refused as before.
    folder.run("atlas solutions 4 --board round").refused(&["there is no board \"round\""]);
    folder.run("count 4 --double-check some").refused(&["\"some\" is no share to check"]);
    assert_eq!(folder.run("count 6 --in-memory --double-check 12.5% --quiet").code, Some(0));
    folder.run("config wor").refused(&["\"wor\" is no command with options"]);
}

#[test]
fn version_and_manual_are_printed() {
    let folder = Folder::new();
    let version = folder.run("--version").stdout;
    assert!(version.starts_with(&format!("diadem {} (commit ", env!("CARGO_PKG_VERSION"))), "{version}");
    assert!(version.contains("\ninstruction sets here: ") && version.contains("portable"), "{version}");
    assert_eq!(folder.run("man pages").code, Some(0));
    let page = fs::read_to_string(folder.path().join("pages/diadem-keys-client.1")).unwrap();
    assert!(page.contains(".TH diadem-keys-client 1"), "{page}");
    let page = fs::read_to_string(folder.path().join("pages/diadem.1")).unwrap();
    for section in ["NOTES", "\"EXIT STATUS\"", "EXAMPLES"] {
        assert_eq!(page.matches(&format!(".SH {section}\n")).count(), 1, "{section} in {page}");
    }
    for page in fs::read_dir(folder.path().join("pages")).unwrap() {
        let page = fs::read_to_string(page.unwrap().path()).unwrap();
        assert!(!page.contains("EXTRA"), "{page}");
    }
    fs::write(folder.path().join("file"), "").unwrap();
    folder.run("man file").refused(&["cannot make the folder file for manual pages"]);
}

#[test]
fn setting_without_its_required_option_is_dropped() {
    let folder = Folder::new();
    fs::write(folder.path().join("site.toml"), "seed = 5\nwatts = 400\n[verify]\nexport = \"none.csv\"\n")
        .unwrap();
    let listed = folder.run("atlas solutions 6 --config site.toml");
    assert_eq!((listed.code, listed.stdout.lines().count()), (Some(0), 4), "{listed:?}");
    let random = ["atlas solutions 6 --random 2 --config site.toml", "atlas solutions 6 --random 2 --seed 5"];
    assert_eq!(folder.run(random[0]).stdout, folder.run(random[1]).stdout);
    let both = with(&folder, "atlas solutions 6", &[("DIADEM_SEED", "5"), ("DIADEM_DARK", "1")]);
    assert_eq!(both.code, Some(2), "--dark is for pictures, whatever else is given: {both:?}");
    // An option that needs another option, which needs a third.
    let estimated =
        with(&folder, "estimate 8 --seconds 1", &[("DIADEM_WATTS", "400"), ("DIADEM_PRICE", "0.3EUR")]);
    assert_eq!(estimated.code, Some(0), "{estimated:?}");
    folder.run("count 8 --run run --quiet");
    let verified = folder.run("verify run --recount 5 --config site.toml");
    assert!(verified.code == Some(1) && verified.stderr.contains("cannot read none.csv"), "{verified:?}");
    folder.run("verify --config site.toml").refused(&["<DIR|--certificate <FILE>>"]);
}

#[test]
fn settings_are_read_from_a_pipe() {
    let folder = Folder::new();
    let mut bash = Command::new("bash");
    let script = format!("{} config --config <(echo 'nice = 5')", env!("CARGO_BIN_EXE_diadem"));
    let shown = bash.args(["-c", &script]).current_dir(folder.path()).output().unwrap();
    let shown = String::from_utf8(shown.stdout).unwrap();
    assert!(shown.starts_with("nice  5  /dev/fd/"), "{shown}");
}
