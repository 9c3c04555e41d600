//! Tools under `#[cfg]`, `#[cfg_attr]`, and both sides of a condition.
use toolkit::prelude::*;

/// Is never there.
#[cfg(any())]
#[tool]
async fn never(value: NoSuchType) -> NoSuchType {
    no_such_function(value)
}

/// Is never there either.
#[tool]
#[cfg(any())]
async fn never_either(value: NoSuchType) -> NoSuchType {
    no_such_function(value)
}

/// Is always there.
#[tool]
#[cfg(all())]
fn always() {}

/// On one side.
#[cfg(all())]
#[tool(name = "sided")]
fn sided(path: String) -> String {
    path
}

/// On the other side.
#[cfg(not(all()))]
#[tool(name = "sided")]
fn sided(other: u8) -> String {
    other.to_string()
}

/// Is a tool here only.
#[cfg_attr(all(), tool(read_only))]
fn here() {}

/// Is none.
#[cfg_attr(any(), tool)]
fn nowhere(value: std::time::Instant) {
    let _ = value;
}

fn main() {
    let names: Vec<String> =
        Toolkit::builder().build().unwrap().tools().iter().map(|tool| tool.name().to_owned()).collect();
    assert_eq!(names, ["always", "here", "sided"]);
    always();
    nowhere(std::time::Instant::now());
    assert_eq!(ui_tests::text("sided", r#"{"path": "p"}"#), "p");
}
