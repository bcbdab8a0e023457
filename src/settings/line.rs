//! The command line: as it was typed, and completed by settings.

use std::env;
use std::ffi::OsString;
use std::path::PathBuf;

use clap::error::ContextKind;
use clap::parser::ValueSource;
use clap::{Arg, Command, CommandFactory, FromArgMatches, Id};

use super::Settings;
use super::file::SettingsFile;
use super::options::{CONFIG, built, options, variable};
use super::setting::{OptionValue, SettingsError};
use crate::args::Args;

/// A command line as far as clap understands it without settings.
pub struct TypedLine {
    command: Command,
    /// As in `keys init`.
    name: String,
    typed: Vec<Id>,
    config: Option<PathBuf>,
}

impl TypedLine {
    /// `None` if help or the version is requested.
    pub fn read(arguments: &[OsString]) -> Option<Self> {
        let mut command = lenient(Args::command());
        let mut matches = command.try_get_matches_from_mut(arguments).ok()?;
        let mut names = Vec::new();
        while let Some((next, below)) = matches.remove_subcommand() {
            command = command.find_subcommand(&next)?.clone();
            names.push(next);
            matches = below;
        }
        let config = matches.try_get_one::<PathBuf>(CONFIG).ok().flatten().cloned();
        let is_typed = |id: &&Id| matches.value_source(id.as_str()) == Some(ValueSource::CommandLine);
        let typed = matches.ids().filter(is_typed).cloned().collect();
        Some(Self { command, name: names.join(" "), typed, config })
    }

    /// Whether it names a whole command. If not, clap reports the missing word.
    fn is_complete(&self) -> bool {
        !self.command.has_subcommands()
    }

    /// The options that were typed.
    fn typed(&self) -> Vec<&Arg> {
        self.command.get_arguments().filter(|option| self.typed.contains(option.get_id())).collect()
    }
}

/// True if that option was typed in the command line of this process.
pub fn is_typed(option: &str) -> bool {
    let line = TypedLine::read(&env::args_os().collect::<Vec<_>>());
    line.is_some_and(|line| line.typed().iter().any(|typed| typed.get_long() == Some(option)))
}

/// The commands, which take as much of a command line as they understand.
fn lenient(command: Command) -> Command {
    command.ignore_errors(true).mut_subcommands(lenient)
}

/// A command line with the settings of its command.
pub struct CompletedLine {
    arguments: Vec<OsString>,
    typed: Option<TypedLine>,
    pub(super) settings: Vec<OptionValue>,
}

impl CompletedLine {
    /// The command line, with the origins of all settings.
    ///
    /// # Errors
    /// A variable or the file is not understood.
    pub fn read(
        arguments: Vec<OsString>,
        variables: impl IntoIterator<Item = (OsString, OsString)>,
    ) -> Result<(Self, Settings), SettingsError> {
        let named = |(name, value): (OsString, _)| Some((name.into_string().ok()?, value));
        let mut settings =
            Settings { variables: variables.into_iter().filter_map(named).collect(), file: None };
        let typed = TypedLine::read(&arguments);
        let variable = settings.variables.get(&variable(CONFIG)).filter(|path| !path.is_empty());
        let path = typed
            .as_ref()
            .filter(|line| line.is_complete())
            .and_then(|line| line.config.clone().or_else(|| variable.map(PathBuf::from)));
        settings.file = path.map(|path| SettingsFile::read(&path, &built())).transpose()?;
        Ok((Self::new(arguments, &settings)?, settings))
    }

    /// The command line with these settings.
    pub(super) fn new(arguments: Vec<OsString>, settings: &Settings) -> Result<Self, SettingsError> {
        let typed = TypedLine::read(&arguments);
        let settings = match typed.as_ref().filter(|line| line.is_complete()) {
            Some(line) => settings.of(&line.command, &line.name, &line.typed())?,
            None => Vec::new(),
        };
        Ok(Self { arguments, typed, settings })
    }

    /// The arguments, converted by clap.
    ///
    /// # Errors
    /// An error of clap, also in a setting; or a request for help or the version.
    pub fn parse(&self) -> Result<Args, clap::Error> {
        let mut command = with_defaults(Args::command(), &self.settings);
        let matches = command.try_get_matches_from_mut(&self.arguments)?;
        Args::from_arg_matches(&matches).map_err(|error| error.format(&mut command))
    }

    /// The options that were typed or set, as they would be typed where no setting is known.
    ///
    /// # Errors
    /// An error of clap.
    pub fn options_in_full(&self) -> Result<Vec<OsString>, clap::Error> {
        let mut command = with_defaults(Args::command(), &self.settings);
        let matches = command.try_get_matches_from_mut(&self.arguments)?;
        let mut matches = &matches;
        while let Some((_, below)) = matches.subcommand() {
            matches = below;
        }
        let is_set = |option: &Arg| self.settings.iter().any(|set| set.option.get_id() == option.get_id());
        let mut words = Vec::new();
        for option in self.command().into_iter().flat_map(options) {
            let id = option.get_id().as_str();
            if matches.value_source(id) != Some(ValueSource::CommandLine) && !is_set(option) {
                continue;
            }
            let name = OsString::from(format!("--{}", option.get_long().unwrap_or_default()));
            if !option.get_action().takes_values() {
                words.extend(matches.get_flag(id).then_some(name));
                continue;
            }
            for value in matches.get_raw(id).into_iter().flatten() {
                let mut word = name.clone();
                word.push("=");
                word.push(value);
                words.push(word);
            }
        }
        Ok(words)
    }

    /// The origin of a rejected value that was not typed.
    pub fn origin_of(&self, error: &clap::Error) -> Option<&str> {
        let argument = error.get(ContextKind::InvalidArg)?.to_string();
        let name = argument.trim_start_matches('-').split([' ', '=']).next()?;
        let setting = self.settings.iter().find(|setting| setting.option.get_long() == Some(name));
        setting.map(|setting| &*setting.origin)
    }

    /// The command, such as `diadem keys init`.
    pub fn command_name(&self) -> String {
        let name = self.typed.as_ref().map_or("", |line| &*line.name);
        format!("diadem {name}").trim_end().to_owned()
    }

    /// The command with its options.
    pub fn command(&self) -> Option<&Command> {
        self.typed.as_ref().map(|line| &line.command)
    }
}

/// The commands with settings as default values. A required option, or group of options, is no longer required if it has one.
fn with_defaults(command: Command, settings: &[OptionValue]) -> Command {
    let is_given = |id: &Id| settings.iter().any(|setting| setting.option.get_id() == id);
    let groups = command.get_groups().filter(|group| group.get_args().any(is_given));
    let groups: Vec<Id> = groups.map(|group| group.get_id().clone()).collect();
    let command =
        groups.into_iter().fold(command, |command, id| command.mut_group(id, |group| group.required(false)));
    let with_default =
        |option: Arg| match settings.iter().find(|setting| setting.option.get_id() == option.get_id()) {
            Some(setting) => option.required(false).default_values(&setting.values),
            None => option,
        };
    command.mut_args(with_default).mut_subcommands(|below| with_defaults(below, settings))
}
