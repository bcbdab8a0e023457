//! The output of `diadem config`: the options in effect, and the origin of each.

use std::collections::BTreeSet;
use std::ffi::OsString;

use clap::Arg;

use super::Settings;
use super::line::CompletedLine;
use super::options::{TYPED, built, leaves, options, variable};
use super::setting::SettingsError;

/// Variables that are no options.
const OTHERS: [&str; 6] = [
    "DIADEM_LOG",
    "DIADEM_CONFIG",
    "DIADEM_JOIN_TOKEN",
    "DIADEM_STATUS_TOKEN",
    "DIADEM_ADMIN_TOKEN",
    "DIADEM_FOLLOW_TOKEN",
];

/// The command of that name; all commands if the name is empty.
pub fn commands(called: &str) -> Vec<String> {
    let root = built();
    let all = leaves(&root, "").into_iter();
    all.map(|(name, _)| name).filter(|name| called.is_empty() || name == called).collect()
}

/// An option from a setting or a default, with its value.
pub struct OptionInForce {
    /// Its long name.
    pub name: String,
    pub value: Option<String>,
    /// The variable or the file; nothing if the value is the default.
    pub origin: Option<String>,
}

impl CompletedLine {
    /// The options of the command that may be given elsewhere, as they are if none is typed.
    pub fn in_force(&self) -> Vec<OptionInForce> {
        let in_force = |option: &Arg| {
            let setting = self.settings.iter().find(|setting| setting.option.get_id() == option.get_id());
            let default = || {
                let values =
                    option.get_default_values().iter().map(|value| value.to_string_lossy().into_owned());
                let values: Vec<String> =
                    if option.get_action().takes_values() { values.collect() } else { Vec::new() };
                if values.is_empty() { described_default(option).into_iter().collect() } else { values }
            };
            let values: Vec<String> = setting.map_or_else(default, |setting| setting.values.clone());
            OptionInForce {
                name: option.get_long().unwrap_or_default().to_owned(),
                value: (!values.is_empty()).then(|| values.join(",")),
                origin: setting.map(|setting| setting.origin.clone()),
            }
        };
        self.command().into_iter().flat_map(options).map(in_force).collect()
    }
}

/// The default that the help of an option names, where clap knows none: `[default: host name]`.
fn described_default(option: &Arg) -> Option<String> {
    let help = option.get_long_help().or(option.get_help())?.to_string();
    let (_, rest) = help.split_once("[default: ")?;
    let (default, _) = rest.split_once(']')?;
    Some(default.split_whitespace().collect::<Vec<_>>().join(" "))
}

impl Settings {
    /// The command line of that command with nothing typed.
    ///
    /// # Errors
    /// A setting of the command is not understood.
    pub fn line_of(&self, command: &str) -> Result<CompletedLine, SettingsError> {
        let words = ["diadem"].into_iter().chain(command.split(' ')).map(OsString::from).collect();
        CompletedLine::new(words, self)
    }

    /// Variables that look like settings and are none: those that no option has, and those whose option must be typed.
    pub fn not_understood(&self) -> (Vec<&str>, Vec<&str>) {
        let root = built();
        let commands = leaves(&root, "");
        let longs = commands.iter().flat_map(|(_, command)| options(command)).filter_map(Arg::get_long);
        let known: BTreeSet<String> = longs.map(variable).collect();
        let strange =
            self.variables.keys().map(|name| &**name).filter(|name| {
                name.starts_with("DIADEM_") && !OTHERS.contains(name) && !known.contains(*name)
            });
        let typed_only: Vec<String> =
            TYPED.iter().flat_map(|(_, names)| *names).map(|name| variable(name)).collect();
        strange.partition(|name| !typed_only.iter().any(|typed| typed == name))
    }
}
