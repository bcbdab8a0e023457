//! Every command line in README, book and recipes is one that this binary understands.

use std::fs;
use std::path::Path;

use clap::{CommandFactory, Parser};

use test_support::pages::{Shown, blocks, pages, spans};

use crate::args::Args;
use crate::settings::commands;

/// How a built diadem is called.
const BUILT: &str = "cargo run --release -- ";

fn is_of_diadem(command: &str) -> bool {
    command.starts_with("diadem ") || command.starts_with(BUILT)
}

/// The words of a command up to the shell's own syntax, with variables and placeholders filled in.
fn words(command: &str) -> Vec<String> {
    let is_shells =
        |word: &String| ["|", ">", ">>", "&&", "||", "&", ";", "2>&1", "2>", "<"].contains(&word.as_str());
    let filled = |word: String| match word.as_str() {
        "N" => "16".to_owned(),
        "TIME" => "1h".to_owned(),
        _ => variables(&word),
    };
    let command = &command.replacen(BUILT, "diadem ", 1).replace("\\\n", " ");
    let words = shlex::split(command).unwrap_or_else(|| panic!("not a command: {command}"));
    words.into_iter().take_while(|word| !is_shells(word)).map(filled).collect()
}

/// The word with 1 for each of its variables.
fn variables(word: &str) -> String {
    let mut parts = word.split('$');
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let end = part.find(|c: char| !(c.is_alphanumeric() || "_{}".contains(c))).unwrap_or(part.len());
        text += "1";
        text += &part[end..];
    }
    text
}

/// The calls of diadem between backquotes in the text.
fn mentions(text: &str) -> Vec<String> {
    spans(text).into_iter().filter(|span| span.starts_with("diadem ")).collect()
}

/// The first option of such a command that it does not have.
fn strange_option(mention: &str) -> Option<String> {
    let mut command = Args::command();
    command.build();
    let (mut command, mut words) = (&command, mention.split_whitespace().skip(1).peekable());
    while let Some(subcommand) = words.peek().and_then(|word| command.find_subcommand(word)) {
        command = subcommand;
        words.next();
    }
    let has = |name: &str| command.get_arguments().any(|option| option.get_long() == Some(name));
    let words = words.take_while(|word| !word.ends_with(';'));
    let mut options = words.filter_map(|word| word.strip_prefix("--"));
    options.find(|option| !has(option.split('=').next().unwrap_or(option))).map(str::to_owned)
}

#[test]
fn every_documented_option_exists() {
    let all = pages().into_iter().flat_map(|page| mentions(&fs::read_to_string(page).unwrap()));
    let all: Vec<String> = all.collect();
    let wrong: Vec<_> = all.iter().filter_map(|mention| Some((mention, strange_option(mention)?))).collect();
    assert!(wrong.is_empty(), "{wrong:?}");
    assert!(all.len() > 80, "only {} were found", all.len());
    assert_eq!(strange_option("diadem keys init --hots a"), Some("hots".into()));
}

#[test]
fn every_command_in_the_documentation_is_understood() {
    let (mut wrong, mut right) = (Vec::new(), 0);
    for page in pages() {
        let text = fs::read_to_string(&page).unwrap();
        // Blocks marked as text show output, not commands.
        let blocks = blocks(&text).into_iter().filter(|block| block.language != "text");
        let commands = blocks.flat_map(|block| block.commands());
        for Shown { line, command, .. } in commands.filter(|shown| is_of_diadem(&shown.command)) {
            match Args::try_parse_from(words(&command)) {
                Err(error) if error.use_stderr() => {
                    wrong.push(format!("{}:{line}: {command}\n{error}", page.display()));
                }
                _ => right += 1,
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(right > 50, "only {right} commands were found");
}

#[test]
fn every_command_is_on_the_page_of_commands() {
    let page = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/commands.md")).unwrap();
    let named: Vec<String> = mentions(&page);
    let is_named = |name: &str| {
        named.iter().any(|mention| format!("{mention} ").starts_with(&format!("diadem {name} ")))
    };
    let names = commands("").into_iter().map(|name| match name.strip_prefix("keys ") {
        Some(_) => "keys".to_owned(),
        None if name.starts_with("atlas picture ") => "atlas picture".to_owned(),
        None => name,
    });
    let missing: Vec<_> = names.filter(|name| !is_named(name)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}
