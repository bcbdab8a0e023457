//! docs/messages.md has every message with which diadem says that something is wrong, and no other.

mod said;
mod source;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use said::{Message, messages};

/// Files that say a text of which they have no word, and where that comes from.
const PASSED_ON: [(&str, &str); 28] = [
    ("serving/src/access/mod.rs", "what a caller may do: caller.rs"),
    ("serving/src/following.rs", "that another coordinator goes on: keeper/terms.rs"),
    ("coordinator/src/happening.rs", "its own sentences"),
    ("coordinator/src/keeper/audits.rs", "its own trouble"),
    ("coordinator/src/keeper/inbox.rs", "the trouble that keeps a record from the disk, and keeper/terms.rs"),
    ("coordinator/src/keeper/replicas.rs", "its own trouble"),
    ("coordinator/src/keeper/terms.rs", "its own trouble"),
    ("coordinator/src/handle.rs", "why a term cannot be noted, in the same file"),
    ("coordinator/src/keeper/watchdog.rs", "its own trouble"),
    ("serving/src/access/quota.rs", "its callers' refusals, in the same file"),
    ("records/src/retract.rs", "errors of standing/record_error.rs"),
    ("serving/src/service.rs", "errors of the keeper, of the protocol and of the wire"),
    ("proto/src/wire.rs", "errors of the same file"),
    ("src/commands/atlas/table.rs", "the name of a run, in front of its own errors and the coordinator's"),
    ("src/commands/count.rs", "why the count ended, and what is kept: command_line.rs"),
    ("src/commands/follow.rs", "errors of the worker's outage, and its own way on"),
    ("src/commands/keys.rs", "the name of a file, in front of an error of args/keys.rs"),
    ("src/commands/status/shares.rs", "errors of the coordinator's library"),
    ("src/commands/steer.rs", "addresses, in front of an error of the worker's library"),
    ("src/commands/verify.rs", "the name of a file, in front of an error of the coordinator's library"),
    (
        "src/commands/verify/published.rs",
        "the name of a file, in front of an error of the coordinator's library",
    ),
    ("src/commands/config.rs", "what clap would complain about"),
    ("src/commands/coordinator.rs", "why the answer is not printed: output.rs"),
    ("src/main.rs", "every error, and what clap complains about"),
    ("src/output.rs", "notices of the coordinator's resumption.rs"),
    ("src/waiting.rs", "what goes on: nothing is wrong"),
    ("worker/src/coordinator.rs", "what the coordinator said, or the reason of refusal.rs and sites.rs"),
    ("worker/src/sites.rs", "its own reason"),
];

const PAGE: &str = "docs/messages.md";

/// What an entry of the page has in front of what is to be done.
const CURE: &str = "**Do:**";

fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// All that the program says, and where.
fn said() -> Vec<Message> {
    messages(&source::sources(repository()))
}

/// The messages of the page, each with the line of its entry.
fn documented(page: &str) -> BTreeMap<String, usize> {
    let mut found = BTreeMap::new();
    let lines: Vec<&str> = page.lines().collect();
    let begins: Vec<usize> = (0..lines.len()).filter(|at| lines[*at].starts_with("- `")).collect();
    for begin in begins {
        let is_end = |line: &&str| line.starts_with("- ") || line.starts_with('#');
        let length = lines[begin + 1..].iter().take_while(|line| !is_end(line)).count();
        let entry = lines[begin..=begin + length].join("\n");
        let (head, cure) = entry.split_once("\n\n").unwrap_or((&entry, ""));
        assert!(
            cure.contains(CURE),
            "{PAGE}:{}: an entry says after an empty line what to do: {CURE}",
            begin + 1
        );
        for (number, part) in head.trim_start_matches("- ").split('`').enumerate() {
            let text = part.split_whitespace().collect::<Vec<_>>().join(" ");
            if number % 2 == 0 {
                assert!(["", "\\"].contains(&&*text), "{PAGE}:{}: {text} stands among messages", begin + 1);
            } else if let Some(other) = found.insert(text, begin + 1) {
                panic!("{PAGE}:{} has a message that line {other} has", begin + 1);
            }
        }
    }
    found
}

#[test]
fn every_message_is_explained_and_every_explained_message_is_said() {
    let documented = documented(&fs::read_to_string(repository().join(PAGE)).unwrap());
    let said: Vec<Message> = said().into_iter().filter(|message| !message.text.is_empty()).collect();
    assert!(said.len() > 300, "only {} messages were found: how they are looked for is wrong", said.len());
    let texts: BTreeSet<&str> = said.iter().map(|message| &*message.text).collect();
    let missing = said.iter().filter(|message| !documented.contains_key(&message.text));
    let missing = missing.map(|Message { text, path, line }| format!("{path}:{line}: {PAGE} lacks `{text}`"));
    let stale = documented.iter().filter(|(text, _)| !texts.contains(&***text));
    let stale = stale.map(|(text, line)| format!("{PAGE}:{line}: nothing says `{text}` (any more)"));
    let wrong: Vec<String> = missing.chain(stale).collect();
    assert!(wrong.is_empty(), "say in {PAGE} why it comes and what to do:\n{}", wrong.join("\n"));
}

#[test]
fn what_is_said_without_words_of_its_own_comes_from_where_it_is_known() {
    let mut places = BTreeMap::new();
    for message in said().iter().filter(|message| message.text.is_empty()) {
        places.entry(message.path.clone()).or_insert(message.line);
    }
    let known: BTreeMap<&str, &str> = PASSED_ON.into_iter().collect();
    let unknown: Vec<_> = places.iter().filter(|(path, _)| !known.contains_key(&***path)).collect();
    assert!(
        unknown.is_empty(),
        "{unknown:?}: say in PASSED_ON where the text comes from, and in SPEAKERS who has it"
    );
    let stale: Vec<_> = known.keys().filter(|path| !places.contains_key(**path)).collect();
    assert!(stale.is_empty(), "{stale:?} pass nothing on (any more)");
}

#[test]
fn messages_are_found_wherever_they_are_made() {
    let found = |text: &str| {
        let tokens = source::tokens(text);
        let messages = messages(&[source::Source { path: "src/made_up.rs".into(), tokens }]);
        messages.into_iter().map(|message| (message.text, message.line)).collect::<Vec<_>>()
    };
    for (text, sentence, line) in [
        ("#[error(\"{} holds {0:?}{1}\", x())]", "... holds ...", 1),
        ("\n#[error(\n r#\"no \"x\"\"#)]", "no \"x\"", 3),
        ("bail!(\"one \\\n   line, {{not two}}\")", "one line, {not two}", 1),
        ("warn!(why = \"no message\", %unit, \"it {}\", x);", "it ...", 1),
        ("x.with_context(|| format!(\"cannot read {}\", path))", "cannot read ...", 1),
        (
            "let text = if a { \"not in any time\" } else { b };\nErr(Status::aborted(text))",
            "not in any time",
            1,
        ),
        (
            "fn f<'a>(c: char) { c == '\"' || c == '\\'' } say(\"diadem: it is \\\"so\\\"\")",
            "it is \"so\"",
            1,
        ),
    ] {
        assert_eq!(found(text), [(sentence.to_owned(), line)], "{text}");
    }
    assert!(found("// bail!(\"a\")\n#[error(transparent)] CallError::Refused(why) => \"bail\"").is_empty());
    assert_eq!(found("bail!(\"{why}\")"), [(String::new(), 1)]);
    let carried = "#[error(\"{0}\")]\nRefused(String)\nCallError::Refused(format!(\"not to be {x}\"))";
    assert_eq!(found(carried), [(String::new(), 1), ("not to be ...".to_owned(), 3)]);
}
