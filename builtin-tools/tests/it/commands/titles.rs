//! Titles that calls have while they run.

use crate::commands::house::House;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use toolkit::events::Event;
use toolkit::prelude::*;

/// Arguments for each tool, and the title of the call.
fn calls() -> BTreeMap<&'static str, (Value, &'static str)> {
    let patch = "*** Begin Patch\n*** Add File: p\n+x\n*** End Patch";
    BTreeMap::from([
        ("read", (json!({ "file_path": "a.txt" }), "Read a.txt")),
        ("write", (json!({ "file_path": "b.txt", "content": "x" }), "Write b.txt")),
        ("edit", (json!({ "file_path": "a.txt", "old_string": "one", "new_string": "1" }), "Edit a.txt")),
        ("apply_patch", (json!({ "input": patch }), "Apply a patch")),
        ("glob", (json!({ "pattern": "*.txt\u{1b}" }), "Find *.txt\\u{1b}")),
        ("grep", (json!({ "pattern": "one" }), "Search for one")),
        ("exec", (json!({ "command": "echo one\necho two" }), "echo one…")),
        ("process", (json!({ "action": "stop", "task_id": "job_1" }), "Stop job_1")),
        #[cfg(feature = "browser")]
        (
            "browser",
            (json!({ "action": "navigate", "url": "http://127.0.0.1:9/" }), "Open http://127.0.0.1:9/"),
        ),
        #[cfg(feature = "media")]
        ("image", (json!({ "action": "describe", "image": "a.png" }), "Describe a.png")),
        #[cfg(feature = "media")]
        ("tts", (json!({ "text": "Hello.", "voice": "zz" }), "Speak Hello.")),
        #[cfg(feature = "media")]
        ("transcribe", (json!({ "audio": "a.wav" }), "Transcribe a.wav")),
        #[cfg(feature = "canvas")]
        (
            "canvas",
            (
                json!({ "width": 8, "height": 4, "commands": [{ "type": "circle", "x": 4, "y": 2, "radius": 2 }] }),
                "Draw 8 × 4",
            ),
        ),
        #[cfg(feature = "web")]
        ("web_fetch", (json!({ "url": "http://127.0.0.1:9/" }), "Fetch http://127.0.0.1:9/")),
        #[cfg(feature = "web")]
        ("web_search", (json!({ "query": "two words" }), "Search two words")),
    ])
}

#[tokio::test(flavor = "multi_thread")]
async fn every_tool_sets_a_title_when_it_starts() {
    let house = House::new(json!({})).await;
    let toolbox = &house.toolbox;
    let mut calls = calls();
    for tool in toolbox.tools() {
        // A tool that is new needs a call here.
        let (arguments, expected) = calls.remove(tool.name()).unwrap_or_else(|| panic!("{}", tool.name()));
        let mut events = toolbox.events();
        toolbox.call(ToolCall::new("1", tool.name(), arguments)).await;
        let mut title = None;
        while let Some(event) = events.try_next() {
            match event.event {
                Event::Metadata { title: Some(first), .. } => {
                    title.get_or_insert(first);
                }
                Event::Started | Event::Finished { .. } => {}
                // Nothing of what a call tells comes before its title.
                other => assert!(title.is_some(), "{}: {other:?}", tool.name()),
            }
        }
        assert_eq!(title.as_deref(), Some(expected), "{}", tool.name());
    }
    assert!(calls.is_empty(), "no such tools: {calls:?}");
}
