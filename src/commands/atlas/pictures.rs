//! Pictures on their way to files: the name says which kind.

use std::path::Path;

use anyhow::{Context, bail};
use atlas::picture::{Picture, PictureError};

/// Pixels for each unit of a picture: sharp on screens of today.
const SCALE: f32 = 2.0;

/// The picture as the bytes of an SVG file, or of a PNG file.
pub fn bytes(picture: &Picture, png: bool) -> Result<Vec<u8>, PictureError> {
    if png { picture.to_png(SCALE) } else { Ok(picture.to_svg().into_bytes()) }
}

/// Whether a picture of that name is a PNG file; an error if it is neither that nor an SVG file.
fn is_png(file: &Path) -> anyhow::Result<bool> {
    let is = |extension| file.extension().is_some_and(|e| e.eq_ignore_ascii_case(extension));
    if !is("svg") && !is("png") {
        bail!("a picture's name ends in .svg or .png, not as in \"{}\"", file.display());
    }
    Ok(is("png"))
}

/// Writes the picture as its name says.
pub fn write(file: &Path, picture: &Picture) -> anyhow::Result<()> {
    let bytes = bytes(picture, is_png(file)?)?;
    std::fs::write(file, bytes).with_context(|| format!("cannot write {}", file.display()))
}
