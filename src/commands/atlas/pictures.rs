//! Writes pictures to files; the name of the file gives the format.

use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use atlas::picture::{Picture, Theme};

use crate::log::say;
use crate::output_file::OutputFile;
use crate::stdout::stdout;

/// Pixels for each unit of a picture: sharp on screens of today.
const SCALE: f32 = 2.0;

/// The ground that pictures are drawn on.
pub fn theme(dark: bool) -> Theme {
    if dark { Theme::Dark } else { Theme::Light }
}

/// Whether a picture of that name is a PNG file; else it is an SVG file.
fn is_png(file: &Path) -> bool {
    file.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("png"))
}

fn bytes(picture: &Picture, png: bool) -> anyhow::Result<Vec<u8>> {
    Ok(if png { picture.to_png(SCALE)? } else { picture.to_svg().into_bytes() })
}

/// Writes the picture in the format of the file name.
pub fn write(file: &Path, picture: &Picture) -> anyhow::Result<()> {
    write_bytes(file, &bytes(picture, is_png(file))?)
}

/// Writes a file.
pub fn write_bytes(file: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    OutputFile::named(file)?.write(|out| Ok(out.write_all(bytes)?))
}

/// Writes the first page as the file is named, the others with their numbers behind the name. What is drawn, as one
/// line for each file. Pages of an earlier picture that had more are left, and named on standard error.
pub fn write_pages(file: &Path, pages: Vec<Picture>, theme: Theme) -> anyhow::Result<String> {
    let write = |(number, page): (usize, Picture)| {
        let file = if number == 1 { file.to_owned() } else { numbered(file, number) };
        write(&file, &page.in_theme(theme))?;
        Ok(format!("drawn: {}", file.display()))
    };
    let drawn: Vec<String> = (1..).zip(pages).map(write).collect::<anyhow::Result<_>>()?;
    let older = (drawn.len() + 1..).map(|number| numbered(file, number)).take_while(|page| page.exists());
    let older: Vec<String> = older.map(|page| page.display().to_string()).collect();
    if let (Some(first), Some(last)) = (older.first(), older.last()) {
        let names = if first == last { first.clone() } else { format!("{first} to {last}") };
        say(format_args!("diadem: no page of this picture, but there before it: {names}"));
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
