//! A folder of its own for each test, the binary, and processes that end with the test.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, Once};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use signal_hook::consts::SIGINT;
use signal_hook::flag::register_conditional_shutdown;
use tempfile::TempDir;

/// The time limit of each wait in a test, also on a slow and busy machine.
pub const PATIENCE: Duration = Duration::from_mins(5);

/// The number of repetitions of a test: the value of the variable, or fewer by default because the full
/// number takes long.
pub fn repetitions(variable: &str, unless_said: u32) -> u32 {
    std::env::var(variable).map_or(unless_said, |text| text.parse().unwrap())
}

/// Commands must not inherit that SIGINT is ignored, as tests do that a script runs in the background.
fn heed_interrupts() {
    static ONCE: Once = Once::new();
    let is_heeded = || Arc::new(AtomicBool::new(true));
    ONCE.call_once(|| _ = register_conditional_shutdown(SIGINT, 130, is_heeded()).unwrap());
}

/// A fresh folder in which commands run.
pub struct Folder(TempDir);

impl Folder {
    pub fn new() -> Self {
        Self(TempDir::new().unwrap())
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// The command `diadem` with these arguments (split at spaces), to be run in the folder.
    pub fn diadem(&self, args: &str) -> Command {
        heed_interrupts();
        let mut command = Command::new(env!("CARGO_BIN_EXE_diadem"));
        command.args(args.split_whitespace()).current_dir(self.path()).stdin(Stdio::null());
        // The user's own variables would be settings of the test.
        for (name, _) in
            std::env::vars_os().filter(|(name, _)| name.as_encoded_bytes().starts_with(b"DIADEM_"))
        {
            command.env_remove(name);
        }
        command
    }

    /// Runs it to its end.
    pub fn run(&self, args: &str) -> Completed {
        Completed::of(self.diadem(args).output().unwrap())
    }

    /// Starts it; what it prints on stderr goes to a file.
    pub fn start(&self, args: &str, log: &str) -> Running {
        self.start_command(&mut self.diadem(args), log)
    }

    /// Starts any command, in the folder; what it prints on stderr goes to a file.
    pub fn start_command(&self, command: &mut Command, log: &str) -> Running {
        self.start_printing(command, Stdio::piped(), log)
    }

    /// The same, with its stdout there.
    pub fn start_printing(&self, command: &mut Command, stdout: impl Into<Stdio>, log: &str) -> Running {
        let path = self.path().join(log);
        let file = fs::OpenOptions::new().create(true).append(true).open(&path).unwrap();
        let log_start = file.metadata().unwrap().len() as usize;
        let command = command.current_dir(self.path()).stdin(Stdio::null());
        let child = command.stdout(stdout).stderr(file).spawn().unwrap();
        Running { child: Some(child), log: path, log_start }
    }

    /// Starts a coordinator that listens on a port of loopback, and returns its address once it listens.
    pub fn serve(&self, args: &str, log: &str) -> (Running, String) {
        self.serve_command(&mut self.diadem(&format!("{args} --listen 127.0.0.1:0")), log)
    }

    /// The same with a command that names the port 0.
    pub fn serve_command(&self, command: &mut Command, log: &str) -> (Running, String) {
        let mut coordinator = self.start_command(command, log);
        let address = coordinator.address();
        (coordinator, address)
    }

    /// Starts a coordinator at an address that another one had, and waits until it listens.
    pub fn serve_at(&self, address: &str, args: &str, log: &str) -> Running {
        let mut coordinator = self.start(&format!("{args} --listen {address}"), log);
        assert_eq!(coordinator.address(), address);
        coordinator
    }

    /// The text of all ledger files of a run directory.
    pub fn ledger(&self, run: &str) -> String {
        let Ok(folder) = fs::read_dir(self.path().join(run).join("ledger")) else { return String::new() };
        // The cut-off bytes are beside the ledger.
        let is_ledger = |file: &PathBuf| file.extension().is_some_and(|extension| extension == "jsonl");
        let mut files: Vec<PathBuf> = folder.map(|entry| entry.unwrap().path()).filter(is_ledger).collect();
        files.sort();
        files.iter().map(|file| String::from_utf8_lossy(&fs::read(file).unwrap()).into_owned()).collect()
    }

    /// Every file in a folder, by its path.
    pub fn contents(&self, name: &str) -> BTreeMap<PathBuf, Vec<u8>> {
        let (mut to_visit, mut contents) = (vec![self.path().join(name)], BTreeMap::new());
        while let Some(path) = to_visit.pop() {
            if path.is_dir() {
                to_visit.extend(fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()));
            } else {
                contents.insert(path.clone(), fs::read(path).unwrap());
            }
        }
        contents
    }

    /// The whole records on it: a coordinator may be writing the last line.
    pub fn records(&self, run: &str) -> Vec<Value> {
        self.ledger(run).lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
    }

    /// How many counts are on record: committed by the mark that follows them.
    pub fn counts(&self, run: &str) -> usize {
        self.committed(run, &["count"])
    }

    /// How many counts and checks are.
    pub fn counts_and_checks(&self, run: &str) -> usize {
        self.committed(run, &["count", "check"])
    }

    fn committed(&self, run: &str, kinds: &[&str]) -> usize {
        let ledger = self.ledger(run);
        let end = ledger.rfind("\"kind\":\"mark\"").unwrap_or(0);
        kinds.iter().map(|kind| ledger[..end].matches(&format!("\"kind\":\"{kind}\"")).count()).sum()
    }
}

/// A command that has ended.
#[derive(Debug)]
pub struct Completed {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Completed {
    pub fn of(output: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Self { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
    }

    /// It succeeded with one JSON object on stdout.
    #[track_caller]
    pub fn json(&self) -> Value {
        assert_eq!(self.code, Some(0), "{self:?}");
        serde_json::from_str(&self.stdout).unwrap_or_else(|_| panic!("{self:?}"))
    }

    /// It failed with one sentence on stderr that has these words, and printed nothing on stdout.
    #[track_caller]
    pub fn refused(&self, words: &[&str]) {
        assert!(self.code.is_some_and(|code| code != 0), "{self:?}");
        assert_eq!(self.stdout, "", "{self:?}");
        let goes_on = |line: &&str| line.starts_with("diadem: ") && line.ends_with(" so far");
        // On a busy machine the progress line may appear for a while.
        assert_eq!(self.stderr.lines().filter(|line| !goes_on(line)).count(), 1, "{self:?}");
        for word in words {
            assert!(self.stderr.contains(word), "no {word:?} in {self:?}");
        }
        assert!(!self.stderr.contains("panicked") && !self.stderr.contains("internal error"), "{self:?}");
    }
}

/// A command that runs; it is killed with the value.
pub struct Running {
    child: Option<Child>,
    pub log: PathBuf,
    /// The length of the log before.
    log_start: usize,
}

impl Running {
    /// SIGKILL.
    pub fn kill(mut self) {
        let mut child = self.child.take().unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
    }

    /// SIGTERM, as an operator stops it.
    pub fn terminate(&self) {
        self.signal(Signal::TERM);
    }

    /// SIGINT, as Ctrl-C sends it.
    pub fn interrupt(&self) {
        self.signal(Signal::INT);
    }

    /// SIGHUP, as when the terminal is closed.
    pub fn hang_up(&self) {
        self.signal(Signal::HUP);
    }

    pub fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(self.child.as_ref().unwrap()), signal).unwrap();
    }

    pub fn pid(&self) -> u32 {
        self.child.as_ref().unwrap().id()
    }

    /// The processor time that it has had outside the system, in hundredths of a second.
    pub fn ticks(&self) -> i64 {
        self.stat(11)
    }

    pub fn niceness(&self) -> i64 {
        self.stat(16)
    }

    /// A number of `/proc/PID/stat`, by its place behind the name, which may have spaces.
    fn stat(&self, place: usize) -> i64 {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.pid())).unwrap();
        stat.rsplit_once(')').unwrap().1.split_whitespace().nth(place).unwrap().parse().unwrap()
    }

    /// The most memory that it has held at a time, in KiB; nothing once it has ended.
    pub fn peak_kib(&self) -> Option<u64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.pid())).ok()?;
        let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
        line.split_whitespace().nth(1)?.parse().ok()
    }

    /// Waits until the coordinator logs the address on which it listens.
    #[track_caller]
    pub fn address(&mut self) -> String {
        self.logged(&[" listen=", r#""listen":""#])
    }

    /// Waits until the coordinator logs the address of its dashboard.
    #[track_caller]
    pub fn dashboard(&mut self) -> String {
        self.logged(&["the dashboard is at http://", "the dashboard is at https://"])
    }

    /// Waits until it logs an address behind one of these words.
    #[track_caller]
    fn logged(&mut self, words: &[&str]) -> String {
        let mut address = None;
        until("it logs an address", || {
            let has_ended = self.has_ended();
            let log = fs::read_to_string(&self.log).unwrap();
            let log = &log[self.log_start..];
            let found = words.iter().find_map(|words| log.split_once(words));
            let end = |rest: &str| rest.find(|c: char| c == '"' || c.is_whitespace());
            address = found.and_then(|(_, rest)| Some(rest[..end(rest)?].to_owned()));
            assert!(address.is_some() || !has_ended, "it has ended: {log}");
            address.is_some()
        });
        address.unwrap()
    }

    /// Whether its log has these words.
    pub fn says(&self, words: &str) -> bool {
        fs::read_to_string(&self.log).unwrap().contains(words)
    }

    /// Whether it has begun to listen to signals: before, any ends it without a word.
    pub fn heeds_signals(&self) -> bool {
        [Signal::INT, Signal::TERM].into_iter().all(|signal| self.heeds(signal))
    }

    pub fn heeds(&self, signal: Signal) -> bool {
        let status = fs::read_to_string(format!("/proc/{}/status", self.pid())).unwrap_or_default();
        let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
        let caught = caught.map_or(0, |mask| u64::from_str_radix(mask.trim(), 16).unwrap());
        caught & 1 << (signal.as_raw() - 1) != 0
    }

    pub fn has_ended(&mut self) -> bool {
        self.child.as_mut().unwrap().try_wait().unwrap().is_some()
    }

    /// Waits for its end, with a time limit.
    #[track_caller]
    pub fn end(mut self) -> Completed {
        until("the process ends", || self.has_ended());
        let output = self.child.take().unwrap().wait_with_output().unwrap();
        let log = fs::read(&self.log).unwrap_or_default();
        Completed { stderr: String::from_utf8_lossy(&log).into_owned(), ..Completed::of(output) }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            child.kill().ok();
            child.wait().ok();
        }
    }
}

/// Polls until the condition holds, with a time limit.
#[track_caller]
pub fn until(what: &str, is_so: impl FnMut() -> bool) {
    until_within(PATIENCE, what, is_so);
}

/// Polls until it is so, but no longer than that.
#[track_caller]
pub fn until_within(patience: Duration, what: &str, mut is_so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < patience, "waited too long until {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Asserts that the condition holds for that time.
#[track_caller]
pub fn stays(time: Duration, what: &str, mut is_so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while begun.elapsed() < time {
        assert!(is_so(), "after {:?} it is no longer so that {what}", begun.elapsed());
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Asserts that the time since `begun` is at most twice the promise. On a loaded machine the limit is larger.
#[track_caller]
pub fn in_time(promised: Duration, begun: Instant) {
    let taken = begun.elapsed();
    let load = fs::read_to_string("/proc/loadavg").unwrap();
    let running: f64 = load.split_whitespace().next().unwrap().parse().unwrap();
    let cores = std::thread::available_parallelism().unwrap().get();
    let allowed = promised.mul_f64(2.0 + running / cores as f64);
    assert!(
        taken < allowed,
        "it took {taken:?}: {promised:?} were promised, {allowed:?} allowed at this load"
    );
}

/// A free loopback address that no test has used: for clients without a server. A coordinator listens on port
/// 0 instead; see [`Folder::serve`].
pub fn free_address() -> String {
    static GIVEN: Mutex<BTreeSet<SocketAddr>> = Mutex::new(BTreeSet::new());
    loop {
        let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        if GIVEN.lock().unwrap().insert(address) {
            return address.to_string();
        }
    }
}

/// The published total of n, as JSON has it.
pub fn published(n: u8) -> String {
    queens::known::totals(queens::Board::new(n).unwrap()).unwrap().solutions().to_string()
}
