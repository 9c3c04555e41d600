//! Pixels: each command is a document of its own, drawn over those before it, so that a call can be cancelled between two, and within a large one.

use super::fonts::{BUNDLED_FAMILY, Fonts, Lacks};
use super::svg::Svg;
use resvg::tiny_skia::{Color, Pixmap, PixmapMut, Transform};
use resvg::usvg::{ImageHrefResolver, ImageKind, Options, Tree};
use std::collections::HashMap;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// Number of rows that are drawn at once.
const BAND: u32 = 256;

/// Encoded PNG files by the names that elements have for them.
pub(super) type Files = HashMap<String, Arc<Vec<u8>>>;

/// The place of a command's elements.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Drawn {
    /// Nowhere: there are none, or they have no extent.
    Nothing,
    /// Beside the canvas.
    Outside,
    /// Partly beside the canvas.
    Cut {
        /// The box around all of them.
        left: f32,
        top: f32,
        right: f32,
        bottom: f32,
    },
    /// Within the canvas.
    Inside,
    /// In part: the renderer panicked on it. The outlines of curves with numbers far beyond the canvas can break an assumption of its
    /// scan converter.
    Broken,
}

/// A picture that is being drawn.
pub(super) struct Surface {
    pixmap: Pixmap,
}

impl Surface {
    /// A canvas; `None` if there is no memory for it.
    pub(super) fn new(width: u32, height: u32, background: Option<svgtypes::Color>) -> Option<Self> {
        let mut pixmap = Pixmap::new(width, height)?;
        if let Some(color) = background {
            pixmap.fill(Color::from_rgba8(color.red, color.green, color.blue, color.alpha));
        }
        Some(Self { pixmap })
    }

    /// Reads elements.
    pub(super) fn read(
        &self,
        svg: &Svg,
        definitions: &str,
        options: &Options<'_>,
    ) -> Result<Tree, resvg::usvg::Error> {
        let document = svg.document(self.pixmap.width(), self.pixmap.height(), definitions);
        Tree::from_str(&document, options)
    }

    /// Draws elements over what is there, a band of rows after the other, since one element can take seconds.
    ///
    /// # Errors
    ///
    /// As `check`, which is asked before each band.
    pub(super) fn draw(&mut self, tree: &Tree, check: &impl Fn() -> io::Result<()>) -> io::Result<Drawn> {
        if !tree.root().has_children() {
            return Ok(Drawn::Nothing);
        }
        let (columns, rows) = (self.pixmap.width(), self.pixmap.height());
        let bounds = tree.root().abs_stroke_bounding_box();
        #[expect(clippy::cast_precision_loss, reason = "a canvas has few pixels a side")]
        let (width, height) = (columns as f32, rows as f32);
        let (left, top, right, bottom) = (bounds.left(), bounds.top(), bounds.right(), bounds.bottom());
        if right <= 0.0 || bottom <= 0.0 || left >= width || top >= height {
            return Ok(Drawn::Outside);
        }
        let bytes = usize::try_from(columns * 4 * BAND).unwrap_or(usize::MAX);
        for (at, band) in self.pixmap.data_mut().chunks_mut(bytes).enumerate() {
            check()?;
            let count = u32::try_from(band.len()).unwrap_or(u32::MAX) / (columns * 4);
            #[expect(clippy::cast_precision_loss, reason = "a canvas has few pixels a side")]
            let (first, count_of_rows) = (at as f32 * BAND as f32, count as f32);
            // Smoothing reaches a pixel further.
            let is_beside = bottom + 2.0 < first || top - 2.0 > first + count_of_rows;
            if !is_beside && let Some(mut band) = PixmapMut::from_bytes(band, columns, count) {
                let mut render = || resvg::render(tree, Transform::from_translate(0.0, -first), &mut band);
                // The picture is dropped then, so it does not matter which of its pixels were set.
                if catch_unwind(AssertUnwindSafe(&mut render)).is_err() {
                    return Ok(Drawn::Broken);
                }
            }
        }
        Ok(if left < -0.5 || top < -0.5 || right > width + 0.5 || bottom > height + 0.5 {
            Drawn::Cut { left, top, right, bottom }
        } else {
            Drawn::Inside
        })
    }

    /// The picture as a PNG file.
    pub(super) fn encode(&self) -> Result<Vec<u8>, String> {
        self.pixmap.encode_png().map_err(|error| error.to_string())
    }
}

/// The options of the renderer: no file is opened, and no address is fetched, whatever the elements name.
pub(super) fn options<'a>(fonts: &'a Fonts, files: &'a Files) -> Options<'a> {
    Options {
        font_family: BUNDLED_FAMILY.to_owned(),
        fontdb: Fonts::database(),
        font_resolver: fonts.resolver(),
        image_href_resolver: ImageHrefResolver {
            resolve_data: Box::new(|_, _, _| None),
            resolve_string: Box::new(|name, _| files.get(name).map(|file| ImageKind::PNG(Arc::clone(file)))),
        },
        ..Options::default()
    }
}

/// Notes on what no font has.
pub(super) fn notes(lacks: &Lacks) -> Vec<String> {
    let mut notes = Vec::new();
    for family in &lacks.families {
        notes.push(format!(
            "the font `{}` is not installed; the bundled one was used",
            toolkit::text::escape_line(family)
        ));
    }
    if !lacks.characters.is_empty() {
        let shown: String = lacks.characters.iter().take(20).collect();
        notes.push(format!(
            "no installed font has these characters, which are missing: {}; a person can install one, such as the Debian \
             package fonts-noto-cjk for Chinese, Japanese and Korean",
            toolkit::text::escape_line(&shown)
        ));
    }
    notes
}
