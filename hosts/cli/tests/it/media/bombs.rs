//! Hostile pictures, decoded by a process with less address space than their pixels take: it would end if it tried.

use super::{toolkit, user};
use serde_json::json;
use std::fs;
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

/// The address space of the process in KiB. It has to decode pictures of up to 256 MiB.
const ADDRESS_SPACE: u32 = 700_000;

/// The command with limited address space.
fn limited(user: &TempDir, arguments: &[&str]) -> Output {
    let command = toolkit(user, arguments);
    let mut limited = Command::new("sh");
    let script = format!("ulimit -v {ADDRESS_SPACE} && exec \"$@\"");
    limited.arg("-c").arg(script).arg("sh").arg(command.get_program()).args(command.get_args());
    limited.current_dir(user.path().join("work")).stdin(Stdio::null());
    limited.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    // Each further arena would reserve address space.
    limited.env("MALLOC_ARENA_MAX", "1").output().unwrap()
}

/// A zlib stream of this many zeros, at 13 bits for 258 bytes.
fn zeros(count: usize) -> Vec<u8> {
    let (mut bytes, mut byte, mut filled) = (vec![0x78, 0x01], 0_u8, 0);
    let mut bit = |bit: bool| {
        byte |= u8::from(bit) << filled;
        filled += 1;
        if filled == 8 {
            bytes.push(byte);
            (byte, filled) = (0, 0);
        }
    };
    // A block of the fixed codes, which begin with their highest bit.
    [true, true, false].into_iter().for_each(&mut bit);
    let mut code = |value: u16, length: u16| (0..length).rev().for_each(|at| bit(value >> at & 1 == 1));
    let literals = 1 + (count - 1) % 258;
    (0..literals).for_each(|_| code(0b0011_0000, 8));
    for _ in 0..(count - literals) / 258 {
        code(0b1100_0101, 8);
        code(0, 5);
    }
    code(0, 7);
    code(0, 7);
    let sum = u32::try_from(count % 65_521).unwrap() << 16 | 1;
    bytes.extend_from_slice(&sum.to_be_bytes());
    bytes
}

fn crc(data: &[u8]) -> u32 {
    let table: Vec<u32> =
        (0..256_u32).map(|byte| (0..8).fold(byte, |crc, _| (crc >> 1) ^ (0xedb8_8320 * (crc & 1)))).collect();
    !data.iter().fold(u32::MAX, |crc, byte| (crc >> 8) ^ table[usize::from(crc.to_le_bytes()[0] ^ byte)])
}

fn chunk(name: &[u8], data: &[u8]) -> Vec<u8> {
    let body = [name, data].concat();
    let length = u32::try_from(data.len()).unwrap();
    [&length.to_be_bytes()[..], &body, &crc(&body).to_be_bytes()].concat()
}

/// A whole PNG file of black pixels, with these bits per sample and this type of colour, and other chunks before its pixels.
fn png(side: u32, bits: u8, color: u8, others: &[u8]) -> Vec<u8> {
    let samples = [1, 0, 3, 1, 2, 0, 4][usize::from(color)];
    let row = (usize::try_from(side).unwrap() * samples * usize::from(bits)).div_ceil(8);
    let head = [&side.to_be_bytes()[..], &side.to_be_bytes(), &[bits, color, 0, 0, 0]].concat();
    let pixels = zeros((row + 1) * usize::try_from(side).unwrap());
    [b"\x89PNG\r\n\x1a\n", &*chunk(b"IHDR", &head), others, &chunk(b"IDAT", &pixels), &chunk(b"IEND", b"")]
        .concat()
}

/// A JPEG file of three components with one scan that ends at once. `frame` is 0xc0, or 0xc2 for a progressive one, of which decoders keep
/// all coefficients.
fn jpeg(side: u16, frame: u8) -> Vec<u8> {
    let mut file = b"\xff\xd8\xff\xdb\0\x43\0".to_vec();
    file.extend_from_slice(&[1; 64]);
    let side = side.to_be_bytes();
    file.extend_from_slice(&[0xff, frame, 0, 17, 8, side[0], side[1], side[0], side[1], 3]);
    file.extend_from_slice(&[1, 0x11, 0, 2, 0x11, 0, 3, 0x11, 0]);
    for table in [0x00, 0x10] {
        // One code of one bit, for the value 0.
        file.extend_from_slice(&[
            0xff, 0xc4, 0, 20, table, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
        ]);
    }
    let end = if frame == 0xc0 { 63 } else { 0 };
    file.extend_from_slice(&[0xff, 0xda, 0, 12, 3, 1, 0, 2, 0, 3, 0, 0, end, 0, 0, 0, 0, 0xff, 0xd9]);
    file
}

/// A GIF file with a frame of one pixel in a picture of this size.
fn gif(side: u16) -> Vec<u8> {
    let side = side.to_le_bytes();
    let mut file = [b"GIF89a".as_slice(), &side, &side].concat();
    file.extend_from_slice(b"\x80\0\0\0\0\0\xff\xff\xff,\0\0\0\0\x01\0\x01\0\0\x02\x02D\x01\0;");
    file
}

fn riff(kind: &[u8], data: &[u8]) -> Vec<u8> {
    let length = u32::try_from(data.len()).unwrap();
    let padding = vec![0; data.len() % 2];
    let body = [b"WEBP", kind, &length.to_le_bytes(), data, &padding].concat();
    [b"RIFF", &u32::try_from(body.len()).unwrap().to_le_bytes()[..], &body].concat()
}

/// A WebP file without loss.
fn webp(side: u32) -> Vec<u8> {
    let dimensions = (side - 1) | (side - 1) << 14;
    riff(b"VP8L", &[b"/".as_slice(), &dimensions.to_le_bytes(), b"\0\0"].concat())
}

/// A WebP file with loss: the head of a key frame.
fn lossy_webp(side: u16) -> Vec<u8> {
    let side = side.to_le_bytes();
    riff(b"VP8 ", &[b"\x10\0\0\x9d\x01\x2a".as_slice(), &side, &side, &[0; 32]].concat())
}

/// An animated WebP file with a canvas of this size, and no frame.
fn animated_webp(side: u32) -> Vec<u8> {
    let [first, second, third, _] = (side - 1).to_le_bytes();
    riff(b"VP8X", &[2, 0, 0, 0, first, second, third, first, second, third])
}

#[test]
fn hostile_pictures_are_errors_in_a_process_with_little_memory() {
    let user = user();
    let profile = [b"bomb\0\0".as_slice(), &zeros(800_000_000)].concat();
    let pictures: [(&str, Vec<u8>); 13] = [
        // 784 MB of pixels in 31 KB, and more.
        ("bits.png", png(28_000, 1, 0, b"")),
        ("wide.png", png(40_000, 1, 0, b"")),
        ("deep.png", png(6_000, 16, 6, b"")),
        ("large.jpg", jpeg(16_500, 0xc0)),
        ("largest.jpg", jpeg(65_500, 0xc2)),
        ("progressive.jpg", jpeg(9_400, 0xc2)),
        ("large.gif", gif(14_000)),
        ("largest.gif", gif(65_535)),
        ("large.webp", webp(16_000)),
        ("lossy.webp", lossy_webp(16_000)),
        ("animated.webp", animated_webp(16_000)),
        ("page.svg", b"<svg xmlns='http://www.w3.org/2000/svg' width='99999' height='99999'/>".to_vec()),
        ("page.png", b"<svg xmlns='http://www.w3.org/2000/svg' width='99999' height='99999'/>".to_vec()),
    ];
    // Decoders read no more of it than they need, or it would fill the memory.
    let profiled = png(8, 8, 2, &chunk(b"iCCP", &profile));
    fs::write(user.path().join("work/profile.png"), profiled).unwrap();
    for (name, file) in &pictures {
        fs::write(user.path().join("work").join(name), file).unwrap();
    }
    fs::write(user.path().join("work/fits.gif"), gif(2_000)).unwrap();
    let model = json!({ "name": "nobody", "baseUrl": "http://127.0.0.1:2/v1", "model": "eyes" });
    let settings = json!({ "tools": { "image": { "vision": [model] } }, "permission": { "image": "allow" } });
    fs::write(user.path().join("user/toolkit.json5"), settings.to_string()).unwrap();
    let draw = |file: &str| {
        let command = json!({ "type": "image", "path": file, "x": 0, "y": 0, "width": 9, "height": 9 });
        let arguments = json!({ "width": 9, "height": 9, "commands": [command] });
        limited(&user, &["call", "canvas", "--args", &arguments.to_string(), "--save", "out.png"])
    };
    let describe = |file: &str| limited(&user, &["call", "image", "--action", "describe", "--image", file]);
    for (name, file) in &pictures {
        assert!(file.len() < 2 << 20, "{name} has {} bytes", file.len());
        // Both decode in the same way: one of each format is enough.
        let described = ["bits.png", "progressive.jpg", "lossy.webp"].contains(name).then(|| describe(name));
        for output in described.into_iter().chain([draw(name)]) {
            let told = String::from_utf8_lossy(&output.stderr).into_owned();
            assert_eq!(output.status.code(), Some(1), "{name}: {output:?}");
            assert!(told.contains(&format!("cannot read {name}: it ")), "{name}: {told}");
        }
    }
    // The same process draws what is not hostile, and gets as far as the endpoint with it.
    for name in ["fits.gif", "profile.png"] {
        let drawn = draw(name);
        assert!(drawn.status.success(), "{name}: {drawn:?}");
        let told = String::from_utf8_lossy(&describe(name).stderr).into_owned();
        assert!(told.contains("nobody cannot be reached"), "{name}: {told}");
    }
}
