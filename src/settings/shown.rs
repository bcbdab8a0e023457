//! What is in force, and whence: for people who wonder why a command does what they did not type.

use std::env;
use std::ffi::OsString;

use clap::error::ErrorKind;
use clap::{Arg, CommandFactory};

use super::file::{SettingsFile, is_called, leaves};
use super::origin::SettingOrigin;
use super::{
    CompletedLine, Given, OptionSetting, SettingsError, Variables, built, names, options, settings_of,
    typed_only, variable, with,
};
use crate::args::Args;

/// Variables that are no options.
const OTHERS: [&str; 6] = [
    "DIADEM_LOG",
    "DIADEM_CONFIG",
    "DIADEM_JOIN_TOKEN",
    "DIADEM_STATUS_TOKEN",
    "DIADEM_ADMIN_TOKEN",
    "DIADEM_FOLLOW_TOKEN",
];

/// The names of all commands, as in `keys init`.
pub fn commands() -> Vec<String> {
    leaves(&built()).into_iter().map(|(name, _)| name).collect()
}

/// The name of the command that is called so.
pub fn command_called(called: &str) -> Option<String> {
    leaves(&built()).into_iter().find(|command| is_called(command, called)).map(|(name, _)| name)
}

/// An option of a command, as it is where nothing is typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InForce {
    /// The command, as in `keys init`.
    pub command: String,
    /// The option's long name.
    pub option: String,
    /// Its value; none where it has none, or is no flag that is set.
    pub value: Option<String>,
    pub origin: SettingOrigin,
}

/// The options of all commands as they are where nothing but this is typed: `diadem config`.
///
/// # Errors
/// A variable is not understood.
pub fn in_force(
    file: Option<&SettingsFile>,
    variables: Variables<'_>,
) -> Result<Vec<InForce>, SettingsError> {
    let mut all = Vec::new();
    for (name, command) in leaves(&built()) {
        let settings = settings_of(command, &name, &|_| false, variables, file)?;
        all.extend(options(command).map(|(option, long)| one(&name, option, long, &settings)));
    }
    Ok(all)
}

/// The commands, of these, that would not take a value that they are given where nothing is typed, each with what it would say.
///
/// # Errors
/// A variable is not understood.
pub fn refused(
    commands: &[String],
    file: Option<&SettingsFile>,
    variables: Variables<'_>,
) -> Result<Vec<(CompletedLine, clap::Error)>, SettingsError> {
    let mut refused = Vec::new();
    for (name, command) in leaves(&built()).into_iter().filter(|(name, _)| commands.contains(name)) {
        let settings = settings_of(command, &name, &|_| false, variables, file)?;
        let words: Vec<_> = ["diadem"].into_iter().chain(name.split(' ')).map(OsString::from).collect();
        let line = CompletedLine { arguments: with(&words, &settings), settings, file: None };
        let is_about_a_value = |error: &clap::Error| {
            matches!(error.kind(), ErrorKind::InvalidValue | ErrorKind::ValueValidation)
                && line.origin_of(error).is_some()
        };
        let error = Args::command().try_get_matches_from(&line.arguments).err();
        if let Some(error) = error.filter(is_about_a_value) {
            refused.push((line, error));
        }
    }
    Ok(refused)
}

fn one(command: &str, option: &Arg, long: &str, settings: &[OptionSetting]) -> InForce {
    let setting = settings.iter().find(|setting| setting.option == long);
    let usual = || {
        let values: Vec<_> =
            option.get_default_values().iter().map(|value| value.to_string_lossy()).collect();
        (!values.is_empty() && option.get_action().takes_values()).then(|| values.join(","))
    };
    let value = match setting.map(|setting| &setting.given) {
        None => usual(),
        Some(Given::Flag(set)) => Some(set.to_string()),
        Some(Given::Values(values)) => Some(values.join(",")),
    };
    let origin = setting.map_or(SettingOrigin::Default, |setting| setting.origin.clone());
    InForce { command: command.to_owned(), option: long.to_owned(), value, origin }
}

/// Variables that look like settings, and are none.
pub struct NotUnderstood {
    /// No option is called so.
    pub unknown: Vec<String>,
    /// An option is, but it is heeded only where it is typed.
    pub typed_only: Vec<String>,
}

/// Those of this process.
pub fn not_understood() -> NotUnderstood {
    let root = built();
    let commands = leaves(&root);
    let is_option = |name: &str| {
        commands.iter().any(|(_, command)| {
            options(command).any(|(option, _)| names(option).any(|called| variable(called) == name))
        })
    };
    let names = env::vars_os().filter_map(|(name, _)| name.into_string().ok());
    let strange = names.filter(|name| name.starts_with("DIADEM_") && !OTHERS.contains(&name.as_str()));
    let mut strange: Vec<String> = strange.filter(|name| !is_option(name)).collect();
    strange.sort_unstable();
    let is_typed_only = |name: &String| typed_only(None).any(|option| variable(option) == *name);
    let (typed_only, unknown) = strange.into_iter().partition(is_typed_only);
    NotUnderstood { unknown, typed_only }
}
