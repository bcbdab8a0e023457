//! The command's arguments: any words, one a line.

#![no_main]

use std::sync::Once;

use clap::Parser;
use diadem::args;
use libfuzzer_sys::fuzz_target;

static FIRST: Once = Once::new();

fuzz_target!(|text: &str| {
    // The first parse fills clap's permanent caches.
    FIRST.call_once(|| drop(args::Args::try_parse_from(["diadem"])));
    let words = text.split('\n').take(16);
    match args::Args::try_parse_from(["diadem"].into_iter().chain(words)) {
        Ok(args) => assert!(!format!("{args:?}").is_empty()),
        Err(error) => assert!(!error.render().to_string().is_empty()),
    }
});
