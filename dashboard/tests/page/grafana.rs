//! The dashboard for Grafana shows metrics that there are.

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

use serde_json::{Value, json};

use crate::made_up;
use crate::metrics::metrics;
use crate::tools;

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../deploy/grafana/diadem.json");

/// The names of metrics in a text.
fn names(text: &str) -> BTreeSet<&str> {
    let is_of_name = |c: char| c.is_ascii_lowercase() || c == '_';
    text.split(|c| !is_of_name(c)).filter(|word| word.starts_with("diadem_")).collect()
}

#[test]
fn grafana_queries_only_existing_metrics_and_labels() {
    let text = fs::read_to_string(FILE).unwrap();
    let metrics = metrics(made_up::disputed());
    let known: BTreeSet<&str> =
        metrics.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.split(' ').next()).collect();
    let asked = names(&text);
    assert!(asked.len() > 15, "{asked:?}");
    assert_eq!(asked.difference(&known).collect::<Vec<_>>(), Vec::<&&str>::new());
    for label in ["bound=\"low\"", "bound=\"expected\"", "bound=\"high\"", "phase=\"withheld\""] {
        assert!(text.replace("\\\"", "\"").contains(label) && metrics.contains(label), "{label}");
    }
}

#[test]
fn grafana_panels_are_valid() {
    let board: Value = serde_json::from_str(&fs::read_to_string(FILE).unwrap()).unwrap();
    assert!(board["schemaVersion"].as_u64() >= Some(36), "{}", board["schemaVersion"]);
    let panels = board["panels"].as_array().unwrap();
    let number = |value: &Value| value.as_u64().unwrap_or_else(|| panic!("{value} is no number"));
    let ids: BTreeSet<u64> = panels.iter().map(|panel| number(&panel["id"])).collect();
    assert_eq!(ids.len(), panels.len());
    let mut taken = BTreeSet::new();
    for panel in panels {
        let title = panel["title"].as_str().unwrap();
        assert!(["gauge", "stat", "timeseries"].contains(&panel["type"].as_str().unwrap()), "{title}");
        let [x, y, w, h] = ["x", "y", "w", "h"].map(|side| number(&panel["gridPos"][side]));
        assert!(x + w <= 24 && h > 0, "{title}");
        for place in (x..x + w).flat_map(|x| (y..y + h).map(move |y| (x, y))) {
            assert!(taken.insert(place), "{title} lies over another");
        }
        let targets = panel["targets"].as_array().unwrap();
        let refs: BTreeSet<&str> = targets.iter().map(|target| target["refId"].as_str().unwrap()).collect();
        assert!(!targets.is_empty() && refs.len() == targets.len(), "{title}");
        for target in targets {
            assert_eq!(target["datasource"]["uid"], "${source}", "{title}");
            let query = target["expr"].as_str().unwrap();
            assert_eq!(
                query.matches(['(', '{', '[']).count(),
                query.matches([')', '}', ']']).count(),
                "{query}"
            );
            assert_eq!(names(query).len(), 1, "{query}");
        }
    }
    let variables: Vec<_> =
        board["templating"]["list"].as_array().unwrap().iter().map(|v| &v["name"]).collect();
    assert_eq!(variables, ["source", "coordinator"]);
}

#[test]
fn its_queries_are_such_for_prometheus() {
    if !tools::is_there("promtool") {
        return;
    }
    let board: Value = serde_json::from_str(&fs::read_to_string(FILE).unwrap()).unwrap();
    let targets =
        board["panels"].as_array().unwrap().iter().flat_map(|panel| panel["targets"].as_array().unwrap());
    let rules: Vec<_> = targets.map(|target| json!({ "record": "asked", "expr": target["expr"] })).collect();
    // JSON is YAML, too. Rules of a group must differ, so each is a group of its own.
    let groups: Vec<_> =
        (0..).zip(&rules).map(|(i, rule)| json!({ "name": format!("group {i}"), "rules": [rule] })).collect();
    let folder = tempfile::TempDir::new().unwrap();
    let file = folder.path().join("rules.json");
    fs::write(&file, json!({ "groups": groups }).to_string()).unwrap();
    let outcome =
        Command::new("promtool").args(["check", "rules", "--lint=none"]).arg(&file).output().unwrap();
    assert!(outcome.status.success(), "{}", String::from_utf8_lossy(&outcome.stderr));
    let said = String::from_utf8_lossy(&outcome.stdout).into_owned();
    assert!(said.contains(&format!("{} rules found", rules.len())), "{said}");
}
