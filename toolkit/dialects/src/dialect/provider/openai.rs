//! The parts that both interfaces of OpenAI share.

use crate::dialect::schema::{Profile, Writing};

/// OpenAI's functions that are not strict accept any JSON Schema, except `oneOf` (Responses), lists without `items`, and anything
/// but an object at the root: known from the interface's errors. Many other servers use this dialect, and generate a grammar from a
/// schema: llama.cpp, and servers based on llguidance or xgrammar. They refuse the whole request because of an unknown keyword.
/// Patterns are unchanged, unless they contain look-around: an engine that requires patterns anchored by `^` and `$`, such as
/// llama.cpp, refuses others.
static PLAIN: Profile = Profile {
    writing: Writing::Whole { for_grammars: true },
    formats: Some(&[
        "date-time",
        "time",
        "date",
        "duration",
        "email",
        "hostname",
        "ipv4",
        "ipv6",
        "uuid",
        "uri",
    ]),
    not_at_root: &["enum", "const"],
    ..Profile::WHOLE
};

/// "Supported schemas" in OpenAI's guide "Structured model outputs".
static STRICT: Profile = Profile {
    writing: Writing::Flat { has_any_enum: true, has_places: false },
    keeps: &[
        "pattern",
        "multipleOf",
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "minItems",
        "maxItems",
    ],
    formats: Some(&["date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"]),
    is_strict: true,
    ..Profile::WHOLE
};

/// Returns the JSON Schema features of functions.
pub(super) fn profile(is_strict: bool) -> &'static Profile {
    if is_strict { &STRICT } else { &PLAIN }
}

/// Returns true if OpenAI accepts a picture, by its guide "Images and vision": no animated GIF.
pub(super) fn takes_picture(data: &[u8], kind: &str) -> bool {
    match kind {
        "image/png" | "image/jpeg" | "image/webp" => true,
        "image/gif" => !is_animated(data),
        _ => false,
    }
}

/// Returns true if a GIF has more than one picture.
fn is_animated(gif: &[u8]) -> bool {
    pictures(gif, 2).is_some_and(|count| count > 1)
}

/// Returns the number of pictures in a GIF, counted up to `most`; `None` if the data is no GIF.
fn pictures(gif: &[u8], most: usize) -> Option<usize> {
    const HEADER: usize = 13;
    if !gif.starts_with(b"GIF8") {
        return None;
    }
    let mut at = HEADER + colours(*gif.get(10)?);
    let mut count = 0;
    while count < most {
        match gif.get(at) {
            // An extension: its label, then blocks.
            Some(0x21) => at = after_blocks(gif, at + 2),
            // A picture: its position and size, its colour table, the code size, then blocks.
            Some(0x2c) => {
                count += 1;
                let flags = gif.get(at + 9).copied().unwrap_or_default();
                at = after_blocks(gif, at + 10 + colours(flags) + 1);
            }
            _ => break,
        }
    }
    Some(count)
}

/// Returns the number of bytes of a colour table, by the flags before it.
fn colours(flags: u8) -> usize {
    if flags & 0x80 == 0 { 0 } else { 3 << ((flags & 7) + 1) }
}

/// Returns the place after a sequence of blocks, each of which starts with its length; the last has length
/// 0.
fn after_blocks(gif: &[u8], mut at: usize) -> usize {
    while let Some(length) = gif.get(at).copied().filter(|length| *length > 0) {
        at += 1 + usize::from(length);
    }
    at + 1
}
