//! The browser, in a real Chromium, over sites on loopback.

#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test's helpers may panic too")]

mod asking;
mod crash;
mod dns;
mod elements;
mod forms;
mod frames;
mod guard;
mod looks;
mod program;
mod remote;
mod reports;
mod site;

use crate::commands::house::{House, Says};
use serde_json::{Value, json};
use toolkit::prelude::*;
use toolkit::{Content, approval::Answer};

/// A configuration that allows loopback, with more for the browser.
fn config(browser: &Value) -> Value {
    json!({
        "tools": {
            "web": { "network": { "allowedRanges": ["127.0.0.0/8", "::1/128"] } },
            "browser": browser,
        },
    })
}

/// A session that may open sites on loopback without being asked.
async fn house() -> House {
    House::new(config(&json!({}))).await
}

async fn house_with(browser: &Value, says: Says) -> House {
    House::with(config(browser), says).await
}

/// Calls the browser with an action and further arguments.
async fn act(house: &House, action: &str, mut arguments: Value) -> ToolResult {
    arguments["action"] = action.into();
    let result = house.call("browser", arguments).await;
    if let Some(details) = result.output().and_then(|output| output.details.as_ref()) {
        let tool = house.toolkit.tool("browser").unwrap();
        let errors: Vec<String> = jsonschema::validator_for(tool.output_schema().unwrap())
            .unwrap()
            .iter_errors(details)
            .map(|error| error.to_string())
            .collect();
        assert!(errors.is_empty(), "{action}: {errors:?} in {details}");
    }
    result
}

/// The same, and the text of its result, which is none of an error.
async fn text(house: &House, action: &str, arguments: Value) -> String {
    let result = act(house, action, arguments).await;
    assert!(!result.is_error(), "{action}: {}", result.text());
    result.text()
}

async fn error(house: &House, action: &str, arguments: Value) -> ToolError {
    act(house, action, arguments).await.outcome.unwrap_err()
}

/// Returns the text of the page, between the marks.
fn page(text: &str) -> &str {
    let (_, rest) = text.split_once("<untrusted-content-").expect("a mark");
    let (_, rest) = rest.split_once("\n\n").expect("an empty line after the explanation");
    rest.rsplit_once("\n</untrusted-content-").expect("a closing mark").0
}

async fn snapshot(house: &House) -> String {
    text(house, "snapshot", json!({})).await
}

/// The ref of the line that contains this.
fn find_ref(snapshot: &str, part: &str) -> String {
    let line =
        snapshot.lines().find(|line| line.contains(part)).unwrap_or_else(|| panic!("{part} in {snapshot}"));
    let (_, rest) = line.split_once("[e").unwrap_or_else(|| panic!("a ref in {line}"));
    format!("e{}", rest.split(']').next().unwrap())
}

/// The picture of a result.
fn picture(result: &ToolResult) -> Vec<u8> {
    let output = result.output().unwrap();
    let picture = output.content.iter().find(|block| matches!(block, Content::Image { .. }));
    picture.expect("a picture").as_bytes().unwrap().to_vec()
}

/// Width and height of a PNG.
fn size(png: &[u8]) -> (u32, u32) {
    assert!(png.starts_with(b"\x89PNG\r\n\x1a\n"));
    let number = |at: usize| u32::from_be_bytes(png[at..at + 4].try_into().unwrap());
    (number(16), number(20))
}

fn allow(_: &toolkit::Ask) -> Answer {
    Answer::allow()
}

fn deny(_: &toolkit::Ask) -> Answer {
    Answer::deny_saying("not today")
}
