//! Publications of a run: heads of its hash chain while it is counted, and a certificate at the end.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;
use std::sync::Arc;

use queens::{Summand, UnitId};
use records::Certificate;
use records::run_directory::RunDirectory;
use serde_json::{Value, json};

use crate::check::check;
use crate::forgery::{Forgery, count_of, unit_of};
use crate::harness::{Folder, published, until};
use crate::tools;

/// The canonical form of JSON, as RFC 8785 has it, by other means.
fn canonical(certificate: &str) -> Vec<u8> {
    let script = "import json, sys; c = json.loads(sys.argv[1]); del c['signature']; \
                  sys.stdout.write(json.dumps(c, sort_keys=True, separators=(',', ':'), ensure_ascii=False))";
    let output = Command::new("python3").args(["-c", script, certificate]).output();
    output.expect("python3 is not installed").stdout
}

#[test]
fn heads_of_a_run_in_use_stay_in_its_chain() {
    let folder = Folder::new();
    let (coordinator, address) = folder.serve("coordinator --n 13 --run run --double-check none", "log");
    let mut heads = "# published\n".to_owned();
    let head = |heads: &mut String, args: &str| {
        let head = folder.run(&format!("head run {args}"));
        assert!(head.code == Some(0) && head.stdout.lines().count() == 1, "{head:?}");
        *heads += &head.stdout;
    };
    head(&mut heads, "");
    let worker = folder.start(&format!("worker --coordinator http://{address} --threads 1"), "worker.log");
    let mut counted = 0;
    while counted < 100 {
        until("more is counted", || folder.counts("run") > counted);
        counted = folder.counts("run");
        head(&mut heads, "--json");
    }
    worker.end();
    coordinator.end();
    head(&mut heads, "");
    fs::write(folder.path().join("heads"), &heads).unwrap();
    let verified = folder.run("verify run --heads heads --json").json();
    assert_eq!(verified["heads"]["heads"], heads.lines().count() - 1, "{verified}");
    // The last record has another date, with correct hashes.
    let mut forgery = Forgery::of(&folder.path().join("run"));
    let last = forgery.all("count").pop().unwrap();
    forgery.lines[last]["at"] = json!(7);
    forgery.write(&folder.path().join("rewritten"));
    assert_eq!(folder.run("verify rewritten").code, Some(0));
    let refused = folder.run("verify rewritten --heads heads");
    assert_eq!(refused.code, Some(3), "{refused:?}");
    // The head behind it may have been published twice.
    let last = heads.lines().last().unwrap().split_once(" head=").unwrap().1.split(' ').next().unwrap();
    let line = heads.lines().position(|line| line.contains(last)).unwrap() + 1;
    let line = format!("heads: line {line}: ");
    assert!(refused.stderr.contains(&line) && refused.stderr.contains("not in the chain"), "{refused:?}");
    folder.run("count 8 --run other --quiet");
    let other = folder.run("verify other --heads heads");
    assert!(
        other.code == Some(3) && other.stderr.contains("heads: line 2: the head is of run "),
        "{other:?}"
    );
    fs::write(folder.path().join("nothing"), "# nothing\n").unwrap();
    assert_eq!(folder.run("verify run --heads nothing").code, Some(1));
    folder.run("verify --heads heads").refused(&["DIR"]);
}

/// A time-stamping authority of the test.
const AUTHORITY: &str = "\
[tsa]
default_tsa = local
[local]
serial = serial
signer_cert = tsa.pem
signer_key = tsa.key
signer_digest = sha256
default_policy = 1.2.3.4
digests = sha256
";

#[test]
fn head_is_stamped_by_a_time_stamping_authority() {
    if !tools::answers("openssl", "version") {
        return;
    }
    let folder = Folder::new();
    let openssl = |args: &str| {
        let output =
            Command::new("openssl").args(args.split(' ')).current_dir(folder.path()).output().unwrap();
        output.status.success()
    };
    fs::write(folder.path().join("tsa.cnf"), AUTHORITY).unwrap();
    fs::write(folder.path().join("serial"), "01\n").unwrap();
    assert!(openssl(
        "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout tsa.key -out tsa.pem \
         -subj /CN=clock -days 2 -addext extendedKeyUsage=critical,timeStamping"
    ));
    folder.run("count 10 --run run --quiet");
    for json in ["", " --json"] {
        let written = folder.run(&format!("head run -o head.txt{json}"));
        let hash = written.stderr.trim().strip_prefix("sha256 ").unwrap();
        assert!((written.code, written.stdout.as_str()) == (Some(0), ""), "{written:?}");
        assert!(openssl("ts -query -data head.txt -sha256 -cert -out head.tsq"));
        assert!(openssl("ts -reply -config tsa.cnf -queryfile head.tsq -out head.tsr"));
        let verify = "ts -verify -in head.tsr -CAfile tsa.pem";
        assert!(openssl(&format!("{verify} -data head.txt")));
        assert!(openssl(&format!("{verify} -digest {hash}")), "the hash is that of the file");
        assert_eq!(folder.run("verify run --recount 0 --heads head.txt").code, Some(0));
        let text = fs::read_to_string(folder.path().join("head.txt")).unwrap();
        fs::write(folder.path().join("head.txt"), text.replace("records", "Records")).unwrap();
        assert!(!openssl(&format!("{verify} -data head.txt")), "another text has another time");
    }
    folder.run("head run -o run/run.json").refused(&["is a file of the run"]);
}

#[test]
fn head_with_malformed_time_is_refused() {
    let folder = Folder::new();
    folder.run("count 8 --run run --quiet");
    let head = folder.run("head run").stdout;
    for time in ["yesterday", "2026-13-22T03:26:33Z", "2026-11-22"] {
        let (before, _) = head.split_once(" at=").unwrap();
        fs::write(folder.path().join("heads"), format!("{head}{before} at={time}\n")).unwrap();
        let refused = folder.run("verify run --recount 0 --heads heads");
        let sentence = format!("heads: line 2: the time \"{time}\" is none of diadem head");
        assert!(refused.code == Some(1) && refused.stderr.contains(&sentence), "{refused:?}");
    }
}

#[test]
fn certificate_of_sound_run_agrees_with_ledger() {
    if !tools::is_there("python3") {
        return;
    }
    let folder = Folder::new();
    folder.run("count 12 --run run --quiet");
    let signed = folder.run("certify run -o run.json");
    assert_eq!(signed.code, Some(0), "{signed:?}");
    let text = fs::read_to_string(folder.path().join("run.json")).unwrap();
    let certificate: Value = serde_json::from_str(&text).unwrap();
    let key = certificate["key"].as_str().unwrap();
    assert!(signed.stderr.contains(key), "{signed:?}");
    assert_eq!((&certificate["n"], &certificate["total"]), (&json!(12), &json!(published(12))));
    assert_eq!(canonical(&text), Certificate::parse(&text).unwrap().signed_bytes());
    let head = folder.run("head run --json").json();
    for name in ["run", "records", "head", "plan"] {
        assert_eq!(head[name], certificate[name], "{name}");
    }
    let verified = folder.run(&format!("verify run --certificate run.json --signer {key} --json")).json();
    assert_eq!((&verified["certificate"]["key"], &verified["certified"]), (&json!(key), &json!(true)));
    assert_eq!(verified["certified_by_coordinator"], true);
    assert_eq!(verified["ledger"]["keys"], json!([key]));
    let alone = folder.run("verify --certificate run.json");
    assert!(alone.code == Some(0) && alone.stdout.contains("the signer you expect"), "{alone:?}");
    for of_a_run in ["--recount all", "--seed 1", "--method meet"] {
        folder.run(&format!("verify --certificate run.json {of_a_run}")).refused(&["<DIR>"]);
    }
    let private = folder.path().join("run/certify.key");
    fs::set_permissions(&private, fs::Permissions::from_mode(0o640)).unwrap();
    let warned = folder.run("certify run");
    let warning = "warning: others may read run/certify.key (mode 640)";
    assert!(warned.code == Some(0) && warned.stderr.contains(warning), "{warned:?}");
    fs::set_permissions(&private, fs::Permissions::from_mode(0o600)).unwrap();
    // Another key, another text, another run, and a later record.
    let other_key = "0".repeat(64);
    let other = folder.run(&format!("verify --certificate run.json --signer {other_key}"));
    assert!(other.code == Some(3) && other.stderr.contains("is signed with the key"), "{other:?}");
    fs::write(folder.path().join("changed"), text.replacen("14200", "14208", 1)).unwrap();
    let changed = folder.run("verify --certificate changed");
    assert!(changed.code == Some(3) && changed.stderr.contains("changed: the signature"), "{changed:?}");
    folder.run("count 12 --run again --quiet");
    let again = folder.run("verify again --certificate run.json");
    assert!(again.code == Some(3) && again.stderr.contains("has no head"), "{again:?}");
    // One key for two runs.
    folder.run("certify again --key run/certify.key -o again.json");
    assert_eq!(folder.run(&format!("verify --certificate again.json --signer {key}")).code, Some(0));
    // The second run does not name it.
    let stranger = folder.run("verify again --certificate again.json");
    assert!(
        stranger.code == Some(0) && stranger.stdout.contains("its key is none of the coordinators' keys"),
        "{stranger:?}"
    );
}

#[test]
fn certificate_of_a_key_not_in_ledger_is_flagged() {
    if !tools::is_there("python3") {
        return;
    }
    let folder = Folder::new();
    let serve = "coordinator --n 15 --method search --run run --key";
    let (first, address) = folder.serve(&format!("{serve} first.key"), "log");
    let join = format!("worker --coordinator http://{address} --threads 1 --isa portable");
    let worker = folder.start(&join, "worker.log");
    until("something is counted", || folder.counts("run") > 20);
    first.terminate();
    assert_eq!(first.end().code, Some(143));
    fs::write(folder.path().join("heads.txt"), folder.run("head run").stdout).unwrap();
    let second = folder.serve_at(&address, &format!("{serve} second.key"), "log");
    assert_eq!(second.end().code, Some(0));
    assert_eq!(worker.end().code, Some(0));
    assert!(!folder.path().join("run/certify.key").exists());
    let mut named = Vec::new();
    for (key, is_of_coordinator) in [("first", true), ("second", true), ("other", false)] {
        let signed = folder.run(&format!("certify run --key {key}.key -o {key}.json"));
        assert!(
            signed.code == Some(0) && signed.stderr.contains("warning: ") != is_of_coordinator,
            "{signed:?}"
        );
        let verified = folder.run(&format!("verify run --recount 0 --certificate {key}.json --json")).json();
        assert_eq!(verified["certified_by_coordinator"], is_of_coordinator, "{key}");
        if is_of_coordinator {
            named.push(verified["certificate"]["key"].as_str().unwrap().to_owned());
        }
        // Anybody who appends after the last published head can name any key there.
        let verify = format!("verify run --recount 0 --certificate {key}.json --heads heads.txt --json");
        let published = folder.run(&verify).json();
        assert_eq!(published["certified_by_coordinator"], key == "first", "{published}");
        assert!(published["heads"]["records_behind"].as_u64() > Some(0), "{published}");
        named.sort();
        if key != "first" {
            assert_eq!(verified["ledger"]["keys"], json!(named));
        }
    }
    let checked = check(&folder, "run --recount 0 --json").json();
    assert_eq!(checked["ledger"]["keys"], json!(named));
}

#[test]
fn key_not_in_ledger_signs_only_on_request() {
    let folder = Folder::new();
    folder.run("count 10 --run run --quiet");
    let own = folder.path().join("run/certify.key");
    fs::rename(&own, folder.path().join("kept.key")).unwrap();
    let signed = folder.run("certify run --key kept.key");
    let key = signed.json()["key"].as_str().unwrap().to_owned();
    let partition = "all 92 solutions up to symmetry are each counted once by the units of the plan";
    assert_eq!(signed.stderr, format!("{partition}\nsigned with the key {key}\n"));
    let refuses = || folder.run("certify run").refused(&["run/certify.key has none", &key, "--key FILE"]);
    refuses();
    assert!(!own.exists(), "a stranger's key was made");
    // With a lost key one can continue, with a warning.
    let other = folder.run("certify run --key run/certify.key");
    let warning = format!("warning: the ledger names other keys as its coordinators' ({key})");
    assert!(other.code == Some(0) && other.stderr.contains(&warning), "{other:?}");
    // The file alone does not make the key a coordinator's.
    assert!(own.exists());
    refuses();
}

#[test]
fn unfinished_or_unsound_run_gets_no_certificate() {
    let folder = Folder::new();
    folder.run("count 12 --shard 1/2 --run shard --quiet");
    assert_eq!(folder.run("certify shard").json()["shard"], json!({"index": 1, "of": 2}));
    folder.run("merge half shard");
    folder.run("certify half").refused(&["units missing"]);
    folder.run("count 12 --run lie --quiet");
    let lie = folder.path().join("lie");
    let plan = Arc::clone(RunDirectory::open(&lie).unwrap().plan());
    let mut forgery = Forgery::of(&lie);
    forgery.lines.retain(|line| line["kind"] != "check");
    forgery.lines.iter_mut().for_each(|line| _ = line.remove("recount"));
    // One that no symmetric count contradicts.
    let is_asymmetric =
        |at: &usize| plan.summand(UnitId(unit_of(&forgery.lines[*at]))) == Summand::Asymmetric;
    let at = forgery.all("count").into_iter().find(is_asymmetric).unwrap();
    forgery.lines[at]["count"] = (count_of(&forgery.lines[at]) + 1).into();
    forgery.number_marks();
    forgery.write(&lie);
    folder.run("certify lie").refused(&["differs from the published value"]);
    folder.run("certify nowhere").refused(&["nowhere", "run.json is missing"]);
}

#[test]
fn malformed_file_is_error_and_mismatch_is_unsound() {
    let folder = Folder::new();
    folder.run("count 8 --run run --quiet");
    folder.run("count 8 --run other --quiet");
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    write("heads", &folder.run("head other").stdout);
    folder.run("certify other -o certificate");
    let certificate = fs::read_to_string(folder.path().join("certificate")).unwrap();
    write("form", &certificate.replace("\"diadem_certificate\": 1", "\"diadem_certificate\": 9"));
    folder.run("export other --csv -o table");
    let table = fs::read_to_string(folder.path().join("table")).unwrap();
    write("table", &table.replace("# n 8", "# n 9"));
    write("text", "of something else\n");
    write("nothing", "");
    for option in ["heads", "certificate", "export"] {
        for (file, code) in [("text", 1), ("nothing", 1), ("nowhere", 1), (option, 3)] {
            let file = if (option, file) == ("export", "export") { "table" } else { file };
            let verified = folder.run(&format!("verify run --recount 0 --{option} {file}"));
            assert_eq!(verified.code, Some(code), "{verified:?}");
            assert!(verified.stderr.contains(&format!("{file}: ")) || file == "nowhere", "{verified:?}");
            // The JSON agrees with the exit code.
            let verified = folder.run(&format!("verify run --recount 0 --json --{option} {file}"));
            let report: Value = serde_json::from_str(&verified.stdout).unwrap();
            let sound = (code == 3).then(|| json!(false));
            assert_eq!((verified.code, report.get("sound")), (Some(code), sound.as_ref()), "{verified:?}");
            assert!(report["wrong"].is_string(), "{verified:?}");
        }
    }
    // A value of it takes fifty times as much memory as its words.
    write("long", &format!("{certificate}{}", " ".repeat(1 << 20)));
    let long = folder.run("verify --certificate long");
    assert!(
        long.code == Some(1) && long.stderr.contains("long is too long: such a file has 1 MiB"),
        "{long:?}"
    );
    let form = folder.run("verify --certificate form");
    assert!(form.code == Some(1) && form.stderr.contains("certificate of form 9"), "{form:?}");
}
