use super::*;

fn words(line: &str) -> Vec<OsString> {
    line.split(' ').map(OsString::from).collect()
}

/// The line with these variables.
fn completed(line: &str, variables: &[(&str, &str)]) -> Result<Vec<String>, SettingsError> {
    let named = |name: &str| {
        variables.iter().find(|(variable, _)| *variable == name).map(|(_, value)| OsString::from(value))
    };
    let completed = complete(words(line), &named)?;
    Ok(completed.arguments.into_iter().map(|argument| argument.into_string().unwrap()).collect())
}

fn added(line: &str, variables: &[(&str, &str)]) -> String {
    let all = completed(line, variables).unwrap().join(" ");
    all.strip_prefix(line).unwrap_or(&all).trim_start().to_owned()
}

/// A file with that text.
fn file(text: &str) -> tempfile::NamedTempFile {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), text).unwrap();
    file
}

fn refused(text: &str) -> String {
    SettingsFile::parse("site.toml".as_ref(), text, &built()).unwrap_err().to_string()
}

#[test]
fn variables_stand_for_options_that_are_not_typed() {
    assert_eq!(added("diadem count 8", &[("DIADEM_THREADS", "3")]), "--threads=3");
    assert_eq!(added("diadem count 8 --threads 2", &[("DIADEM_THREADS", "3")]), "");
    assert_eq!(added("diadem keys init k", &[("DIADEM_THREADS", "3"), ("DIADEM_HOST", "a b")]), "--host=a b");
    assert_eq!(added("diadem count 8", &[("DIADEM_QUIET", "1"), ("DIADEM_JSON", "no")]), "--quiet");
    assert_eq!(added("diadem count 8", &[("DIADEM_THREADS", "")]), "");
    assert_eq!(
        added("diadem follow --run r", &[("DIADEM_COORDINATOR", "http://a,http://b")]),
        "--coordinator=http://a,http://b"
    );
    // What is typed in either way goes first, and an empty variable is none.
    for line in ["follow http://c --run r", "policy http://c", "retract r", "retract --coordinator http://c"]
    {
        assert_eq!(added(&format!("diadem {line}"), &[("DIADEM_COORDINATOR", "http://a")]), "", "{line}");
    }
    assert_eq!(added("diadem follow --run r", &[("DIADEM_COORDINATOR", "")]), "");
    assert_eq!(
        added("diadem worker", &[("DIADEM_COORDINATOR", "http://a,http://b")]),
        "--coordinator=http://a,http://b"
    );
    assert_eq!(added("diadem worker", &[("DIADEM_HELP", "1"), ("DIADEM_VERSION", "1")]), "");
    assert_eq!(
        completed("diadem verify -- -x", &[("DIADEM_SEED", "1")]).unwrap()[2..],
        ["--seed=1", "--", "-x"]
    );
    assert_eq!(added("diadem count", &[("DIADEM_LOG_FORMAT", "json")]), "--log-format=json");
}

#[test]
fn nothing_is_added_to_a_line_that_names_no_command_to_run() {
    let variables =
        [("DIADEM_LOG_FORMAT", "json"), ("DIADEM_CONFIG", "/no/such/file"), ("DIADEM_QUIET", "perhaps")];
    for line in ["diadem", "diadem keys"] {
        assert_eq!(added(line, &variables), "", "{line}");
    }
}

#[test]
fn what_contradicts_something_stronger_is_left_out() {
    let hours = [("DIADEM_UNTIL", "07:00")];
    assert_eq!(added("diadem worker", &hours), "--until=07:00");
    assert_eq!(added("diadem worker --for 8h", &hours), "", "they exclude each other");
    assert_eq!(added("diadem count 8 --in-memory", &[("DIADEM_RUN", "r")]), "");
    let group = added("diadem export r --jsonl", &[("DIADEM_CSV", "1"), ("DIADEM_BY", "family")]);
    assert_eq!(group, "--by=family", "one of a group excludes the others");
}

#[test]
fn what_a_command_takes_back_or_changes_is_never_taken_from_settings() {
    let variables = [
        ("DIADEM_UNIT", "1"),
        ("DIADEM_MACHINE", "rack-3"),
        ("DIADEM_OWNER", "ada"),
        ("DIADEM_READMIT", "1"),
        ("DIADEM_DOUBLE_CHECK", "all"),
        ("DIADEM_REPLICAS", "0"),
    ];
    for line in ["diadem retract r --reason x", "diadem retract r --reason x --unit 3", "diadem policy u"] {
        assert_eq!(added(line, &variables), "");
    }
    assert_eq!(
        added("diadem coordinator --run r", &[("DIADEM_TAKE_OVER", "true"), ("DIADEM_STAY", "true")]),
        "--stay"
    );
    let file = file("machine = 'rack-3'\nreplicas = 2");
    let line = |command| format!("diadem --config {} {command}", file.path().display());
    assert_eq!(added(&line("retract r --reason x"), &[]), "");
    assert_eq!(added(&line("worker"), &[]), "--machine=rack-3");
    assert_eq!(
        refused("[retract]\nmachine = 'rack-3'"),
        "site.toml: --machine is heeded only where it is typed: it is meant for one command, not for all that follow"
    );
}

#[test]
fn the_command_line_goes_before_variables_and_these_before_the_file() {
    let file = file(
        "threads = 1\nnice = 1\nquiet = true\n[count]\nthreads = 2\nfor = '8h'\n[\"keys init\"]\nhost = ['a', 'b']",
    );
    let path = file.path().display();
    let line = |line: &str| line.replace("diadem", &format!("diadem --config {path}"));
    assert_eq!(added(&line("diadem count 8"), &[]), "--threads=2 --for=8h --nice=1 --quiet");
    assert_eq!(
        added(&line("diadem count 8"), &[("DIADEM_THREADS", "3")]),
        "--threads=3 --for=8h --nice=1 --quiet"
    );
    assert_eq!(added(&line("diadem count 8 --threads 4 --until 07:00"), &[]), "--nice=1 --quiet");
    assert_eq!(added(&line("diadem worker"), &[]), "--threads=1 --nice=1");
    assert_eq!(added(&line("diadem keys init k"), &[]), "--host=a --host=b");
    assert_eq!(added("diadem worker", &[("DIADEM_CONFIG", &path.to_string())]), "--threads=1 --nice=1");
}

#[test]
fn it_is_said_where_a_wrong_value_comes_from() {
    let variables = |name: &str| (name == "DIADEM_THREADS").then(|| OsString::from("many"));
    let completed = complete(words("diadem count 8"), &variables).unwrap();
    let error = clap::Parser::try_parse_from(&completed.arguments).map(|_: Args| ()).unwrap_err();
    assert_eq!(completed.origin_of(&error), Some(&SettingOrigin::Variable("DIADEM_THREADS".into())));
    let wrong = |variable| completed_error("diadem count 8", variable);
    assert_eq!(
        wrong(("DIADEM_QUIET", "maybe")),
        "DIADEM_QUIET is \"maybe\", which is neither true nor false"
    );
}

fn completed_error(line: &str, variable: (&str, &str)) -> String {
    completed(line, &[variable]).unwrap_err().to_string()
}

#[test]
fn files_with_mistakes_are_refused_in_a_sentence_each() {
    assert_eq!(
        refused("thread = 4"),
        "site.toml: \"thread\" is no option of any command; did you mean threads?"
    );
    assert_eq!(refused("[worker]\nshard = '1/2'"), "site.toml: \"shard\" is no option of the command worker");
    assert_eq!(
        refused("[wroker]\nnice = 1"),
        "site.toml: there is no command \"wroker\"; did you mean worker?"
    );
    assert_eq!(
        refused("[keys]\nhost = 'a'"),
        "site.toml: there is no command \"keys\"; did you mean keys init?"
    );
    assert_eq!(refused("config = 'other'"), "site.toml: \"config\" is no option of any command");
    assert_eq!(refused("quiet = 'yes'"), "site.toml: quiet is \"yes\", it should be true or false");
    assert_eq!(
        refused("threads = true"),
        "site.toml: threads is true, it should be a text in quotes, a number, or a list of them"
    );
    assert!(refused("threads = []").contains("threads is an empty list, it should be a text"));
    assert!(refused("until = 07:00:00").contains("without quotes"));
    assert!(refused("threads = [[1]]").contains("a list with array"));
    assert!(refused("a = 1\nb = = 2").starts_with("site.toml, line 2: "), "{}", refused("a = 1\nb = = 2"));
    let missing = SettingsFile::read("/nowhere/site.toml".as_ref(), &built()).unwrap_err();
    assert_eq!(missing.to_string(), "/nowhere/site.toml cannot be read");
}

#[test]
fn a_command_is_named_with_those_it_is_part_of() {
    let named = |line: &str| command_name(&words(line));
    assert_eq!(named("diadem count 8 --kernel magic"), "diadem count");
    assert_eq!(named("diadem --log-format json count 8 --thread 2"), "diadem count");
    assert_eq!(named("diadem keys init keys"), "diadem keys init");
    assert_eq!(named("diadem keys client ada --wrong"), "diadem keys client");
    #[cfg(feature = "atlas")]
    assert_eq!(named("diadem families 8"), "diadem orbits");
    assert_eq!(named("diadem cuont 8"), "diadem");
}

#[test]
fn what_is_in_force_is_told_with_its_origin() {
    let file = file("nice = 5\n[worker]\nthreads = 2\n");
    let typed = words(&format!("diadem config --config {}", file.path().display()));
    let variables = |name: &str| (name == "DIADEM_DRAIN").then(|| OsString::from("9s"));
    let all = in_force(complete(typed, &variables).unwrap().file.as_ref(), &variables).unwrap();
    let of = |command: &str, option: &str| {
        let found = all.iter().find(|one| one.command == command && one.option == option).unwrap();
        (found.value.clone(), found.origin.clone())
    };
    let path = file.path().to_owned();
    let from_file = |section: Option<&str>| SettingOrigin::File {
        path: path.clone(),
        section: section.map(str::to_owned),
    };
    assert_eq!(of("worker", "threads"), (Some("2".into()), from_file(Some("worker"))));
    assert_eq!(of("count", "threads"), (None, SettingOrigin::Default));
    assert_eq!(of("count", "nice"), (Some("5".into()), from_file(None)));
    assert_eq!(of("worker", "drain"), (Some("9s".into()), SettingOrigin::Variable("DIADEM_DRAIN".into())));
    assert_eq!(of("worker", "isa"), (Some("auto".into()), SettingOrigin::Default));
}
