//! The map of families: the queen in the first row from top to bottom, that in the last row from left to right.

use std::collections::BTreeMap;

use domain::{FamilyStatus, RunStatus};
use ratatui::text::{Line, Span};

use super::palette::{FAINT, Palette};

/// How much is done, from nothing to all.
const SHADES: [&str; 5] = ["·", "░", "▒", "▓", "█"];

/// The legend of the shades.
const LEGEND: &str = "· open  ░ ▒ ▓ under way  █ counted";

/// The map in lines: a row for each queen in the first row that has a family.
pub fn lines(status: &RunStatus, width: usize, palette: Palette) -> Vec<Line<'static>> {
    let families: BTreeMap<(u8, u8), &FamilyStatus> =
        status.families.iter().map(|family| ((family.top, family.bottom), family)).collect();
    let n = status.board.n();
    let cell_width = if width >= 4 + 2 * usize::from(n) { 2 } else { 1 };
    let mut lines = vec![Line::styled(format!("    {LEGEND}"), FAINT)];
    for top in 0..n {
        if !status.families.iter().any(|family| family.top == top) {
            continue;
        }
        let mut spans = vec![Span::raw(format!("{:>3} ", u32::from(top) + 1))];
        spans.extend((0..n).map(|bottom| cell(families.get(&(top, bottom)).copied(), cell_width, palette)));
        lines.push(Line::from(spans));
    }
    lines
}

fn cell(family: Option<&FamilyStatus>, width: usize, palette: Palette) -> Span<'static> {
    let Some(FamilyStatus { units, done, .. }) = family else { return Span::raw(" ".repeat(width)) };
    let shade = match done {
        0 => 0,
        done if done >= units => 4,
        done => 1 + (3 * done / units.max(&1)) as usize,
    };
    let style = match shade {
        0 => FAINT,
        4 => palette.done(),
        _ => palette.begun(),
    };
    Span::styled(SHADES[shade].repeat(width), style)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;

    #[test]
    fn each_family_has_its_place_and_its_shade() {
        let mut status = samples::empty();
        let family = |top, bottom, done| FamilyStatus { top, bottom, units: 90, done };
        status.families =
            vec![family(1, 1, 0), family(1, 2, 1), family(1, 3, 30), family(1, 4, 89), family(3, 4, 90)];
        let text = |width| -> Vec<String> {
            lines(&status, width, Palette::new(true))
                .iter()
                .map(|line| line.to_string().trim_end().to_owned())
                .collect()
        };
        assert_eq!(text(40)[1..], ["  2  ·░▒▓", "  4     █"]);
        assert_eq!(text(60)[1..], ["  2   ··░░▒▒▓▓", "  4         ██"]);
    }
}
