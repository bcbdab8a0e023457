//! Tables of machines and workers, by any of their columns.

use std::cmp::Ordering;

use domain::{LONGEST_SILENCE, MachineStatus, RunStatus, WorkerStatus};
use ratatui::text::{Line, Span};

use super::palette::{FAINT, Palette, TITLE};
use super::screen::TopScreen;
use crate::output::{last_word, significant};
use crate::terminal::{columns_of, cut, filled};

/// The sort key of a column.
enum Key {
    Text(String),
    Number(f64),
}

/// A column of a table: title, width, content and sort key. Numbers are aligned right.
struct Column<T> {
    title: &'static str,
    width: usize,
    cell: fn(&T) -> String,
    key: fn(&T) -> Key,
}

const MACHINES: [Column<MachineStatus>; 7] = [
    Column {
        title: "machine",
        width: 24,
        cell: |m| m.owner.title(&m.name),
        key: |m| Key::Text(m.owner.title(&m.name)),
    },
    Column { title: "workers", width: 8, cell: |m| m.workers.to_string(), key: |m| number(m.workers) },
    Column { title: "threads", width: 8, cell: |m| m.threads.to_string(), key: |m| number(m.threads) },
    Column { title: "cores", width: 7, cell: |m| significant(m.speed), key: |m| Key::Number(m.speed) },
    Column { title: "counted", width: 9, cell: |m| m.counts.to_string(), key: |m| number(m.counts) },
    Column { title: "checked", width: 8, cell: |m| m.verified.to_string(), key: |m| number(m.verified) },
    Column { title: "wrong", width: 6, cell: |m| m.wrong.to_string(), key: |m| number(m.wrong) },
];

const WORKERS: [Column<WorkerStatus>; 7] = [
    Column {
        title: "worker",
        width: 18,
        cell: |w| w.owner.title(&w.name),
        key: |w| Key::Text(w.owner.title(&w.name)),
    },
    Column {
        title: "last seen",
        width: 10,
        cell: last_word,
        key: |w| Key::Number(w.last_word.as_secs_f64()),
    },
    Column { title: "threads", width: 8, cell: |w| w.threads.to_string(), key: |w| number(w.threads.into()) },
    Column { title: "leased", width: 7, cell: |w| w.leased.to_string(), key: |w| number(w.leased) },
    Column { title: "done", width: 8, cell: |w| w.done.to_string(), key: |w| number(w.done) },
    Column { title: "units/s", width: 8, cell: |w| significant(w.rate), key: |w| Key::Number(w.rate) },
    Column {
        title: "kernel",
        width: 15,
        cell: |w| w.kernel.to_string(),
        key: |w| Key::Text(w.kernel.to_string()),
    },
];

/// The machines, the title first; those that are not believed are marked.
pub fn machines(status: &RunStatus, width: usize, screen: &TopScreen) -> Vec<Line<'static>> {
    let palette = screen.palette;
    lines(&MACHINES, &status.machines, width, screen, |machine| match machine {
        machine if !machine.is_believed => Some(palette.wrong()),
        machine if machine.workers == 0 => Some(FAINT),
        _ => None,
    })
}

/// The workers, the title first; those that are silent are marked.
pub fn workers(status: &RunStatus, width: usize, screen: &TopScreen) -> Vec<Line<'static>> {
    let palette: Palette = screen.palette;
    let is_silent = |worker: &WorkerStatus| worker.last_word > LONGEST_SILENCE;
    lines(&WORKERS, &status.workers, width, screen, |worker| is_silent(worker).then(|| palette.wrong()))
}

fn lines<T>(
    columns: &[Column<T>],
    rows: &[T],
    width: usize,
    screen: &TopScreen,
    style: impl Fn(&T) -> Option<ratatui::style::Style>,
) -> Vec<Line<'static>> {
    let sort = screen.sort % columns.len();
    let mut rows: Vec<&T> = rows.iter().collect();
    rows.sort_by(|a, b| {
        let order = compare(&(columns[sort].key)(a), &(columns[sort].key)(b));
        if screen.is_descending { order.reverse() } else { order }
    });
    let titles = columns.iter().enumerate().map(|(at, column)| {
        let arrow = if screen.is_descending { "v" } else { "^" };
        if at == sort { format!("{arrow}{}", column.title) } else { column.title.to_owned() }
    });
    let title = Line::styled(row(columns, titles, width), TITLE);
    let text = |item: &T| row(columns, columns.iter().map(|column| (column.cell)(item)), width);
    let line = |item: &&T| Line::from(Span::styled(text(item), style(item).unwrap_or_default()));
    std::iter::once(title).chain(rows.iter().map(line)).collect()
}

/// The cells beside each other, as many as fit; the first one on the left of its column.
fn row<T>(columns: &[Column<T>], cells: impl Iterator<Item = String>, room: usize) -> String {
    let mut text = String::new();
    for (at, (column, cell)) in columns.iter().zip(cells).enumerate() {
        let width = column.width;
        let cell = cut(&cell, width);
        let cell = if at == 0 { filled(&cell, width) } else { format!(" {cell:>width$}") };
        if at > 0 && columns_of(&text) + columns_of(&cell) > room {
            break;
        }
        text.push_str(&cell);
    }
    text
}

fn compare(a: &Key, b: &Key) -> Ordering {
    match (a, b) {
        (Key::Text(a), Key::Text(b)) => a.cmp(b),
        (Key::Number(a), Key::Number(b)) => a.total_cmp(b),
        (Key::Text(_), Key::Number(_)) => Ordering::Less,
        (Key::Number(_), Key::Text(_)) => Ordering::Greater,
    }
}

fn number(number: u64) -> Key {
    Key::Number(number as f64)
}
