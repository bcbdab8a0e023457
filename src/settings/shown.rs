//! What is in force, and whence: for people who wonder why a command does what they did not type.

use std::env;

use clap::{Arg, Command};

use super::file::{SettingsFile, leaves};
use super::origin::SettingOrigin;
use super::{
    Given, OptionSetting, SettingsError, Variables, built, config_path, lenient, options, settings_of,
    variable,
};

/// Variables that are no options.
const OTHERS: [&str; 6] = [
    "DIADEM_LOG",
    "DIADEM_CONFIG",
    "DIADEM_JOIN_TOKEN",
    "DIADEM_STATUS_TOKEN",
    "DIADEM_ADMIN_TOKEN",
    "DIADEM_FOLLOW_TOKEN",
];

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
/// A variable or the file is not understood.
pub fn in_force(
    arguments: &[std::ffi::OsString],
    variables: Variables<'_>,
) -> Result<Vec<InForce>, SettingsError> {
    let root = built();
    let matches = lenient(root.clone()).try_get_matches_from(arguments).ok();
    let path = matches.and_then(|matches| config_path(&matches, variables));
    let file = path.as_deref().map(|path| SettingsFile::read(path, &root)).transpose()?;
    let mut all = Vec::new();
    for (name, command) in leaves(&root) {
        let settings = settings_of(command, &name, &|_| false, variables, file.as_ref())?;
        all.extend(options(command).map(|(option, long)| one(&name, option, long, &settings)));
    }
    Ok(all)
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
pub fn not_understood() -> Vec<String> {
    let root = built();
    let commands = leaves(&root);
    let is_option = |name: &str| commands.iter().any(|(_, command)| has_option(command, name));
    let names = env::vars_os().filter_map(|(name, _)| name.into_string().ok());
    let strange = names.filter(|name| name.starts_with("DIADEM_") && !OTHERS.contains(&name.as_str()));
    let mut strange: Vec<String> = strange.filter(|name| !is_option(name)).collect();
    strange.sort_unstable();
    strange
}

fn has_option(command: &Command, name: &str) -> bool {
    options(command).any(|(_, long)| variable(long) == name)
}
