//! What the program says when something is wrong: found where errors are defined or made, where the log is warned, and where a
//! call is refused. What is put into a message, as the kind of value that would be right, is no message of its own.

use std::collections::BTreeSet;

use super::source::{Source, Token, closing};

/// Macros that make an error of a text, or tell it in the log.
const MACROS: [&str; 5] = ["anyhow", "bail", "ensure", "error", "warn"];

/// Functions that put a text in front of an error.
const CONTEXTS: [&str; 2] = ["context", "with_context"];

/// Functions and constants, by file, with sentences that are said elsewhere: each sentence in them is a message.
const SPEAKERS: [(&str, &[&str]); 22] = [
    ("serving/src/access/caller.rs", &["refusal"]),
    ("coordinator/src/core/status.rs", &["only_lost_units", "ONE_METHOD", "UNDECIDED"]),
    ("coordinator/src/happening.rs", &["sentence"]),
    ("coordinator/src/keeper/audits.rs", &["HANGS", "may_repeat"]),
    ("coordinator/src/keeper/replicas.rs", &["trouble"]),
    ("coordinator/src/keeper/terms.rs", &["superseded", "trouble"]),
    ("coordinator/src/keeper/watchdog.rs", &["STALLED"]),
    ("serving/src/access/quota.rs", &["register", "ask_status"]),
    ("records/src/checkpoint/resumption.rs", &["fmt"]),
    ("dashboard/src/routes.rs", &["mean_this_machine", "events", "hindrance"]),
    ("gpu/src/device.rs", &["broken", "describe"]),
    ("src/command_line.rs", &["how_to_go_on_without", "meant"]),
    ("src/commands/coordinator.rs", &["listen"]),
    ("src/commands/count.rs", &["run"]),
    ("src/commands/follow.rs", &["way_on"]),
    ("src/ending.rs", &["unless_it_hangs"]),
    ("src/stdout.rs", &["of_stdout"]),
    ("src/commands/status/watch.rs", &["page", "line"]),
    ("src/watched.rs", &["see"]),
    (
        "worker/src/refusal.rs",
        &[
            "SPEAKS_TLS",
            "SPEAKS_HTTP_1",
            "NO_COORDINATOR",
            "NOTHING_BEHIND",
            "sentence",
            "certificate",
            "client_certificate",
        ],
    ),
    ("worker/src/remote.rs", &["strange_answer"]),
    ("worker/src/sites.rs", &["against"]),
];

/// A place that says something; the text has `...` for what is put in, and is empty where all of it comes from elsewhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    pub text: String,
    pub path: String,
    pub line: usize,
}

/// All that the sources say.
pub fn messages(sources: &[Source]) -> Vec<Message> {
    let carriers: BTreeSet<&str> = sources.iter().flat_map(|source| carriers(&source.tokens)).collect();
    sources.iter().flat_map(|source| messages_of(source, &carriers)).collect()
}

/// Variants of errors that have no word of their own, and say the text which they carry.
fn carriers(tokens: &[Token]) -> impl Iterator<Item = &str> {
    tokens.windows(7).filter_map(|window| {
        let [attribute, opens, text, closes, ends, name, carries] = window else { return None };
        let is_error = attribute.word() == Some("error") && opens.is('(') && closes.is(')') && ends.is(']');
        let is_bare = is_error && carries.is('(') && words(&sentence(text.text()?)) == 0;
        name.word().filter(|_| is_bare)
    })
}

fn messages_of(source: &Source, carriers: &BTreeSet<&str>) -> Vec<Message> {
    let speakers = SPEAKERS.iter().find(|(path, _)| *path == source.path).map_or(&[][..], |(_, names)| names);
    let mut messages = Vec::new();
    for (at, token) in source.tokens.iter().enumerate() {
        let Some(said) = said_at(&source.tokens, at, speakers, carriers) else { continue };
        let message = |text, line| Message { text, path: source.path.clone(), line };
        let texts = said.into_iter().filter_map(|said| Some((sentence(said.text()?), said.line)));
        let mut worded = texts.filter(|(text, _)| words(text) > 0).peekable();
        if worded.peek().is_none() {
            messages.push(message(String::new(), token.line));
        }
        messages.extend(worded.map(|(text, line)| message(text, line)));
    }
    messages
}

/// The texts that are said at that token, if it says anything.
fn said_at<'a>(
    tokens: &'a [Token],
    at: usize,
    speakers: &[&str],
    carriers: &BTreeSet<&str>,
) -> Option<Vec<&'a Token>> {
    let follows = |distance: usize, mark| tokens.get(at + distance).is_some_and(|token| token.is(mark));
    let preceded = |mark| at > 0 && tokens[at - 1].is(mark);
    if tokens[at].text().is_some_and(|text| text.starts_with("diadem: ")) {
        return Some(vec![&tokens[at]]);
    }
    match tokens[at].word()? {
        "error" if preceded('[') && follows(1, '(') => {
            let text = &tokens[at + 2];
            text.text().map(|_| vec![text])
        }
        name if MACROS.contains(&name) && follows(1, '!') => {
            let begins = |at: &usize| tokens[at - 1].is(',') || tokens[at - 1].is('(');
            let mut places = at + 3..closing(tokens, at + 2);
            let place = places.find(|at| begins(at) && tokens[*at].text().is_some());
            Some(place.map(|at| &tokens[at]).into_iter().collect())
        }
        name if CONTEXTS.contains(&name) && preceded('.') && follows(1, '(') => {
            let text = arguments(tokens, at + 1).iter().find(|token| token.text().is_some());
            Some(text.into_iter().collect())
        }
        "Status" if follows(1, ':') && follows(4, '(') => Some(sentences(arguments(tokens, at + 4))),
        name if carriers.contains(name) && preceded(':') && follows(1, '(') => {
            let said = sentences(arguments(tokens, at + 1));
            (!said.is_empty()).then_some(said)
        }
        name if speakers.contains(&name) && at > 0 => {
            let end = match tokens[at - 1].word()? {
                "fn" => closing(tokens, at + tokens[at..].iter().position(|token| token.is('{'))?),
                "const" => at + tokens[at..].iter().position(|token| token.is(';'))?,
                _ => return None,
            };
            Some(sentences(&tokens[at..end]))
        }
        _ => None,
    }
}

/// The texts of some words among them.
fn sentences(tokens: &[Token]) -> Vec<&Token> {
    tokens.iter().filter(|token| token.text().is_some_and(|text| words(text) > 2)).collect()
}

/// What is between the brackets; where that is the name of a variable only, what the variable is.
fn arguments(tokens: &[Token], open: usize) -> &[Token] {
    let inner = &tokens[open + 1..closing(tokens, open)];
    let [Token { piece, .. }] = inner else { return inner };
    let is_let = |at: &usize| {
        tokens[*at].word() == Some("let") && tokens[at + 1].piece == *piece && tokens[at + 2].is('=')
    };
    let Some(begin) = (0..open).rev().find(is_let) else { return inner };
    let mut end = begin;
    while !tokens[end].is(';') {
        let opens = ['(', '[', '{'].iter().any(|bracket| tokens[end].is(*bracket));
        end = if opens { closing(tokens, end) } else { end } + 1;
    }
    &tokens[begin..end]
}

/// How many words a text has.
fn words(text: &str) -> usize {
    text.split_whitespace().filter(|word| word.chars().filter(|c| c.is_alphabetic()).count() > 1).count()
}

/// A text as it is printed: without the program's name and what joins it to another one, with `...` for what is put in.
fn sentence(text: &str) -> String {
    let mut rest = text.strip_prefix("diadem: ").unwrap_or(text).trim_start_matches([';', ' ']);
    let mut sentence = String::new();
    while let Some(at) = rest.find(['{', '}']) {
        sentence += &rest[..at];
        if rest[at + 1..].starts_with(&rest[at..=at]) {
            sentence += &rest[at..=at];
            rest = &rest[at + 2..];
        } else {
            if !sentence.ends_with("...") {
                sentence += "...";
            }
            rest = rest[at..].split_once('}').unwrap().1;
        }
    }
    (sentence + rest).split_whitespace().collect::<Vec<_>>().join(" ")
}
