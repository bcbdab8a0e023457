//! The limits of memory on Windows: the system shows none of them without code that is not checked for memory safety.

use super::Available;

/// Does nothing: the allocator has no arenas.
pub fn keep_to_one_arena() {}

/// The limit of the address space: none.
pub fn address_space() -> Option<u64> {
    None
}

/// The memory that this process may still take: unknown.
pub fn available() -> Option<Available> {
    None
}
