//! `diadem config`: which options are in force where they are not typed, and whence.

use std::process::ExitCode;

use serde_json::json;

use crate::args::ConfigArgs;
use crate::command_line::complaint;
use crate::exit;
use crate::log::say;
use crate::output::{on_stdout, print};
use crate::settings::{
    InForce, NotUnderstood, SettingOrigin, SettingsFile, command_called, commands, environment, in_force,
    not_understood, refused,
};

pub fn run(args: &ConfigArgs, file: Option<&SettingsFile>) -> anyhow::Result<ExitCode> {
    let called = args.command.join(" ");
    let mut options = in_force(file, &environment)?;
    let command = command_called(&called).unwrap_or_default();
    let concerned = if called.is_empty() { commands() } else { vec![command.clone()] };
    options.retain(|option| {
        if called.is_empty() { option.origin != SettingOrigin::Default } else { option.command == command }
    });
    if !called.is_empty() && options.is_empty() {
        say(format_args!(
            "diadem: \"{called}\" is no command that has options, name one in full, as keys init (see diadem --help)"
        ));
        return Ok(ExitCode::from(exit::USAGE));
    }
    print(&if args.json { json(&options) } else { on_stdout(&text(options, &command)).into_owned() })?;
    // Many commands may refuse one value: it is said once.
    let refused = refused(&concerned, file, &environment)?;
    let mut said = Vec::new();
    for (line, error) in &refused {
        let origin = line.origin_of(error);
        if !said.contains(&origin) {
            let complaint = complaint(error, line).unwrap_or_else(|| error.to_string());
            say(format_args!("diadem: {complaint}"));
            said.push(origin);
        }
    }
    Ok(if said.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(exit::USAGE) })
}

fn json(options: &[InForce]) -> String {
    let one = |option: &InForce| {
        json!({
            "command": option.command,
            "option": option.option,
            "value": option.value,
            "origin": option.origin.to_string(),
        })
    };
    let NotUnderstood { unknown, typed_only } = not_understood();
    json!({
        "options": options.iter().map(one).collect::<Vec<_>>(),
        "not_understood": unknown,
        "typed_only": typed_only,
    })
    .to_string()
}

fn text(options: Vec<InForce>, command: &str) -> String {
    let mut lines: Vec<[String; 4]> = Vec::new();
    for option in options {
        let value = option.value.unwrap_or_else(|| "-".to_owned());
        let line = [option.option, value, option.origin.to_string()];
        let concerns = if command.is_empty() { option.command } else { String::new() };
        if let Some(other) = lines.iter_mut().find(|other| other[..3] == line) {
            other[3] = format!("{}, {concerns}", other[3]);
        } else {
            let [name, value, origin] = line;
            lines.push([name, value, origin, concerns]);
        }
    }
    let widest = |column: usize| lines.iter().map(|line| line[column].chars().count()).max().unwrap_or(0);
    let [option, value, origin] = [0, 1, 2].map(widest);
    let mut text = String::new();
    for [a, b, c, d] in &lines {
        text += format!("{a:option$}  {b:value$}  {c:origin$}  {d}").trim_end();
        text += "\n";
    }
    if lines.is_empty() {
        text += "nothing is set by a variable or a file\n";
    }
    let NotUnderstood { unknown, typed_only } = not_understood();
    if !unknown.is_empty() {
        text += &format!("no option is called so: {}\n", unknown.join(", "));
    }
    if !typed_only.is_empty() {
        text += &format!("heeded only where it is typed: {}\n", typed_only.join(", "));
    }
    text.trim_end().to_owned()
}
