//! Annotated functions of every kind, on which clippy's pedantic set must find nothing: `tests/pedantic.rs` of the
//! crate around this one runs it.
#![warn(clippy::all, clippy::pedantic, missing_docs, unused, unreachable_pub, rust_2018_idioms)]
#![forbid(unsafe_code)]

use std::fmt;
use std::future::ready;
use std::sync::atomic::{AtomicU32, Ordering};
use toolkit::prelude::*;

/// A service.
#[derive(Debug, Default)]
pub struct Store {
    calls: AtomicU32,
}

/// A service as a trait object.
pub trait Clock: Send + Sync {
    /// The time.
    fn now(&self) -> u64;
}

/// How fast.
#[toolkit::args]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Speed {
    /// Takes its time.
    #[default]
    Slow,
    /// Hurries.
    Fast,
}

/// A place.
#[toolkit::args]
#[derive(Debug)]
pub enum Place {
    /// A line.
    Line {
        /// Its number.
        #[arg(range(1..=9), example = 2)]
        number: u32,
        /// How many.
        #[arg(default = 1)]
        count: u32,
    },
    /// A mark.
    Mark(#[arg(length(1..=3), pattern = "^[a-z]+$")] String),
    /// The end.
    End,
}

/// Arguments.
#[toolkit::args]
#[derive(Debug)]
pub struct Arguments {
    /// A text.
    #[arg(default = "x", length(1..=4), pattern = "^[a-z]+$", alias = "t", example = "y")]
    text: String,
    /// A weight.
    #[arg(default = 0.5, range(0.0..1.0))]
    weight: f64,
    /// A factor.
    #[arg(default = 1)]
    factor: f32,
    /// A character.
    #[arg(default = '-')]
    separator: char,
    /// A speed.
    #[arg(default = Speed::Fast)]
    speed: Speed,
    /// Words.
    #[arg(default)]
    words: Vec<String>,
    /// A place.
    place: Option<Box<Place>>,
    /// A secret.
    #[arg(secret, rename = "api-key")]
    key: Option<String>,
}

/// Why it failed.
#[derive(Debug)]
pub struct Failure;

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("failed")
    }
}

impl std::error::Error for Failure {}

const MAX_NUMBER: u32 = 10;
const NAME: &str = "pedantic_named";
const DESCRIPTION: &str = "Is described by a constant.";

/// Takes everything by its own parameter.
///
/// # Errors
///
/// Never.
#[tool(
    name = NAME,
    group = ["pedantic", "all"],
    title = "Everything",
    read_only,
    idempotent,
    open_world = false,
    alias = "everything",
    timeout = "30s",
    concurrency = 2,
    truncate(max_lines = 10, max_bytes = 1_000, keep = "tail"),
    permission = "read",
    icon = "file",
    format_error = worded
)]
#[expect(clippy::too_many_arguments, reason = "every kind of parameter at once")]
pub async fn everything(
    ctx: &ToolContext,
    store: State<Store>,
    /// A path.
    #[arg(alias = "file")]
    path: &Path,
    /// A number.
    #[arg(default = 5, range(1..=MAX_NUMBER), example = 6)]
    number: u32,
    /// A long number.
    #[arg(default = 1000000, range(..=100000000))]
    long: u64,
    /// A weight.
    #[arg(default = 1, range(..2.5))]
    weight: f64,
    /// A text.
    #[arg(default = "x", length(1..), pattern = "^x$", secret)]
    text: &str,
    /// A speed.
    #[arg(default = "Fast")]
    speed: Speed,
    /// Another speed.
    #[arg(default = Speed::Slow)]
    other: Speed,
    /// Words.
    #[arg(default, length(..5))]
    words: &[String],
    /// Maybe a text.
    maybe: Option<&str>,
    /// Maybe a number.
    #[arg(range(1..))]
    mut limit: Option<u8>,
) -> Result<ToolOutput, ToolError> {
    store.calls.fetch_add(1, Ordering::Relaxed);
    limit.get_or_insert(1);
    let text = format!(
        "{}{}{number}{long}{weight}{text}{speed:?}{other:?}{words:?}{maybe:?}{limit:?}",
        ctx.tool_name(),
        path.display()
    );
    Ok(ready(ToolOutput::text(text)).await)
}

fn worded(problems: &toolkit::arguments::InvalidArguments) -> String {
    problems.to_string()
}

/// Takes a struct.
#[tool]
async fn pedantic_whole(#[args] arguments: Arguments) -> Json<Place> {
    ready(arguments).await.place.map_or(Json(Place::End), |place| Json(*place))
}

/// Takes a struct apart.
#[tool]
async fn pedantic_apart(#[args] Arguments { text, words, .. }: Arguments) -> String {
    ready(text).await + &words.join("")
}

/// Fails.
#[tool]
fn pedantic_fails(number: u32) -> Result<(), Failure> {
    if number > MAX_NUMBER { Err(Failure) } else { Ok(()) }
}

/// Rests.
#[tool(destructive, enabled = false, optional, auto_execute, deprecated = "sleep instead")]
async fn pedantic_rests() {
    ready(()).await;
}

/// Draws a picture.
#[tool(truncate = "off")]
#[must_use]
pub fn pedantic_draws(width: u8, height: u8) -> Image {
    Image::new([width, height], "image/png")
}

#[tool(description = DESCRIPTION)]
fn pedantic_described() -> &'static str {
    "described"
}

/// Is deprecated.
#[tool]
#[deprecated = "use another"]
#[must_use]
pub fn pedantic_deprecated() -> String {
    String::new()
}

/// Takes many numbers.
#[tool]
#[expect(clippy::too_many_arguments, reason = "every kind of number at once")]
fn pedantic_numbers(
    tiny: u8,
    small: u16,
    plain: u32,
    long: u64,
    signed_tiny: i8,
    signed_small: i16,
    signed: i32,
    signed_long: i64,
    decimal: f64,
) -> String {
    format!("{tiny}{small}{plain}{long}{signed_tiny}{signed_small}{signed}{signed_long}{decimal}")
}

mod nested {
    use toolkit::prelude::*;

    /// Is in a module.
    #[tool]
    pub(super) fn pedantic_nested(words: &[u8]) -> String {
        format!("{words:?}")
    }
}

/// Has a tool within.
#[must_use]
pub fn outer() -> String {
    /// Is in a function.
    #[tool]
    fn pedantic_inner(number: u8) -> String {
        number.to_string()
    }

    pedantic_inner(1) + &nested::pedantic_nested(&[1])
}

/// A finding, for the test that proves that findings are found.
#[cfg(seeded)]
pub const SEEDED: u64 = 100000000;
