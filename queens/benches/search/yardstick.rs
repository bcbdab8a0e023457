//! The yardstick: the common backtracking search, as Jeff Somers made it popular in 2002. It has bit masks
//! for columns and diagonals, an explicit stack, and only half of the first row, because the other half is
//! its mirror image.

/// The number of solutions on an n x n board, 2 <= n <= 31.
pub fn solutions(n: u8) -> u64 {
    let full = (1u32 << n) - 1;
    let middle = 1u32 << (n / 2);
    let halves = 2 * below(full, 0, 0, 0, full & (middle - 1), n);
    if n.is_multiple_of(2) {
        return halves;
    }
    // A queen in the middle of the first row: the second row's queen goes to its left, and counts twice.
    let (falling, rising) = (middle << 1, middle >> 1);
    halves + 2 * below(full, middle, falling, rising, full & (rising - 1), n - 1)
}

/// The ways to fill `rows` rows, the first of them on the squares `free` only; `cols`, `falling` and `rising` are
/// the squares of that row that queens above it attack.
fn below(full: u32, cols: u32, falling: u32, rising: u32, free: u32, rows: u8) -> u64 {
    let mut stack = [[0u32; 4]; 32];
    let mut depth = 0;
    let mut found = 0;
    stack[0] = [cols, falling, rising, free];
    loop {
        let [cols, falling, rising, free] = stack[depth];
        if free == 0 {
            if depth == 0 {
                return found;
            }
            depth -= 1;
            continue;
        }
        let queen = free & free.wrapping_neg();
        stack[depth][3] = free ^ queen;
        if depth + 1 == usize::from(rows) {
            found += 1;
            continue;
        }
        let (cols, falling, rising) = (cols | queen, (falling | queen) << 1, (rising | queen) >> 1);
        depth += 1;
        stack[depth] = [cols, falling, rising, full & !(cols | falling | rising)];
    }
}
