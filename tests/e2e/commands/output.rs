//! The file of `--out`: the whole new file or the old one, and never a file of a run.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::harness::{Completed, Folder};

/// All files below.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

#[test]
fn files_of_a_run_are_not_overwritten() {
    let folder = Folder::new();
    folder.run("count 10 --run run --quiet");
    assert_eq!(folder.run("certify run").code, Some(0));
    let own = files(&folder.path().join("run"));
    let name = |path: &PathBuf| path.file_name().unwrap().to_str().unwrap().to_owned();
    for name_of_one in ["run.json", "000001.jsonl", "lock", "certify.key", "lease.key"] {
        assert!(own.iter().any(|path| name(path) == name_of_one), "{name_of_one} is none of {own:?}");
    }
    let link = folder.path().join("link");
    let contents = || own.iter().map(|path| fs::read(path).unwrap()).collect::<Vec<_>>();
    let before = contents();
    for path in &own {
        let inside = path.strip_prefix(folder.path()).unwrap().display();
        let _ = fs::remove_file(&link);
        std::os::unix::fs::symlink(path, &link).unwrap();
        for out in [&format!("{inside}"), &format!("run/../{inside}"), &path.display().to_string(), "link"] {
            for command in ["report run", "export run --csv", "certify run"] {
                folder
                    .run(&format!("{command} -o {out}"))
                    .refused(&["is a file of the run in", "run: name another"]);
            }
        }
    }
    assert!(before == contents());
    // Also if the name is that of a missing key, or of the signing key.
    fs::remove_file(folder.path().join("run/certify.key")).unwrap();
    folder.run("certify run -o run/certify.key").refused(&["is a file of the run in"]);
    for out in ["my.key", "./my.key"] {
        folder.run(&format!("certify run --key my.key -o {out}")).refused(&["my.key is the private key"]);
        assert_eq!(folder.run("certify run --key my.key").code, Some(0));
    }
    // Other files may be beside them, even with such names in another folder.
    for out in ["run/report.html", "run.json", "run.json", "ledger"] {
        assert_eq!(folder.run(&format!("report run -o {out}")).code, Some(0), "{out}");
    }
    assert_eq!(folder.run("verify run --recount 0").code, Some(0));
}

#[test]
fn unwritable_output_is_refused_and_keeps_old_table() {
    let folder = Folder::new();
    folder.run("count 10 --run run --quiet");
    fs::create_dir(folder.path().join("folder")).unwrap();
    for command in ["report run", "export run --csv", "certify run"] {
        folder.run(&format!("{command} -o -")).refused(&["use /dev/stdout"]);
        folder.run(&format!("{command} -o folder")).refused(&["cannot write folder: it is a directory"]);
        folder.run(&format!("{command} -o no/where")).refused(&["cannot write no/where: "]);
        folder.run(&format!("{command} -o /dev/full")).refused(&["cannot write /dev/full: "]);
    }
    assert_eq!(folder.run("export run --csv -o table.csv").code, Some(0));
    let table = fs::read(folder.path().join("table.csv")).unwrap();
    assert_eq!(folder.run("export run --csv --by family -o table.csv").code, Some(0));
    assert_ne!(fs::read(folder.path().join("table.csv")).unwrap(), table);
    // Streams are written directly.
    let stream = format!(
        "echo first > all; {0} export run --csv --by family -o /dev/stdout >> all; \
         {0} export run --csv -o /dev/stdout > all-units; mkfifo pipe; head -1 pipe > one & \
         {0} export run --csv -o pipe; wait",
        env!("CARGO_BIN_EXE_diadem")
    );
    let shell = Command::new("sh").args(["-c", &stream]).current_dir(folder.path()).output().unwrap();
    assert_eq!(Completed::of(shell).code, Some(0));
    let read = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
    assert_eq!(read("all"), format!("first\n{}", read("table.csv")));
    assert_eq!(read("all-units").into_bytes(), table);
    assert_eq!(read("one"), "# diadem export by unit\n");
    // A file that is not written to its end does not replace the old file: files of at most a block.
    let by_family = fs::read(folder.path().join("table.csv")).unwrap();
    let limited = format!(
        "trap '' XFSZ; ulimit -f 1; exec {} export run --csv -o table.csv",
        env!("CARGO_BIN_EXE_diadem")
    );
    let shell = Command::new("sh").args(["-c", &limited]).current_dir(folder.path()).output().unwrap();
    let refused = Completed::of(shell);
    assert!(refused.code == Some(1) && refused.stderr.contains("cannot write table.csv: "), "{refused:?}");
    assert_eq!(fs::read(folder.path().join("table.csv")).unwrap(), by_family);
    assert_eq!(
        files(folder.path()).iter().filter(|path| path.extension().is_some_and(|e| e == "new")).count(),
        0
    );
}

#[test]
fn full_disk_error_names_stdout() {
    let folder = Folder::new();
    folder.run("count 10 --run run --quiet");
    for command in [
        "atlas solutions 12",
        "atlas solutions 6 --tried",
        "atlas solutions 8x9",
        "atlas solutions 8 --first 1 --format svg",
        "atlas orbits 10",
        "atlas rings 9",
        "atlas constellations 12 --list",
        "atlas study 8 --trace",
        "atlas table 8",
        "export run --csv",
        "verify run",
        "count --help",
        "--help",
        "--version",
    ] {
        let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let refused = folder.diadem(command).stdout(full).output().unwrap();
        let said = String::from_utf8(refused.stderr).unwrap();
        assert_eq!(refused.status.code(), Some(1), "{command}: {said}");
        assert!(
            said.ends_with("diadem: cannot write to stdout: No space left on device (os error 28)\n"),
            "{command}: {said}"
        );
    }
}

/// Before `main`, the standard library opens /dev/null in the place of a stdout that is closed.
#[test]
fn discarded_or_closed_stdout_is_success() {
    let folder = Folder::new();
    let binary = env!("CARGO_BIN_EXE_diadem");
    for redirection in [">/dev/null", ">&-"] {
        let line = format!("exec {binary} count 10 --run run --quiet {redirection}");
        let shell = Command::new("sh").args(["-c", &line]).current_dir(folder.path()).output().unwrap();
        assert_eq!(shell.status.code(), Some(0), "{shell:?}");
    }
    let again = folder.run("count 10 --run run --quiet");
    assert!(again.code == Some(0) && again.stdout.contains("= 724"), "{again:?}");
}
