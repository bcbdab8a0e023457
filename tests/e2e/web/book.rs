//! The book is correct: commands on its pages are run and print what the pages show; links have targets.
//!
//! Each block that is marked `console` is run, page by page, each page in a folder of its own. All machines
//! of a page are this machine.
//!
//! - A line that begins with `$ `, after an optional machine name, is a command.
//! - The lines below it are its output; times and the like are ignored, and `...` stands for any lines.
//! - A command without output lines must succeed.
//! - A command with `&` runs until the page ends, and must not have failed by then.
//! - Python commands are skipped if Python is not installed.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use regex::Regex;

use crate::harness::{Folder, free_address, until};
use crate::pages::{Shown, blocks, pages};
use crate::tools;

/// Replaces the texts that differ from run to run and from machine to machine.
struct Alike(Vec<(Regex, &'static str)>);

impl Alike {
    fn new() -> Self {
        let rules = [
            (r"\b[0-9a-f]{16,}\b", "HEX"),
            (r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", "TIME"),
            (r"/(avx512|avx2|portable|neon)\b", "/ISA"),
            (r"[\d.,]+(e[-+]?\d+)? ?(s|ms|us|ns|MiB|KiB|GiB|units/s|/s|kWh|%)( |,|;|\)|$)", "NUMBER $2$3"),
            (r"\bseed \d+", "seed NUMBER"),
            (r"\bwith \d+ threads?\b", "with NUMBER threads"),
        ];
        Self(rules.into_iter().map(|(rule, word)| (Regex::new(rule).unwrap(), word)).collect())
    }

    fn of(&self, line: &str) -> String {
        self.0.iter().fold(line.trim_end().to_owned(), |line, (rule, word)| {
            rule.replace_all(&line, *word).into_owned()
        })
    }

    /// Whether the line is the one that is shown, which may end with `...`.
    fn is_line(&self, shown: &str, line: &str) -> bool {
        match shown.strip_suffix("...") {
            Some(beginning) => self.of(line).starts_with(&self.of(beginning)),
            None => self.of(shown) == self.of(line),
        }
    }

    /// Whether the lines are those that are shown, where `...` is any lines.
    fn agree(&self, shown: &[String], printed: &[&str]) -> bool {
        match shown {
            [] => printed.is_empty(),
            [first, rest @ ..] if first == "..." => {
                (0..=printed.len()).any(|skipped| self.agree(rest, &printed[skipped..]))
            }
            [first, rest @ ..] => match printed {
                [line, others @ ..] => self.is_line(first, line) && self.agree(rest, others),
                [] => false,
            },
        }
    }
}

/// The addresses in the pages, each replaced by a free port. The pages name fixed ports, so none of them can
/// be 0.
const ADDRESSES: [&str; 5] =
    ["127.0.0.1:7227", "127.0.0.1:7228", "10.0.0.7:7227", "10.0.0.7:7228", "10.0.0.8:7227"];

/// Their machines.
const HOSTS: [&str; 2] = ["10.0.0.7", "10.0.0.8"];

/// A page that is being run.
struct Session {
    folder: Folder,
    /// The addresses that replace those of the pages.
    addresses: [(&'static str, String); ADDRESSES.len()],
    /// The exported variables.
    variables: Vec<(String, String)>,
    /// The started processes, with the line of each that runs in the background. All of them end with the
    /// page.
    children: Vec<(Option<usize>, Child)>,
}

impl Session {
    fn new() -> Self {
        let addresses = ADDRESSES.map(|address| (address, free_address()));
        let folder = Folder::new();
        // What the pages use of the repository.
        for name in ["tools", "docs"] {
            let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(name);
            std::os::unix::fs::symlink(path, folder.path().join(name)).unwrap();
        }
        Self { folder, addresses, variables: Vec::new(), children: Vec::new() }
    }

    /// Runs a command; what it prints, and whether it succeeds.
    fn run(&mut self, shown: &Shown) -> (String, bool) {
        let mut command = shown.command.clone();
        for (address, free) in &self.addresses {
            command = command.replace(address, free);
        }
        for host in HOSTS {
            command = command.replace(host, "127.0.0.1");
        }
        if let Some((name, value)) = command.strip_prefix("export ").and_then(|set| set.split_once('=')) {
            self.variables.push((name.to_owned(), value.to_owned()));
            return (String::new(), true);
        }
        let (command, is_behind) = match command.trim_end().strip_suffix('&') {
            Some(command) => (format!("exec {command}"), true),
            None => (command, false),
        };
        let path = self.folder.path().join(format!(".out-{}", shown.line));
        let out = File::create(&path).unwrap();
        let mut bash = Command::new("bash");
        bash.args(["-c", &command]).current_dir(self.folder.path()).stdin(Stdio::null());
        let binary = Path::new(env!("CARGO_BIN_EXE_diadem")).parent().unwrap();
        bash.env("PATH", format!("{}:{}", binary.display(), std::env::var("PATH").unwrap()));
        let address = &self.addresses[0].1;
        bash.env("DIADEM_COORDINATOR", format!("http://{address}"))
            .env("DIADEM_LISTEN", address)
            .env("TERM", "dumb")
            .envs(self.variables.iter().cloned());
        bash.stdout(out.try_clone().unwrap()).stderr(out);
        self.children.push((is_behind.then_some(shown.line), bash.spawn().unwrap()));
        if is_behind {
            return (String::new(), true);
        }
        let (_, child) = self.children.last_mut().unwrap();
        let mut status = None;
        until(&shown.command, || {
            status = child.try_wait().unwrap();
            status.is_some()
        });
        let mut text = fs::read_to_string(&path).unwrap();
        for (address, free) in &self.addresses {
            text = text.replace(free, address);
        }
        (text, status.unwrap().success())
    }

    /// The background commands that have failed, with their output.
    fn failed_behind(&mut self) -> Vec<String> {
        let mut failed = Vec::new();
        for (line, child) in &mut self.children {
            let Some(line) = line else { continue };
            if child.try_wait().unwrap().is_some_and(|status| !status.success()) {
                let said = fs::read_to_string(self.folder.path().join(format!(".out-{line}"))).unwrap();
                failed.push(format!("line {line} failed:\n{said}"));
            }
        }
        failed
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        for (_, child) in &mut self.children {
            child.kill().ok();
            child.wait().ok();
        }
    }
}

fn play(page: &Path) -> Vec<String> {
    let name = page.file_name().unwrap().to_string_lossy();
    let (alike, mut session, mut wrong) = (Alike::new(), Session::new(), Vec::new());
    let text = fs::read_to_string(page).unwrap();
    let blocks = blocks(&text).into_iter().filter(|block| block.language == "console");
    for shown in blocks.flat_map(|block| block.commands()) {
        if shown.command.starts_with("python3 ") && !tools::is_there("python3") {
            continue;
        }
        let (printed, succeeded) = session.run(&shown);
        let says_error = shown.output.iter().any(|line| line.starts_with("diadem: "));
        // A busy machine takes so long that a progress line appears, or has no time for the slowest kernel.
        let is_progress = |line: &str| {
            line.starts_with("n = ") && line.contains(" units, ")
                || line.contains(" %, ") && line.ends_with(" left")
        };
        let is_for_want_of_time = |line: &str| is_progress(line) || line.ends_with("increase --seconds");
        let lines: Vec<&str> = printed.trim_end().lines().filter(|line| !is_for_want_of_time(line)).collect();
        if !shown.output.is_empty() && !alike.agree(&shown.output, &lines) || !succeeded && !says_error {
            wrong.push(format!("{name}, line {}: {} prints\n{printed}", shown.line, shown.command));
        }
    }
    wrong.extend(session.failed_behind().iter().map(|failed| format!("{name}, {failed}")));
    wrong
}

#[test]
fn book_commands_print_the_shown_output() {
    let wrong: Vec<String> = pages().iter().flat_map(|page| play(page)).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The anchors of the headings of a page, as GitHub and mdBook make them.
fn anchors(text: &str) -> BTreeSet<String> {
    let headings =
        text.lines().filter(|line| line.starts_with('#')).map(|line| line.trim_start_matches('#').trim());
    let kept = |c: &char| c.is_alphanumeric() || "-_ ".contains(*c);
    headings
        .map(|heading| heading.to_lowercase().chars().filter(kept).collect::<String>().replace(' ', "-"))
        .collect()
}

#[test]
fn links_lead_somewhere() {
    let link = Regex::new(r"\]\(([^)#\s]*)(?:#([^)\s]*))?\)").unwrap();
    let mut wrong = Vec::new();
    for page in pages() {
        let text = fs::read_to_string(&page).unwrap();
        for found in link.captures_iter(&text).filter(|found| !found[1].contains("://")) {
            let target =
                if found[1].is_empty() { page.clone() } else { page.parent().unwrap().join(&found[1]) };
            let anchor = found.get(2).map(|anchor| anchor.as_str());
            let is_there = |anchor| anchors(&fs::read_to_string(&target).unwrap()).contains(anchor);
            if !target.exists() || anchor.is_some_and(|anchor| !is_there(anchor)) {
                wrong.push(format!("{}: {}", page.display(), &found[0]));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_page_is_in_the_book() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs");
    let summary = fs::read_to_string(docs.join("SUMMARY.md")).unwrap();
    for page in pages().iter().filter(|page| page.parent() == Some(&docs)) {
        let name = page.file_name().unwrap().to_string_lossy();
        assert!(
            name == "SUMMARY.md" || summary.contains(&format!("({name})")),
            "{name} is not in SUMMARY.md"
        );
    }
}
