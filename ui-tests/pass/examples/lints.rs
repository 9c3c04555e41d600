//! A crate that forbids what can be forbidden.
#![forbid(unsafe_code)]
#![deny(
    warnings,
    missing_docs,
    unused,
    unreachable_pub,
    rust_2018_idioms,
    nonstandard_style,
    future_incompatible
)]
#![deny(
    elided_lifetimes_in_paths,
    explicit_outlives_requirements,
    let_underscore_drop,
    macro_use_extern_crate
)]
#![deny(meta_variable_misuse, missing_copy_implementations, missing_debug_implementations, non_ascii_idents)]
#![deny(single_use_lifetimes, trivial_casts, trivial_numeric_casts, unit_bindings, unused_import_braces)]
#![deny(
    unused_lifetimes,
    unused_qualifications,
    unused_results,
    variant_size_differences,
    unused_extern_crates
)]
#![deny(absolute_paths_not_starting_with_crate, redundant_lifetimes, ambiguous_negative_literals)]

use toolkit::prelude::*;

/// A mode.
#[toolkit::args]
#[derive(Debug, Default, Clone, Copy)]
pub(crate) enum Mode {
    /// One.
    #[default]
    One,
    /// Two.
    Two,
}

/// Arguments.
#[toolkit::args]
#[derive(Debug)]
pub(crate) struct Arguments {
    /// A number.
    #[arg(default = 5, range(1..=9))]
    number: u8,
    /// A text.
    #[arg(default = "x", length(1..=5), pattern = "^x$")]
    text: String,
    /// A mode.
    #[arg(default)]
    mode: Mode,
}

/// Takes everything.
#[tool(read_only, timeout = "30s", truncate(max_lines = 5))]
pub(crate) async fn everything(
    ctx: &ToolContext,
    store: State<String>,
    /// A number.
    #[arg(default = 5, range(1..=9))]
    number: u8,
    /// A weight.
    #[arg(default = 1, range(..2.5))]
    weight: f64,
    #[arg(default = "x", length(1..), pattern = "^x$", alias = "t", example = "x")] text: &str,
    #[arg(default = Mode::Two)] mode: Mode,
    path: Option<&Path>,
    words: &[String],
) -> Result<String, std::io::Error> {
    Ok(format!("{}{}{number}{weight}{text}{mode:?}{path:?}{words:?}", ctx.tool_name(), *store))
}

/// Takes a struct.
#[tool]
pub(crate) fn taken(#[args] arguments: Arguments) -> Json<u8> {
    assert_eq!((arguments.text.as_str(), matches!(arguments.mode, Mode::One)), ("x", true));
    Json(arguments.number)
}

/// Is called by nobody but a model.
#[tool]
fn unused() {}

fn main() {
    let toolkit = Toolkit::builder().without_asking_first().service("s".to_owned()).build().unwrap();
    assert_eq!(
        ui_tests::call_in(&toolkit, "everything", r#"{"words": []}"#).text(),
        "everythings51xTwoNone[]"
    );
    assert_eq!(ui_tests::call_in(&toolkit, "taken", "{}").text(), "5");
}
