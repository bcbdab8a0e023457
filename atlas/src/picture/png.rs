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
