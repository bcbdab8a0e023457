//! The pages of the atlas in a real headless Chromium, from files: looked at, clicked on, played on by the keys.

use std::fs;

use serde_json::Value;

use crate::harness::Folder;
use crate::look::{browser, look};
use crate::webdriver::Browser;

/// The address of a page of the atlas in this folder.
fn url(folder: &Folder, page: &str) -> String {
    format!("file://{}", folder.path().join("atlas").join(page).display())
}

/// A folder with the atlas of n queens.
fn atlas_of(n: u8) -> Folder {
    let folder = Folder::new();
    let written = folder.run(&format!("atlas pages --html atlas --n {n}"));
    assert_eq!(written.stdout, format!("the atlas of {n} queens: open atlas/index.html\n"), "{written:?}");
    folder
}

fn press(browser: &Browser, key: &str) {
    browser.value(&format!(
        "document.activeElement.dispatchEvent(new KeyboardEvent('keydown', {{ key: '{key}', bubbles: true, cancelable: true }}))"
    ));
}

#[test]
fn pages_are_self_contained_and_legible_everywhere() {
    for n in [8, 5, 10] {
        let folder = atlas_of(n);
        for entry in fs::read_dir(folder.path().join("atlas")).unwrap() {
            let text = fs::read_to_string(entry.unwrap().path()).unwrap();
            let text = text.replace("http://www.w3.org/2000/svg", "");
            for word in ["http:", "https:", "//cdn", "url(", "@import", " onclick", " onload", " style="] {
                assert!(!text.contains(word), "{word} in {text}");
            }
        }
        let Some(browser) = browser() else { return };
        for page in ["index", "rings", "play"] {
            browser.go(&url(&folder, &format!("{page}.html")));
            look(&browser, &format!("atlas-{n}-{page}"));
        }
    }
}

#[test]
fn the_gallery_has_every_family_with_its_images() {
    let folder = atlas_of(8);
    let Some(browser) = browser() else { return };
    browser.go(&url(&folder, "index.html"));
    let count = |selector: &str| browser.value(&format!("document.querySelectorAll({selector:?}).length"));
    assert_eq!((count(".families > section"), count("figure")), (Value::from(12), Value::from(92)));
    let text = browser.text("#B10");
    assert_eq!(text, "B10\n\n35281746\nP: a half turn leads to itself\n\n4 images");
    browser.value("document.querySelector('#B1 summary').click()");
    browser.until("document.querySelector('#B1 details').open");
    look(&browser, "atlas-8-open");
    let images = browser.text("#B1 figcaption");
    assert!(images.contains("a 15863724 number 1, ring R1"), "{images}");
    assert_eq!(count("#B1 figure use[href='#queen']"), Value::from(8 * 8));
}

#[test]
fn rings_are_navigated_by_click_and_arrow_keys() {
    let folder = atlas_of(8);
    let Some(browser) = browser() else { return };
    browser.looks(1280, false);
    browser.go(&url(&folder, "rings.html"));
    assert_eq!(browser.value("document.querySelectorAll('.ring').length"), Value::from(8));
    browser.value("document.getElementById('s1').focus()");
    let standing = "section[aria-label='Ring R1'] .steps";
    assert_eq!(browser.text(standing), "Number 1, family B1.\nright to 30\nup to 8");
    press(&browser, "ArrowUp");
    assert_eq!(browser.value("document.activeElement.id"), Value::from("s8"));
    press(&browser, "ArrowRight");
    assert!(browser.text(standing).starts_with("Number 52, family B3."), "{}", browser.text(standing));
    press(&browser, "ArrowRight");
    assert_eq!(browser.value("document.activeElement.id"), Value::from("s52"), "no shift leads there");
    browser.value(&format!(
        "[...document.querySelectorAll({:?})].find((b) => b.textContent === 'down to 30').click()",
        format!("{standing} button")
    ));
    assert_eq!(browser.value("document.activeElement.id"), Value::from("s30"));
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

#[test]
fn play_board_shows_conflicts_and_solutions() {
    let folder = atlas_of(8);
    let Some(browser) = browser() else { return };
    browser.go(&url(&folder, "play.html"));
    let click = |square: usize| {
        browser.value(&format!("document.querySelectorAll('#field button')[{square}].click()"));
    };
    let said = || browser.text("#said");
    assert_eq!(said(), "The board is empty: put a queen anywhere.");
    // Squares are from the upper left corner: a8 and b7 lie on a diagonal.
    click(0);
    assert_eq!(said(), "1 queen, none attacked. 4 solutions with these queens.");
    click(9);
    assert_eq!(said(), "A pair of queens attacks each other: a8 and b7.");
    assert_eq!(browser.value("document.querySelectorAll('#field .conflict').length"), Value::from(2));
    let seen =
        "[...document.querySelectorAll('#field svg')].filter((queen) => queen.checkVisibility()).length";
    assert_eq!(browser.value(seen), Value::from(2), "no other queen is seen");
    browser.value("document.getElementById('hints').click()");
    look(&browser, "atlas-8-conflict");
    click(9);
    browser.value("document.getElementById('solve').click()");
    assert_eq!(said(), "Solved: number 89, 82417536, of family B1.");
    browser.value("document.getElementById('clear').click()");
    // By the keys: from a8, where the focus is, two to the right and one down, a queen on c7.
    browser.value("document.querySelectorAll('#field button')[0].focus()");
    for key in ["ArrowRight", "ArrowRight", "ArrowDown", "ArrowUp", "ArrowUp", "ArrowDown"] {
        press(&browser, key);
    }
    browser.value("document.activeElement.click()");
    let label = browser.value("document.activeElement.getAttribute('aria-label')");
    assert_eq!(label, Value::from("c7, queen"));
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

#[test]
fn foreign_folder_is_refused_and_atlas_is_rewritten() {
    let folder = atlas_of(6);
    fs::write(folder.path().join("atlas/note.txt"), "mine").unwrap();
    assert_eq!(folder.run("atlas pages --html atlas --n 5").code, Some(0), "it is an atlas");
    assert!(fs::read_to_string(folder.path().join("atlas/index.html")).unwrap().contains("5 queens"));
    fs::create_dir(folder.path().join("other")).unwrap();
    fs::write(folder.path().join("other/index.html"), "mine").unwrap();
    folder.run("atlas pages --html other").refused(&["other", "new or an empty directory"]);
    assert_eq!(fs::read_to_string(folder.path().join("other/index.html")).unwrap(), "mine");
    folder.run("atlas pages --html other/index.html").refused(&["other/index.html"]);
    folder.run("atlas pages --html new --n 11").refused(&["4 to 10", "11"]);
    folder.run("atlas pages --html new --n 3").refused(&["4 to 10", "3"]);
    assert!(!folder.path().join("new").exists());
}
