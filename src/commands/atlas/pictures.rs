//! Writes pictures to files; the name of the file gives the format.

use std::io::{self, IsTerminal, Write};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use atlas::picture::{Picture, Theme};

use crate::args::atlas::WrongAtlasCommand;
use crate::log::say;
use crate::output_file::OutputFile;
use crate::stdout::stdout;

/// Pixels for each unit of a picture: sharp on today's screens.
const SCALE: f32 = 2.0;

/// Maximum width and height of a PNG picture in pixels, unless its SVG is larger.
const MOST_PIXELS: f32 = 4_000.0;

/// A picture of more pages announces them before it is drawn.
const MANY_PAGES: usize = 10;

/// The ground that pictures are drawn on.
pub fn theme(dark: bool) -> Theme {
    if dark { Theme::Dark } else { Theme::Light }
}

/// Whether a picture of that name is a PNG file; else it is an SVG file.
fn is_png(file: &Path) -> bool {
    file.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("png"))
}

fn bytes(picture: &Picture, png: bool) -> anyhow::Result<Vec<u8>> {
    Ok(if png {
        picture.to_png((MOST_PIXELS / picture.longest_side() as f32).clamp(1.0, SCALE))?
    } else {
        picture.to_svg().into_bytes()
    })
}

/// Writes the picture in the format of the file name.
pub fn write(file: &Path, picture: &Picture) -> anyhow::Result<()> {
    write_bytes(file, &bytes(picture, is_png(file))?)
}

/// Writes a file.
pub fn write_bytes(file: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    OutputFile::named(file)?.write(|out| Ok(out.write_all(bytes)?))
}

/// Writes the wanted pages: the first as the file is named, the others with their numbers behind the name. Returns a line
/// for each file. Further pages of an earlier picture are left, and named on standard error.
pub fn write_pages(
    file: &Path,
    pages: Vec<Picture>,
    wanted: Option<&RangeInclusive<usize>>,
    theme: Theme,
) -> anyhow::Result<String> {
    let count = pages.len();
    if let Some(wanted) = wanted.filter(|wanted| *wanted.end() > count) {
        return Err(WrongAtlasCommand::NoSuchPage { count, wanted: wanted.clone() }.into());
    }
    if wanted.is_none() && count > MANY_PAGES {
        say(format_args!("diadem: drawing {count} pages; --pages 1..{MANY_PAGES} draws only some of them"));
    }
    let write = |(number, page): (usize, Picture)| {
        let file = if number == 1 { file.to_owned() } else { numbered(file, number) };
        write(&file, &page.in_theme(theme))?;
        Ok(format!("drawn: {}", file.display()))
    };
    let is_wanted = |(number, _): &(usize, Picture)| wanted.is_none_or(|wanted| wanted.contains(number));
    let drawn: Vec<String> = (1..).zip(pages).filter(is_wanted).map(write).collect::<anyhow::Result<_>>()?;
    let older = (count + 1..).map(|number| numbered(file, number)).take_while(|page| page.exists());
    let older: Vec<String> = older.map(|page| page.display().to_string()).collect();
    if let (Some(first), Some(last)) = (older.first(), older.last()) {
        let names = if first == last { first.clone() } else { format!("{first} to {last}") };
        say(format_args!("diadem: pages of an earlier picture, not part of this one: {names}"));
    }
    Ok(drawn.join("\n"))
}

/// `rings-2.svg` of `rings.svg`.
fn numbered(file: &Path, number: usize) -> PathBuf {
    let stem = file.file_stem().unwrap_or_default().to_string_lossy();
    let extension = file.extension().unwrap_or_default().to_string_lossy();
    file.with_file_name(format!("{stem}-{number}.{extension}"))
}

/// Writes the picture to standard output, pixels to no terminal.
pub fn show(picture: &Picture, png: bool) -> anyhow::Result<()> {
    let mut out = stdout();
    if png && io::stdout().is_terminal() {
        bail!(
            "a PNG picture is nothing for a terminal: name a directory with --out DIR, or write it to a file"
        );
    }
    out.write_all(&bytes(picture, png)?)?;
    out.flush()?;
    Ok(())
}

/// Writes pictures into a folder, each by its name. What is drawn, in words.
pub fn write_all(folder: &Path, pictures: impl Iterator<Item = (String, Picture)>) -> anyhow::Result<String> {
    std::fs::create_dir_all(folder)
        .with_context(|| format!("cannot make the directory {}", folder.display()))?;
    let mut files = 0;
    for (name, picture) in pictures {
        write(&folder.join(name), &picture)?;
        files += 1;
    }
    Ok(format!("{files} pictures in {}", folder.display()))
}
