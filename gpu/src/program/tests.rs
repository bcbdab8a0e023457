//! The code for cards, compiled for NVIDIA and AMD by clang. It covers parts that only the drivers of cards
//! compile.

use std::collections::BTreeSet;
use std::io::Write;
use std::process::{Command, Stdio};

use queens::kernel::Method;

use super::*;
use crate::device::{Description, LOCAL_BYTES};
use crate::kernel::launcher;

/// Whether a clang that compiles for cards is installed. Without it these tests are skipped with a message,
/// or fail if all tools are required.
fn is_clang_there() -> bool {
    let listed = Command::new("clang").arg("--print-targets").output();
    let listed = listed.map_or(String::new(), |output| String::from_utf8_lossy(&output.stdout).into_owned());
    let is_there = ["nvptx64", "amdgcn"].iter().all(|target| listed.contains(target));
    assert!(is_there || std::env::var_os("DIADEM_TEST_TOOLS").is_none(), "there is no clang for cards");
    if !is_there {
        println!("skipped: there is no clang for cards");
    }
    is_there
}

/// All that cards with and without NVIDIA's driver are given to compile, whatever local memory they have: texts and options.
fn sources(has_warps: bool) -> BTreeSet<[String; 2]> {
    let cards = [1, 2, 8].map(|times| Description {
        has_warps,
        local_memory: times * LOCAL_BYTES,
        ..Description::unknown()
    });
    let methods = |about| Method::ALL.map(|method| launcher(about, method, DeviceKind::Card));
    let launchers = cards.iter().flat_map(methods);
    launchers.map(|launcher| launcher.source()).map(|source| [source.whole(), source.options()]).collect()
}

/// The code compiled by clang for such chips, as assembler. A loop that is not unrolled is no error.
fn compiled(chips: &str, [text, options]: &[String; 2]) -> String {
    let mut clang = Command::new("clang")
        .args(["-x", "cl", "-O2", "-S", "-Werror", "-Wno-pass-failed", "-nogpulib"])
        .arg(format!("--target={chips}"))
        .args(options.split(' '))
        .args(["-o", "-", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // If clang ends before it has read all input, its messages show why.
    clang.stdin.take().unwrap().write_all(text.as_bytes()).ok();
    let output = clang.wait_with_output().unwrap();
    assert!(output.status.success(), "{chips}, {options}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

const NVIDIA: &str = "nvptx64-nvidia-nvcl";
const AMD: &str = "amdgcn-amd-amdhsa";

#[test]
fn compiled_code_uses_only_host_given_local_memory() {
    if !is_clang_there() {
        return;
    }
    for source in sources(true) {
        let code = compiled(NVIDIA, &source);
        assert!(code.contains(".ptr .shared .align 128 "), "vectors of the scratch are not aligned");
        assert!(!code.replace(".ptr .shared .align", "").contains(".shared .align"), "{}", source[1]);
    }
    for source in sources(false) {
        let code = compiled(AMD, &source);
        let own =
            code.lines().filter_map(|line| line.trim().strip_prefix(".amdhsa_group_segment_fixed_size "));
        assert_eq!(own.collect::<Vec<_>>(), ["0"; 2], "{}", source[1]);
    }
}

/// The lines in NVIDIA's assembler, which clang does not check. They must be exactly the text that NVIDIA's
/// `ptxas` accepted.
fn assembler(code: &str) -> impl Iterator<Item = &str> {
    let from_there = code.split("// begin inline asm").skip(1);
    from_there.map(|rest| rest.split("// end inline asm").next().unwrap().trim())
}

#[test]
fn nvidia_code_votes_and_waits_for_the_whole_warp() {
    if !is_clang_there() {
        return;
    }
    let is_barrier = |line: &str| line == "bar.warp.sync 0xffffffff;";
    let is_shift = |line: &str| line.starts_with("shr.u32 %r") && line.ends_with(';');
    let is_none = |line: &str| line.starts_with("lop3.b32 %r") && line.ends_with(", 0x01;");
    let is_vote = |line: &str| {
        line.starts_with("{ .reg .pred p; setp.ne.u32 p, %r")
            && line.contains(", 0; vote.sync.ballot.b32 %r")
            && line.ends_with(", p, 0xffffffff; }")
    };
    let mut widths = 0;
    for source in sources(true).iter().filter(|source| source[1].contains("LOCKSTEP")) {
        widths += 1;
        let code = compiled(NVIDIA, source);
        assert!(!code.contains("barrier"), "a barrier for items that are not in lockstep");
        for kernel in ["widen", "search"] {
            let from_there = code.split(&format!(".entry {kernel}(")).nth(1).unwrap();
            let own = from_there.split(".entry").next().unwrap();
            let (barriers, others): (Vec<_>, Vec<_>) = assembler(own).partition(|line| is_barrier(line));
            let (shifts, others): (Vec<_>, Vec<_>) = others.into_iter().partition(|line| is_shift(line));
            let (nones, others): (Vec<_>, Vec<_>) = others.into_iter().partition(|line| is_none(line));
            assert!(barriers.len() > 2 && shifts.len() > 2, "{kernel}: {barriers:?}, {shifts:?}");
            assert!(nones.len() > 1, "{kernel}: {nones:?}");
            assert!(others.iter().all(|line| is_vote(line)), "{others:?}");
            // For each state: whether it is kept, and whether its child is kept.
            assert!(kernel == "widen" || others.len() >= 2, "{others:?}");
        }
    }
    assert_eq!(widths, 2, "32 states a pass, and 64");
    let elsewhere = sources(false);
    assert!(
        elsewhere.iter().all(|source| !source[1].contains("LOCKSTEP")),
        "only NVIDIA's compiler knows it"
    );
}
