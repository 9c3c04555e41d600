//! Pictures of the screen, over the protocol of X11.

use std::io::Cursor;

use image::imageops::FilterType;
use image::{DynamicImage, ImageFormat, RgbImage};
use x11rb::connection::Connection as _;
use x11rb::protocol::xproto::{ConnectionExt as _, ImageFormat as XFormat, ImageOrder, Setup, VisualClass};

/// The most bytes of a picture. In Base64 it fits into a message.
const MAX_PICTURE_BYTES: usize = 2 << 20;
/// The most pixels of a screen.
const MAX_PIXELS: u32 = 64 << 20;
/// How often a picture is made half as large, at most.
const MAX_HALVINGS: u32 = 5;

/// The reason why there is no picture.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ScreenshotError {
    /// There is no X server, or it refuses.
    #[error("the screen cannot be read: {0}")]
    Server(String),
    /// The screen has another format.
    #[error("the screen has a format that is not supported: {0}")]
    Format(String),
    /// The picture cannot be encoded.
    #[error("the picture cannot be encoded: {0}")]
    Encoding(String),
}

/// Returns true if there is an X server that answers. Blocks.
pub(crate) fn is_possible() -> bool {
    std::env::var_os("DISPLAY").is_some_and(|display| !display.is_empty()) && x11rb::connect(None).is_ok()
}

/// Takes a picture of the whole screen, as PNG. Blocks.
pub(crate) fn take() -> Result<Vec<u8>, ScreenshotError> {
    encode(DynamicImage::ImageRgb8(capture()?))
}

fn server(error: impl std::fmt::Display) -> ScreenshotError {
    ScreenshotError::Server(error.to_string())
}

fn capture() -> Result<RgbImage, ScreenshotError> {
    let (connection, number) = x11rb::connect(None).map_err(server)?;
    let setup = connection.setup();
    let screen = setup.roots.get(number).ok_or_else(|| server("it has no screen"))?;
    let (width, height) = (screen.width_in_pixels, screen.height_in_pixels);
    let pixels = u32::from(width) * u32::from(height);
    if pixels == 0 || pixels > MAX_PIXELS {
        return Err(ScreenshotError::Format(format!("{width} by {height} pixels")));
    }
    let visuals = screen.allowed_depths.iter().flat_map(|depth| &depth.visuals);
    let visual = visuals.filter(|visual| visual.class == VisualClass::TRUE_COLOR);
    let visual = visual.into_iter().find(|visual| visual.visual_id == screen.root_visual);
    let visual = visual.ok_or_else(|| ScreenshotError::Format("it has no true colours".to_owned()))?;
    let masks = [visual.red_mask, visual.green_mask, visual.blue_mask];
    let image = connection
        .get_image(XFormat::Z_PIXMAP, screen.root, 0, 0, width, height, u32::MAX)
        .map_err(server)?
        .reply()
        .map_err(server)?;
    let layout = Layout::of(setup, image.depth, u32::from(width))?;
    layout.picture(&image.data, u32::from(width), u32::from(height), masks)
}

/// Where the pixels of an image are.
struct Layout {
    bytes_per_pixel: usize,
    bytes_per_line: usize,
    is_little: bool,
}

impl Layout {
    fn of(setup: &Setup, depth: u8, width: u32) -> Result<Self, ScreenshotError> {
        let format = setup.pixmap_formats.iter().find(|format| format.depth == depth);
        let format = format.ok_or_else(|| ScreenshotError::Format(format!("a depth of {depth} bits")))?;
        let (bits, pad) = (u32::from(format.bits_per_pixel), u32::from(format.scanline_pad).max(8));
        if ![16, 24, 32].contains(&bits) {
            return Err(ScreenshotError::Format(format!("{bits} bits for each pixel")));
        }
        let line = (width * bits).div_ceil(pad) * pad / 8;
        Ok(Self {
            bytes_per_pixel: bits as usize / 8,
            bytes_per_line: line as usize,
            is_little: setup.image_byte_order == ImageOrder::LSB_FIRST,
        })
    }

    fn picture(
        &self,
        data: &[u8],
        width: u32,
        height: u32,
        masks: [u32; 3],
    ) -> Result<RgbImage, ScreenshotError> {
        if data.len() < self.bytes_per_line * height as usize {
            return Err(ScreenshotError::Server("it sent a part of the picture".to_owned()));
        }
        let mut picture = RgbImage::new(width, height);
        for (y, line) in data.chunks_exact(self.bytes_per_line).take(height as usize).enumerate() {
            for (x, pixel) in line.chunks_exact(self.bytes_per_pixel).take(width as usize).enumerate() {
                let value = pixel.iter().enumerate().fold(0, |value, (place, byte)| {
                    let place = if self.is_little { place } else { self.bytes_per_pixel - 1 - place };
                    value | u32::from(*byte) << (8 * place)
                });
                let colour = masks.map(|mask| channel(value, mask));
                #[expect(clippy::cast_possible_truncation, reason = "they are within the picture")]
                picture.put_pixel(x as u32, y as u32, image::Rgb(colour));
            }
        }
        Ok(picture)
    }
}

/// The part of a pixel under a mask, from 0 to 255.
fn channel(pixel: u32, mask: u32) -> u8 {
    if mask == 0 {
        return 0;
    }
    let shift = mask.trailing_zeros();
    let (value, max) = ((pixel & mask) >> shift, mask >> shift);
    u8::try_from(u64::from(value) * 255 / u64::from(max)).unwrap_or(u8::MAX)
}

/// Encodes a picture, smaller if it would be too large.
fn encode(mut picture: DynamicImage) -> Result<Vec<u8>, ScreenshotError> {
    for _ in 0..=MAX_HALVINGS {
        let mut bytes = Cursor::new(Vec::new());
        let written = picture.write_to(&mut bytes, ImageFormat::Png);
        written.map_err(|error| ScreenshotError::Encoding(error.to_string()))?;
        let bytes = bytes.into_inner();
        if bytes.len() <= MAX_PICTURE_BYTES {
            return Ok(bytes);
        }
        let (width, height) = (picture.width() / 2, picture.height() / 2);
        picture = picture.resize_exact(width.max(1), height.max(1), FilterType::Triangle);
    }
    Err(ScreenshotError::Encoding(format!("it has more than {MAX_PICTURE_BYTES} bytes")))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn the_pixels_are_read_by_masks_and_byte_order() {
        // Two pixels and a line's end, of 5, 6 and 5 bits.
        let masks = [0xf800, 0x07e0, 0x001f];
        for is_little in [true, false] {
            let bytes = |value: u16| if is_little { value.to_le_bytes() } else { value.to_be_bytes() };
            let data = [bytes(0xf800), bytes(0x07ff), bytes(0), bytes(0)].concat();
            let layout = Layout { bytes_per_pixel: 2, bytes_per_line: 8, is_little };
            let picture = layout.picture(&data, 2, 1, masks).unwrap();
            assert_eq!((picture.get_pixel(0, 0).0, picture.get_pixel(1, 0).0), ([255, 0, 0], [0, 255, 255]));
            assert!(layout.picture(&data, 2, 2, masks).is_err());
        }
    }

    #[test]
    fn a_picture_that_is_too_large_is_made_smaller() {
        let mut state = 1_u32;
        let noise = RgbImage::from_fn(1_400, 1_000, |_, _| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let [_, red, green, blue] = state.to_be_bytes();
            image::Rgb([red, green, blue])
        });
        let bytes = encode(DynamicImage::ImageRgb8(noise)).unwrap();
        assert!(bytes.len() <= MAX_PICTURE_BYTES);
        assert!(image::load_from_memory(&bytes).unwrap().width() < 1_400);
    }
}
