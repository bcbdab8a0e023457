//! The record format of constellation files, one record for each constellation:
//!
//! | bytes | what |
//! |---|---|
//! | 2 | the length of the record, these two bytes included: the distance to the next record |
//! | 2 | the letters `PP` |
//! | 1 | the version, 1 |
//! | 1 | the board size n |
//! | 2 | the number of queens, q |
//! | 2q | for each queen x (column) and y (row), from 0 |
//!
//! Numbers of two bytes are little-endian as written here; a reader finds out the order from the first record.

use queens::Square;
use thiserror::Error;

/// The bytes before the queens.
const HEAD: usize = 8;
const LETTERS: &[u8] = b"PP";
const VERSION: u8 = 1;

/// One record: the queens placed on a board.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConstellationRecord {
    /// The board size.
    pub n: u8,
    /// The queens, in the order of the file.
    pub queens: Vec<Square>,
}

/// An error in a record's bytes.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ConstellationRecordError {
    /// The file ends within the record.
    #[error("the file ends within it: {has} bytes are left of {needs}")]
    Cut {
        /// The bytes left.
        has: usize,
        /// The bytes of a record.
        needs: usize,
    },
    /// Some other file.
    #[error("it should have the letters PP in bytes 3 and 4, not {0:?}: this is no constellation file")]
    Foreign(String),
    /// A version from the future.
    #[error("it has version {0}; only version {VERSION} is known")]
    Version(u8),
    /// A length that does not fit the number of queens.
    #[error("its length is {length}, but a record with {queens} queens has {needs} bytes")]
    Length {
        /// The length given.
        length: u16,
        /// The number of queens given.
        queens: u16,
        /// The length that belongs to it.
        needs: usize,
    },
    /// A queen that is not on the board.
    #[error("its queen at x = {x}, y = {y} is not on a board of {n} x {n}")]
    OffBoard {
        /// The queen's column.
        x: u8,
        /// The queen's row.
        y: u8,
        /// The board size.
        n: u8,
    },
}

/// The order of the bytes of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ByteOrder {
    /// The low byte first.
    Little,
    /// The high byte first.
    Big,
}

impl ByteOrder {
    /// The order in which the first record's length and number of queens fit each other, little-endian if in doubt.
    pub fn of(bytes: &[u8]) -> Self {
        let fits = |order: ByteOrder| {
            bytes.len() >= HEAD
                && usize::from(order.number(bytes, 0)) == HEAD + 2 * usize::from(order.number(bytes, 6))
        };
        if fits(ByteOrder::Big) && !fits(ByteOrder::Little) { ByteOrder::Big } else { ByteOrder::Little }
    }

    fn number(self, bytes: &[u8], at: usize) -> u16 {
        let two = [bytes[at], bytes[at + 1]];
        match self {
            ByteOrder::Little => u16::from_le_bytes(two),
            ByteOrder::Big => u16::from_be_bytes(two),
        }
    }

    fn bytes(self, number: u16) -> [u8; 2] {
        match self {
            ByteOrder::Little => number.to_le_bytes(),
            ByteOrder::Big => number.to_be_bytes(),
        }
    }
}

impl ConstellationRecord {
    /// Appends the record's bytes.
    pub fn write(&self, order: ByteOrder, bytes: &mut Vec<u8>) {
        let queens = self.queens.len();
        bytes.extend(order.bytes((HEAD + 2 * queens) as u16));
        bytes.extend(LETTERS);
        bytes.extend([VERSION, self.n]);
        bytes.extend(order.bytes(queens as u16));
        bytes.extend(self.queens.iter().flat_map(|queen| [queen.col, queen.row]));
    }

    /// Reads the record that `bytes` begin with; gives it with the bytes that follow it.
    ///
    /// # Errors
    /// The first thing found wrong with the record; the bytes after it are not looked at.
    pub fn read(order: ByteOrder, bytes: &[u8]) -> Result<(Self, &[u8]), ConstellationRecordError> {
        let enough = |needs| {
            if bytes.len() < needs {
                Err(ConstellationRecordError::Cut { has: bytes.len(), needs })
            } else {
                Ok(())
            }
        };
        // Compare the letters first: the error for a foreign file should not be that it is cut.
        if bytes.len() >= 4 && &bytes[2..4] != LETTERS {
            return Err(ConstellationRecordError::Foreign(bytes[2..4].escape_ascii().to_string()));
        }
        enough(HEAD)?;
        let (length, version, n, queens) =
            (order.number(bytes, 0), bytes[4], bytes[5], order.number(bytes, 6));
        if version != VERSION {
            return Err(ConstellationRecordError::Version(version));
        }
        let needs = HEAD + 2 * usize::from(queens);
        if usize::from(length) != needs {
            return Err(ConstellationRecordError::Length { length, queens, needs });
        }
        enough(needs)?;
        let (queens, rest) = bytes[HEAD..].split_at(needs - HEAD);
        let queen = |xy: &[u8]| match *xy {
            [x, y] if x < n && y < n => Ok(Square::new(y, x)),
            [x, y] => Err(ConstellationRecordError::OffBoard { x, y, n }),
            _ => unreachable!("queens come in pairs of bytes"),
        };
        let queens = queens.chunks_exact(2).map(queen).collect::<Result<_, _>>()?;
        Ok((Self { n, queens }, rest))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_record_has_the_published_bytes() {
        let record = ConstellationRecord {
            n: 8,
            queens: vec![Square::new(0, 3), Square::new(7, 1), Square::new(4, 0)],
        };
        let mut bytes = Vec::new();
        record.write(ByteOrder::Little, &mut bytes);
        assert_eq!(bytes, [14, 0, b'P', b'P', 1, 8, 3, 0, 3, 0, 1, 7, 0, 4]);
    }

    proptest! {
        #[test]
        fn both_byte_orders_are_detected_and_read(
            n in 4u8..=30, squares in proptest::collection::vec((0u8..30, 0u8..30), 1..9), big: bool,
        ) {
            let queens = squares.into_iter().map(|(r, c)| Square::new(r % n, c % n)).collect();
            let (record, order) = (ConstellationRecord { n, queens }, if big { ByteOrder::Big } else { ByteOrder::Little });
            let mut bytes = Vec::new();
            record.write(order, &mut bytes);
            prop_assert_eq!(ByteOrder::of(&bytes), order);
            prop_assert_eq!(ConstellationRecord::read(order, &bytes), Ok((record, &[][..])));
        }

        #[test]
        fn reader_never_panics_on_any_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..40)) {
            let _ = ConstellationRecord::read(ByteOrder::of(&bytes), &bytes);
        }
    }
}
