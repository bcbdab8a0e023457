//! Instruction sets: their names, and their presence on this machine as a value.
//!
//! A function compiled for an instruction set must not be called on a machine without it. Here this is not
//! left to each caller. A *token* such as [`Avx2`] is made only by its `detect`, which asks the processor, so
//! a token proves that its functions may be called. Tokens take no space. The functions are written inside
//! the macro of the token's name, which turns them into safe methods of the token.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The instruction set of a kernel's inner loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Isa {
    /// AVX-512 with F, BW, DQ and VL, x86-64.
    Avx512,
    /// AVX2, x86-64.
    Avx2,
    /// NEON, aarch64.
    Neon,
    /// Plain Rust, for every machine.
    Portable,
    /// None of the processor's: a device that OpenCL reaches. Its kernels are in a crate of their own.
    #[serde(rename = "opencl")]
    OpenCl,
    /// None that is known: an external program counts, in its own way.
    External,
}

impl Isa {
    /// All instruction sets of processors, the fastest first.
    pub const ALL: [Isa; 4] = [Isa::Avx512, Isa::Avx2, Isa::Neon, Isa::Portable];

    /// Whether this machine has it.
    pub fn is_available(self) -> bool {
        self.detect().is_some()
    }

    /// The instruction sets of this machine, the fastest first.
    pub fn available() -> Vec<Self> {
        Isa::ALL.into_iter().filter(|isa| isa.is_available()).collect()
    }

    /// The fastest one that this machine has.
    pub fn best() -> Self {
        Isa::ALL.into_iter().find(|isa| isa.is_available()).unwrap_or(Isa::Portable)
    }

    /// The token of the instruction set, if this machine has it.
    pub(super) fn detect(self) -> Option<Detected> {
        match self {
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512 => Avx512::detect().map(Detected::Avx512),
            #[cfg(target_arch = "x86_64")]
            Isa::Avx2 => Avx2::detect().map(Detected::Avx2),
            #[cfg(not(target_arch = "x86_64"))]
            Isa::Avx512 | Isa::Avx2 => None,
            #[cfg(target_arch = "aarch64")]
            Isa::Neon => Neon::detect().map(Detected::Neon),
            #[cfg(not(target_arch = "aarch64"))]
            Isa::Neon => None,
            Isa::Portable => Some(Detected::Portable(Portable)),
            Isa::OpenCl | Isa::External => None,
        }
    }
}

impl fmt::Display for Isa {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Isa::Avx512 => "avx512",
            Isa::Avx2 => "avx2",
            Isa::Neon => "neon",
            Isa::Portable => "portable",
            Isa::OpenCl => "opencl",
            Isa::External => "external",
        })
    }
}

/// An instruction set that this machine has.
#[derive(Clone, Copy, Debug)]
pub(super) enum Detected {
    #[cfg(target_arch = "x86_64")]
    Avx512(Avx512),
    #[cfg(target_arch = "x86_64")]
    Avx2(Avx2),
    #[cfg(target_arch = "aarch64")]
    Neon(Neon),
    Portable(Portable),
}

impl Detected {
    /// Its name.
    pub fn isa(self) -> Isa {
        match self {
            #[cfg(target_arch = "x86_64")]
            Detected::Avx512(_) => Isa::Avx512,
            #[cfg(target_arch = "x86_64")]
            Detected::Avx2(_) => Isa::Avx2,
            #[cfg(target_arch = "aarch64")]
            Detected::Neon(_) => Isa::Neon,
            Detected::Portable(_) => Isa::Portable,
        }
    }
}

/// No special instruction set; every machine has it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Portable;

/// This machine has AVX2, BMI1, BMI2 and POPCNT.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy, Debug)]
pub(super) struct Avx2(());

#[cfg(target_arch = "x86_64")]
impl Avx2 {
    /// The token, if the processor and the operating system have all that [`avx2!`](avx2) compiles for.
    pub fn detect() -> Option<Self> {
        let has = is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("bmi1")
            && is_x86_feature_detected!("bmi2")
            && is_x86_feature_detected!("popcnt");
        has.then_some(Self(()))
    }
}

/// This machine has AVX-512 with F, BW, DQ and VL, and BMI1, BMI2 and POPCNT.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy, Debug)]
pub(super) struct Avx512(());

#[cfg(target_arch = "x86_64")]
impl Avx512 {
    /// The token, if the processor and the operating system have all that [`avx512!`](avx512) compiles for.
    pub fn detect() -> Option<Self> {
        let has = is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512dq")
            && is_x86_feature_detected!("avx512vl")
            && is_x86_feature_detected!("bmi1")
            && is_x86_feature_detected!("bmi2")
            && is_x86_feature_detected!("popcnt");
        has.then_some(Self(()))
    }
}

/// This machine has NEON.
#[cfg(target_arch = "aarch64")]
#[derive(Clone, Copy, Debug)]
pub(super) struct Neon(());

#[cfg(target_arch = "aarch64")]
impl Neon {
    /// The token, if the processor has what [`neon!`](neon) compiles for. Almost every aarch64 machine does.
    pub fn detect() -> Option<Self> {
        std::arch::is_aarch64_feature_detected!("neon").then_some(Self(()))
    }
}

/// The value of an expression that is compiled for each instruction set: `isa` is the token that was detected.
macro_rules! on_detected {
    ($detected:expr, $isa:ident => $body:expr) => {
        match $detected {
            #[cfg(target_arch = "x86_64")]
            $crate::kernel::isa::Detected::Avx512($isa) => $body,
            #[cfg(target_arch = "x86_64")]
            $crate::kernel::isa::Detected::Avx2($isa) => $body,
            #[cfg(target_arch = "aarch64")]
            $crate::kernel::isa::Detected::Neon($isa) => $body,
            $crate::kernel::isa::Detected::Portable($isa) => $body,
        }
    };
}

/// Methods of [`Avx2`], compiled for the features that `Avx2::detect` requires.
#[cfg(target_arch = "x86_64")]
macro_rules! avx2 {
    ($($methods:tt)*) => {
        $crate::kernel::isa::compiled! { Avx2, "avx2,bmi1,bmi2,popcnt", $($methods)* }
    };
}

/// Methods of [`Avx512`], compiled for the features that `Avx512::detect` requires.
#[cfg(target_arch = "x86_64")]
macro_rules! avx512 {
    ($($methods:tt)*) => {
        $crate::kernel::isa::compiled! {
            Avx512, "avx512f,avx512bw,avx512dq,avx512vl,bmi1,bmi2,popcnt", $($methods)*
        }
    };
}

/// Methods of [`Neon`], compiled for the features that `Neon::detect` requires.
#[cfg(target_arch = "aarch64")]
macro_rules! neon {
    ($($methods:tt)*) => {
        $crate::kernel::isa::compiled! { Neon, "neon", $($methods)* }
    };
}

/// Methods of a token, each a function with the token's target features that is called with `self` for its first
/// argument. In such a function, intrinsics that take no pointer are safe to call.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
macro_rules! compiled {
    ($token:ident, $features:literal,) => {};
    (
        $token:ident, $features:literal,
        fn $name:ident $(<$lifetime:lifetime>)? $(<const $size:ident: usize>)?
            ($isa:ident $(, $argument:ident: $type:ty)* $(,)?) $(-> $result:ty)? $body:block
        $($others:tt)*
    ) => {
        #[inline(always)]
        fn $name $(<$lifetime>)? $(<const $size: usize>)? (self $(, $argument: $type)*) $(-> $result)? {
            #[inline]
            #[target_feature(enable = $features)]
            fn compiled $(<$lifetime>)? $(<const $size: usize>)?
                ($isa: $token $(, $argument: $type)*) $(-> $result)? $body
            // SAFETY: `self` exists, and `detect`, which alone makes it, found all of these features.
            unsafe { compiled $(::<$size>)? (self $(, $argument)*) }
        }
        $crate::kernel::isa::compiled! { $token, $features, $($others)* }
    };
    (
        $token:ident, $features:literal,
        unsafe fn $name:ident($isa:ident $(, $argument:ident: $type:ty)* $(,)?) $(-> $result:ty)? $body:block
        $($others:tt)*
    ) => {
        #[inline(always)]
        unsafe fn $name(self $(, $argument: $type)*) $(-> $result)? {
            #[inline]
            #[target_feature(enable = $features)]
            unsafe fn compiled($isa: $token $(, $argument: $type)*) $(-> $result)? $body
            // SAFETY: `self` exists, and `detect`, which alone makes it, found all of these features. What the method
            // asks for besides, its caller has promised.
            unsafe { compiled(self $(, $argument)*) }
        }
        $crate::kernel::isa::compiled! { $token, $features, $($others)* }
    };
}

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub(super) use compiled;
#[cfg(target_arch = "aarch64")]
pub(super) use neon;
pub(super) use on_detected;
#[cfg(target_arch = "x86_64")]
pub(super) use {avx2, avx512};
