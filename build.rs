//! Notes which commit is built, and for what, for `diadem --version`.

use std::path::Path;
use std::process::Command;
use std::{env, fs};

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-env=DIADEM_COMMIT={}", commit().unwrap_or_else(|| "commit unknown".to_owned()));
    println!("cargo::rustc-env=DIADEM_TARGET={}", env::var("TARGET").unwrap_or_default());
}

/// The commit of the checkout or of the package that this is.
fn commit() -> Option<String> {
    if let Ok(packaged) = fs::read_to_string(".cargo_vcs_info.json") {
        let (_, after) = packaged.split_once("\"sha1\"")?;
        return after.split('"').nth(1).map(short);
    }
    // A checkout is the top of its repository. Elsewhere Git would describe another project.
    let prefix_and_head = git(&["rev-parse", "--show-prefix", "HEAD"])?;
    let head = prefix_and_head.strip_prefix('\n')?;
    let log = git(&["rev-parse", "--git-path", "logs/HEAD"])?;
    if Path::new(log.trim()).exists() {
        println!("cargo::rerun-if-changed={}", log.trim());
    }
    Some(short(head.trim()))
}

fn short(hash: &str) -> String {
    format!("commit {}", &hash[..hash.len().min(12)])
}

fn git(arguments: &[&str]) -> Option<String> {
    let output =
        Command::new("git").args(arguments).output().ok().filter(|output| output.status.success())?;
    String::from_utf8(output.stdout).ok()
}
