//! Everything that a tool may return.
use std::borrow::Cow;
use std::fmt;
use toolkit::prelude::*;

/// A size.
#[toolkit::args]
#[derive(PartialEq, Debug)]
struct Size {
    /// In pixels.
    width: u32,
}

#[derive(Debug)]
struct TooBig(u32);

impl fmt::Display for TooBig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is too big", self.0)
    }
}

impl std::error::Error for TooBig {}

struct Private;

impl From<Private> for ToolError {
    fn from(_: Private) -> Self {
        ToolError::not_found("private")
    }
}

/// Measures.
#[tool]
fn measure() -> Json<Size> {
    Json(Size { width: 640 })
}

/// Draws.
#[tool]
async fn draw() -> Image {
    Image::new(*b"png", "image/png").with_label("a picture")
}

/// A constant text.
#[tool]
fn constant() -> &'static str {
    "constant"
}

/// A text that may be constant.
#[tool]
fn cow() -> Cow<'static, str> {
    "cow".into()
}

/// Blocks.
#[tool]
fn blocks() -> Vec<Content> {
    vec![Content::text("one"), Content::text("two")]
}

/// Opens a file.
#[tool]
async fn open(path: &Path) -> Result<String, std::io::Error> {
    std::fs::read_to_string(path)
}

/// Checks a number.
#[tool]
fn check(number: u32) -> Result<Json<Size>, TooBig> {
    if number > 5 { Err(TooBig(number)) } else { Ok(Json(Size { width: number })) }
}

/// Fails.
#[tool]
fn fail() -> Result<(), Private> {
    Err(Private)
}

/// Takes any error.
#[tool]
async fn any(number: &str) -> Result<ToolOutput, ToolError> {
    let number: u8 = number.parse()?;
    Ok(ToolOutput::text(number.to_string()).with_title("a number"))
}

fn main() {
    let measured = ui_tests::call("measure", "{}");
    assert_eq!(measured.details().unwrap()["width"], 640);
    let tool = ui_tests::tool("measure");
    let schema = tool.output_schema().unwrap();
    assert_eq!(schema["properties"]["width"]["description"], "In pixels.");
    assert!(ui_tests::tool("check").output_schema().is_some());
    assert!(ui_tests::tool("draw").output_schema().is_none());
    assert_eq!(ui_tests::call("draw", "{}").content().len(), 2);
    assert_eq!(ui_tests::text("constant", "{}"), "constant");
    assert_eq!(ui_tests::text("cow", "{}"), "cow");
    assert_eq!(ui_tests::text("blocks", "{}"), "one\ntwo");
    assert!(ui_tests::call("open", r#"{"path": "/not/there"}"#).is_error());
    assert_eq!(ui_tests::call("check", r#"{"number": 6}"#).text(), "6 is too big");
    assert_eq!(ui_tests::call("fail", "{}").text(), "private");
    assert_eq!(ui_tests::text("any", r#"{"number": "5"}"#), "5");
    assert!(ui_tests::call("any", r#"{"number": "x"}"#).text().contains("invalid digit"));
}
