//! The names of kernels, and their parsing.

use crate::class::Classified;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::board::Board;
use crate::kernel::isa::Isa;

/// How a kernel counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Method {
    /// Two halves that meet.
    Meet,
    /// Row by row, from one side.
    Search,
}

impl Method {
    /// All methods.
    pub const ALL: [Method; 2] = [Method::Meet, Method::Search];

    /// The method that counts a whole board fastest on the machines that were measured: from n = 18 on halves meet
    /// (docs/performance.md). The same everywhere, so that all shards of a board have one plan.
    pub fn best(board: Board) -> Self {
        if board.n() >= 18 { Method::Meet } else { Method::Search }
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

/// A method and an instruction set, written `search/portable`; or an external program, written `external`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KernelName {
    /// How it counts.
    pub method: Method,
    /// The instruction set that it is compiled for.
    pub isa: Isa,
}

impl KernelName {
    /// A program that shares no code with diadem, written `external`. Its method is not known, so the one here means
    /// nothing.
    pub const EXTERNAL: Self = Self { method: Method::Search, isa: Isa::External };

    /// Whether an external program counts.
    pub fn is_external(self) -> bool {
        self.isa == Isa::External
    }

    /// The kernel that checks this one: the other method for the same instruction set. The two share nothing
    /// of the search, and each machine that has one has the other.
    #[must_use]
    pub fn other(self) -> Self {
        let method = match self.method {
            Method::Meet => Method::Search,
            Method::Search => Method::Meet,
        };
        Self { method, isa: self.isa }
    }
}

impl fmt::Display for KernelName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_external() {
            return self.isa.fmt(f);
        }
        write!(f, "{}/{}", self.method, self.isa)
    }
}

/// A kernel that does not exist or that this machine cannot run.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum KernelError {
    /// No method of that name.
    #[error("there is no method \"{0}\"; the methods are auto, {list}", list = listed(&Method::ALL))]
    UnknownMethod(String),
    /// No instruction set of that name.
    #[error("there is no instruction set \"{0}\"; the instruction sets are auto, {list}", list = listed(&Isa::ALL))]
    UnknownIsa(String),
    /// The machine lacks the instruction set.
    #[error("this machine does not have the instruction set {0}; it has {list}", list = listed(&Isa::available()))]
    Unavailable(Isa),
}

impl Classified for KernelError {}

fn listed<T: fmt::Display>(items: &[T]) -> String {
    items.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
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
        let named = Isa::ALL.into_iter().chain([Isa::OpenCl]).find(|i| i.to_string() == text);
        named.ok_or_else(|| KernelError::UnknownIsa(text.to_owned()))
    }
}

impl FromStr for KernelName {
    type Err = KernelError;
    fn from_str(text: &str) -> Result<Self, KernelError> {
        if text == Self::EXTERNAL.to_string() {
            return Ok(Self::EXTERNAL);
        }
        let (method, isa) = text.split_once('/').unwrap_or((text, ""));
        Ok(Self { method: method.parse()?, isa: isa.parse()? })
    }
}
