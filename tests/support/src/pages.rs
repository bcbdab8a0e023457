//! README, book and recipes, and what stands in them as code: for the tests of arguments and for those of processes.

use std::fs;
use std::path::{Path, PathBuf};

/// The paths of all pages but the changelog, which describes earlier releases in their own words.
pub fn pages() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let recipes = fs::read_dir(root.join("deploy")).unwrap().map(|entry| entry.unwrap().path());
    let folders = ["", "docs", "deploy"].map(|folder| root.join(folder)).into_iter().chain(recipes);
    let files = folders.filter_map(|folder| fs::read_dir(folder).ok()).flatten();
    let is_page = |path: &PathBuf| {
        path.extension().is_some_and(|extension| extension == "md") && !path.ends_with("CHANGELOG.md")
    };
    files.map(|entry| entry.unwrap().path()).filter(is_page).collect()
}

/// A fenced block of a page.
#[derive(Debug)]
pub struct Block<'a> {
    /// The language that its fence names.
    pub language: &'a str,
    /// Each with its number.
    lines: Vec<(usize, &'a str)>,
}

/// A command of a page, and the lines that are below it.
#[derive(Debug)]
pub struct Shown {
    /// The number of its line.
    pub line: usize,
    /// The command itself.
    pub command: String,
    /// The lines below it.
    pub output: Vec<String>,
}

/// The blocks of a page.
pub fn blocks(text: &str) -> Vec<Block<'_>> {
    let (mut found, mut is_block) = (Vec::<Block>::new(), false);
    for (number, line) in (1..).zip(text.lines()) {
        if let Some(language) = line.trim_start().strip_prefix("```") {
            is_block = !is_block;
            found.extend(is_block.then(|| Block { language, lines: Vec::new() }));
        } else if is_block {
            found.last_mut().unwrap().lines.push((number, line));
        }
    }
    found
}

impl Block<'_> {
    /// The typed commands: the lines after prompts, or all lines without prompts.
    pub fn commands(&self) -> Vec<Shown> {
        let has_prompts = self.lines.iter().any(|(_, line)| behind_prompt(line).is_some());
        let (mut found, mut is_continued) = (Vec::<Shown>::new(), false);
        for &(number, line) in &self.lines {
            let typed = if has_prompts { behind_prompt(line) } else { Some(line.trim_start()) };
            if is_continued {
                found.last_mut().unwrap().command += &format!("\n{line}");
            } else if let Some(command) = typed {
                found.push(Shown { line: number, command: command.to_owned(), output: Vec::new() });
            } else {
                found.last_mut().expect("a block begins with a command").output.push(line.to_owned());
                continue;
            }
            let is_text = found.last().unwrap().command.contains("<< 'END'") && line != "END";
            is_continued = line.ends_with('\\') || is_text;
        }
        found
    }
}

/// The command after a prompt, which may name the machine.
fn behind_prompt(line: &str) -> Option<&str> {
    let (machine, command) = line.split_once("$ ")?;
    let is_name = machine.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || "- ".contains(c));
    is_name.then(|| command.trim_start())
}

/// The texts between backquotes in the paragraphs of a page.
pub fn spans(text: &str) -> Vec<String> {
    let outside = text.split("```").step_by(2).flat_map(|text| text.split("\n\n"));
    let spans = outside.flat_map(|paragraph| paragraph.split('`').skip(1).step_by(2));
    spans.map(|span| span.replace('\n', " ")).collect()
}
