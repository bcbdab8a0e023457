//! What the pages tell developers to type is there: packages, tests, benches, and the variables that tests look at.

use std::fs;
use std::path::{Path, PathBuf};

use crate::pages::{blocks, pages, spans};

/// A command of cargo that a page names, with its words.
fn commands() -> Vec<(PathBuf, Vec<String>)> {
    let mut found = Vec::new();
    for page in pages() {
        let text = fs::read_to_string(&page).unwrap();
        let typed = blocks(&text).into_iter().flat_map(|block| block.commands()).map(|shown| shown.command);
        for command in typed.chain(spans(&text)) {
            let words = shlex::split(&command).unwrap_or_default();
            if words.iter().find(|word| !word.contains('=')).is_some_and(|first| first == "cargo") {
                found.push((page.clone(), words));
            }
        }
    }
    found
}

/// All code below a folder, by files.
fn code(folder: &Path) -> Vec<(PathBuf, String)> {
    let (mut files, mut folders) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten() {
            let path = entry.unwrap().path();
            if path.is_dir() && !path.ends_with("target") {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = fs::read_to_string(&path).unwrap();
                files.push((path, text));
            }
        }
    }
    files
}

/// The tests in the files, by the names that cargo knows them by.
fn tests(files: &[(PathBuf, String)], root: &Path) -> Vec<String> {
    let mut names = Vec::new();
    for (path, text) in files {
        let path = path.strip_prefix(root).unwrap().with_extension("");
        let modules: Vec<_> =
            path.iter().map(|part| part.to_string_lossy()).filter(|part| part != "mod").collect();
        let marked = text.split("#[test]\n").skip(1).chain(text.split("#[tokio::test").skip(1));
        let functions = marked.filter_map(|rest| rest.split("fn ").nth(1)?.split('(').next());
        names.extend(functions.map(|function| format!("{}::{function}", modules.join("::"))));
    }
    names
}

/// What is wrong with a command, if anything.
fn fault(words: &[String]) -> Option<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let variables = words.iter().take_while(|word| *word != "cargo").filter_map(|word| word.split_once('='));
    for (variable, _) in variables {
        if !code(root).iter().any(|(_, text)| text.contains(&format!("\"{variable}\""))) {
            return Some(format!("nothing looks at {variable}"));
        }
    }
    let words: Vec<&str> =
        words.iter().map(String::as_str).skip_while(|word| *word != "cargo").skip(1).collect();
    let behind = |option| words.windows(2).find(|pair| pair[0] == option).map(|pair| pair[1]);
    let package = behind("-p").map_or("", |name| name.strip_prefix("diadem-").unwrap_or(name));
    let folder = root.join(package);
    if !folder.join("Cargo.toml").exists() {
        return Some(format!("there is no package {package}"));
    }
    let is_there = |path: PathBuf| path.is_dir() || path.with_extension("rs").is_file();
    if let Some(bench) = behind("--bench").filter(|bench| !is_there(folder.join("benches").join(bench))) {
        return Some(format!("there is no bench {bench}"));
    }
    if words.first() != Some(&"test") {
        return None;
    }
    let below = match behind("--test") {
        Some(name) if is_there(folder.join("tests").join(name)) => folder.join("tests").join(name),
        Some(name) => return Some(format!("there are no tests {name}")),
        None => folder.join("src"),
    };
    let names = tests(&code(&below), &below);
    let is_value = |word: &str| ["-p", "--test"].iter().any(|option| behind(option) == Some(word));
    let mut filters = words[1..].iter().filter(|word| !word.starts_with('-') && !is_value(word));
    filters
        .find(|filter| !names.iter().any(|name| name.contains(**filter)))
        .map(|filter| format!("no test has {filter} in its name"))
}

#[test]
fn packages_tests_benches_and_variables_that_the_pages_name_are_there() {
    let commands = commands();
    assert!(commands.len() > 25, "only {} commands were found", commands.len());
    let faults = commands.iter().filter_map(|(page, words)| {
        Some(format!("{}: {}: {}", page.display(), words.join(" "), fault(words)?))
    });
    let faults: Vec<String> = faults.collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    for wrong in [
        "cargo test -p diadem-nonesuch",
        "cargo test --release --test e2e no_such_test",
        "cargo test --test nonesuch",
        "cargo bench --bench nonesuch",
        "DIADEM_NONE_SUCH=1 cargo test",
    ] {
        assert!(fault(&shlex::split(wrong).unwrap()).is_some(), "{wrong}");
    }
}

#[test]
fn tests_that_the_atlas_page_names_are_there() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = fs::read_to_string(root.join("docs/atlas.md")).unwrap();
    let (_, table) = page.split_once("## What is checked where").unwrap();
    let there: Vec<String> = ["tests/e2e", "atlas/tests"]
        .map(|folder| root.join(folder))
        .iter()
        .flat_map(|folder| tests(&code(folder), folder))
        .collect();
    let named = table.split('`').skip(1).step_by(2).filter(|span| span.contains('_') && !span.contains(' '));
    let named: Vec<&str> = named.collect();
    assert!(named.len() > 15, "only {} are named", named.len());
    for test in named {
        assert!(there.iter().any(|name| name.ends_with(&format!("::{test}"))), "there is no test {test}");
    }
}
