//! Files of a few bytes whose pictures would take 780 MB of memory and more.

use super::pictures::{painter, settings};
use super::toolbox;
use image::{DynamicImage, ImageFormat, RgbImage};
use serde_json::json;
use std::io::Cursor;
use toolkit::{ToolErrorKind, tool_ref};

/// Checksum of a part of a PNG file.
fn crc(data: &[u8]) -> u32 {
    !data.iter().fold(u32::MAX, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| (crc >> 1) ^ (0xedb8_8320 * (crc & 1)))
    })
}

fn small(format: ImageFormat) -> Vec<u8> {
    let mut data = Cursor::new(Vec::new());
    DynamicImage::from(RgbImage::new(8, 8)).write_to(&mut data, format).unwrap();
    data.into_inner()
}

/// A PNG file of this size with a right checksum, whose pixels are missing.
fn png(side: u32) -> Vec<u8> {
    let mut file = small(ImageFormat::Png);
    file[16..20].copy_from_slice(&side.to_be_bytes());
    file[20..24].copy_from_slice(&side.to_be_bytes());
    let sum = crc(&file[12..29]);
    file[29..33].copy_from_slice(&sum.to_be_bytes());
    file
}

fn jpeg(side: u16) -> Vec<u8> {
    let mut file = small(ImageFormat::Jpeg);
    let frame = file.windows(2).position(|pair| pair == [0xff, 0xc0]).unwrap();
    file[frame + 5..frame + 7].copy_from_slice(&side.to_be_bytes());
    file[frame + 7..frame + 9].copy_from_slice(&side.to_be_bytes());
    file
}

/// A GIF file with a frame of one pixel in a picture of this size.
fn gif(side: u16) -> Vec<u8> {
    let side = side.to_le_bytes();
    let mut file = [b"GIF89a".as_slice(), &side, &side].concat();
    file.extend_from_slice(b"\x80\0\0\0\0\0\xff\xff\xff,\0\0\0\0\x01\0\x01\0\0\x02\x02D\x01\0;");
    file
}

fn webp(side: u32) -> Vec<u8> {
    let dimensions = (side - 1) | (side - 1) << 14;
    [b"RIFF\x12\0\0\0WEBPVP8L\x06\0\0\0/".as_slice(), &dimensions.to_le_bytes(), b"\0\0"].concat()
}

#[tokio::test]
async fn small_files_of_huge_pictures_are_refused_by_their_size() {
    let server = painter().await;
    let toolbox = toolbox(tool_ref!(builtin_tools::media::image), &settings(server.url()))
        .file("a.png", png(14_000 + 2_500))
        .file("wide.png", png(40_000))
        .file("a.jpg", jpeg(16_500))
        .file("a.gif", gif(14_000))
        .file("a.webp", webp(16_000));
    for name in ["a.png", "wide.png", "a.jpg", "a.gif", "a.webp"] {
        for action in ["describe", "edit"] {
            let call = toolbox.call(json!({ "action": action, "prompt": "x", "image": name })).await;
            let error = call.expect_error(ToolErrorKind::Failed).message().to_owned();
            assert!(error.starts_with(&format!("cannot read {name}: ")), "{error}");
            let is_of_size = error.contains("limit") || error.contains("dimensions");
            assert!(is_of_size, "{name} is refused for another reason: {error}");
        }
    }
    assert!(server.requests().is_empty());
    // The same files are pictures at a size that fits, as far as their pixels go.
    let toolbox = toolbox.file("fits.gif", gif(100));
    toolbox.call(json!({ "action": "describe", "image": "fits.gif" })).await.expect_ok();
}
