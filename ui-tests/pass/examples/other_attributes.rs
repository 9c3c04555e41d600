//! Attributes of the function stay on it, and cause nothing within the expansion.
#![deny(warnings)]
use toolkit::prelude::*;

/// Should not be used.
#[tool(deprecated = "use `new_one`")]
#[deprecated = "use `new_one`"]
async fn old_one(path: String) -> String {
    path
}

/// Must be used.
#[must_use]
#[inline]
#[tool]
fn new_one(#[allow(unused_variables)] path: String) -> &'static str {
    "new"
}

/// Tracks its caller.
#[tool]
#[track_caller]
fn tracked() -> String {
    std::panic::Location::caller().file().to_owned()
}

/// Is not complete.
#[tool]
#[expect(unused_variables, reason = "not written yet")]
fn incomplete(path: String) {}

/// Is cold.
#[cold]
#[tool]
#[doc(alias = "ice")]
fn cold() {}

#[allow(deprecated)]
fn main() {
    assert_eq!(ui_tests::text("old_one", r#"{"path": "p"}"#), "p");
    drop(old_one(String::new()));
    assert_eq!(new_one(String::new()), "new");
    assert!(!tracked().is_empty());
    incomplete(String::new());
    cold();
}
