//! Errors that a tool and a service can return: those that convert by a trait, and those that no trait can cover.

use super::result;
use std::error::Error as StdError;
use std::fmt;
use toolkit::prelude::*;
use toolkit::{ToolErrorKind, tool_ref};

type BoxError = Box<dyn StdError + Send + Sync>;

#[derive(Debug)]
struct Plain;

impl fmt::Display for Plain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("plain")
    }
}

impl StdError for Plain {}

/// Converts by itself, and is no `Error`.
struct Own;

impl From<Own> for ToolError {
    fn from(_: Own) -> Self {
        Self::not_found("own")
    }
}

/// As `anyhow::Error`: no `Error`, and it converts into a box.
#[derive(Debug)]
struct Report(BoxError);

impl<E: StdError + Send + Sync + 'static> From<E> for Report {
    fn from(error: E) -> Self {
        Self(error.into())
    }
}

impl From<Report> for BoxError {
    fn from(report: Report) -> Self {
        report.0
    }
}

mod reported {
    pub(super) type Result<T, E = super::Report> = std::result::Result<T, E>;
}

#[derive(Debug)]
struct Outer(Plain);

impl fmt::Display for Outer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("outer")
    }
}

impl StdError for Outer {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        Some(&self.0)
    }
}

/// Fails with a string.
#[tool(read_only)]
fn string() -> Result<(), String> {
    Err("no disk".to_owned())
}

/// Fails with a constant text.
#[tool(read_only)]
async fn constant() -> Result<String, &'static str> {
    Err("constant")
}

/// Fails with a boxed error.
#[tool(read_only)]
async fn boxed() -> Result<String, Box<dyn StdError + Send + Sync>> {
    let number: u8 = "x".parse()?;
    Ok(number.to_string())
}

/// Fails with a report.
#[tool(read_only)]
async fn report() -> reported::Result<Json<Vec<u8>>> {
    Err(Outer(Plain))?;
    Ok(Json(Vec::new()))
}

/// Fails with an error.
#[tool(read_only)]
fn plain() -> Result<u8, Plain> {
    Err(Plain)
}

/// Fails with an error that converts by itself.
#[tool(read_only)]
fn own() -> Result<u8, Own> {
    Err(Own)
}

/// Fails with the error of tools.
#[tool(read_only)]
fn direct() -> Result<Option<u8>, ToolError> {
    Err(ToolError::denied("direct"))
}

/// A result by another name.
type Outcome = Result<String, String>;

/// Fails by another name.
#[tool(read_only)]
fn named() -> Outcome {
    Err("named".to_owned())
}

#[tokio::test]
async fn every_error_is_told() {
    for (tool, message, kind) in [
        (tool_ref!(string), "no disk", ToolErrorKind::Failed),
        (tool_ref!(constant), "constant", ToolErrorKind::Failed),
        (tool_ref!(boxed), "invalid digit found in string", ToolErrorKind::Failed),
        (tool_ref!(report), "outer: plain", ToolErrorKind::Failed),
        (tool_ref!(plain), "plain", ToolErrorKind::Failed),
        (tool_ref!(own), "own", ToolErrorKind::NotFound),
        (tool_ref!(direct), "direct", ToolErrorKind::Denied),
        (tool_ref!(named), "named", ToolErrorKind::Failed),
    ] {
        let name = tool.name().to_owned();
        let outcome = result(tool, "{}").await.outcome;
        let error = outcome.unwrap_err();
        assert_eq!((error.message(), error.kind()), (message, kind), "{name}");
    }
}

#[tokio::test]
async fn the_error_behind_is_kept() {
    let error = result(tool_ref!(plain), "{}").await.outcome.unwrap_err();
    assert!(error.source().unwrap().is::<Plain>());
    let error = result(tool_ref!(report), "{}").await.outcome.unwrap_err();
    assert!(error.source().unwrap().is::<Outer>());
}

#[test]
fn the_schema_of_the_value_is_there() {
    assert_eq!(tool_ref!(report).output_schema().unwrap()["items"]["type"], "integer");
    assert_eq!(tool_ref!(plain).output_schema().unwrap()["type"], "integer");
}
