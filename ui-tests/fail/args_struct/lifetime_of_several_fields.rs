// errors: 1
use std::borrow::Cow;
use std::path::Path;

#[toolkit::args]
struct Query<'a> {
    text: &'a str,
    word: Option<&'a str>,
    place: &'a Path,
    lines: &'a [u32],
    title: Cow<'a, str>,
}

fn main() {}
