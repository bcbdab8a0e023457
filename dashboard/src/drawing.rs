//! The charts and the map as SVG for the report, in which no script can draw them.

use std::collections::BTreeMap;

use domain::FamilyStatus;
use maud::{Markup, html};
use queens::Board;

use crate::chart::SpeedChart;
use crate::words::{day, moment};

/// A chart in a figure, with its title; times are UTC.
pub fn speed(chart: &SpeedChart, title: &str) -> Markup {
    let SpeedChart { title: what, line, area, times, heights, length } = chart;
    let text_of = |at| if *length < 172_800 { moment(at) } else { day(at) };
    html! {
        figure {
            figcaption { (title) ": " (what) " (UTC)" }
            svg viewBox="0 0 640 220" role="img" aria-label={ (title) ": " (what) } {
                @for (y, _) in heights { line.rule x1="56" x2="628" y1=(y) y2=(y) {} }
                path.area d=(area) {}
                path.steps d=(line) {}
                @for (y, text) in heights { text x="50" y=(y + 4.0) text-anchor="end" { (text) } }
                @for (x, at) in times {
                    text x=(format_args!("{x:.1}")) y="209" text-anchor="middle" { (text_of(*at)) }
                }
            }
        }
    }
}

/// The map of the families; the title of each cell says how many of its units are done.
pub fn map(board: Board, families: &[FamilyStatus]) -> Markup {
    let (n, last) = (board.n(), board.last());
    let own: BTreeMap<(u8, u8), &FamilyStatus> =
        families.iter().map(|family| ((family.top, family.bottom), family)).collect();
    let mut cells = own.clone();
    for (&(top, bottom), family) in &own {
        for image in [(bottom, top), (last - top, last - bottom), (last - bottom, last - top)] {
            cells.entry(image).or_insert(family);
        }
    }
    let complete = families.iter().filter(|family| family.done == family.units).count();
    let size = f64::from(n) + 0.4;
    html! {
        svg.map viewBox={ "-.2 -.2 " (size) " " (size) } role="img"
            aria-label={ (complete) " of " (families.len()) " families are complete" }
        {
            @for ((top, bottom), FamilyStatus { done, units, .. }) in cells {
                rect class={ "f" (10 * done / (*units).max(1)) } x={ (top) ".05" } y={ (bottom) ".05" }
                    width=".9" height=".9" rx=".14"
                {
                    title { "columns " (top + 1) " and " (bottom + 1) ": " (done) " of " (units) " units" }
                }
            }
        }
    }
}
