//! Schemas of functions that are not valid: each is an error of `build()`.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use toolkit::prelude::*;

/// A type whose author wrote its schema.
macro_rules! own_schema {
    ($name:ident, $schema:expr) => {
        #[derive(Debug, Default, Deserialize, Serialize)]
        struct $name {}

        impl JsonSchema for $name {
            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                $schema
            }
        }
    };
}

own_schema!(Nonsense, json_schema!({ "type": "nonsense" }));
own_schema!(Circle, json_schema!({ "$ref": "#" }));
own_schema!(Pattern, json_schema!({ "type": "string", "pattern": "(" }));
own_schema!(Panics, panic!("no schema"));
own_schema!(Text, json_schema!({ "type": "string" }));
own_schema!(
    Inner,
    json_schema!({ "type": "object", "properties": { "deep": { "type": "integer", "default": "x" } } })
);

#[toolkit::args]
#[derive(Debug)]
#[serde(untagged)]
enum Again {
    Text(String),
    Again(Box<Again>),
}

/// Has a type of its own.
#[tool(read_only)]
async fn nonsense(a: Nonsense) -> String {
    format!("{a:?}")
}

/// Has a pattern that is none.
#[tool(read_only)]
async fn pattern(a: Vec<Pattern>) -> String {
    format!("{a:?}")
}

/// Has a type that panics.
#[tool(read_only)]
async fn panics(a: Panics) -> String {
    format!("{a:?}")
}

/// Goes round.
#[tool(read_only)]
async fn again(a: Option<Again>) -> String {
    format!("{a:?}")
}

/// Has a default that is no text.
#[tool(read_only)]
async fn text(#[arg(default)] a: Text) -> String {
    format!("{a:?}")
}

/// Has an example that is no text.
#[tool(read_only)]
async fn example(#[arg(example = Text {})] a: Text) -> String {
    format!("{a:?}")
}

/// Has a default within a type.
#[tool(read_only)]
async fn inner(a: Inner) -> String {
    format!("{a:?}")
}

#[toolkit::args]
struct Whole {
    #[arg(default, length(1..))]
    name: String,
}

/// Takes all as one.
#[tool(read_only)]
async fn whole(#[args] all: Whole) -> String {
    all.name
}

/// Has an example that its range refuses.
#[tool(read_only)]
async fn ranged(#[arg(range(1..=LIMIT), example = LIMIT + 1)] n: u8) -> String {
    n.to_string()
}

const LIMIT: u8 = 9;

fn boom() -> String {
    panic!("no default")
}

/// Has a default that panics.
#[tool(read_only)]
async fn bad_default(#[arg(default = boom())] text: String) -> String {
    text
}

/// Returns a type whose schema is not valid.
#[tool(read_only)]
async fn output() -> Json<Circle> {
    Json(Circle {})
}

const SECRET: &str = "hunter2";

/// Has a secret as a default that does not fit.
#[tool(read_only)]
async fn secret(#[arg(secret, default = SECRET, length(20..))] password: &str) -> String {
    password.to_owned()
}

fn tools() -> Vec<(Tool, &'static str)> {
    vec![
        (toolkit::tool_ref!(nonsense), "the schema of the tool `nonsense`"),
        (toolkit::tool_ref!(pattern), "the schema of the tool `pattern`"),
        (toolkit::tool_ref!(panics), "a type, a default or an example panicked: no schema"),
        (toolkit::tool_ref!(again), "the type `Again` refers to itself without end"),
        (
            toolkit::tool_ref!(text),
            "the default of `a` does not fit its own rules, which ask for a string, and it is {}",
        ),
        (
            toolkit::tool_ref!(example),
            "the example of `a` does not fit its own rules, which ask for a string, and it is {}",
        ),
        (
            toolkit::tool_ref!(inner),
            "the default of `a.deep` does not fit its own rules, which ask for an integer, and it is \"x\"",
        ),
        (
            toolkit::tool_ref!(whole),
            "the default of `name` does not fit its own rules, which ask for a string of at least 1 character, and it is \"\"",
        ),
        (
            toolkit::tool_ref!(ranged),
            "the example of `n` does not fit its own rules, which ask for an integer from 1 to 9, and it is 10",
        ),
        (toolkit::tool_ref!(bad_default), "a type, a default or an example panicked: no default"),
        (toolkit::tool_ref!(output), "the output schema of the tool `output`"),
    ]
}

#[test]
fn a_schema_of_a_linked_tool_that_is_not_valid_is_an_error_of_the_build() {
    for (tool, expected) in tools() {
        let name = tool.name().to_owned();
        let error = Toolkit::empty().without_asking_first().tool(tool).build().unwrap_err();
        let [problem] = error.problems.as_slice() else { panic!("{name}: {error}") };
        assert!(
            problem.contains(&format!("the tool `{name}` (toolkit/tests/it/defaults/faults.rs:")),
            "{problem}"
        );
        assert!(problem.contains(expected), "{problem}");
    }
}

/// Registered later, it is left out alone, and its source learns why.
#[tokio::test]
async fn a_tool_that_is_added_later_is_refused_with_the_reason() {
    let toolkit = Toolkit::empty().without_asking_first().build().unwrap();
    for (tool, expected) in tools() {
        let error = toolkit.register(tool).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
    let source = toolkit::descriptor::Source::Runtime;
    let mut all: Vec<Tool> = tools().into_iter().map(|(tool, _)| tool).collect();
    all.push(Tool::builder("good").build(|_, _| async { "good" }).unwrap());
    let errors = toolkit.replace_source(&source, all);
    assert_eq!(errors.len(), tools().len());
    let names: Vec<String> =
        toolkit.toolbox(&Caller::new()).await.definitions().into_iter().map(|tool| tool.name).collect();
    assert_eq!(names, ["good"]);
}

#[test]
fn a_secret_is_not_in_the_error() {
    let error = Toolkit::empty()
        .without_asking_first()
        .tool(toolkit::tool_ref!(secret))
        .build()
        .unwrap_err()
        .to_string();
    assert!(error.contains("secret") && !error.contains("hunter2"), "{error}");
}
