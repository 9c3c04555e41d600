//! Result hooks: what they can take out, and that they can do nothing else.

#![expect(clippy::unwrap_used, reason = "a test's helpers may panic too")]

use serde_json::json;
use std::ops::Range;
use std::sync::Arc;
use toolkit::prelude::*;
use toolkit::{
    Builder, Content, ToolErrorKind, ToolOutput, ToolResult,
    events::Event,
    history::{HistoryQuery, MemoryHistory},
    inspection::ResultReview,
    output::{OutputLimits, Resource},
    text::Redactor,
    tool_ref,
};

/// Says a lot.
#[tool(read_only)]
async fn says() -> ToolOutput {
    let mut link = Content::text("");
    if let Ok(content) = serde_json::from_value(json!({
        "type": "resource_link", "uri": "file:///word", "name": "the word", "description": "a word"
    })) {
        link = content;
    }
    ToolOutput::text("a word here")
        .with_content(Content::image(*b"word", "image/png"))
        .with_content(Content::Resource { resource: Resource::text("x://word", "another word") })
        .with_content(link)
        .with_details(json!({"deep": [{"said": "word"}], "number": 4711}))
        .with_title("A word")
        .with_metadata("word", "a word")
        .with_metadata("other", 4711)
}

/// Fails.
#[tool(read_only)]
async fn fails() -> Result<(), ToolError> {
    Err(ToolError::not_found("no word here"))
}

/// Panics.
#[tool(read_only)]
async fn panics() {
    panic!("a word");
}

/// Streams a lot.
#[tool(read_only)]
async fn streams(ctx: &ToolContext, lines: usize) -> Result<String, ToolError> {
    let mut output = ctx.output();
    for _ in 0..lines {
        output.write_all(b"a word\n").await?;
    }
    Ok("the last word".to_owned())
}

/// Streams, and fails.
#[tool(read_only)]
async fn streams_and_fails(ctx: &ToolContext) -> Result<(), ToolError> {
    ctx.output().write_all(b"a word\n").await?;
    Err(ToolError::failed("and a word"))
}

/// Says a long text.
#[tool(read_only)]
async fn long(bytes: usize) -> String {
    format!("{}word", "x".repeat(bytes))
}

fn house() -> Builder {
    Toolkit::empty()
        .tool(tool_ref!(says))
        .tool(tool_ref!(fails))
        .tool(tool_ref!(panics))
        .tool(tool_ref!(streams))
        .tool(tool_ref!(streams_and_fails))
        .tool(tool_ref!(long))
}

fn found(text: &str, word: &str) -> Vec<Range<usize>> {
    text.match_indices(word).map(|(at, word)| at..at + word.len()).collect()
}

#[expect(clippy::unnecessary_wraps, reason = "the form of a hook")]
fn no_word(review: &mut ResultReview<'_>) -> Result<(), ToolError> {
    review.redact(|text| found(text, "word"));
    Ok(())
}

async fn call(builder: Builder, tool: &str, arguments: serde_json::Value) -> ToolResult {
    let toolbox = builder.build().unwrap().toolbox(&Caller::new()).await;
    toolbox.call(ToolCall::new("1", tool, arguments)).await
}

#[tokio::test]
async fn what_is_found_is_taken_out_everywhere() {
    let data = tempfile::tempdir().unwrap();
    for (tool, arguments) in [
        ("says", json!({})),
        ("fails", json!({})),
        ("panics", json!({})),
        ("streams", json!({"lines": 3})),
        ("streams", json!({"lines": 100_000})),
        ("streams_and_fails", json!({})),
        ("long", json!({"bytes": 10})),
        ("long", json!({"bytes": 1000})),
    ] {
        let history = Arc::new(MemoryHistory::new(Redactor::new()));
        let toolkit = house()
            .data_dir(data.path())
            .history(Arc::clone(&history))
            .output_limits(OutputLimits { max_bytes: 100, ..OutputLimits::default() })
            .result_hook("words", no_word)
            .build()
            .unwrap();
        let mut events = toolkit.events();
        let plain = house().data_dir(data.path()).build().unwrap();
        let call = || ToolCall::new("1", tool, arguments.clone());
        let before = plain.toolbox(&Caller::new()).await.call(call()).await;
        let after = toolkit.toolbox(&Caller::new()).await.call(call()).await;
        // A picture is not text.
        let text = |shown: String| shown.replace("d29yZA==", "");
        assert!(text(serde_json::to_string(&before).unwrap()).contains("word"), "{tool}");
        assert!(!text(serde_json::to_string(&after).unwrap()).contains("word"), "{tool}: {after:?}");
        assert_eq!(before.is_error(), after.is_error());
        assert_eq!(before.error().map(ToolError::kind), after.error().map(ToolError::kind));
        assert!(after.error().is_none_or(|error| error.source().is_none()));
        assert!(!format!("{:?}", history.calls(&HistoryQuery::new())).contains("word"), "{tool}");
        while let Some(event) = events.try_next() {
            if let Event::Finished { result, .. } = event.event {
                assert_eq!(result.text(), after.text());
            }
        }
    }
}

#[tokio::test]
async fn the_file_of_what_was_cut_is_without_it_too() {
    let data = tempfile::tempdir().unwrap();
    let builder = house()
        .data_dir(data.path())
        .output_limits(OutputLimits { max_bytes: 100, ..OutputLimits::default() })
        .result_hook("words", no_word);
    let result = call(builder, "long", json!({"bytes": 1000})).await;
    assert_eq!(result.output().unwrap().metadata["truncated"], json!(true));
    let sessions = std::fs::read_dir(data.path().join("tool-output")).unwrap();
    let files: Vec<String> = sessions
        .flat_map(|session| std::fs::read_dir(session.unwrap().path()).unwrap())
        .map(|file| std::fs::read_to_string(file.unwrap().path()).unwrap())
        .collect();
    assert_eq!(files, [format!("{}[redacted]", "x".repeat(1000))]);
}

#[tokio::test]
async fn structured_data_are_whole_or_absent() {
    type Hook = fn(&mut ResultReview<'_>) -> Result<(), ToolError>;
    let table: [(&str, Hook, bool); 7] = [
        ("nothing", |_| Ok(()), true),
        (
            "what is not there",
            |review| {
                review.redact(|_| Vec::new());
                Ok(())
            },
            true,
        ),
        ("a string deep in it", no_word, false),
        (
            "a number",
            |review| {
                review.redact(|text| found(text, "4711"));
                Ok(())
            },
            false,
        ),
        (
            "a name",
            |review| {
                review.redact(|text| found(text, "deep"));
                Ok(())
            },
            false,
        ),
        (
            "all",
            |review| {
                review.drop_details();
                Ok(())
            },
            false,
        ),
        (
            "a longer text",
            |review| {
                review.shorten(5);
                Ok(())
            },
            false,
        ),
    ];
    for (name, hook, is_there) in table {
        let result = call(house().result_hook("hook", hook), "says", json!({})).await;
        assert_eq!(result.details().is_some(), is_there, "{name}");
    }
}

#[tokio::test]
async fn what_a_hook_can_do() {
    type Hook = fn(&mut ResultReview<'_>) -> Result<(), ToolError>;
    type Expected = Result<&'static str, &'static [&'static str]>;
    let table: [(&str, &str, Hook, Expected); 10] = [
        (
            "shortens",
            "says",
            |review| {
                review.shorten(3);
                Ok(())
            },
            Ok("a w\n[8 bytes left out]"),
        ),
        (
            "leaves a short one",
            "says",
            |review| {
                review.shorten(300);
                Ok(())
            },
            Ok("a word here"),
        ),
        (
            "shortens an error",
            "fails",
            |review| {
                review.shorten(2);
                Ok(())
            },
            Err(&["no\n[10 bytes left out]"]),
        ),
        (
            "drops a block",
            "says",
            |review| {
                review.drop_block(0);
                Ok(())
            },
            Ok("[withheld]"),
        ),
        (
            "drops no block",
            "says",
            |review| {
                review.drop_block(99);
                Ok(())
            },
            Ok("a word here"),
        ),
        (
            "withholds",
            "says",
            |review| {
                review.withhold("too much");
                Ok(())
            },
            Err(&["`says` ran", "`hook` withheld it: too much", "Its effects remain"]),
        ),
        (
            "withholds an error",
            "fails",
            |review| {
                review.withhold("too much");
                Ok(())
            },
            Err(&["too much"]),
        ),
        (
            "fails",
            "says",
            |_| Err(ToolError::unavailable("no list")),
            Err(&["the result hook `hook` failed: no list"]),
        ),
        ("panics", "says", |_| panic!("oh"), Err(&["the result hook `hook` stopped on an internal error"])),
        (
            "panics within",
            "says",
            |review| {
                review.redact(|_| panic!("oh"));
                Ok(())
            },
            Err(&["internal error"]),
        ),
    ];
    for (name, tool, hook, expected) in table {
        let result = call(house().result_hook("hook", hook), tool, json!({})).await;
        match expected {
            Ok(text) => assert_eq!(result.output().unwrap().content[0].as_text(), Some(text), "{name}"),
            Err(words) => {
                for word in words {
                    assert!(result.error().unwrap().message().contains(word), "{name}: {}", result.text());
                }
                assert!(!result.text().contains("word"), "{name}: {}", result.text());
            }
        }
    }
}

#[tokio::test]
async fn hooks_see_what_the_ones_before_left() {
    let result = call(
        house()
            .result_hook("first", |review| {
                assert_eq!((review.tool().name(), review.call_id()), ("fails", "1"));
                assert!(review.output().is_none());
                review.shorten(2);
                Ok(())
            })
            .result_hook("second", |review| {
                assert_eq!(review.error().unwrap().message(), "no\n[10 bytes left out]");
                review.withhold("second");
                Ok(())
            })
            .result_hook("third", |review| {
                assert_eq!(review.error().unwrap().kind(), ToolErrorKind::Denied);
                Ok(())
            }),
        "fails",
        json!({}),
    )
    .await;
    assert!(result.text().contains("`second` withheld it"), "{}", result.text());
}

#[tokio::test]
async fn a_refusal_of_the_call_itself_is_not_reviewed() {
    let builder = house().result_hook("hook", |review| {
        review.withhold("seen");
        Ok(())
    });
    let result = call(builder, "long", json!({})).await;
    assert_eq!(result.error().unwrap().kind(), ToolErrorKind::InvalidArguments);
}
