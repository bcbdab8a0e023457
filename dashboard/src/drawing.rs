//! The charts and the map as SVG for the report, in which no script can draw them.

use std::collections::BTreeMap;

use domain::FamilyStatus;
use maud::{Markup, html};
use queens::Board;

use crate::chart::{HEIGHT, SpeedChart, WIDTH};
use crate::words::{day, moment};

/// A chart in a figure, with its title; times are UTC.
pub fn speed(chart: &SpeedChart, title: &str) -> Markup {
    let SpeedChart { title: what, line, area, times, heights, length } = chart;
    let text_of = |at| if *length < 172_800 { moment(at) } else { day(at) };
    html! {
        figure {
            figcaption { (title) ": " (what) " (UTC)" }
            div.plot role="img" aria-label={ (title) ": " (what) } {
                div.heights { @for (y, text) in heights { span style={ "--at:" (y) } { (text) } } }
                svg viewBox={ "0 0 " (WIDTH) " " (HEIGHT) } preserveAspectRatio="none" aria-hidden="true" {
                    @for (y, _) in heights { path.rule d={ "M0 " (y * HEIGHT) "H" (WIDTH) } {} }
                    path.area d=(area) {}
                    path.steps d=(line) {}
                }
                div.times {
                    @for (x, at) in times.iter().filter(|(x, _)| *x < LAST_TIME) {
                        span style={ "--at:" (x) } { (text_of(*at)) }
                    }
                }
            }
        }
    }
}

/// A time further to the right would be cut off at the edge of the card.
const LAST_TIME: f64 = 0.97;

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
    let scale = 100.0 / f64::from(n);
    html! {
        svg.map viewBox="-14 -14 115 115" role="img"
            aria-label={ (complete) " of " (families.len()) " families are complete" }
        {
            g transform={ "scale(" (scale) ")" } {
                @for ((top, bottom), FamilyStatus { done, units, .. }) in cells {
                    rect class={ "f" (10 * done / (*units).max(1)) } x={ (top) ".05" } y={ (bottom) ".05" }
                        width=".9" height=".9" rx=".14"
                    {
                        title { "columns " (top + 1) " and " (bottom + 1) ": " (done) " of " (units) " units" }
                    }
                }
            }
            (axes(n))
        }
    }
}

/// The numbers of columns at the edges of the map, and what they mean.
fn axes(n: u8) -> Markup {
    let columns = || (1..=n).filter(|column| n <= 12 || *column == 1 || column.is_multiple_of(5));
    let middle = |column: u8| format!("{:.2}", 100.0 * (f64::from(column) - 0.5) / f64::from(n));
    html! {
        @for column in columns() {
            text x=(middle(column)) y="-1.5" text-anchor="middle" { (column) }
            text x="-1.5" y=(middle(column)) dy="1.3" text-anchor="end" { (column) }
        }
        text x="50" y="-9.5" text-anchor="middle" { "column of the queen in the first row" }
        text x="-50" y="-9.5" text-anchor="middle" transform="rotate(-90)" { "column of the queen in the last row" }
    }
}
