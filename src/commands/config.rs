//! `diadem config`: shows the options in effect where they are not typed, and where each comes from.

use std::collections::BTreeMap;
use std::process::ExitCode;

use clap::error::ErrorKind::{InvalidValue, ValueValidation};
use serde_json::json;

use crate::args::ConfigArgs;
use crate::command_line::usage_error;
use crate::exit;
use crate::log::say;
use crate::output::{on_stdout, print};
use crate::settings::{OptionInForce, Settings, commands};

pub fn run(args: &ConfigArgs, settings: &Settings) -> anyhow::Result<ExitCode> {
    let called = args.command.join(" ");
    let commands = commands(&called);
    if commands.is_empty() {
        say(format_args!(
            "diadem: \"{called}\" is no command with options; name one in full, as in keys init (see \
             diadem --help)"
        ));
        return Ok(ExitCode::from(exit::USAGE));
    }
    let mut options = Vec::new();
    // Many commands may refuse one value: one error is enough.
    let mut complaints = BTreeMap::new();
    for name in commands {
        match settings.line_of(&name) {
            Ok(line) => {
                let refused = line
                    .parse()
                    .err()
                    .filter(|error| [InvalidValue, ValueValidation].contains(&error.kind()));
                if let Some((origin, error)) =
                    refused.and_then(|error| Some((line.origin_of(&error)?.to_owned(), error)))
                {
                    let complaint = usage_error(&error, &line).unwrap_or_else(|| error.to_string());
                    complaints.entry(origin).or_insert(complaint);
                }
                options.extend(line.in_force().into_iter().map(|option| (name.clone(), option)));
            }
            Err(error) => drop(complaints.entry(error.to_string()).or_insert(error.to_string())),
        }
    }
    if called.is_empty() {
        options.retain(|(_, option)| option.origin.is_some());
    }
    let text = if args.json { json(&options, settings) } else { text(&options, &called, settings) };
    print(&text)?;
    complaints.values().for_each(|complaint| say(format_args!("diadem: {complaint}")));
    Ok(if complaints.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(exit::USAGE) })
}

fn origin(option: &OptionInForce) -> &str {
    option.origin.as_deref().unwrap_or("default")
}

fn json(options: &[(String, OptionInForce)], settings: &Settings) -> String {
    let one = |(command, option): &(String, OptionInForce)| json!({ "command": command, "option": option.name, "value": option.value, "origin": origin(option) });
    let (unknown, typed_only) = settings.not_understood();
    json!({
        "options": options.iter().map(one).collect::<Vec<_>>(),
        "not_understood": unknown,
        "typed_only": typed_only,
    })
    .to_string()
}

fn text(options: &[(String, OptionInForce)], called: &str, settings: &Settings) -> String {
    let mut lines: Vec<([&str; 3], Vec<&str>)> = Vec::new();
    for (command, option) in options {
        let line = [&*option.name, option.value.as_deref().unwrap_or("-"), origin(option)];
        let command = called.is_empty().then_some(&**command);
        match lines.iter_mut().find(|(other, _)| *other == line) {
            Some((_, commands)) => commands.extend(command),
            None => lines.push((line, command.into_iter().collect())),
        }
    }
    let [name, value, origin] =
        [0, 1, 2].map(|column| lines.iter().map(|(line, _)| line[column].chars().count()).max().unwrap_or(0));
    let mut text = String::new();
    for ([a, b, c], commands) in &lines {
        text += format!("{a:name$}  {b:value$}  {c:origin$}  {}", commands.join(", ")).trim_end();
        text += "\n";
    }
    if lines.is_empty() {
        text += "nothing is set by a variable or a file\n";
    }
    let (unknown, typed_only) = settings.not_understood();
    for (what, names) in [("there is no option for", unknown), ("must be typed", typed_only)] {
        if !names.is_empty() {
            text += &format!("{what}: {}\n", names.join(", "));
        }
    }
    on_stdout(text.trim_end()).into_owned()
}
