//! The pictures of the page as SVG for where no script draws them: in the report.

use std::collections::BTreeMap;

use proto::FamilyStatus;
use queens::Board;

use crate::chart::SpeedChart;
use crate::words::{day, moment};

/// A chart in a figure, with its title; times are UTC.
pub fn speed(chart: &SpeedChart, title: &str) -> String {
    let SpeedChart { title: what, line, area, times, heights, length } = chart;
    let mut lines = String::new();
    let mut texts = String::new();
    for (y, text) in heights {
        lines += &format!("<line class=\"rule\" x1=\"56\" x2=\"628\" y1=\"{y}\" y2=\"{y}\"/>");
        texts += &format!("<text x=\"50\" y=\"{}\" text-anchor=\"end\">{text}</text>", y + 4.0);
    }
    for (x, at) in times {
        let text = if *length < 172_800 { moment(*at) } else { day(*at) };
        texts += &format!("<text x=\"{x:.1}\" y=\"209\" text-anchor=\"middle\">{text}</text>");
    }
    format!(
        "<figure><figcaption>{title}: {what} (UTC)</figcaption>\
         <svg viewBox=\"0 0 640 220\" role=\"img\" aria-label=\"{title}: {what}\">{lines}\
         <path class=\"area\" d=\"{area}\"/><path class=\"steps\" d=\"{line}\"/>{texts}</svg></figure>"
    )
}

/// The map of the families; each cell says what it is when it is pointed at.
pub fn map(board: Board, families: &[FamilyStatus]) -> String {
    let (n, last) = (board.n(), board.last());
    let own: BTreeMap<(u8, u8), &FamilyStatus> =
        families.iter().map(|family| ((family.top, family.bottom), family)).collect();
    let mut cells = own.clone();
    for (&(top, bottom), family) in &own {
        for image in [(bottom, top), (last - top, last - bottom), (last - bottom, last - top)] {
            cells.entry(image).or_insert(family);
        }
    }
    let cell = |(&(top, bottom), family): (&(u8, u8), &&FamilyStatus)| {
        format!(
            "<rect class=\"f{}\" x=\"{}.05\" y=\"{}.05\" width=\".9\" height=\".9\" rx=\".14\"><title>columns {} and {}: {} of {} \
             units</title></rect>",
            10 * family.done / family.units.max(1),
            top,
            bottom,
            top + 1,
            bottom + 1,
            family.done,
            family.units,
        )
    };
    let complete = families.iter().filter(|family| family.done == family.units).count();
    format!(
        "<svg class=\"map\" viewBox=\"-.2 -.2 {size} {size}\" role=\"img\" aria-label=\"{complete} of {} families are \
         complete\">{}</svg>",
        families.len(),
        cells.iter().map(cell).collect::<Vec<_>>().concat(),
        size = f64::from(n) + 0.4,
    )
}
