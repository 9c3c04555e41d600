//! Definitions, results and calls held against the libraries of the providers, and against a maker of grammars.

#![expect(clippy::unwrap_used, reason = "a test's helpers may panic too")]

#[path = "../../../toolkit/tests/it/dialects/random.rs"]
mod random;

use random::{Flavour, Random};
use serde_json::{Map, Value, json};
use std::fs;
use std::process::Command;
use toolkit::prelude::*;
use toolkit::{
    ToolResult,
    arguments::CallArguments,
    descriptor::Definition,
    dialects::{Definitions, Dialect, Strictness},
};
use toolkit_tests::{repository, run};

use builtin_tools as _;

/// So many schemas at random, beside the builtin tools.
const SCHEMAS: usize = 300;

async fn builtin() -> Vec<Definition> {
    let toolkit = Toolkit::builder().leave_out_incomplete().build().unwrap();
    let definitions = toolkit.toolbox(&Caller::new()).await.definitions();
    assert!(definitions.len() >= 8, "only {} of them", definitions.len());
    definitions
}

/// Tools with schemas that something fits: of another no grammar can be made.
fn generated() -> Vec<Definition> {
    let mut made = Vec::new();
    for seed in 0.. {
        let mut random = Random::new(seed);
        let flavour = if seed % 2 == 0 { Flavour::Any } else { Flavour::Closed };
        let schema = random::schema(&mut random, flavour);
        let Ok(validator) = jsonschema::draft202012::new(&schema) else { continue };
        let mut fits = (0..20).map(|_| random::value(&mut random, &schema, &schema, 0));
        if !fits.any(|value| value.is_object() && validator.is_valid(&value)) {
            continue;
        }
        let wire = json!({"name": format!("generated.{seed}"), "description": "Does something.", "inputSchema": schema,
            "annotations": {"readOnlyHint": false, "idempotentHint": false}});
        made.push(serde_json::from_value(wire).unwrap());
        if made.len() == SCHEMAS {
            break;
        }
    }
    made
}

fn results() -> Vec<ToolResult> {
    [
        json!({"id": "call_1", "name": "read", "isError": false, "content": [
            {"type": "text", "text": "a chart"}, {"type": "image", "data": "YWJj", "mimeType": "image/png"},
            {"type": "audio", "data": "YWJj", "mimeType": "audio/wav"},
            {"type": "resource", "resource": {"uri": "x://b.pdf", "mimeType": "application/pdf", "blob": "YWJj"}}]}),
        json!({"id": "call_2", "name": "generated.1", "isError": true,
            "error": {"kind": "failed", "message": "it went wrong"}}),
        json!({"id": "call_3", "name": "read", "isError": false, "content": []}),
    ]
    .into_iter()
    .map(|result| serde_json::from_value(result).unwrap())
    .collect()
}

#[tokio::test]
#[ignore = "needs the Python libraries of the providers: cargo xtask test"]
async fn the_libraries_of_the_providers_take_and_make_the_same() {
    let all: Vec<Definition> = builtin().await.into_iter().chain(generated()).collect();
    let all_said: Vec<Definitions> =
        Dialect::ALL.iter().map(|dialect| dialect.definitions(all.clone())).collect();
    let strict = all_said[1].tools().iter().filter(|tool| tool.strictness == Strictness::Strict).count();
    assert!(strict > 60, "only {strict} of {} tools are strict", all.len());
    let expected = [
        ("call_1", "read", json!({"file_path": "é \"quoted\" \\ 😀.txt", "offset": 3})),
        ("call_2", "generated.1", json!({"b": [1, 2.5, null, {"c": []}], "long": "x".repeat(100)})),
        ("call_3", "read", json!({})),
    ];
    let mut given = json!({"tools": {}, "results": {}, "calls": {}});
    for said in &all_said {
        let dialect = said.dialect().name();
        given["tools"][dialect] = said.to_json();
        given["results"][dialect] = said.render(&results()).into();
        if said.dialect() != Dialect::Mcp {
            let calls = expected.iter().map(|(id, name, arguments)| {
                let shown = &said.tool(name).unwrap().shown_name;
                json!({"id": id, "name": shown, "arguments": arguments.to_string()})
            });
            given["calls"][dialect] = calls.collect();
        }
    }
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("given.json");
    fs::write(&file, given.to_string()).unwrap();
    let python = repository().join("target/tools/python/bin/python");
    let script = repository().join("tests/tests/it/dialects/counterparts.py");
    let answers = run(Command::new(python).arg(script).arg(&file)).success();
    let answers: Map<String, Value> = serde_json::from_str(&answers).unwrap();
    assert_eq!(answers.len(), Dialect::ALL.len() - 1);
    for said in &all_said {
        let Some(answer) = answers.get(said.dialect().name()) else { continue };
        let whole = said.parse(&answer[0]).unwrap();
        let mut stream = said.stream();
        for event in answer[1].as_array().unwrap() {
            stream.push(event).unwrap();
        }
        for (what, calls) in [("whole", whole), ("streamed", stream.finish().unwrap())] {
            assert_eq!(calls.len(), expected.len(), "{} {what}", said.dialect());
            for (call, (id, name, arguments)) in calls.iter().zip(&expected) {
                assert_eq!((call.id.as_str(), call.name.as_str()), (*id, *name), "{} {what}", said.dialect());
                let value = match &call.arguments {
                    CallArguments::Json(value) => value.clone(),
                    CallArguments::Text(text) => serde_json::from_str(text).unwrap(),
                    other => panic!("{other:?}"),
                };
                assert_eq!(value, *arguments, "{} {what}", said.dialect());
            }
        }
    }
}
