//! The board to play on. What happens on it is `play.js`; the page has the solutions, so that it knows how many are left.

use maud::{PreEscaped, html};
use serde_json::json;

use super::page::page;
use crate::orbits::SolutionOrbits;

pub(super) fn play(orbits: &SolutionOrbits) -> String {
    let n = orbits.setting.board;
    let solution =
        |(index, rows)| json!({ "number": index + 1, "rows": rows, "family": orbits.orbit_of[index] });
    let solutions: Vec<_> = orbits.solutions.iter().enumerate().map(solution).collect();
    let body = html! {
        p {
            "Put " (n) " queens on the board so that none attacks another: click on a square, or go there by the arrow keys \
             and press Enter. Queens that attack each other stand on red."
        }
        noscript { p { "The board needs JavaScript." } }
        div.play {
            div #field.field role="group" aria-label="Board" data-n=(n) {}
            div {
                p #said role="status" {}
                div.steps {
                    button #solve type="button" { "Show a solution with these queens" }
                    button #clear type="button" { "Take all off" }
                    label { input #hints type="checkbox"; " show attacked squares" }
                }
            }
        }
        // Only numbers and fixed names, so the text cannot end the script element.
        script #solutions type="application/json" { (PreEscaped(json!(solutions).to_string())) }
    };
    page(n, "play.html", &format!("{n} queens to play with"), Some("play.js"), body)
}
