//! Pictures: decoded within limits, and made as small as models take them.

mod jpeg;

use image::codecs::jpeg::JpegEncoder;
use image::metadata::Orientation;
use image::{DynamicImage, ImageDecoder as _, ImageFormat, ImageReader, Limits};
use std::error::Error;
#[cfg(feature = "fs")]
use std::fs::File;
use std::io::{self, Cursor};
#[cfg(feature = "fs")]
use std::io::{Read as _, Seek as _};
use std::sync::{Mutex, MutexGuard, TryLockError};
use std::thread;
use std::time::Duration;
use toolkit::memory::{self, ReservedMemory};
use toolkit::prelude::*;

/// Maximum number of pixels per side of a returned image.
pub(crate) const MAX_SIDE: u32 = 2_000;
/// Maximum number of bytes of a returned image.
pub(crate) const MAX_BYTES: usize = 5_000_000;
/// Maximum size of a file in bytes.
pub(crate) const MAX_FILE_BYTES: u64 = 64 << 20;
/// Maximum number of pixels per side of an image that is decoded.
const MAX_DECODED_SIDE: u32 = 30_000;
/// Maximum number of bytes that decoding may take.
const MAX_DECODED_BYTES: u64 = 256 << 20;
/// Memory in bytes for the image that is returned, beside the decoded one.
const RETURNED_MEMORY: u64 = 24 << 20;
/// Interval between checks whether an image can be decoded.
const LOOK: Duration = Duration::from_millis(10);
/// JPEG qualities that are tried before an image is scaled down.
const QUALITIES: [u8; 3] = [85, 70, 50];

/// An image in the form for the model.
#[derive(Debug)]
pub(crate) struct Picture {
    pub(crate) data: Vec<u8>,
    pub(crate) mime_type: &'static str,
    /// Width and height of the file.
    #[cfg_attr(not(feature = "fs"), expect(dead_code, reason = "`read` states it"))]
    pub(crate) original: (u32, u32),
    /// Width and height as they are now.
    #[cfg_attr(
        not(any(feature = "canvas", feature = "fs")),
        expect(dead_code, reason = "`canvas` and `read` state it")
    )]
    pub(crate) size: (u32, u32),
    /// True if the data differs from the file.
    #[cfg_attr(
        not(any(feature = "canvas", feature = "fs")),
        expect(dead_code, reason = "`canvas` and `read` state it")
    )]
    pub(crate) is_changed: bool,
}

/// The format of a picture of this type.
pub(crate) fn format(found: infer::Type) -> Option<ImageFormat> {
    match found.mime_type() {
        "image/png" => Some(ImageFormat::Png),
        "image/jpeg" => Some(ImageFormat::Jpeg),
        "image/gif" => Some(ImageFormat::Gif),
        "image/webp" => Some(ImageFormat::WebP),
        _ => None,
    }
}

/// Decodes an untrusted picture, upright, with at most `side` pixels per side. Metadata of the file beside its
/// pixels, such as the place of a photo, is dropped. `check` fails if the call no longer waits.
///
/// # Errors
///
/// If the format is not known, or the picture is too large.
#[cfg(any(feature = "canvas", feature = "media"))]
pub(crate) fn decoded(
    shown: &str,
    data: &[u8],
    side: u32,
    check: &impl Fn() -> io::Result<()>,
) -> Result<DynamicImage, ToolError> {
    let cannot = |error: &dyn std::fmt::Display| ToolError::failed(format!("cannot read {shown}: {error}"));
    if data.len() as u64 > MAX_FILE_BYTES {
        return Err(cannot(&format_args!("it has more than {MAX_FILE_BYTES} bytes; make it smaller first")));
    }
    let format = infer::get(data).and_then(format).ok_or_else(|| {
        cannot(&"it is not a PNG, JPEG, GIF or WebP picture; convert it with another program first")
    })?;
    let _turn = turn(check).map_err(|error| cannot(&error))?;
    let (mut picture, orientation, _memory) = decode(data, format).map_err(|error| {
        cannot(&format_args!("it looks like a {} picture, but cannot be decoded: {error}", name(format)))
    })?;
    check().map_err(|error| cannot(&error))?;
    if picture.width().max(picture.height()) > side {
        picture = picture.thumbnail(side, side);
    }
    picture.apply_orientation(orientation);
    Ok(picture)
}

/// A picture as a PNG file.
#[cfg(any(feature = "canvas", feature = "media"))]
pub(crate) fn png(picture: &DynamicImage) -> Result<Vec<u8>, ToolError> {
    let mut data = Cursor::new(Vec::new());
    let is_plain = matches!(picture.color(), image::ColorType::Rgb8 | image::ColorType::Rgba8);
    let written = if is_plain {
        picture.write_to(&mut data, ImageFormat::Png)
    } else {
        DynamicImage::from(picture.to_rgba8()).write_to(&mut data, ImageFormat::Png)
    };
    written.map_err(|error| ToolError::failed(format!("the picture cannot be written as PNG: {error}")))?;
    Ok(data.into_inner())
}

/// Returns a picture that a tool made, in the form for the model: unchanged, or scaled down.
///
/// # Errors
///
/// If it cannot be made small enough.
#[cfg(any(feature = "canvas", feature = "media"))]
pub(crate) fn for_model(
    shown: &str,
    data: Vec<u8>,
    check: &impl Fn() -> io::Result<()>,
) -> Result<Picture, ToolError> {
    let format = infer::get(&data)
        .and_then(format)
        .ok_or_else(|| ToolError::failed(format!("{shown} is not a PNG, JPEG, GIF or WebP picture")))?;
    let _turn = turn(check).map_err(|error| ToolError::failed(format!("cannot read {shown}: {error}")))?;
    fitted(shown, data, format, check)
}

/// Reads an image and scales it down as needed. `check` fails if the call no longer waits.
#[cfg(feature = "fs")]
pub(crate) fn read(
    shown: &str,
    mut file: File,
    format: ImageFormat,
    check: &impl Fn() -> io::Result<()>,
) -> Result<Picture, ToolError> {
    let cannot = |error: &io::Error| ToolError::failed(format!("cannot read {shown}: {error}"));
    let _turn = turn(check).map_err(|error| cannot(&error))?;
    file.rewind().map_err(|error| cannot(&error))?;
    // The buffer doubles as it grows.
    let bytes = file.metadata().map_err(|error| cannot(&error))?.len().min(MAX_FILE_BYTES);
    let _memory = memory::reserve(2 * bytes).map_err(|error| error.of(shown))?;
    let mut data = Vec::new();
    file.take(MAX_FILE_BYTES + 1).read_to_end(&mut data).map_err(|error| cannot(&error))?;
    if data.len() as u64 > MAX_FILE_BYTES {
        return Err(ToolError::failed(format!(
            "{shown} is a picture of more than {MAX_FILE_BYTES} bytes; make it smaller with another program first"
        )));
    }
    fitted(shown, data, format, check)
}

/// Makes an encoded picture small enough.
fn fitted(
    shown: &str,
    data: Vec<u8>,
    format: ImageFormat,
    check: &impl Fn() -> io::Result<()>,
) -> Result<Picture, ToolError> {
    let cannot = |error: &io::Error| ToolError::failed(format!("cannot read {shown}: {error}"));
    let (picture, orientation, _memory) = decode(&data, format).map_err(|error| {
        let name = name(format);
        ToolError::failed(format!("{shown} looks like a {name} picture, but cannot be shown: {error}"))
    })?;
    check().map_err(|error| cannot(&error))?;
    let original = upright(orientation, picture.width(), picture.height());
    if original.0.max(original.1) <= MAX_SIDE && data.len() <= MAX_BYTES {
        let mime_type = format.to_mime_type();
        return Ok(Picture { data, mime_type, original, size: original, is_changed: false });
    }
    drop(data);
    let shrunk = shrink(picture, orientation, format, original, check).map_err(|error| cannot(&error))?;
    shrunk.ok_or_else(|| {
        ToolError::failed(format!("{shown} cannot be made smaller than {MAX_BYTES} bytes; show a part of it"))
    })
}

/// Returns the name of a format.
pub(crate) fn name(format: ImageFormat) -> &'static str {
    match format {
        ImageFormat::Png => "PNG",
        ImageFormat::Jpeg => "JPEG",
        ImageFormat::Gif => "GIF",
        _ => "WebP",
    }
}

/// Waits until no other image is being decoded: each takes much memory.
fn turn(check: &impl Fn() -> io::Result<()>) -> io::Result<MutexGuard<'static, ()>> {
    static TURN: Mutex<()> = Mutex::new(());
    loop {
        match TURN.try_lock() {
            Ok(turn) => return Ok(turn),
            // Nothing is behind it that a panic could have left in between.
            Err(TryLockError::Poisoned(turn)) => return Ok(turn.into_inner()),
            Err(TryLockError::WouldBlock) => {
                check()?;
                thread::sleep(LOOK);
            }
        }
    }
}

/// Returns the width and height of an image after applying its orientation.
fn upright(orientation: Orientation, width: u32, height: u32) -> (u32, u32) {
    match orientation {
        Orientation::Rotate90
        | Orientation::Rotate270
        | Orientation::Rotate90FlipH
        | Orientation::Rotate270FlipH => (height, width),
        _ => (width, height),
    }
}

/// Decodes the image and its orientation, within memory limits: a small file can contain a huge image. The memory is reserved for as long as
/// the image lives.
fn decode(
    data: &[u8],
    format: ImageFormat,
) -> Result<(DynamicImage, Orientation, ReservedMemory), Box<dyn Error>> {
    let mut limits = Limits::default();
    limits.max_image_width = Some(MAX_DECODED_SIDE);
    limits.max_image_height = Some(MAX_DECODED_SIDE);
    limits.max_alloc = Some(MAX_DECODED_BYTES);
    let mut reader = ImageReader::with_format(Cursor::new(data), format);
    reader.limits(limits.clone());
    let mut decoder = reader.into_decoder()?;
    // Not all decoders count the memory of the image itself, nor what they keep beside it.
    limits.reserve(decoder.total_bytes())?;
    let (width, height) = decoder.dimensions();
    let beside = match format {
        // A coefficient has two bytes.
        ImageFormat::Jpeg => u64::from(width) * u64::from(height) * 2 * jpeg::kept_components(data),
        // The picture with an alpha channel, and the frame of an animation.
        ImageFormat::WebP => decoder.total_bytes().saturating_mul(2),
        _ => 0,
    };
    limits.reserve(beside)?;
    let memory =
        memory::reserve(decoder.total_bytes().saturating_add(beside).saturating_add(RETURNED_MEMORY))?;
    let orientation = decoder.orientation()?;
    Ok((DynamicImage::from_decoder(decoder)?, orientation, memory))
}

/// Makes a picture smaller until it fits, the right way up.
fn shrink(
    mut picture: DynamicImage,
    orientation: Orientation,
    format: ImageFormat,
    original: (u32, u32),
    check: &impl Fn() -> io::Result<()>,
) -> io::Result<Option<Picture>> {
    let mut most = MAX_SIDE.min(original.0.max(original.1));
    let smaller = |picture: DynamicImage, most: u32| {
        // Averages whole pixels: other ways would make a picture of several times the size in between.
        if picture.width().max(picture.height()) > most { picture.thumbnail(most, most) } else { picture }
    };
    picture = smaller(picture, most);
    // Rotation needs a second copy, so it comes after scaling down.
    picture.apply_orientation(orientation);
    while most >= 16 {
        check()?;
        picture = smaller(picture, most);
        if let Some((data, mime_type)) = encode(&picture, format) {
            let size = (picture.width(), picture.height());
            return Ok(Some(Picture { data, mime_type, original, size, is_changed: true }));
        }
        most = most * 3 / 4;
    }
    Ok(None)
}

/// The picture in few enough bytes: without loss where it was so before or has transparent parts, if that fits.
fn encode(picture: &DynamicImage, format: ImageFormat) -> Option<(Vec<u8>, &'static str)> {
    let fits = |data: &Vec<u8>| data.len() <= MAX_BYTES;
    let has_alpha = picture.color().has_alpha();
    if format != ImageFormat::Jpeg {
        let mut data = Cursor::new(Vec::new());
        let is_encoded = picture.write_to(&mut data, ImageFormat::Png).is_ok();
        let data = Some(data.into_inner()).filter(|data| is_encoded && fits(data));
        if let Some(data) = data {
            return Some((data, "image/png"));
        }
        if has_alpha {
            return None;
        }
    }
    let picture = picture.to_rgb8();
    QUALITIES.into_iter().find_map(|quality| {
        let mut data = Vec::new();
        JpegEncoder::new_with_quality(&mut data, quality).encode_image(&picture).ok()?;
        fits(&data).then_some((data, "image/jpeg"))
    })
}
