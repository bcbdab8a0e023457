//! PNG files, of the one kind that is needed here: red, green and blue, 8 bits each, every row as it is.
//! Format: <https://www.w3.org/TR/png-3/>.

use miniz_oxide::deflate::compress_to_vec_zlib;

/// How hard to compress, of 10.
const LEVEL: u8 = 9;

/// The bytes of a PNG file of rows from top to bottom, three bytes for each pixel.
pub(super) fn encode(width: u32, height: u32, rgb: &[u8]) -> Vec<u8> {
    let mut head = [width.to_be_bytes(), height.to_be_bytes()].concat();
    // 8 bits of each colour, colours not indexed, and the only methods of compression, filtering and interlacing.
    head.extend([8, 2, 0, 0, 0]);
    let rows = rgb.chunks_exact(3 * width as usize);
    // Each row begins with its filter: none.
    let rows: Vec<u8> = rows.flat_map(|row| [0].iter().chain(row)).copied().collect();
    let mut file = b"\x89PNG\r\n\x1a\n".to_vec();
    for (name, data) in [(b"IHDR", head), (b"IDAT", compress_to_vec_zlib(&rows, LEVEL)), (b"IEND", vec![])] {
        let begin = file.len() + 4;
        file.extend((data.len() as u32).to_be_bytes());
        file.extend(name);
        file.extend(data);
        file.extend(crc32fast::hash(&file[begin..]).to_be_bytes());
    }
    file
}

#[cfg(test)]
mod tests {
    use super::*;
    use miniz_oxide::inflate::decompress_to_vec_zlib;

    #[test]
    fn a_file_holds_its_chunks_with_checksums_and_the_rows_as_they_were() {
        let rgb: Vec<u8> = (0..2 * 3 * 3).collect();
        let file = encode(2, 3, &rgb);
        let (signature, mut rest) = file.split_at(8);
        assert_eq!(signature, b"\x89PNG\r\n\x1a\n");
        let mut chunks = Vec::new();
        while !rest.is_empty() {
            let number = |at: usize| u32::from_be_bytes(rest[at..at + 4].try_into().unwrap());
            let end = 8 + number(0) as usize;
            assert_eq!(number(end), crc32fast::hash(&rest[4..end]));
            chunks.push((&rest[4..8], &rest[8..end]));
            rest = &rest[end + 4..];
        }
        let [(b"IHDR", head), (b"IDAT", data), (b"IEND", [])] = chunks[..] else { panic!("{chunks:?}") };
        assert_eq!(head, [0, 0, 0, 2, 0, 0, 0, 3, 8, 2, 0, 0, 0]);
        let rows = decompress_to_vec_zlib(data).unwrap();
        assert_eq!(rows.chunks(7).map(|row| row[0]).collect::<Vec<_>>(), [0; 3], "the filter of each row");
        assert_eq!(rows.chunks(7).flat_map(|row| row[1..].to_vec()).collect::<Vec<_>>(), rgb);
    }
}
