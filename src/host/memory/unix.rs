//! The limits of memory on Unix, and on Linux those of control groups.

use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;
use std::{env, fs};

use rlimit::{INFINITY, Resource};

use super::Limit;

/// The variable by which the allocator of glibc keeps to one arena.
const ARENAS: &str = "MALLOC_ARENA_MAX";

/// Executes this program again with one arena if the address space is limited: otherwise glibc reserves 64 MiB of it for each thread.
pub fn keep_to_one_arena() {
    if cfg!(not(target_env = "gnu")) || limit_of(Resource::AS).is_none() || env::var_os(ARENAS).is_some() {
        return;
    }
    let mut arguments = env::args_os();
    if let (Ok(program), Some(name)) = (env::current_exe(), arguments.next()) {
        // Without success all is as before.
        let _ = Command::new(program).arg0(name).args(arguments).env(ARENAS, "1").exec();
    }
}

/// The limits of the memory of this process, as far as the system shows them.
pub fn limits() -> Vec<Limit> {
    limits_below(Path::new("/"))
}

fn limits_below(root: &Path) -> Vec<Limit> {
    let read = |path: &str| fs::read_to_string(root.join(path)).unwrap_or_default();
    let (status, machine) = (read("proc/self/status"), read("proc/meminfo"));
    let processors = read("proc/cpuinfo").lines().filter(|line| line.starts_with("processor")).count() as u32;
    let limits = [
        (field(&machine, "MemTotal:"), "VmRSS:", processors, "the machine's memory"),
        (of_control_group(root, &read("proc/self/cgroup")), "VmRSS:", 1, "the limit of the control group"),
        (limit_of(Resource::AS), "VmSize:", 1, "ulimit -v"),
        (limit_of(Resource::DATA), "VmData:", 1, "ulimit -d"),
    ];
    let limits = limits.into_iter().filter_map(|(bytes, used, cores, name)| {
        Some(Limit { bytes: bytes?, used: field(&status, used).unwrap_or(0), cores, name })
    });
    limits.collect()
}

/// The limit of the address space, if there is one.
pub fn address_space() -> Option<u64> {
    limit_of(Resource::AS)
}

fn limit_of(resource: Resource) -> Option<u64> {
    resource.get_soft().ok().filter(|limit| *limit != INFINITY)
}

/// A number of KiB in a file of `/proc`, as bytes.
fn field(text: &str, name: &str) -> Option<u64> {
    let kib = text.lines().find_map(|line| line.strip_prefix(name))?;
    kib.split_whitespace().next()?.parse::<u64>().ok()?.checked_mul(1 << 10)
}

/// The least limit of the control groups that hold this process, by the content of `/proc/self/cgroup`. In a container the path
/// of a group may begin outside of what is mounted: then only the group at the top is seen.
fn of_control_group(root: &Path, groups: &str) -> Option<u64> {
    const UNIFIED: &[&str] = &["memory.max", "memory.high"];
    let mut limits = Vec::new();
    for line in groups.lines() {
        let mut parts = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(group)) = (parts.next(), parts.next()) else { continue };
        let (mounts, files): (&[&str], &[&str]) = if controllers.is_empty() {
            (&["sys/fs/cgroup", "sys/fs/cgroup/unified"], UNIFIED)
        } else if controllers.split(',').any(|controller| controller == "memory") {
            (&["sys/fs/cgroup/memory"], &["memory.limit_in_bytes"])
        } else {
            continue;
        };
        let group = group.trim_start_matches('/');
        // The last one is the group at the top.
        for folder in Path::new(group).ancestors() {
            let paths = mounts.iter().flat_map(|mount| files.iter().map(move |file| (mount, file)));
            let paths = paths.map(|(mount, file)| root.join(mount).join(folder).join(file));
            limits.extend(paths.filter_map(|path| fs::read_to_string(path).ok()?.trim().parse::<u64>().ok()));
        }
    }
    limits.into_iter().min()
}

#[cfg(test)]
mod tests {
    use super::super::{longest_lists, shortage};
    use super::*;
    use crate::args::MemoryNeed;
    use queens::Board;
    use tempfile::TempDir;

    fn with_files(files: &[(&str, &str)]) -> TempDir {
        let root = TempDir::new().unwrap();
        for (path, text) in files {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        root
    }

    #[test]
    fn least_limit_of_nested_control_groups_holds() {
        let second = with_files(&[
            ("proc/self/cgroup", "0::/user.slice/job\n"),
            ("sys/fs/cgroup/user.slice/job/memory.max", "max\n"),
            ("sys/fs/cgroup/user.slice/job/memory.high", "700000000\n"),
            ("sys/fs/cgroup/user.slice/memory.max", "600000000\n"),
        ]);
        let first = with_files(&[
            ("proc/self/cgroup", "4:cpu,memory:/docker/1\n1:name=systemd:/docker/1\n0::/\n"),
            ("sys/fs/cgroup/memory/memory.limit_in_bytes", "500000000\n"),
        ]);
        let unlimited = with_files(&[("proc/self/cgroup", "0::/\n"), ("sys/fs/cgroup/memory.max", "max\n")]);
        for (root, expected) in [(second, Some(600_000_000)), (first, Some(500_000_000)), (unlimited, None)] {
            let groups = fs::read_to_string(root.path().join("proc/self/cgroup")).unwrap();
            assert_eq!(of_control_group(root.path(), &groups), expected, "{groups}");
        }
    }

    #[test]
    fn smallest_limit_is_named_less_what_is_in_use() {
        let root = with_files(&[
            ("proc/self/cgroup", "0::/job\n"),
            ("proc/self/status", "VmSize:\t  90000 kB\nVmRSS:\t   20480 kB\n"),
            ("proc/meminfo", "MemTotal:        2000000 kB\n"),
            ("sys/fs/cgroup/job/memory.max", "545259520\n"),
        ]);
        let limits = limits_below(root.path());
        assert_eq!((limits[1].left() >> 20, limits[1].name), (500, "the limit of the control group"));
        let (fitted, message) = shortage(&limits, MemoryNeed::new(None, None, 16, 0)).unwrap();
        assert_eq!((fitted.threads, fitted.lists >> 20), (16, 17));
        assert_eq!(
            message,
            "16 threads may need 1152 MiB of memory and 500 MiB are available (the limit of the control group): counts on 16 \
             threads with lists of 17 MiB each"
        );
        assert!(shortage(&limits, MemoryNeed::new(None, None, 4, 0)).is_none());
        let (_, message) = shortage(&limits, MemoryNeed::new(Some(16), Some(48 << 20), 1, 0)).unwrap();
        assert!(message.contains("raise the limit, or use fewer --threads"), "{message}");
    }

    #[test]
    fn lists_get_a_share_of_a_quarter_of_the_memory() {
        let machine = |gib: u64, cores: usize| {
            with_files(&[
                ("proc/meminfo", &format!("MemTotal: {} kB\n", gib << 20)),
                ("proc/cpuinfo", &"processor\t: 0\nmodel name\t: a\n\n".repeat(cores)),
            ])
        };
        let lists = |root: &TempDir, n, threads| {
            longest_lists(&limits_below(root.path()), Board::new(n).unwrap(), threads) >> 20
        };
        for (gib, cores, n, threads, expected) in [
            (16, 8, 28, 8, 512),
            (16, 8, 24, 8, 48),
            // The other cores may be given to other processes.
            (16, 8, 28, 1, 512),
            (16, 8, 28, 16, 256),
            (1, 8, 28, 8, 48),
            (512, 8, 28, 8, 2048),
        ] {
            assert_eq!(
                lists(&machine(gib, cores), n, threads),
                expected,
                "{gib} GiB, {cores} cores, n = {n}"
            );
        }
        let group = with_files(&[
            ("proc/self/cgroup", "0::/\n"),
            ("sys/fs/cgroup/memory.max", "4294967296\n"),
            ("proc/meminfo", "MemTotal: 67108864 kB\n"),
        ]);
        assert_eq!(lists(&group, 27, 4), 256);
    }
}
