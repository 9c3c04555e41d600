//! `Duration`, and types of `chrono`, `uuid` and `url`.

#![expect(clippy::needless_pass_by_value, reason = "a tool gets its arguments by value")]

use super::{problems, schema, text};
use serde_json::json;
use std::collections::HashMap;
use std::time::Duration;
use toolkit::prelude::*;
use toolkit::{
    Config,
    config::{Configuration, LoadOptions},
    tool_ref,
};

#[toolkit::args]
#[derive(Debug)]
struct Retry {
    /// How long to wait between two tries
    #[arg(alias = "pause")]
    wait: Duration,
    #[arg(default = "1m")]
    most: Duration,
    #[arg(default = Duration::from_millis(1500))]
    first: Duration,
}

/// Waits.
#[tool(read_only)]
#[expect(clippy::too_many_arguments, reason = "one of each place")]
fn wait(
    /// How long to wait.
    #[arg(alias = "pause", example = Duration::from_secs(90))]
    timeout: Duration,
    #[arg(default = "30s")] grace: Duration,
    #[arg(default = Duration::from_hours(2))] lifetime: Duration,
    limit: Option<Duration>,
    #[arg(default)] each: Vec<Duration>,
    #[arg(default)] maybe: Vec<Option<Duration>>,
    #[arg(default)] named: HashMap<String, Duration>,
    retry: Option<Retry>,
) -> String {
    format!("{timeout:?} {grace:?} {lifetime:?} {limit:?} {each:?} {maybe:?} {named:?} {retry:?}")
}

const PATTERN: &str = r"^([0-9]+(\.[0-9]+)?(ns|us|ms|s|m|h|d))+$|^P([0-9]+W|[0-9]+D|([0-9]+D)?T([0-9]+H)?([0-9]+M)?([0-9]+(\.[0-9]+)?S)?)$";

#[test]
fn a_duration_is_a_text() {
    let tool = tool_ref!(wait);
    assert_eq!(
        schema(&tool, "timeout"),
        json!({
            "type": "string",
            "description": "How long to wait. A duration, such as 30s, 1h30m or PT30S.",
            "pattern": PATTERN,
            "examples": ["90s"],
        })
    );
    let hint = "A duration, such as 30s, 1h30m or PT30S.";
    let plain = json!({"type": "string", "description": hint, "pattern": PATTERN});
    assert_eq!(schema(&tool, "limit"), plain);
    assert_eq!(schema(&tool, "each")["items"], plain);
    assert_eq!(schema(&tool, "maybe")["items"]["type"], json!(["string", "null"]));
    assert_eq!(schema(&tool, "named")["additionalProperties"], plain);
    assert_eq!(schema(&tool, "grace")["default"], "30s");
    assert_eq!(schema(&tool, "lifetime")["default"], "2h");
    let retry = &schema(&tool, "retry")["properties"];
    assert_eq!(retry["wait"]["description"], format!("How long to wait between two tries. {hint}"));
    assert_eq!(retry["first"]["default"], "1500ms");
    assert_eq!(retry["most"]["default"], "1m");
}

#[tokio::test]
async fn both_forms_of_a_duration_are_read_at_every_place() {
    for (arguments, expected) in [
        (r#"{"timeout": "30s"}"#, "30s 30s 7200s None [] [] {} None"),
        (
            r#"{"timeout": "PT1M30S", "grace": "1h30m", "lifetime": "P1D"}"#,
            "90s 5400s 86400s None [] [] {} None",
        ),
        (r#"{"pause": "250ms", "limit": "1.5s"}"#, "250ms 30s 7200s Some(1.5s) [] [] {} None"),
        (
            r#"{"timeout": "1s", "each": ["1s", "PT2S"], "maybe": [null, "3s"], "named": {"a": "4s"}}"#,
            r#"1s 30s 7200s None [1s, 2s] [None, Some(3s)] {"a": 4s} None"#,
        ),
        (
            r#"{"timeout": "1s", "retry": {"pause": "5s"}}"#,
            "1s 30s 7200s None [] [] {} Some(Retry { wait: 5s, most: 60s, first: 1.5s })",
        ),
    ] {
        assert_eq!(text(tool_ref!(wait), arguments).await, expected, "{arguments}");
    }
}

#[tokio::test]
async fn a_wrong_duration_is_told_at_its_place() {
    let expected = r#"expected a duration such as "30s", "1h30m" or "PT30S", got"#;
    for (arguments, place, got) in [
        (r#"{"timeout": "soon"}"#, "/timeout", r#"the string "soon""#),
        (r#"{"timeout": 30}"#, "/timeout", "the number 30"),
        (r#"{"timeout": "1s", "each": ["1s", "P1Y"]}"#, "/each/1", r#"the string "P1Y""#),
        (r#"{"timeout": "1s", "retry": {"wait": "-1s"}}"#, "/retry/wait", r#"the string "-1s""#),
    ] {
        assert_eq!(
            problems(tool_ref!(wait), arguments).await,
            format!("{place}: {expected} {got}"),
            "{arguments}"
        );
    }
}

#[tokio::test]
async fn a_bound_duration_is_read() {
    let tool = tool_ref!(wait).bind("timeout", "PT5S");
    assert_eq!(text(tool, "{}").await, "5s 30s 7200s None [] [] {} None");
}

/// Says how long to wait.
#[tool(read_only)]
fn configured(config: Config<Retry>) -> String {
    format!("{config:?}")
}

#[tokio::test]
async fn a_configured_duration_is_a_text_too() {
    let configuration =
        Configuration::load(LoadOptions::new().set("tools.settings.configured.wait=45s")).unwrap();
    let toolkit = Toolkit::empty().tool(tool_ref!(configured)).configuration(configuration).build().unwrap();
    let toolbox = toolkit.toolbox(&Caller::new()).await;
    let result = toolbox.call(ToolCall::new("1", "configured", "{}")).await;
    assert!(result.text().contains("wait: 45s, most: 60s, first: 1.5s"), "{}", result.text());
}

#[toolkit::args]
struct Span {
    secs: u64,
    nanos: u32,
}

/// Takes a type that looks like a duration.
#[tool(read_only)]
fn span(span: Span) -> String {
    format!("{} {}", span.secs, span.nanos)
}

#[tokio::test]
async fn a_type_of_ones_own_with_such_fields_stays_an_object() {
    assert_eq!(schema(&tool_ref!(span), "span")["type"], "object");
    assert_eq!(text(tool_ref!(span), r#"{"span": {"secs": 1, "nanos": 2}}"#).await, "1 2");
}

#[cfg(feature = "chrono")]
mod chrono_types {
    use super::*;
    use chrono::{DateTime, FixedOffset, NaiveDate, NaiveTime, Utc};

    #[toolkit::args]
    struct Meeting {
        #[arg(alias = "on")]
        day: NaiveDate,
        from: Option<NaiveTime>,
    }

    /// Plans.
    #[tool(read_only)]
    fn plan(
        /// When it begins.
        #[arg(alias = "start")]
        begin: DateTime<Utc>,
        end: Option<DateTime<FixedOffset>>,
        #[arg(default)] days: Vec<NaiveDate>,
        meeting: Option<Meeting>,
    ) -> String {
        let meeting = meeting.map(|meeting| (meeting.day, meeting.from));
        format!("{begin} {end:?} {days:?} {meeting:?}")
    }

    #[test]
    fn their_schemas_name_the_format() {
        let tool = tool_ref!(plan);
        let begin = json!({"type": "string", "description": "When it begins.", "format": "date-time"});
        assert_eq!(schema(&tool, "begin"), begin);
        assert_eq!(schema(&tool, "days")["items"], json!({"type": "string", "format": "date"}));
        assert_eq!(schema(&tool, "meeting")["properties"]["day"]["format"], "date");
    }

    #[tokio::test]
    async fn they_are_read() {
        let arguments = r#"{"start": "2026-01-31T12:00:00+01:00", "end": "2026-01-31T13:00:00+01:00",
            "days": ["2026-02-01"], "meeting": {"on": "2026-02-02", "from": "09:30:00"}}"#;
        assert_eq!(
            text(tool_ref!(plan), arguments).await,
            "2026-01-31 11:00:00 UTC Some(2026-01-31T13:00:00+01:00) [2026-02-01] Some((2026-02-02, Some(09:30:00)))"
        );
    }

    #[tokio::test]
    async fn a_value_that_is_no_time_is_told_at_its_place() {
        let told = problems(tool_ref!(plan), r#"{"begin": "tomorrow"}"#).await;
        assert!(told.starts_with("/begin: expected"), "{told}");
        let told = problems(tool_ref!(plan), r#"{"begin": 5}"#).await;
        assert_eq!(told, "/begin: expected a string in the format `date-time`, got the number 5");
    }
}

#[cfg(all(feature = "uuid", feature = "url"))]
mod names {
    use super::*;
    use url::Url;
    use uuid::Uuid;

    #[toolkit::args]
    struct Page {
        #[arg(alias = "href")]
        address: Url,
        id: Option<Uuid>,
    }

    /// Opens a page.
    #[tool(read_only)]
    fn open(
        #[arg(alias = "key")] id: Uuid,
        #[arg(default)] addresses: Vec<Url>,
        page: Option<Page>,
    ) -> String {
        let page = page.map(|page| (page.address.to_string(), page.id));
        let addresses: Vec<String> = addresses.iter().map(ToString::to_string).collect();
        format!("{id} {addresses:?} {page:?}")
    }

    #[test]
    fn their_schemas_name_the_format() {
        let tool = tool_ref!(open);
        assert_eq!(schema(&tool, "id"), json!({"type": "string", "format": "uuid"}));
        assert_eq!(schema(&tool, "addresses")["items"], json!({"type": "string", "format": "uri"}));
        assert_eq!(schema(&tool, "page")["properties"]["address"]["format"], "uri");
    }

    #[tokio::test]
    async fn they_are_read() {
        let id = "67e55044-10b1-426f-9247-bb680e5fe0c8";
        let arguments = format!(
            r#"{{"key": "{id}", "addresses": ["https://example.com/a"], "page": {{"href": "file:///b", "id": "{id}"}}}}"#
        );
        assert_eq!(
            text(tool_ref!(open), &arguments).await,
            format!(r#"{id} ["https://example.com/a"] Some(("file:///b", Some({id})))"#)
        );
    }

    #[tokio::test]
    async fn a_value_that_is_none_is_told_at_its_place() {
        for (arguments, place) in [
            (r#"{"id": "5"}"#, "/id: expected"),
            (r#"{"id": "67e55044-10b1-426f-9247-bb680e5fe0c8", "addresses": ["nowhere"]}"#, "/addresses"),
        ] {
            let told = problems(tool_ref!(open), arguments).await;
            assert!(told.starts_with(place), "{told}");
        }
    }
}
