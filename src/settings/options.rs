//! All commands, and the options of each that may be given elsewhere than on the command line.

use clap::{Arg, ArgAction, Command, CommandFactory};

use crate::args::Args;

/// The option that names the file; it cannot stand in it.
pub const CONFIG: &str = "config";

/// Options that take something back, change it, install it, or accept a loss. They are only typed: a setting that is meant for another
/// command (a worker's `--machine`) or for another day must never do that.
pub const TYPED: [(&str, &[&str]); 8] = [
    ("retract", &["unit", "machine", "owner", "readmit", "dry-run", "yes"]),
    ("policy", &["double-check", "replicas", "require-owners", "own-checks", "own", "dry-run"]),
    ("coordinator", &["take-over", "dry-run", "accept-loss"]),
    ("renew", &["dry-run", "undo"]),
    ("revoke", &["dry-run", "undo"]),
    ("count", &["accept-loss"]),
    ("worker", &["install-service", "remove-service"]),
    ("join", &["install-service", "remove-service"]),
];

/// True if that option of that command, or of any command, must be typed.
pub fn is_typed_only(command: Option<&str>, option: &str) -> bool {
    TYPED
        .iter()
        .any(|(name, options)| command.is_none_or(|command| command == *name) && options.contains(&option))
}

/// The options of a command that may be given elsewhere.
pub fn options(command: &Command) -> impl Iterator<Item = &Arg> {
    use ArgAction::{Help, HelpLong, HelpShort, Version};
    let is_setting = |long| long != CONFIG && !is_typed_only(Some(command.get_name()), long);
    command.get_arguments().filter(move |option| {
        option.get_long().is_some_and(is_setting)
            && !matches!(option.get_action(), Help | HelpShort | HelpLong | Version)
    })
}

/// The variable that stands for an option.
pub fn variable(option: &str) -> String {
    format!("DIADEM_{}", option.to_uppercase().replace('-', "_"))
}

/// All commands, each with the options that all have.
pub fn built() -> Command {
    let mut root = Args::command();
    root.build();
    root
}

/// All commands that do something, with names such as `keys init`.
pub fn leaves<'a>(command: &'a Command, name: &str) -> Vec<(String, &'a Command)> {
    let below = command.get_subcommands().filter(|below| below.get_name() != "help");
    let leaves: Vec<_> =
        below.flat_map(|below| leaves(below, format!("{name} {}", below.get_name()).trim_start())).collect();
    if leaves.is_empty() { vec![(name.to_owned(), command)] } else { leaves }
}
