//! Pictures of the screen, over the protocol of X11.
//!
//! One thread at a time asks the X server. One that hangs keeps its thread, and no other one is begun until it has ended.

use std::io::Cursor;
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use image::imageops::FilterType;
use image::{DynamicImage, ImageFormat, RgbImage};
use tokio::sync::Semaphore;
use tokio::time::{Instant, timeout_at};
use x11rb::connection::Connection as _;
use x11rb::protocol::xproto::{ConnectionExt as _, ImageFormat as XFormat, ImageOrder, Setup, VisualClass};

/// The most bytes of a picture. In Base64 it fits into a message.
const MAX_PICTURE_BYTES: usize = 2 << 20;
/// The most pixels of a screen.
const MAX_PIXELS: u32 = 64 << 20;
/// The most calls that wait for a picture, with the one that takes it.
const MAX_CALLS: usize = 4;
/// Time for a picture, with the time that its call waits for others.
const PICTURE_WITHIN: Duration = Duration::from_secs(20);
/// Time for the X server to take a connection.
const CONNECT_WITHIN: Duration = Duration::from_secs(5);
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
    /// The X server does not answer.
    #[error("the screen cannot be read: the X server did not answer within {0:?}; it hangs, or is very slow")]
    Late(Duration),
    /// An earlier picture is not there yet.
    #[error(
        "the screen cannot be read: an earlier picture of it was not there within {0:?}; the X server hangs, or is very slow"
    )]
    LateBefore(Duration),
    /// Too many calls wait.
    #[error(
        "the screen cannot be read: {MAX_CALLS} calls wait for a picture of it; try again once one of them has ended"
    )]
    Busy,
    /// The thread of the picture ended.
    #[error("the screen cannot be read: the program ended a part of itself: {0}")]
    Ended(String),
    /// The picture cannot be encoded.
    #[error("the picture cannot be encoded: {0}")]
    Encoding(String),
}

/// The screen of a device. Clones are the same one.
#[derive(Debug, Clone)]
pub(crate) struct Screen {
    /// The place of the thread that asks the X server.
    place: Arc<Semaphore>,
    calls: Arc<Semaphore>,
}

impl Default for Screen {
    fn default() -> Self {
        Self { place: Arc::new(Semaphore::new(1)), calls: Arc::new(Semaphore::new(MAX_CALLS)) }
    }
}

impl Screen {
    /// Returns true if there is an X server that answers. Blocks, but not for longer than a time limit.
    pub(crate) fn is_possible(&self) -> bool {
        let is_named = std::env::var_os("DISPLAY").is_some_and(|display| !display.is_empty());
        is_named && self.has_answer(CONNECT_WITHIN, || x11rb::connect(None).is_ok())
    }

    /// Asks the X server on a thread. While another thread does, the server is there.
    fn has_answer(&self, within: Duration, ask: impl FnOnce() -> bool + Send + 'static) -> bool {
        let Ok(place) = Arc::clone(&self.place).try_acquire_owned() else { return true };
        let (tell, told) = mpsc::channel();
        let asking = thread::Builder::new().name("x11".to_owned()).spawn(move || {
            let answer = ask();
            drop(place);
            // Nobody waits any more if it was late.
            let _ = tell.send(answer);
        });
        asking.is_ok() && told.recv_timeout(within).unwrap_or(false)
    }

    /// Takes a picture of the whole screen, as PNG.
    pub(crate) async fn picture(&self) -> Result<Vec<u8>, ScreenshotError> {
        self.within(PICTURE_WITHIN, || encode(DynamicImage::ImageRgb8(capture()?))).await
    }

    /// Takes a picture by a function that blocks, once no other one does.
    async fn within(
        &self,
        within: Duration,
        take: impl FnOnce() -> Result<Vec<u8>, ScreenshotError> + Send + 'static,
    ) -> Result<Vec<u8>, ScreenshotError> {
        let _call = self.calls.try_acquire().map_err(|_| ScreenshotError::Busy)?;
        let until = Instant::now() + within;
        let place = timeout_at(until, Arc::clone(&self.place).acquire_owned()).await;
        let place = place.map_err(|_| ScreenshotError::LateBefore(within))?;
        let place = place.map_err(|error| ScreenshotError::Ended(error.to_string()))?;
        let taking = tokio::task::spawn_blocking(move || {
            // Also if the call has ended: a thread that hangs is not followed by others.
            let _place = place;
            take()
        });
        let taken = timeout_at(until, taking).await.map_err(|_| ScreenshotError::Late(within))?;
        taken.unwrap_or_else(|error| Err(ScreenshotError::Ended(error.to_string())))
    }
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
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// Time that no test takes.
    const LONG: Duration = Duration::from_mins(1);

    #[tokio::test]
    async fn a_server_that_hangs_ends_calls_with_an_error_and_has_one_thread() {
        let screen = Screen::default();
        let (release, released) = mpsc::channel::<()>();
        let hang = move || {
            let _ = released.recv();
            Ok(vec![1])
        };
        let short = Duration::from_millis(1);
        let error = screen.within(short, hang).await.unwrap_err();
        assert!(matches!(error, ScreenshotError::Late(_)) && error.to_string().contains("hangs"), "{error}");
        let error = screen.within(short, || unreachable!("no other thread is begun")).await.unwrap_err();
        assert!(matches!(error, ScreenshotError::LateBefore(_)), "{error}");
        assert!(screen.has_answer(LONG, || unreachable!("nor to look for the server")));
        drop(release);
        assert_eq!(screen.within(LONG, || Ok(vec![2])).await.unwrap(), [2]);
    }

    #[tokio::test]
    async fn pictures_are_taken_one_after_the_other_and_few_calls_wait() {
        let screen = Screen::default();
        let (release, released) = mpsc::channel::<()>();
        let released = Arc::new(std::sync::Mutex::new(released));
        let at_once = Arc::new(AtomicUsize::new(0));
        let calls = (0..MAX_CALLS).map(|_| {
            let (screen, released, at_once) = (screen.clone(), Arc::clone(&released), Arc::clone(&at_once));
            tokio::spawn(async move {
                let take = move || {
                    assert_eq!(at_once.fetch_add(1, Ordering::SeqCst), 0);
                    // The first one ends once the test lets it.
                    let _ = released.lock().unwrap().recv();
                    at_once.fetch_sub(1, Ordering::SeqCst);
                    Ok(Vec::new())
                };
                screen.within(LONG, take).await
            })
        });
        let calls: Vec<_> = calls.collect();
        while screen.calls.available_permits() > 0 {
            tokio::task::yield_now().await;
        }
        let refused = screen.within(LONG, || unreachable!("it is one too many")).await.unwrap_err();
        assert!(matches!(refused, ScreenshotError::Busy), "{refused}");
        drop(release);
        for call in calls {
            call.await.unwrap().unwrap();
        }
    }

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
