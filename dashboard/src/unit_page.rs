//! The page of one unit: its position, who holds it, its records, and why it is open. Unit numbers on the dashboard
//! link to it.

use std::fmt::Debug;
use std::pin::Pin;

use maud::{DOCTYPE, Markup, html};
use queens::{Position, Square};

/// The answer about a unit, as soon as the run gives it.
pub type Explaining = Pin<Box<dyn Future<Output = Result<UnitAccount, NoAccount>> + Send>>;

/// What the dashboard asks of a run beyond its statuses.
pub trait RunSource: Debug + Send + Sync {
    /// True if the disk of the run takes no records, or hangs.
    fn has_disk_trouble(&self) -> bool;

    /// Explains the unit of that number.
    fn explain_unit(&self, unit: u64) -> Explaining;
}

/// Why a unit is not explained.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoAccount {
    /// The plan has no such unit.
    Unknown(String),
    /// The run cannot answer now.
    Unavailable(String),
}

/// What is known of a unit, in words.
#[derive(Clone, Debug)]
pub struct UnitAccount {
    /// Which unit of which run.
    pub title: String,
    /// Its placed queens, and the squares that it allows.
    pub position: Position,
    /// The sentences about it.
    pub facts: Vec<String>,
}

impl UnitAccount {
    /// The page.
    pub fn page(&self) -> String {
        let content = html! {
            (board(&self.position))
            p.quiet { "Disc: placed queen. Dot: free square. No mark: attacked, or left to other units." }
            @for fact in &self.facts { p { (fact) } }
        };
        page(&self.title, &content)
    }
}

impl NoAccount {
    /// The page that gives the reason.
    pub fn page(&self) -> String {
        let (Self::Unknown(why) | Self::Unavailable(why)) = self;
        page("no such unit", &html! { p { (why) } })
    }
}

fn page(title: &str, content: &Markup) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { "diadem: " (title) }
                link rel="icon" href="../diadem.svg";
                link rel="stylesheet" href="../dashboard.css";
            }
            body {
                main {
                    section.card.wide.stack aria-labelledby="unit" {
                        h1 id="unit" { (title) }
                        (content)
                        p { a href="../" { "To the run" } }
                    }
                }
            }
        }
    };
    page.into_string()
}

/// The board, the first row on top.
fn board(position: &Position) -> Markup {
    let n = position.board().n();
    let squares = || (0..n).flat_map(|row| (0..n).map(move |col| Square::new(row, col)));
    let placed = position.queens();
    html! {
        svg.board viewBox={ "0 0 " (n) " " (n) } role="img" aria-label={ (placed.len()) " placed queens" } {
            @for square in squares() {
                rect class=[((square.row + square.col) % 2 == 1).then_some("dark")]
                    x=(square.col) y=(square.row) width="1" height="1" {}
                @if placed.contains(&square) {
                    circle.queen cx=(middle(square.col)) cy=(middle(square.row)) r=".34" {}
                } @else if position.is_free(square) {
                    circle.free cx=(middle(square.col)) cy=(middle(square.row)) r=".1" {}
                }
            }
        }
    }
}

fn middle(line: u8) -> String {
    format!("{line}.5")
}

#[cfg(test)]
mod tests {
    use queens::Board;

    use super::*;

    #[test]
    fn unit_page_draws_queens_and_escapes_names() {
        let position = Position::empty(Board::new(4).unwrap()).with_queen(Square::new(0, 1));
        let facts = vec!["held by: <b>ada</b>".to_owned()];
        let page = UnitAccount { title: "unit 7 of 9".into(), position, facts }.page();
        assert_eq!(page.matches("<rect").count(), 16);
        assert_eq!(page.matches("class=\"queen\"").count(), 1);
        // All of the three other rows that the queen does not attack.
        assert_eq!(page.matches("class=\"free\"").count(), 6);
        assert!(page.contains("held by: &lt;b&gt;ada&lt;/b&gt;"), "{page}");
    }
}
