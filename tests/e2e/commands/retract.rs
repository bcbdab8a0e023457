//! Repairs of a run with wrong counts, by the operator and by the run itself.

use std::sync::Arc;

use queens::{Measure, Summand, UnitId};
use records::run_directory::RunDirectory;

use crate::check::check;
use crate::credentials::keys;
use crate::forgery::{Forgery, Line, count_of, lie_about, unit_of};
use crate::harness::{Completed, Folder, free_address, published, until};
use crate::tools;

#[test]
fn unit_named_by_verify_is_retracted_and_recounted() {
    let folder = Folder::new();
    folder.run("count 12 --run run --quiet");
    let unit = lie_about(&folder, "run", 1, |summand| summand == Summand::Asymmetric);
    assert_eq!(folder.run("count 12 --run run --json").code, Some(3), "it differs from the published value");
    let taken = folder.run(&format!("retract run --unit {unit} --reason wrong"));
    assert_eq!((taken.code, taken.stdout.starts_with("1 unit is open again")), (Some(0), true), "{taken:?}");
    assert!(folder.ledger("run").contains("\"reason\":\"wrong\""));
    assert_eq!(folder.run("count 12 --run run --json").json()["total"], published(12));
    assert_eq!(folder.run("verify run --recount all").code, Some(0));
}

#[test]
fn run_with_unpublished_p_stops_at_once() {
    let folder = Folder::new();
    folder.run("count 12 --run run --quiet");
    let path = folder.path().join("run");
    let plan = Arc::clone(RunDirectory::open(&path).unwrap().plan());
    let mut forgery = Forgery::of(&path);
    let is_half_turn = |unit| matches!(plan.summand(UnitId(unit)), Summand::Symmetric(_, Measure::HalfTurn));
    // The constellation with the most has completions enough for two more.
    let half_turns =
        forgery.lines.iter().filter(|line| line.contains_key("unit") && is_half_turn(unit_of(line)));
    let wrong = half_turns.max_by_key(|line| count_of(line)).map(unit_of).unwrap();
    // The count and its check are wrong alike, and half of the completions are missing.
    let is_kept = |line: &Line| !line.contains_key("unit") || unit_of(line) < plan.units() / 2;
    forgery.lines.retain(is_kept);
    for line in forgery.lines.iter_mut().filter(|line| line.get("unit") == Some(&wrong.into())) {
        line["count"] = (count_of(line) + 2).into();
    }
    forgery.number_marks();
    forgery.write(&path);
    let counts = folder.counts("run");
    let stopped = folder.run("count 12 --run run --quiet");
    for word in ["P = 19", "differ from the published values", "A032522", "diadem verify"] {
        assert!(stopped.stderr.contains(word), "{word}: {stopped:?}");
    }
    assert_eq!((stopped.code, folder.counts("run")), (Some(3), counts), "{stopped:?}");
    let verified = folder.run("verify run");
    for words in [format!("unit {wrong}: the ledger says"), format!("retract run --unit {wrong}")] {
        assert!(verified.code == Some(3) && verified.stderr.contains(&words), "{words}: {verified:?}");
    }
    folder.run(&format!("retract run --unit {wrong} --reason wrong"));
    assert_eq!(folder.run("count 12 --run run --json").json()["total"], published(12));
}

#[test]
fn retract_of_several_units_needs_yes() {
    let folder = Folder::new();
    folder.run("count 11 --run run --machine vm --quiet");
    let ledger = folder.ledger("run");
    let units = folder.counts("run");
    for target in ["--machine vm", "--owner -", &format!("--unit 0-{}", units - 1)] {
        let extent = [&format!("{units} units"), "100.0 % of the work"];
        let dry = folder.run(&format!("retract run {target} --reason x --dry-run"));
        assert!(dry.code == Some(0) && extent.iter().all(|said| dry.stdout.contains(*said)), "{dry:?}");
        let refused = folder.run(&format!("retract run {target} --reason x"));
        refused.refused(&extent);
        refused.refused(&["--yes", "--dry-run"]);
        assert_eq!((refused.code, folder.ledger("run") == ledger), (Some(2), true), "{refused:?}");
    }
    let dry = folder.run("retract run --machine vm --reason x --dry-run").stdout;
    assert!(
        dry.contains(" core-hours)") && dry.contains("to undo: diadem retract run --machine vm --readmit"),
        "{dry}"
    );
    let readmitted = folder.run("retract run --machine vm --readmit --reason x --dry-run");
    readmitted.refused(&["is not quarantined"]);
    let one = folder.run("retract run --unit 3 --reason x");
    assert!(one.code == Some(0) && one.stdout.contains("1 unit is open again in run, 0."), "{one:?}");
    assert!(one.stdout.contains("to undo, do nothing: each unit is counted again"), "{one:?}");
    let half = folder.run("retract run --unit 0-1 --reason x --dry-run");
    assert!(half.stdout.contains("2 units") && !half.stdout.contains("100.0 %"), "{half:?}");
}

#[test]
fn retract_of_served_run_needs_the_coordinator_url() {
    let folder = Folder::new();
    let (_coordinator, address) = folder.serve("coordinator --n 12 --run run", "log");
    folder
        .run("retract run --unit 1 --reason x")
        .refused(&["run is in use by process", "use its URL in place of the directory"]);
    folder.run(&format!("retract http://{address} --owner - --reason x")).refused(&["nobody called \"-\""]);
}

#[test]
fn contradictory_symmetric_counts_are_resolved() {
    let folder = Folder::new();
    for measure in [Measure::HalfTurn, Measure::Completions] {
        let run = format!("run-{measure:?}");
        folder.run(&format!("count 12 --run {run} --quiet"));
        // One more: the rest is odd, which is impossible.
        lie_about(&folder, &run, 1, |summand| matches!(summand, Summand::Symmetric(_, of) if of == measure));
        let again = folder.run(&format!("count 12 --run {run} --json"));
        assert_eq!((again.code, again.json()["total"].clone()), (Some(0), published(12).into()), "{again:?}");
        assert!(folder.ledger(&run).contains("\"contradiction\":true"));
        assert_eq!(folder.run(&format!("verify {run} --recount all")).code, Some(0));
    }
}

#[test]
fn retract_accepts_the_given_machine_name() {
    let folder = Folder::new();
    // Two containers of one machine.
    let count = |machine: &str| folder.run(&format!("count 10 --run run --machine {machine} --quiet"));
    assert_eq!(count("rack-3").code, Some(0));
    let ledger = folder.ledger("run");
    let machines = ledger.split("\"machine\":\"").skip(1).map(|rest| rest.split('"').next().unwrap());
    assert_eq!(machines.collect::<std::collections::BTreeSet<_>>(), ["rack-3"].into());
    assert_eq!(folder.run("retract run --machine rack-3 --reason hot --yes").code, Some(0));
    let refused = count("rack-3");
    assert!(
        refused.code == Some(3) && refused.stderr.contains("machine rack-3 is quarantined"),
        "{refused:?}"
    );
    assert_eq!(count("rack-4").code, Some(0));
    assert!(folder.ledger("run").contains("\"machine\":\"rack-4\""));
}

#[test]
fn retracted_machine_loses_counts_and_workers() {
    if !tools::is_there("python3") {
        return;
    }
    let folder = Folder::new();
    folder.run("count 11 --run run --quiet");
    let ledger = folder.ledger("run");
    let machine = ledger.split("\"machine\":\"").nth(1).unwrap().split('"').next().unwrap().to_owned();
    folder.run("retract run --machine nobody --reason x").refused(&["\"nobody\"", &machine]);
    folder.run("retract run --unit 999999999 --reason x").refused(&["999999999", "units 0 to"]);
    folder.run("retract run --unit 1").refused(&["--reason"]);
    for wrong in ["7-3", "1-9/0", "0-18446744073709551615"] {
        folder.run(&format!("retract run --unit {wrong} --reason x")).refused(&[wrong, "as in 100-403"]);
    }
    let many = folder.run("retract run --unit 0-4/2 --unit 7 --reason x --yes");
    assert!(many.code == Some(0) && many.stdout.starts_with("4 units are open again"), "{many:?}");
    folder.run("retract run --unit 1-2 --reason x --yes").refused(&["unit 2 has no count"]);
    let one = folder.run("retract run --unit 1 --reason x");
    assert!(one.stdout.starts_with("1 unit is open again"), "nothing was changed before: {one:?}");
    let taken = folder.run(&format!("retract run --machine {machine} --reason hot --yes"));
    assert_eq!((taken.code, taken.stdout.contains("open again")), (Some(0), true), "{taken:?}");
    assert!(folder.ledger("run").contains("\"kind\":\"expel\""));
    assert_eq!(folder.run("verify run --recount 0").code, Some(3), "nothing of it stands");
    let refused = folder.run("count 11 --run run --quiet");
    assert_eq!(refused.code, Some(3), "who starts it again would do so for ever: {refused:?}");
    assert!(refused.stderr.lines().last().unwrap().contains("is quarantined"), "{refused:?}");
    // It may count again, and its new counts are believed.
    folder.run("retract run --owner ada --readmit --reason x").refused(&["\"ada\" is not quarantined"]);
    folder.run("retract run --owner - --readmit --reason x").refused(&["\"-\" is not quarantined"]);
    let admitted = folder.run(&format!("retract run --machine {machine} --readmit --reason cooled"));
    assert_eq!((admitted.code, admitted.stdout.contains("believed again")), (Some(0), true), "{admitted:?}");
    folder
        .run(&format!("retract run --machine {machine} --readmit --reason x"))
        .refused(&["is not quarantined"]);
    assert_eq!(folder.run("count 11 --run run --json").json()["total"], published(11));
    assert_eq!(folder.run("verify run --recount 0").code, Some(0));
    let checked = check(&folder, "run");
    assert_eq!(checked.code, Some(0), "{checked:?}");
    // All machines of the owner without a name.
    folder
        .run("retract run --owner= --reason all")
        .refused(&["an owner, or - for workers without credentials"]);
    let taken = folder.run("retract run --owner - --reason all --yes");
    assert!(taken.code == Some(0) && taken.stdout.contains("until they are readmitted"), "{taken:?}");
    let Completed { code, stderr: refused, .. } = folder.run("count 11 --run run");
    assert_eq!(code, Some(3), "{refused}");
    assert!(refused.lines().last().unwrap().contains("diadem retract --owner NAME --readmit"), "{refused}");
    assert_eq!(folder.run("retract run --owner - --readmit --reason again").code, Some(0));
    assert_eq!(folder.run("count 11 --run run --json").json()["total"], published(11));
    assert_eq!(check(&folder, "run").code, Some(0));
}

#[test]
fn share_of_finished_run_cannot_be_raised() {
    let folder = Folder::new();
    folder.run("count 11 --run run --quiet");
    assert!(folder.run("status run").stdout.contains(&format!("Q(11) = {}: agrees", published(11))));
    let late = folder.run("count 11 --run run --double-check 5%");
    assert!(late.code == Some(0) && late.stderr.contains("only --double-check all checks more"), "{late:?}");
    for asked in ["--double-check 1%", "--double-check all", ""] {
        let silent = folder.run(&format!("count 11 --run run --quiet {asked}"));
        assert_eq!((silent.code, silent.stderr.as_str()), (Some(0), ""), "{asked}");
    }
}

#[test]
fn raised_policy_stands_in_the_ledger() {
    let folder = Folder::new();
    folder.run("count 11 --run run --quiet");
    let before = folder.run("count 11 --run run --json").json();
    assert_ne!(before["worth"]["counted_twice_on_one_machine"], before["units"]);
    let raised = folder.run("count 11 --run run --double-check all --json").json();
    assert_eq!(raised["worth"]["counted_twice_on_one_machine"], raised["units"]);
    assert!(folder.ledger("run").contains("\"double_check\":\"all\""));
    // Without the option it stays so.
    assert_eq!(folder.run("count 11 --run run --json").json()["worth"], raised["worth"]);
}

#[test]
fn policy_of_served_run_needs_the_admin_token() {
    if !tools::is_there("python3") {
        return;
    }
    let folder = keys();
    let policy = "--double-check none --replicas 1";
    let serve =
        format!("coordinator --n 14 --method search --run run --keys keys/coordinator {policy} --json");
    let (coordinator, address) = folder.serve(&serve, "log");
    let url = format!("https://{address}");
    let join =
        format!("worker --coordinator {url} --keys keys/worker --threads 1 --isa portable --machine m");
    let worker = folder.start(&join, "worker.log");
    let status = || folder.run(&format!("status --coordinator {url} --keys keys/status --json")).json();
    until("nothing is acknowledged", || status()["trouble"].as_str().unwrap().contains("diadem policy"));
    let policy = |keys: &str, what: &str| folder.run(&format!("policy {url} --keys keys/{keys} {what}"));
    for (keys, why) in [("worker", "admin token"), ("status", "reads only"), ("follower", "follows only")] {
        policy(keys, "--replicas 0 --reason x").refused(&[why]);
    }
    policy("admin", "--reason x").refused(&["--double-check"]);
    let refused = policy("admin", "--replicas 17 --reason x");
    refused.refused(&["17"]);
    assert_eq!(refused.code, Some(2));
    policy("admin", "--replicas 0").refused(&["--reason"]);
    folder.run("policy run --replicas 0 --reason x").refused(&["no URL", "when you start it"]);
    let both = format!("https://{},{url}", free_address());
    let raise = "--keys keys/admin --double-check all --replicas 0 --reason record";
    let dry = policy("admin", "--double-check all --replicas 0 --reason record --dry-run");
    for words in
        ["nothing is changed", "--double-check none -> all", "--replicas 1 -> 0", "cannot be lowered"]
    {
        assert!(dry.code == Some(0) && dry.stdout.contains(words), "{words}: {dry:?}");
    }
    policy("worker", "--replicas 0 --reason x --dry-run").refused(&["admin token"]);
    assert!(!folder.ledger("run").contains("\"reason\":\"record\""), "a dry run is not recorded");
    let raised = folder.run(&format!("policy --coordinator {both} {raise}"));
    assert!(raised.stdout.starts_with(&format!("in force at {url}: ")), "{raised:?}");
    let way_back = format!("to undo: diadem policy {url} --keys keys/admin --replicas 1 --reason TEXT");
    assert!(
        raised.stdout.contains(&way_back) && raised.stdout.contains("--double-check stays"),
        "{raised:?}"
    );
    let told = [format!("policy {both} {raise}"), format!("policy {raise}")];
    let [told, set] =
        told.map(|told| folder.diadem(&told).env("DIADEM_COORDINATOR", &both).output().unwrap());
    let in_force = raised.stdout.lines().next().unwrap();
    let again = [told, set].map(|again| Completed::of(again).stdout);
    assert_eq!(
        again,
        [(); 2].map(|()| format!("{in_force}\n")),
        "nothing has changed, so nothing can be undone"
    );
    assert_eq!((raised.code, raised.stdout.contains("--double-check all --replicas 0")), (Some(0), true));
    policy("admin", "--double-check 10% --reason x").refused(&["checks all", "cannot be lowered to 10%"]);
    let answer = coordinator.end().json();
    assert_eq!(answer["total"], published(14));
    assert_eq!(answer["worth"]["counted_twice_on_one_machine"], answer["units"]);
    assert_eq!(worker.end().code, Some(0));
    // A start cannot lower it either, and prints the same error.
    for start in ["coordinator --run run --listen 127.0.0.1:0", "count 14 --run run"] {
        folder.run(&format!("{start} --double-check 10%")).refused(&[
            "checks all",
            "cannot be lowered to 10%",
            "leave",
        ]);
    }
    assert_eq!(folder.run("count 14 --run run --double-check all --json").json()["total"], published(14));
    let ledger = folder.ledger("run");
    for said in ["\"double_check\":\"all\",\"reason\":\"record\"", "\"replicas\":0,\"reason\":\"record\""] {
        assert_eq!(ledger.matches(said).count(), 1, "{said}");
    }
    let checked = check(&folder, "run");
    assert_eq!(checked.code, Some(0), "{checked:?}");
    assert_eq!(folder.run("verify run --recount 5").code, Some(0));
}

#[test]
fn retract_of_served_run_needs_the_admin_token() {
    if !tools::is_there("python3") {
        return;
    }
    let folder = keys();
    let (coordinator, address) =
        folder.serve("coordinator --n 20 --method search --run run --keys keys/coordinator", "log");
    let url = format!("https://{address}");
    let join =
        format!("worker --coordinator {url} --keys keys/worker --threads 1 --isa portable --machine m");
    let worker = folder.start(&join, "worker.log");
    until("something is counted", || folder.counts("run") > 20);
    let ledger = folder.ledger("run");
    let (_, unit) = ledger.split_once("\"kind\":\"count\",\"unit\":").unwrap();
    let unit = unit.split(',').next().unwrap();
    let retract = |keys: &str, what: &str| folder.run(&format!("retract {url} --keys keys/{keys} {what}"));
    for (keys, why) in [("worker", "admin token"), ("status", "reads only"), ("follower", "follows only")] {
        retract(keys, &format!("--unit {unit} --reason wrong")).refused(&[why]);
    }
    retract("admin", "--unit 999999999 --reason x").refused(&["999999999", "units 0 to"]);
    retract("admin", "--machine nobody --reason x").refused(&["\"nobody\"", "m"]);
    retract("admin", "--owner join --readmit --reason x").refused(&["is not quarantined"]);
    let taken = retract("admin", &format!("--unit {unit} --unit {unit} --reason wrong"));
    assert_eq!((taken.code, taken.stdout.starts_with("1 unit is open again")), (Some(0), true), "{taken:?}");
    assert!(folder.ledger("run").contains("\"reason\":\"wrong\""));
    retract("admin", "--machine m --reason hot").refused(&["units in https", "% of the work", "--yes"]);
    let dry = retract("admin", "--owner join --reason hot --dry-run");
    assert!(dry.code == Some(0) && dry.stdout.contains("% of the work"), "{dry:?}");
    assert!(!folder.ledger("run").contains("\"kind\":\"expel\""));
    let counted = format!("\"kind\":\"count\",\"unit\":{unit},");
    // The worker has units for a while; another one begins with this one.
    let other = folder.start(&join.replace("--machine m", "--machine other"), "other.log");
    until("it is counted again", || folder.ledger("run").matches(&counted).count() == 2);
    // All that a machine has counted; its worker has to go.
    // The name is unique, so its owner need not be given.
    let both = format!("https://{},{url}", free_address());
    let taken = "--keys keys/admin --machine m --reason hot --yes";
    let taken = folder.run(&format!("retract --coordinator {both} {taken}"));
    assert!(taken.stdout.contains(&format!("open again in {url}, ")), "{taken:?}");
    assert_eq!((taken.code, taken.stdout.contains("units are open again")), (Some(0), true), "{taken:?}");
    let gone = worker.end();
    let why = "machine join/m is quarantined: the operator took back its counts";
    assert_eq!((gone.code, gone.stderr.contains(why)), (Some(1), true), "{gone:?}");
    let drained = folder.run(&format!("drain nobody --coordinator {url} --keys keys/admin"));
    drained.refused(&["machine nobody has no connected worker; there are workers of join/other"]);
    let known = folder.run(&format!("status --coordinator {url} --keys keys/status"));
    assert!(known.stdout.contains("join/other"), "{known:?}");
    other.terminate();
    assert_eq!(other.end().code, Some(0));
    coordinator.terminate();
    assert_eq!(coordinator.end().code, Some(143));
    let checked = check(&folder, "run");
    assert!(!checked.stdout.contains("damaged"), "{checked:?}");
}
