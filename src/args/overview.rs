//! The text of `diadem --help`. clap has no groups of commands, so its template lists them.

use std::fmt::Write;

use clap::Subcommand;
use clap::builder::Styles;

use super::Command;

/// The commands in the order of the help.
const GROUPS: [(&str, &[&str]); 4] = [
    ("Count a board", &["count", "estimate", "bench", "gpus"]),
    (
        "Run a cluster",
        &[
            "coordinator",
            "worker",
            "autoalloc",
            "keys",
            "invite",
            "join",
            "status",
            "top",
            "unit",
            "follow",
            "policy",
            "pause",
            "resume",
            "drain",
        ],
    ),
    ("Check and publish records", &["verify", "certify", "export", "head", "report", "merge", "retract"]),
    ("Explore solutions, and set up diadem", &["atlas", "config", "completions", "man"]),
];

/// The template of the help, with the commands of this build.
pub fn template() -> String {
    let commands = Command::augment_subcommands(clap::Command::new("diadem"));
    let styles = Styles::styled();
    let (header, literal) = (styles.get_header(), styles.get_literal());
    let mut text = "{about}\n{usage-heading} {usage}\n".to_owned();
    for (title, names) in GROUPS {
        let known: Vec<_> = names.iter().filter_map(|name| commands.find_subcommand(name)).collect();
        if !known.is_empty() {
            let _ = write!(text, "\n{header}{title}:{header:#}\n");
        }
        for command in known {
            let about = command.get_about().map(ToString::to_string).unwrap_or_default();
            let _ = writeln!(text, "  {literal}{:11}{literal:#}  {about}", command.get_name());
        }
    }
    let _ = write!(text, "\n{header}Options:{header:#}\n{{options}}\n\n");
    text + "See 'diadem help COMMAND' for the options and examples of a command.\n\
            Exit codes: 0 complete, 1 error, 2 wrong usage, 3 not sound or not complete."
}

#[cfg(test)]
mod tests {
    use clap::{Command as ClapCommand, CommandFactory};

    use super::*;
    use crate::args::Args;

    #[test]
    fn help_fits_one_screen() {
        let text = Args::command().render_help().to_string();
        assert!(text.lines().count() <= 48, "{text}");
        assert!(text.lines().all(|line| line.len() <= 80), "{text}");
    }

    /// The lines in the short help of a command and of those below it that continue another line.
    fn wrapped_lines(command: &ClapCommand) -> Vec<String> {
        let help = command.clone().render_help().to_string();
        let starts = |line: &&str| ["Arguments:", "Options:", "Commands:"].contains(line);
        let is_entry = |line: &str| {
            line.trim().starts_with(['-', '<', '['])
                || line.starts_with("  ") && line[2..].starts_with(char::is_lowercase)
        };
        let sections = help.split("\n\n").filter(|text| text.lines().next().as_ref().is_some_and(starts));
        let lines = sections.flat_map(|text| text.lines().skip(1)).filter(|line| !is_entry(line));
        let here: Vec<String> = lines.map(|line| format!("{}: {line}", command.get_name())).collect();
        here.into_iter().chain(command.get_subcommands().flat_map(wrapped_lines)).collect()
    }

    #[test]
    fn each_option_is_summarised_in_one_line() {
        let mut command = Args::command();
        command.build();
        let wrapped = wrapped_lines(&command);
        assert!(wrapped.is_empty(), "{}", wrapped.join("\n"));
    }

    #[test]
    fn each_command_is_in_one_group_in_ten_words() {
        let commands = Args::command();
        for command in commands.get_subcommands() {
            let name = command.get_name();
            let groups = GROUPS.iter().filter(|(_, names)| names.contains(&name)).count();
            assert_eq!(groups, 1, "{name}");
            let words = command.get_about().unwrap().to_string().split_whitespace().count();
            assert!(words <= 10, "{name}");
        }
    }
}
