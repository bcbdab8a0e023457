use super::options::built;
use super::*;

fn completed(line: &str, variables: &[(&str, &str)]) -> Result<(CompletedLine, Settings), SettingsError> {
    let words = line.split(' ').map(OsString::from).collect();
    CompletedLine::read(words, variables.iter().map(|(name, value)| (name.into(), value.into())))
}

/// The options of the command that are set, in the order of their names.
fn set(line: &str, variables: &[(&str, &str)]) -> String {
    let (line, _) = completed(line, variables).unwrap();
    let set = line.in_force().into_iter().filter(|option| option.origin.is_some());
    let mut set: Vec<_> = set.map(|option| format!("{}={}", option.name, option.value.unwrap())).collect();
    set.sort_unstable();
    set.join(" ")
}

fn refused(text: &str) -> String {
    SettingsFile::parse("site.toml".as_ref(), text, &built()).err().unwrap().to_string()
}

fn file(text: &str) -> tempfile::NamedTempFile {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), text).unwrap();
    file
}

#[test]
fn variable_stands_for_option_that_is_not_typed() {
    for (line, variables, expected) in [
        ("count 8", &[("DIADEM_THREADS", "3")][..], "threads=3"),
        ("count 8 --threads 2", &[("DIADEM_THREADS", "3")], ""),
        ("keys init k", &[("DIADEM_THREADS", "3"), ("DIADEM_HOST", "a b")], "host=a b"),
        ("count 8", &[("DIADEM_QUIET", "1"), ("DIADEM_JSON", "no")], "json=false quiet=true"),
        ("count 8", &[("DIADEM_THREADS", "")], ""),
        ("follow --run r", &[("DIADEM_COORDINATOR", "http://a,http://b")], "coordinator=http://a,http://b"),
        ("worker", &[("DIADEM_HELP", "1"), ("DIADEM_VERSION", "1")], ""),
        ("verify -- -x", &[("DIADEM_SEED", "1")], "seed=1"),
        ("count", &[("DIADEM_LOG_FORMAT", "json")], "log-format=json"),
        ("keys", &[("DIADEM_CONFIG", "/no/such/file"), ("DIADEM_QUIET", "perhaps")], ""),
        ("retract r --reason x", &[("DIADEM_UNIT", "1"), ("DIADEM_READMIT", "1")], ""),
        ("policy u", &[("DIADEM_DOUBLE_CHECK", "all"), ("DIADEM_REPLICAS", "0")], ""),
        ("coordinator --run r", &[("DIADEM_TAKE_OVER", "true"), ("DIADEM_STAY", "true")], "stay=true"),
    ] {
        assert_eq!(set(&format!("diadem {line}"), variables), expected, "{line}");
    }
}

#[test]
fn setting_excluded_by_stronger_source_is_dropped() {
    let nothing: &[&str] = &[];
    for (line, variable, expected) in [
        ("worker --for 8h", ("DIADEM_UNTIL", "07:00"), nothing),
        ("count 8 --in-memory", ("DIADEM_RUN", "r"), nothing),
        ("export r --jsonl", ("DIADEM_CSV", "1"), nothing),
        ("follow http://c --run r", ("DIADEM_COORDINATOR", "http://a"), nothing),
        ("policy http://c", ("DIADEM_COORDINATOR", "http://a"), nothing),
        ("retract r", ("DIADEM_COORDINATOR", "http://a"), nothing),
        ("worker", ("DIADEM_UNTIL", "07:00"), &["until=07:00"]),
        ("count 8", ("DIADEM_IN_MEMORY", "0"), &["in-memory=false"]),
    ] {
        assert_eq!(set(&format!("diadem {line}"), &[variable]), expected.concat(), "{line}");
    }
    let file = file("until = '07:00'\nrun = 'r'");
    let line = |line: &str| format!("diadem --config {} {line}", file.path().display());
    assert_eq!(
        set(&line("count 8"), &[("DIADEM_FOR", "8h"), ("DIADEM_IN_MEMORY", "0")]),
        "for=8h in-memory=false run=r"
    );
    let both = [("DIADEM_FOR", "8h"), ("DIADEM_UNTIL", "07:00")];
    assert_eq!(
        completed("diadem worker", &both).err().unwrap().to_string(),
        "--until (from DIADEM_UNTIL) excludes --for (from DIADEM_FOR): leave one of them out"
    );
}

#[test]
fn required_option_may_come_from_a_setting() {
    for (line, variable) in [
        ("worker", ("DIADEM_COORDINATOR", "http://a")),
        ("follow --run r", ("DIADEM_COORDINATOR", "http://a")),
        ("retract --unit 1 --reason x", ("DIADEM_COORDINATOR", "http://a")),
        ("export r", ("DIADEM_JSONL", "1")),
        ("verify", ("DIADEM_CERTIFICATE", "8.json")),
        ("atlas solutions 8", ("DIADEM_SEED", "5")),
    ] {
        let parse = |variables: &[_]| completed(&format!("diadem {line}"), variables).unwrap().0.parse();
        assert!(parse(&[variable]).is_ok(), "{line}");
        assert_eq!(parse(&[]).is_ok(), line.starts_with("atlas solutions"), "{line}");
    }
}

#[test]
fn variable_goes_before_section_before_rest_of_file() {
    let file = file(
        "threads = 1\nnice = 1\nquiet = true\nmachine = 'rack-3'\n\
         [count]\nthreads = 2\nfor = '8h'\n[\"keys init\"]\nhost = ['a', 'b']",
    );
    let path = file.path().display().to_string();
    let with_file = |line: &str, variables| set(&format!("diadem --config {path} {line}"), variables);
    let variable = [("DIADEM_THREADS", "3")];
    assert_eq!(with_file("count 8", &[]), "for=8h machine=rack-3 nice=1 quiet=true threads=2");
    assert_eq!(with_file("count 8 --machine a", &variable), "for=8h nice=1 quiet=true threads=3");
    assert_eq!(with_file("count 8 --threads 4 --until 07:00 --machine a", &[]), "nice=1 quiet=true");
    assert_eq!(with_file("worker", &[]), "machine=rack-3 nice=1 threads=1");
    assert_eq!(with_file("keys init k", &[]), "host=a,b");
    assert_eq!(with_file("retract r --reason x", &[]), "");
    assert_eq!(set("diadem worker", &[("DIADEM_CONFIG", &path)]), "machine=rack-3 nice=1 threads=1");
}

#[test]
fn wrong_setting_is_refused_with_its_origin() {
    let (line, _) = completed("diadem count 8", &[("DIADEM_THREADS", "many")]).unwrap();
    assert_eq!(line.origin_of(&line.parse().unwrap_err()), Some("DIADEM_THREADS"));
    let file = file("threads = [1, 2]\n[verify]\nexport = []");
    let path = file.path().display();
    for (line, expected) in [
        ("count 8".to_owned(), "DIADEM_QUIET: --quiet is \"maybe\", it should be true or false".to_owned()),
        (format!("bench --config {path}"), format!("{path}: --threads takes one value, not a list")),
        (format!("verify r --config {path}"), format!("{path} [verify]: --export has no value")),
    ] {
        let error = completed(&format!("diadem {line}"), &[("DIADEM_QUIET", "maybe")]).err().unwrap();
        assert_eq!(error.to_string(), expected);
    }
}

#[test]
fn mistake_in_file_is_refused_in_a_sentence() {
    for (text, expected) in [
        ("thread = 4", ": \"thread\" is no option of any command; did you mean threads?"),
        ("[worker]\nshard = '1/2'", ": \"shard\" is no option of the command worker"),
        ("[wroker]\nnice = 1", ": there is no command \"wroker\"; did you mean worker?"),
        ("[keys]\nhost = 'a'", ": there is no command \"keys\"; did you mean keys init?"),
        ("config = 'other'", ": \"config\" is no option of any command"),
        ("[retract]\nmachine = 'rack-3'", ": --machine must be typed: it is not allowed in a file"),
    ] {
        assert_eq!(refused(text), format!("site.toml{expected}"));
    }
    assert!(refused("a = 1\nb = = 2").starts_with("site.toml, line 2: "), "{}", refused("a = 1\nb = = 2"));
}

#[test]
fn command_name_includes_parent_commands() {
    for (line, name) in [
        ("diadem count 8 --method magic", "diadem count"),
        ("diadem --log-format json count 8 --thread 2", "diadem count"),
        ("diadem keys init keys", "diadem keys init"),
        ("diadem keys client ada --wrong", "diadem keys client"),
        #[cfg(feature = "atlas")]
        ("diadem atlas orbits 8", "diadem atlas orbits"),
        ("diadem cuont 8", "diadem"),
    ] {
        assert_eq!(completed(line, &[]).unwrap().0.command_name(), name);
    }
}

#[test]
fn option_in_force_has_its_value_and_origin() {
    let file = file("nice = 5\n[worker]\nthreads = 2\n");
    let path = file.path().display().to_string();
    let (_, settings) =
        completed(&format!("diadem config --config {path}"), &[("DIADEM_DRAIN", "9s")]).unwrap();
    let of = |command: &str, name: &str| {
        let options = settings.line_of(command).unwrap().in_force();
        let option = options.into_iter().find(|option| option.name == name).unwrap();
        [option.value, option.origin].map(Option::unwrap_or_default)
    };
    assert_eq!(of("worker", "threads"), ["2", &*format!("{path} [worker]")]);
    assert_eq!(of("count", "threads"), ["one per core", ""]);
    assert_eq!(of("count", "nice"), ["5", &*path]);
    assert_eq!(of("worker", "drain"), ["9s", "DIADEM_DRAIN"]);
    assert_eq!(of("worker", "isa"), ["auto", ""]);
}

#[test]
fn options_in_full_need_no_setting() {
    let file = file("[worker]\nahead = \"1h\"\nnice = 19");
    let line = format!(
        "diadem worker --coordinator a,b --name=x --when-idle --install-service --config {}",
        file.path().display()
    );
    let (line, _) = completed(&line, &[("DIADEM_THREADS", "3"), ("DIADEM_NICE", "5")]).unwrap();
    let mut words = line.options_in_full().unwrap();
    words.sort_unstable();
    let expected = [
        "--ahead=1h",
        "--coordinator=a",
        "--coordinator=b",
        "--name=x",
        "--nice=5",
        "--threads=3",
        "--when-idle",
    ];
    assert_eq!(words, expected);
}
