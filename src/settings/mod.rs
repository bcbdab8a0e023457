//! Options that are not on the command line: each may stand in a variable (`DIADEM_THREADS` for `--threads`) or in a file
//! (`--config`). The command line goes before variables, these before the file, a command's section there before the
//! rest of it, and all before what an option is by default.
//!
//! What is given so is put on the command line, as if it had been typed there; an option that contradicts a stronger one is left
//! out. So clap reads, checks and converts every value in one way, wherever it comes from.

mod file;
mod origin;
mod shown;

use std::ffi::OsString;
use std::path::PathBuf;
use std::{io, iter};

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::parser::ValueSource;
use clap::{Arg, ArgGroup, ArgMatches, Command, CommandFactory};
use thiserror::Error;

use crate::args::Args;

pub use file::{SettingsFile, SettingsFileError};
pub use origin::SettingOrigin;
pub use shown::{InForce, NotUnderstood, command_called, commands, in_force, not_understood, refused};

/// A variable or a file whose settings cannot be understood.
#[derive(Debug, Error)]
pub enum SettingsError {
    #[error("{variable} is \"{text}\", which is neither true nor false")]
    Flag { variable: String, text: String },
    #[error("{variable} is no UTF-8 text")]
    NotText { variable: String },
    #[error(transparent)]
    File(#[from] SettingsFileError),
}

impl SettingsError {
    /// Whether the file could not be read, which says nothing of what is in it: another time it may be there.
    pub fn is_unread(&self) -> bool {
        matches!(self, Self::File(SettingsFileError::Read { source, .. }) if source.kind() != io::ErrorKind::InvalidData)
    }
}

/// What an option is given: once or several times; a flag is set without a value, or is not.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Given {
    Flag(bool),
    Values(Vec<String>),
}

/// An option that is given elsewhere than on the command line.
#[derive(Clone, Debug, PartialEq, Eq)]
struct OptionSetting {
    /// The option's long name.
    option: String,
    given: Given,
    origin: SettingOrigin,
}

/// Reads a variable of the environment.
pub type Variables<'a> = &'a dyn Fn(&str) -> Option<OsString>;

/// A command line with all that is given elsewhere.
pub struct CompletedLine {
    pub arguments: Vec<OsString>,
    settings: Vec<OptionSetting>,
    /// The file, which may be one that can be read once.
    pub file: Option<SettingsFile>,
}

impl CompletedLine {
    /// Where the option comes from that clap complains about, if it was not typed.
    pub fn origin_of(&self, error: &clap::Error) -> Option<&SettingOrigin> {
        let argument = error.get(ContextKind::InvalidArg)?.to_string();
        let name = argument.trim_start_matches('-').split([' ', '=']).next()?;
        self.settings.iter().find(|setting| setting.option == name).map(|setting| &setting.origin)
    }
}

/// Completes a command line.
///
/// # Errors
/// A variable or the file is not understood.
pub fn complete(arguments: Vec<OsString>, variables: Variables<'_>) -> Result<CompletedLine, SettingsError> {
    let mut root = lenient(Args::command());
    // What is wrong on the command line is said when all of it is read.
    let Ok(matches) = root.try_get_matches_from_mut(&arguments) else {
        return Ok(CompletedLine { arguments, settings: Vec::new(), file: None });
    };
    if innermost(&root, &matches).0.has_subcommands() {
        // No command, or not all of its name: what there is to be said of that, clap says.
        return Ok(CompletedLine { arguments, settings: Vec::new(), file: None });
    }
    let path = config_path(&matches, variables);
    let file = path.as_deref().map(|path| SettingsFile::read(path, &built())).transpose()?;
    let (command, name, matches) = innermost(&root, &matches);
    let is_typed = |option: &Arg| is_typed_in(matches, option);
    let mut settings = settings_of(command, &name, &is_typed, variables, file.as_ref())?;
    leave_out_what_needs_others(&arguments, &mut settings);
    Ok(CompletedLine { arguments: with(&arguments, &settings), settings, file })
}

/// The arguments with the settings as if they had been typed.
fn with(arguments: &[OsString], settings: &[OptionSetting]) -> Vec<OsString> {
    let end = arguments.iter().position(|argument| argument == "--").unwrap_or(arguments.len());
    let mut all = arguments.to_vec();
    all.splice(end..end, settings.iter().flat_map(as_arguments));
    all
}

/// Leaves out what says something only beside an option that is not given: it was meant for when it is.
fn leave_out_what_needs_others(arguments: &[OsString], settings: &mut Vec<OptionSetting>) {
    let missing = |settings: &[OptionSetting]| {
        let error = Args::command().try_get_matches_from(with(arguments, settings)).err();
        let error = error.filter(|error| error.kind() == ErrorKind::MissingRequiredArgument);
        error.map_or(0, |error| match error.get(ContextKind::InvalidArg) {
            Some(ContextValue::Strings(missing)) => missing.len(),
            _ => 0,
        })
    };
    if settings.is_empty() || missing(settings) == 0 {
        return;
    }
    // One after the other is taken that lacks nothing beside those that were, until none is left that does.
    let mut taken = Vec::new();
    loop {
        let lacks_nothing = |setting: &OptionSetting| {
            missing(&[&taken[..], std::slice::from_ref(setting)].concat()) <= missing(&taken)
        };
        let Some(at) = settings.iter().position(lacks_nothing) else { break };
        taken.push(settings.remove(at));
    }
    *settings = taken;
}

/// The name of the command whose arguments these are, with the commands that it is part of: `diadem keys init`.
pub fn command_name(arguments: &[OsString]) -> String {
    let mut root = lenient(Args::command());
    let matches = root.try_get_matches_from_mut(arguments);
    let name = matches.map(|matches| innermost(&root, &matches).1).unwrap_or_default();
    format!("diadem {name}").trim_end().to_owned()
}

/// Whether the command whose arguments these are has that option.
pub fn has_option(arguments: &[OsString], option: &str) -> bool {
    let mut root = lenient(Args::command());
    root.try_get_matches_from_mut(arguments).is_ok_and(|matches| {
        innermost(&root, &matches).0.get_arguments().any(|argument| argument.get_long() == Some(option))
    })
}

/// Whether that option stands on the command line whose arguments these are.
pub fn is_typed(arguments: &[OsString], option: &str) -> bool {
    let mut root = lenient(Args::command());
    root.try_get_matches_from_mut(arguments).is_ok_and(|matches| {
        let (command, _, matches) = innermost(&root, &matches);
        command.get_arguments().any(|found| found.get_long() == Some(option) && is_typed_in(matches, found))
    })
}

/// Whether a command was given that option.
fn is_typed_in(matches: &ArgMatches, option: &Arg) -> bool {
    matches.value_source(option.get_id().as_str()) == Some(ValueSource::CommandLine)
}

/// All commands, each with the options that all have. Who reads a command line needs no more of them than it names, and clap builds these.
fn built() -> Command {
    let mut root = Args::command();
    root.build();
    root
}

/// The command and those below it, reading as much of a command line as they understand.
fn lenient(command: Command) -> Command {
    command.ignore_errors(true).mut_subcommands(lenient)
}

/// Where the file is, if there is one.
fn config_path(matches: &ArgMatches, variables: Variables<'_>) -> Option<PathBuf> {
    let typed = matches.try_get_one::<PathBuf>(CONFIG).ok().flatten().cloned();
    typed.or_else(|| variables(&variable(CONFIG)).filter(|path| !path.is_empty()).map(PathBuf::from))
}

/// The option that names the file; it cannot stand in it.
const CONFIG: &str = "config";

/// The command that was asked for, its name as in `keys init`, and what it was given.
fn innermost<'a>(root: &'a Command, matches: &'a ArgMatches) -> (&'a Command, String, &'a ArgMatches) {
    let (mut command, mut name, mut matches) = (root, Vec::new(), matches);
    while let Some((next, given)) = matches.subcommand() {
        let Some(subcommand) = command.find_subcommand(next) else { break };
        name.push(subcommand.get_name());
        (command, matches) = (subcommand, given);
    }
    (command, name.join(" "), matches)
}

/// Commands whose options name what they take back, change or take over: these are typed or not given, for a setting of the same
/// name that is meant for another command (a worker's `--machine`), or for another day, must never become what is done: nor a loss be
/// accepted that nobody has seen.
const TYPED: [(&str, &[&str]); 4] = [
    ("retract", &["unit", "machine", "owner", "readmit"]),
    ("policy", &["double-check", "replicas"]),
    ("coordinator", &["take-over", "accept-loss"]),
    ("count", &["accept-loss"]),
];

/// The options of that command, or of all, that are heeded only where they are typed.
fn typed_only(command: Option<&str>) -> impl Iterator<Item = &'static str> {
    let of_command = TYPED.iter().filter(move |(name, _)| command.is_none_or(|command| command == *name));
    of_command.flat_map(|(_, options)| options.iter().copied())
}

/// The options of a command that can be given elsewhere, with their long names.
fn options(command: &Command) -> impl Iterator<Item = (&Arg, &str)> {
    let named = command.get_arguments().filter_map(|option| Some((option, option.get_long()?)));
    let is_typed_only = |name: &str| typed_only(Some(command.get_name())).any(|typed| typed == name);
    named
        .filter(move |(option, name)| *name != CONFIG && !is_typed_only(name) && !is_answered_at_once(option))
}

/// What an option is called: by its long name, or another one that stands for it.
fn names(option: &Arg) -> impl Iterator<Item = &str> {
    option.get_long().into_iter().chain(option.get_all_aliases().unwrap_or_default())
}

/// Whether the option asks for help or the version.
fn is_answered_at_once(option: &Arg) -> bool {
    use clap::ArgAction::{Help, HelpLong, HelpShort, Version};
    matches!(option.get_action(), Help | HelpShort | HelpLong | Version)
}

/// What is given for the options of a command that were not typed, the strongest source first.
fn settings_of(
    command: &Command,
    name: &str,
    is_typed: &dyn Fn(&Arg) -> bool,
    variables: Variables<'_>,
    file: Option<&SettingsFile>,
) -> Result<Vec<OptionSetting>, SettingsError> {
    let mut stronger: Vec<&Arg> = command.get_arguments().filter(|option| is_typed(option)).collect();
    let mut settings = Vec::new();
    let from_variables =
        options(command).map(|(option, name)| Ok((option, from_variable(option, name, variables)?)));
    let from_variables: Vec<_> = from_variables.collect::<Result<_, SettingsError>>()?;
    let sections = iter::once(name).chain(command.get_all_aliases()).map(Some).chain([None]);
    let from_file = sections.map(|section| {
        options(command)
            .map(|(option, name)| (option, file.and_then(|file| file.get(section, option, name))))
            .collect()
    });
    for source in [from_variables].into_iter().chain(from_file) {
        let source: Vec<(&Arg, Option<OptionSetting>)> = source;
        let is_open = |option: &Arg| {
            !stronger
                .iter()
                .any(|other| option.get_id() == other.get_id() || contradict(command, option, other))
        };
        let given = source.into_iter().filter_map(|(option, setting)| Some((option, setting?)));
        let (new, found): (Vec<_>, Vec<_>) = given.filter(|(option, _)| is_open(option)).unzip();
        stronger.extend(new);
        settings.extend(found);
    }
    Ok(settings)
}

/// Whether the two cannot be given together.
fn contradict(command: &Command, one: &Arg, other: &Arg) -> bool {
    let excludes = |one: &Arg, other: &Arg| {
        command.get_arg_conflicts_with(one).iter().any(|conflict| conflict.get_id() == other.get_id())
    };
    let names_both =
        |group: &ArgGroup| [one, other].iter().all(|option| group.get_args().any(|id| id == option.get_id()));
    let mut groups = command.get_groups().filter(|group| names_both(group));
    excludes(one, other) || excludes(other, one) || groups.any(|group| !group.clone().is_multiple())
}

/// The variable that stands for an option.
fn variable(option: &str) -> String {
    format!("DIADEM_{}", option.to_uppercase().replace('-', "_"))
}

fn from_variable(
    option: &Arg,
    name: &str,
    variables: Variables<'_>,
) -> Result<Option<OptionSetting>, SettingsError> {
    let read = |name| {
        let variable = variable(name);
        Some((variables(&variable).filter(|text| !text.is_empty())?, variable))
    };
    let Some((text, variable)) = names(option).find_map(read) else { return Ok(None) };
    let Ok(text) = text.into_string() else { return Err(SettingsError::NotText { variable }) };
    let given = if option.get_action().takes_values() {
        Given::Values(vec![text])
    } else {
        let flag = flag(&text).ok_or_else(|| SettingsError::Flag { variable: variable.clone(), text })?;
        Given::Flag(flag)
    };
    Ok(Some(OptionSetting { option: name.to_owned(), given, origin: SettingOrigin::Variable(variable) }))
}

/// Whether a flag is set that is written so.
fn flag(text: &str) -> Option<bool> {
    match text.to_lowercase().as_str() {
        "1" | "true" | "yes" | "on" => Some(true),
        "0" | "false" | "no" | "off" => Some(false),
        _ => None,
    }
}

/// A setting as it would be typed.
fn as_arguments(setting: &OptionSetting) -> Vec<OsString> {
    let option = format!("--{}", setting.option);
    match &setting.given {
        Given::Flag(false) => Vec::new(),
        Given::Flag(true) => vec![option.into()],
        Given::Values(values) => values.iter().map(|value| format!("{option}={value}").into()).collect(),
    }
}

/// The environment of this process.
pub fn environment(name: &str) -> Option<OsString> {
    std::env::var_os(name)
}

#[cfg(test)]
mod tests;
