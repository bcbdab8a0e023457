//! Kernels: the code that counts the completions of a position.
//!
//! Every kernel accepts every position and returns the same number of completions for it. A kernel is named by its
//! *method* (how it searches) and its *isa* (the instruction set that its inner loop is compiled for).

pub mod meet;
pub mod scalar;

mod search;

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::board::Board;
use crate::position::Position;

pub use meet::Meet;
pub use search::Search;

/// What a kernel found in one position.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// The number of completions.
    pub completions: u64,
    /// The search nodes visited: a fingerprint of the search, the same on every machine for one method, and for a
    /// position and its left-right mirror image.
    pub nodes: u64,
}

/// A flag that asks kernels to stop. Polled at least every 100 ms.
#[derive(Debug, Default)]
pub struct Stop(AtomicBool);

impl Stop {
    /// A flag that is not set.
    pub const fn new() -> Self {
        Self(AtomicBool::new(false))
    }

    /// Sets the flag, for good.
    pub fn stop(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether the flag is set.
    pub fn is_stopped(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Code that counts the completions of positions.
pub trait Kernel: Send + Sync {
    /// What the kernel is called.
    fn name(&self) -> KernelName;

    /// The completions of the position, or nothing if it was stopped. Sums are checked: a count that does not fit
    /// 64 bits panics rather than wraps.
    fn count(&self, position: &Position, stop: &Stop) -> Option<Count>;
}

/// How a kernel counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Method {
    /// Two halves that meet.
    Meet,
    /// Row by row, from the top.
    Search,
}

/// The instruction set of a kernel's inner loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Isa {
    /// AVX-512 with F, BW, DQ and VL, x86-64.
    Avx512,
    /// AVX2, x86-64.
    Avx2,
    /// Plain Rust, for every machine.
    Portable,
}

impl Method {
    /// All methods.
    pub const ALL: [Method; 2] = [Method::Meet, Method::Search];

    /// The method that counts a whole board fastest: from n = 17 on halves meet (docs/performance.md).
    pub fn best(board: Board) -> Self {
        if board.n() >= 17 { Method::Meet } else { Method::Search }
    }
}

impl Isa {
    /// All instruction sets, the fastest first.
    pub const ALL: [Isa; 3] = [Isa::Avx512, Isa::Avx2, Isa::Portable];

    /// Whether this machine has it.
    pub fn is_available(self) -> bool {
        match self {
            Isa::Portable => true,
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512 => {
                is_x86_feature_detected!("avx512f")
                    && is_x86_feature_detected!("avx512bw")
                    && is_x86_feature_detected!("avx512dq")
                    && is_x86_feature_detected!("avx512vl")
                    && Isa::Avx2.is_available()
            }
            #[cfg(target_arch = "x86_64")]
            Isa::Avx2 => {
                is_x86_feature_detected!("avx2")
                    && is_x86_feature_detected!("bmi1")
                    && is_x86_feature_detected!("bmi2")
                    && is_x86_feature_detected!("popcnt")
            }
            #[cfg(not(target_arch = "x86_64"))]
            Isa::Avx512 | Isa::Avx2 => false,
        }
    }

    /// The fastest one that this machine has.
    pub fn best() -> Self {
        Isa::ALL.into_iter().find(|isa| isa.is_available()).unwrap_or(Isa::Portable)
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Method::Meet => "meet",
            Method::Search => "search",
        })
    }
}

impl fmt::Display for Isa {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Isa::Avx512 => "avx512",
            Isa::Avx2 => "avx2",
            Isa::Portable => "portable",
        })
    }
}

/// A method and an instruction set, written `search/portable`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KernelName {
    /// How it counts.
    pub method: Method,
    /// What it is compiled for.
    pub isa: Isa,
}

impl fmt::Display for KernelName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.method, self.isa)
    }
}

impl FromStr for KernelName {
    type Err = KernelError;
    fn from_str(text: &str) -> Result<Self, KernelError> {
        let (method, isa) = text.split_once('/').unwrap_or((text, ""));
        Ok(Self { method: method.parse()?, isa: isa.parse()? })
    }
}

/// A kernel that does not exist or that this machine cannot run.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum KernelError {
    /// No method of that name.
    #[error("there is no method \"{0}\"; the methods are auto, {list}", list = listed(&Method::ALL))]
    UnknownMethod(String),
    /// No instruction set of that name.
    #[error("there is no isa \"{0}\"; the isas are auto, {list}", list = listed(&Isa::ALL))]
    UnknownIsa(String),
    /// The machine lacks the instruction set.
    #[error("this machine cannot run --isa {0}; it has {list}", list = listed(&available()))]
    Unavailable(Isa),
}

fn listed<T: fmt::Display>(items: &[T]) -> String {
    items.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

fn available() -> Vec<Isa> {
    Isa::ALL.into_iter().filter(|isa| isa.is_available()).collect()
}

impl FromStr for Method {
    type Err = KernelError;
    fn from_str(text: &str) -> Result<Self, KernelError> {
        let named = Method::ALL.into_iter().find(|m| m.to_string() == text);
        named.ok_or_else(|| KernelError::UnknownMethod(text.to_owned()))
    }
}

impl FromStr for Isa {
    type Err = KernelError;
    fn from_str(text: &str) -> Result<Self, KernelError> {
        let named = Isa::ALL.into_iter().find(|i| i.to_string() == text);
        named.ok_or_else(|| KernelError::UnknownIsa(text.to_owned()))
    }
}

impl KernelName {
    /// Another kernel for the same units, to check one by the other: the other method for the same instruction set,
    /// so that nothing of the search is shared and every machine that has the one has the other.
    #[must_use]
    pub fn other(self) -> Self {
        let method = match self.method {
            Method::Meet => Method::Search,
            Method::Search => Method::Meet,
        };
        Self { method, ..self }
    }
}

/// The kernel of that method for that instruction set; `None` takes the fastest that the machine has.
pub fn kernel(method: Method, isa: Option<Isa>) -> Result<Arc<dyn Kernel>, KernelError> {
    let isa = isa.unwrap_or_else(Isa::best);
    if !isa.is_available() {
        return Err(KernelError::Unavailable(isa));
    }
    match method {
        Method::Meet => Ok(Arc::new(Meet::new(isa))),
        Method::Search => Ok(Arc::new(Search::new(isa).ok_or(KernelError::Unavailable(isa))?)),
    }
}
