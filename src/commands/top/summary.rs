//! The upper part of the screen: the progress of the run and its results.

use dashboard::{assurance, words};
use domain::{RunStatus, counted};
use ratatui::text::{Line, Span};

use super::palette::{FAINT, Palette, TITLE};
use crate::commands::estimate;
use crate::output::{significant, span, time_left};
use crate::terminal::cut;

/// The lines of the summary, the most important first, as many as fit.
pub fn lines(status: &RunStatus, (width, height): (usize, usize), palette: Palette) -> Vec<Line<'static>> {
    let RunStatus { units, done, leased, rate, totals, .. } = status;
    let mut lines = vec![gauge(status, width, palette)];
    let line = |text: String| Line::raw(cut(&text, width));
    lines.extend(wrong(status).iter().map(|text| Line::styled(cut(text, width), palette.wrong())));
    let (rate, elapsed) = (significant(*rate), span(status.elapsed));
    lines.push(line(format!("units      {done} of {units}, {leased} leased, {rate}/s, {elapsed} so far")));
    lines.push(line(format!("solutions  {}{}", totals.solutions(), expected(status))));
    let checked = assurance::of_status(status);
    lines.push(line(format!("checked    {checked}")));
    lines.push(line(format!("classes    A = {}, P = {}, R = {}", totals.a, totals.p, totals.r)));
    lines.truncate(height);
    lines
}

/// How many solutions there will be, as far as that is known.
fn expected(status: &RunStatus) -> String {
    let is_complete = status.done == status.units;
    let expected = estimate::in_advance(status.board).filter(|_| !is_complete);
    expected.map_or_else(String::new, |number| format!(" of {number}"))
}

/// Problems of the run.
fn wrong(status: &RunStatus) -> Vec<String> {
    let mut lines = Vec::new();
    lines.extend(
        Some(&status.trouble).filter(|text| !text.is_empty()).map(|text| format!("trouble    {text}")),
    );
    lines.extend(status.paused.as_ref().map(|why| format!("paused     {why}")));
    if status.disputed > 0 {
        lines.push(format!("disputes   {}", counted(status.disputed, "unit")));
    }
    if !status.set_aside.is_empty() {
        lines.push(format!("set aside  {}", counted(status.set_aside_total, "unit")));
    }
    lines
}

/// A bar, the share that is done, and the time left.
fn gauge(status: &RunStatus, width: usize, palette: Palette) -> Line<'static> {
    let label = format!(" {}  {}", words::percent(status.progress), time_left(status));
    let cells = width.saturating_sub(label.chars().count()).min(60);
    let full = ((cells as f64 * status.progress.clamp(0.0, 1.0)) as usize).min(cells);
    Line::from(vec![
        Span::styled("█".repeat(full), palette.done()),
        Span::styled("░".repeat(cells - full), FAINT),
        Span::styled(label, TITLE),
    ])
}
