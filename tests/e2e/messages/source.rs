//! The program's own text, as far as a search for messages needs it: words, texts in quotes, and marks, each with its line. What is
//! compiled for tests only is left out.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Written by a program, from proto/proto: it says nothing of its own.
const GENERATED: &str = "proto/src/generated";

/// A piece of a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// A name, a keyword, a number or a lifetime.
    Word(String),
    /// What a text says that stands in quotes.
    Text(String),
    /// Any other character.
    Mark(char),
}

/// A piece, and the line where it begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    pub piece: Piece,
    pub line: usize,
}

impl Token {
    pub fn is(&self, mark: char) -> bool {
        self.piece == Piece::Mark(mark)
    }

    pub fn word(&self) -> Option<&str> {
        if let Piece::Word(word) = &self.piece { Some(word) } else { None }
    }

    pub fn text(&self) -> Option<&str> {
        if let Piece::Text(text) = &self.piece { Some(text) } else { None }
    }
}

/// A file of the program, by its path in the repository.
#[derive(Debug)]
pub struct Source {
    pub path: String,
    pub tokens: Vec<Token>,
}

/// All files that are compiled into the binary.
pub fn sources(repository: &Path) -> Vec<Source> {
    let folders = fs::read_dir(repository).unwrap().map(|entry| entry.unwrap().path());
    let crates = folders.filter(|folder| folder.join("Cargo.toml").exists()).map(|folder| folder.join("src"));
    let mut paths = Vec::new();
    crates
        .chain([repository.join("src")])
        .filter(|folder| folder.exists())
        .for_each(|folder| collect(&folder, &mut paths));
    paths.sort();
    let (mut sources, mut for_tests) = (Vec::new(), BTreeSet::new());
    for path in paths {
        let text = fs::read_to_string(&path).unwrap();
        let name = path.strip_prefix(repository).unwrap().to_str().unwrap().to_owned();
        let (tokens, modules) = without_tests(tokens(&text));
        for_tests.extend(modules.iter().map(|module| folder_of_modules(&name) + module));
        sources.push(Source { path: name, tokens });
    }
    let is_for_tests = |path: &str| {
        let stem = path.trim_end_matches(".rs");
        for_tests.iter().any(|module| stem == module || stem.starts_with(&format!("{module}/")))
    };
    sources.retain(|source| !source.path.starts_with(GENERATED) && !is_for_tests(&source.path));
    sources
}

fn collect(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// Where the modules lie that a file declares, with a slash at the end.
fn folder_of_modules(path: &str) -> String {
    let (folder, file) = path.rsplit_once('/').unwrap();
    match file.trim_end_matches(".rs") {
        "mod" | "lib" | "main" => format!("{folder}/"),
        module => format!("{folder}/{module}/"),
    }
}

/// The tokens without items for tests, and the names of the modules that are for tests and lie in files of their own.
fn without_tests(tokens: Vec<Token>) -> (Vec<Token>, Vec<String>) {
    let attribute = self::tokens("#[cfg(test)]");
    let opens = |at: usize| {
        tokens[at..].len() >= attribute.len()
            && tokens[at..].iter().zip(&attribute).all(|(one, other)| one.piece == other.piece)
    };
    let (mut kept, mut modules, mut at) = (Vec::new(), Vec::new(), 0);
    while at < tokens.len() {
        if !opens(at) {
            kept.push(tokens[at].clone());
            at += 1;
            continue;
        }
        let begin = at + attribute.len();
        let mut end = begin;
        while !tokens[end].is(';') && !tokens[end].is('{') {
            end = if tokens[end].is('(') || tokens[end].is('[') { closing(&tokens, end) } else { end } + 1;
        }
        if tokens[end].is('{') {
            end = closing(&tokens, end);
        } else if let Some(module) = tokens[begin..end].iter().position(|token| token.word() == Some("mod")) {
            modules.extend(tokens[begin + module + 1].word().map(str::to_owned));
        }
        at = end + 1;
    }
    (kept, modules)
}

/// Where the bracket is closed that stands at `open`.
pub fn closing(tokens: &[Token], open: usize) -> usize {
    let mut depth = 0;
    for (at, token) in tokens.iter().enumerate().skip(open) {
        match token.piece {
            Piece::Mark('(' | '[' | '{') => depth += 1,
            Piece::Mark(')' | ']' | '}') => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return at;
        }
    }
    panic!("line {} opens a bracket that nothing closes", tokens[open].line)
}

/// Takes a source apart.
pub fn tokens(source: &str) -> Vec<Token> {
    let (mut tokens, mut rest, mut line) = (Vec::new(), source, 1);
    while let Some(first) = rest.chars().next() {
        let (piece, length) = next(rest, first);
        tokens.extend(piece.map(|piece| Token { piece, line }));
        line += rest[..length].matches('\n').count();
        rest = &rest[length..];
    }
    tokens
}

/// The piece at the beginning, unless it is to be skipped, and how many bytes it takes.
fn next(rest: &str, first: char) -> (Option<Piece>, usize) {
    let is_inner = |c: char| c.is_alphanumeric() || c == '_';
    if rest.starts_with("//") {
        return (None, rest.find('\n').unwrap_or(rest.len()));
    }
    let prefix = rest.find(|c| !"br#".contains(c)).unwrap_or(rest.len());
    let (before, quoted) = rest.split_at(prefix);
    if let Some(quoted) = quoted.strip_prefix('"')
        && ["", "b", "r", "br"].contains(&before.trim_end_matches('#'))
    {
        let (text, length) = if before.contains('r') { raw(quoted, before) } else { unescaped(quoted) };
        return (Some(Piece::Text(text)), prefix + 1 + length);
    }
    if let Some(character) = rest.strip_prefix('\'') {
        return (None, 1 + length_of_character(character));
    }
    if is_inner(first) {
        let length = rest.find(|c| !is_inner(c)).unwrap_or(rest.len());
        return (Some(Piece::Word(rest[..length].to_owned())), length);
    }
    ((!first.is_whitespace()).then_some(Piece::Mark(first)), first.len_utf8())
}

/// How long what follows a single quote is, with the quote that ends it; nothing if it is the name of a lifetime.
fn length_of_character(character: &str) -> usize {
    let is_escaped = character.starts_with('\\');
    let begin = if is_escaped { 2 } else { character.chars().next().map_or(0, char::len_utf8) };
    let end = character[begin..].find('\'').filter(|end| is_escaped || *end == 0);
    end.map_or(0, |end| begin + end + 1)
}

/// What a text says in which nothing is escaped, and how many bytes it takes with its end.
fn raw(quoted: &str, prefix: &str) -> (String, usize) {
    let end = prefix.replace(['b', 'r'], "");
    let length = quoted.find(&format!("\"{end}")).unwrap();
    (quoted[..length].to_owned(), length + 1 + end.len())
}

/// What a text says up to the quote that ends it, and how many bytes it takes with that.
fn unescaped(quoted: &str) -> (String, usize) {
    let (mut text, mut characters) = (String::new(), quoted.char_indices().peekable());
    while let Some((at, character)) = characters.next() {
        match character {
            '"' => return (text, at + 1),
            '\\' => match characters.next().unwrap().1 {
                'n' => text.push('\n'),
                // The line goes on in the next one.
                '\n' => while characters.next_if(|(_, c)| c.is_whitespace()).is_some() {},
                other => text.push(other),
            },
            other => text.push(other),
        }
    }
    panic!("a text does not end: {quoted}")
}
