//! The part of a doc comment that a model reads.
use toolkit::prelude::*;

/// Reads a file.
///
/// Returns its lines.
///
/// ```sh
/// # not a heading
/// cat file
/// ```
///
/// # Errors
///
/// For people.
#[tool]
fn headings(
    /// The path,
    /// on two lines.
    ///
    /// # Not a heading here
    path: String,
) -> String {
    path
}

/**
   Writes a file.

     Indented.
*/
#[tool]
fn block(
    /** The text. */
    text: String,
) -> String {
    text
}

#[doc = "By hand."]
#[doc(hidden)]
#[tool]
fn by_hand(#[doc = "The text."] text: String) -> String {
    text
}

/// # Details
///
/// For people.
#[tool(description = "For the model.")]
fn beside() {}

const DESCRIPTION: &str = "By a constant.";

#[tool(description = DESCRIPTION)]
fn constant() {}

fn main() {
    let description = |name| ui_tests::tool(name).description().to_owned();
    assert_eq!(
        description("headings"),
        "Reads a file.\n\nReturns its lines.\n\n```sh\n# not a heading\ncat file\n```"
    );
    assert_eq!(description("block"), "Writes a file.\n\n  Indented.");
    assert_eq!(description("by_hand"), "By hand.");
    assert_eq!(description("beside"), "For the model.");
    assert_eq!(description("constant"), "By a constant.");
    assert!(ui_tests::schema("headings").contains("The path, on two lines."));
    assert!(ui_tests::schema("block").contains(r#""The text.""#));
    assert!(ui_tests::schema("by_hand").contains(r#""The text.""#));
}
