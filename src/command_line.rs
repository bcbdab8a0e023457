//! The command line as typed: its errors, and how to type it again.

use std::env;
use std::path::Path;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, Command, CommandFactory};
use diadem::args::Args;
use domain::quoted;

use crate::settings::CompletedLine;

/// The hint printed when a run stops before its end.
pub fn resume_hint() -> String {
    resume_hint_without(&[])
}

/// The same hint without these outdated options and their values.
pub fn resume_hint_without(outdated: &[&str]) -> String {
    let arguments: Vec<_> =
        env::args_os().skip(1).map(|argument| argument.to_string_lossy().into_owned()).collect();
    format!("all records are kept; resume with: diadem {}", command_line_again(&arguments, outdated))
}

/// The arguments to resume the run. A loss is accepted once and a run is taken over once, so these options
/// are left out.
fn command_line_again(arguments: &[String], outdated: &[&str]) -> String {
    let mut again = Vec::new();
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        let (option, value) = argument.split_once('=').map_or((&**argument, None), |(o, v)| (o, Some(v)));
        if outdated.contains(&option) {
            if value.is_none() {
                arguments.next();
            }
        } else if !["--accept-loss", "--take-over"].contains(&option) {
            again.push(quoted(argument));
        }
    }
    again.join(" ")
}

/// The option `--keys` in a command that a message names; empty without keys.
pub fn keys_option(keys: Option<&Path>) -> String {
    keys.map(|keys| format!(" --keys {}", quoted(&keys.to_string_lossy()))).unwrap_or_default()
}

/// The error of the command line in one sentence; `None` if the full help is the better answer.
pub fn usage_error(error: &clap::Error, completed: &CompletedLine) -> Option<String> {
    let text = error.render().to_string();
    let text = text.strip_prefix("error:")?;
    let is_about_usage = |line: &&str| line.starts_with("Usage:") || line.starts_with("For more information");
    let lines: Vec<&str> = text.lines().map(str::trim).take_while(|line| !is_about_usage(line)).collect();
    let paragraphs = lines.split(|line| line.is_empty()).map(|paragraph| paragraph.join(" "));
    let parts: Vec<String> = paragraphs.filter(|part| !part.is_empty()).collect();
    let what = unknown_command_hint(error)
        .or_else(|| split_invitation_hint(error, completed))
        .or_else(|| missing_option_hint(error, completed))
        .unwrap_or_else(|| parts.join("; ").replace("tip: ", ""));
    let whence = match completed.origin_of(error) {
        Some(origin) if error.kind() == ErrorKind::MissingRequiredArgument => {
            format!("; what {origin} sets must be typed beside it")
        }
        Some(origin) => format!("; it is from {origin}"),
        None => String::new(),
    };
    Some(format!("{what}{whence} (see {} --help)", completed.command_name()))
}

/// A hint for an unknown command: the command of that name in a group such as `atlas`, the most similar command, or
/// `count` for a number.
fn unknown_command_hint(error: &clap::Error) -> Option<String> {
    let name = error.get(ContextKind::InvalidSubcommand)?.to_string();
    let within = |group: &Command| {
        group.find_subcommand(&name).map(|command| format!("{} {}", group.get_name(), command.get_name()))
    };
    let in_group = Args::command().get_subcommands().find_map(within);
    let similar = in_group.or_else(|| match error.get(ContextKind::SuggestedSubcommand) {
        // The last suggestion is the likeliest.
        Some(ContextValue::Strings(similar)) => similar.last().cloned(),
        _ => name.parse::<u8>().ok().map(|n| format!("count {n}")),
    });
    let meant = similar.map(|similar| format!("; did you mean '{similar}'?")).unwrap_or_default();
    Some(format!("there is no command '{name}'{meant}"))
}

/// A hint for an invitation in several words. It does not show them: they are a secret.
fn split_invitation_hint(error: &clap::Error, completed: &CompletedLine) -> Option<String> {
    let is_word =
        || error.get(ContextKind::InvalidArg).is_some_and(|word| !word.to_string().starts_with('-'));
    let is_split = error.kind() == ErrorKind::UnknownArgument && completed.command_name() == "diadem join";
    (is_split && is_word())
        .then(|| "the invitation is one word: copy the whole line without spaces".to_owned())
}

/// A hint for an argument that lacks its option: a number is a board; any other text is a coordinator or a
/// run directory. `None` if the option is unclear.
fn missing_option_hint(error: &clap::Error, completed: &CompletedLine) -> Option<String> {
    let text = error.get(ContextKind::InvalidArg)?.to_string();
    if error.kind() != ErrorKind::UnknownArgument || text.starts_with('-') {
        return None;
    }
    let candidates: &[&str] = if text.parse::<u32>().is_ok() { &["n"] } else { &["coordinator", "run"] };
    let options: Vec<_> = completed.command()?.get_arguments().filter_map(Arg::get_long).collect();
    let option = candidates.iter().find(|option| options.contains(option))?;
    Some(format!("unexpected argument '{text}': use --{option} {}", quoted(&text)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resume_hint_omits_accept_loss_and_take_over() {
        let typed = ["count", "18", "--accept-loss", "--run", "my run"].map(String::from);
        assert_eq!(command_line_again(&typed, &[]), "count 18 --run 'my run'");
        let typed = ["coordinator", "--run", "r", "--take-over"].map(String::from);
        assert_eq!(command_line_again(&typed, &[]), "coordinator --run r");
    }

    #[test]
    fn resume_hint_omits_a_changed_policy() {
        let typed = ["coordinator", "--double-check", "5%", "--run", "r", "--replicas=2"].map(String::from);
        assert_eq!(command_line_again(&typed, &["--double-check", "--replicas"]), "coordinator --run r");
        assert_eq!(command_line_again(&typed, &["--replicas"]), "coordinator --double-check '5%' --run r");
    }
}
