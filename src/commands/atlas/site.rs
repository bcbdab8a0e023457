//! `diadem atlas pages`: the atlas of a board as pages for a browser.

use std::fs;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, bail};
use atlas::site::{MARK, site};
use records::regular_file;

use super::pictures;
use crate::args::atlas::SiteArgs;
use crate::output::print;

/// The first page.
const FIRST: &str = "index.html";

pub fn run(args: &SiteArgs) -> anyhow::Result<ExitCode> {
    let (folder, files) = (&args.html, site(args.n)?);
    fs::create_dir_all(folder).with_context(|| format!("cannot make the directory {}", folder.display()))?;
    if !may_write(folder)? {
        bail!("{} has other files than an atlas; name a new or an empty directory", folder.display());
    }
    for file in files {
        pictures::write_bytes(&folder.join(file.name), file.text.as_bytes())?;
    }
    print(&format!("the atlas of {} queens: open {}", args.n, folder.join(FIRST).display()))?;
    Ok(ExitCode::SUCCESS)
}

/// Whether nothing of the folder is anybody else's: it is empty, or has such pages already.
fn may_write(folder: &Path) -> anyhow::Result<bool> {
    let mut entries = fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?;
    if entries.next().is_none() {
        return Ok(true);
    }
    Ok(regular_file::read_to_string(&folder.join(FIRST)).is_ok_and(|page| page.contains(MARK)))
}
