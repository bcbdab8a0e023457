//! A manual page from clap's description of a command. clap puts the text after the options into a section
//! EXTRA; here it is split into the usual sections of manuals.

use std::io;

use clap::Command;
use clap::builder::Resettable;
use clap_mangen::Man;
use clap_mangen::roff::{Roff, roman};

/// The first words of help paragraphs and their manual sections, in the order of the manual.
const SECTIONS: [(&str, &str); 6] = [
    ("Exit codes:", "EXIT STATUS"),
    ("Environment:", "ENVIRONMENT"),
    ("A file of settings, in TOML:", "FILES"),
    ("Keys:", "KEYS"),
    ("Example:", "EXAMPLES"),
    ("Examples:", "EXAMPLES"),
];

/// The footer of a page.
const SOURCE: &str = concat!("diadem ", env!("CARGO_PKG_VERSION"));

/// The section of all other paragraphs.
const NOTES: &str = "NOTES";

/// The pages of a command and of those below it, each with the name of its file.
pub fn pages(command: Command) -> Vec<(String, String)> {
    let mut command = command.disable_help_subcommand(true);
    command.build();
    let mut pages = Vec::new();
    add_pages(&command, &mut pages);
    pages
}

fn add_pages(command: &Command, pages: &mut Vec<(String, String)>) {
    for below in command.get_subcommands().filter(|below| !below.is_hide_set()) {
        add_pages(below, pages);
    }
    // Without a date the page would show the source in its place.
    let man = Man::new(command.clone().after_help(Resettable::Reset)).date(" ").source(SOURCE);
    let mut text = Vec::new();
    render(&man, command, &mut text).expect("memory takes what is written to it");
    let text = String::from_utf8_lossy(&text).into_owned();
    pages.push((man.get_filename(), text + &sections(command)));
}

/// The sections that clap makes. Its synopsis would name options without their values.
fn render(man: &Man, command: &Command, out: &mut Vec<u8>) -> io::Result<()> {
    man.render_title(out)?;
    man.render_name_section(out)?;
    synopsis(command).to_writer(out)?;
    man.render_description_section(out)?;
    man.render_options_section(out)?;
    if command.has_subcommands() {
        man.render_subcommands_section(out)?;
    }
    if command.get_version().is_some() {
        man.render_version_section(out)?;
    }
    Ok(())
}

/// The usage line of the command.
fn synopsis(command: &Command) -> Roff {
    let usage = command.clone().render_usage().to_string();
    let mut roff = Roff::new();
    roff.control("SH", ["SYNOPSIS"]).control("nf", []);
    for line in usage.trim_start_matches("Usage:").lines() {
        roff.text([roman(line.trim())]);
    }
    roff.control("fi", []);
    roff
}

/// The text after the options in the command's help.
fn sections(command: &Command) -> String {
    let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    let mut paragraphs: Vec<_> = help.split("\n\n").filter(|text| !text.is_empty()).map(titled).collect();
    let order = |title| SECTIONS.iter().position(|(_, of)| *of == title);
    paragraphs.sort_by_key(|(title, _)| order(*title));
    let mut roff = Roff::new();
    let mut current = "";
    for (title, text) in paragraphs {
        if title == current {
            roff.control("PP", []);
        } else {
            roff.control("SH", [title]);
        }
        current = title;
        add_paragraph(&mut roff, text);
    }
    roff.render()
}

/// Text is filled; commands stand in lines of their own.
fn add_paragraph(roff: &mut Roff, text: &str) {
    let are_commands = text.lines().any(|line| line.starts_with(' '));
    if are_commands {
        roff.control("nf", []);
    }
    for line in text.lines() {
        roff.text([roman(line)]);
    }
    if are_commands {
        roff.control("fi", []);
    }
}

/// The section of a paragraph, and its text.
fn titled(paragraph: &str) -> (&'static str, &str) {
    let begins = |(begin, title): &(&str, &'static str)| Some((*title, paragraph.strip_prefix(begin)?));
    let (title, text) = SECTIONS.iter().find_map(begins).unwrap_or((NOTES, paragraph));
    (title, text.strip_prefix('\n').unwrap_or_else(|| text.trim_start()))
}

#[cfg(test)]
mod tests {
    use clap::Arg;

    use super::*;

    #[test]
    fn help_paragraphs_become_manual_page_sections() {
        let help = "Examples:\n  diadem a\n\nIt is so\nand so.\n\nExit codes: 0 done;\n1 not.";
        let n = Arg::new("n").long("n").value_name("N").required(true);
        let command = Command::new("made-up").after_help(help).subcommand(Command::new("bare").arg(n));
        let pages = pages(command);
        let names: Vec<_> = pages.iter().map(|(name, _)| &**name).collect();
        assert_eq!(names, ["made-up-bare.1", "made-up.1"]);
        assert!(!pages[0].1.contains("EXAMPLES"), "{}", pages[0].1);
        let synopsis = ".SH SYNOPSIS\n.nf\nmade\\-up bare \\-\\-n <N>\n.fi\n";
        assert!(pages[0].1.contains(synopsis), "{}", pages[0].1);
        assert!(pages[0].1.contains(&format!(".TH made-up-bare 1 \" \" \"{SOURCE}\"")), "{}", pages[0].1);
        let expected = ".SH NOTES\nIt is so\nand so.\n\
                        .SH \"EXIT STATUS\"\n0 done;\n1 not.\n.SH EXAMPLES\n.nf\n  diadem a\n.fi\n";
        assert!(pages[1].1.ends_with(expected), "{}", pages[1].1);
    }
}
