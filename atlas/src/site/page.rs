//! The common parts of all pages: the head, the links between them, and the drawing of a board.

use maud::{DOCTYPE, Markup, PreEscaped, html};
use queens::Board;

use super::drawing::symbols;

/// The mark of a page of such a site, which may be overwritten.
pub const MARK: &str = r#"<meta name="generator" content="diadem atlas">"#;

/// The pages, each with the text of its link.
const PAGES: [(&str, &str); 3] =
    [("index.html", "Families"), ("rings.html", "Rings"), ("play.html", "A board to play on")];

/// A page that loads nothing but the site's own style sheet and script, and may not.
pub(super) fn page(board: Board, name: &str, title: &str, script: Option<&str>, body: Markup) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                (PreEscaped(MARK))
                meta http-equiv="Content-Security-Policy"
                    content="default-src 'none'; style-src 'self'; script-src 'self'";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (title) }
                link rel="stylesheet" href="atlas.css";
                @if let Some(script) = script { script src=(script) defer {} }
            }
            body {
                (symbols(board))
                nav aria-label="Pages" {
                    @for (file, words) in PAGES {
                        @if file == name { b aria-current="page" { (words) } } @else { a href=(file) { (words) } }
                    }
                }
                main { h1 { (title) } (body) }
            }
        }
    };
    page.into_string()
}
