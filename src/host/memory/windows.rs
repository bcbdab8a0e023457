//! The limit of memory on Windows: that of the machine.

use sysinfo::System;

use super::Limit;
use crate::args::cores;

/// Does nothing: the allocator has no arenas.
pub fn keep_to_one_arena() {}

/// The limit of the address space: none.
pub fn address_space() -> Option<u64> {
    None
}

/// The limits of the memory of this process.
pub fn limits() -> Vec<Limit> {
    let Ok(mut system) = System::new() else { return Vec::new() };
    system.refresh_memory();
    let bytes = system.total_memory();
    let machine = Limit { bytes, used: 0, cores: cores(), name: "the machine's memory" };
    if bytes == 0 { Vec::new() } else { vec![machine] }
}
