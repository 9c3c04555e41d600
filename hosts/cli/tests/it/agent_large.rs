//! Large results of servers of the Model Context Protocol in the requests to a model with a small context window.

#![cfg(all(target_os = "linux", feature = "mcp", feature = "fs"))]

use crate::agent::{Bench, call, chunks};
use crate::mcp_other_clients::large::{Files, rows};
use serde_json::{Value, json};
use std::fs;
use toolkit::text::estimated_tokens;
use toolkit_loopback::Answer;

const WINDOW_TOKENS: usize = 32_000;
/// Tokens that a picture is taken for.
const PICTURE_TOKENS: usize = 1_500;
/// Maximum number of bytes of a picture as Base64 that providers of models take.
const MAX_PICTURE_BYTES: usize = 5 << 20;

/// The parts of a request by which its size is known: all text, and the pictures and documents as Base64.
fn parts<'a>(value: &'a Value, texts: &mut Vec<&'a str>, data: &mut Vec<&'a str>) {
    match value {
        Value::String(text) if text.starts_with("data:") => data.push(text),
        Value::String(text) => texts.push(text),
        Value::Array(values) => values.iter().for_each(|value| parts(value, texts, data)),
        Value::Object(members) => members.iter().for_each(|(name, value)| {
            texts.push(name);
            parts(value, texts, data);
        }),
        _ => {}
    }
}

/// Returns what is wrong with a request for a model of that window.
fn fault(request: &Value) -> Option<String> {
    let (mut texts, mut data) = (Vec::new(), Vec::new());
    parts(request, &mut texts, &mut data);
    let text: usize = texts.iter().map(|text| estimated_tokens(text)).sum();
    let tokens = text + data.len() * PICTURE_TOKENS;
    let largest = data.iter().map(|data| data.len()).max().unwrap_or_default();
    (tokens > WINDOW_TOKENS || largest > MAX_PICTURE_BYTES)
        .then(|| format!("{text} tokens of text, {} pictures, the largest of {largest} bytes", data.len()))
}

/// The end of the task, with a text: it is a summary where the model is asked for one.
fn end() -> Answer {
    let function = json!({"name": "finish", "arguments": r#"{"success": true, "summary": "x"}"#});
    let calls = json!([{"index": 0, "id": "end", "type": "function", "function": function}]);
    chunks(&json!({"role": "assistant", "content": "A summary.", "tool_calls": calls}), "tool_calls")
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs the Python client of MCP: cargo xtask test"]
async fn a_large_result_of_any_kind_fits_the_window_of_a_model() {
    const SIZES: [u64; 3] = [100_000, 1_200_000, 20_000_000];
    let files = Files::new(&SIZES);
    let mut wrong = Vec::new();
    let of_server =
        |row: &Value| row[0].as_str().is_some_and(|tool| tool.contains("__") || tool.contains("resource"));
    // The largest come from servers alone.
    let rows = SIZES.into_iter().flat_map(|size| rows(size).into_iter().map(move |row| (size, row)));
    for (_, row) in rows.filter(|(size, row)| *size < SIZES[2] || of_server(row)) {
        let (tool, arguments) = (row[0].as_str().unwrap(), &row[1]);
        let bench = Bench::new([vec![call("1", tool, arguments)], vec![end(); 3]].concat()).await;
        let mut settings = files.settings();
        let url = format!("{}/v1", bench.server.url());
        settings["models"] = json!({"local": {"baseUrl": url, "model": "m", "contextTokens": WINDOW_TOKENS}});
        fs::write(bench.directory.path().join("user/toolkit.json5"), settings.to_string()).unwrap();
        let mut command = bench.any_command(&["agent", "Look at it."]);
        command.current_dir(files.person.path("work"));
        let ran = tokio::task::spawn_blocking(move || crate::fixture::finish(&mut command)).await.unwrap();
        let requests = bench.server.requests();
        assert!(ran.code == 0 && requests.len() >= 2, "{row}: {ran:?}");
        let faults = requests.iter().filter_map(|request| fault(&request.json()));
        wrong.extend(faults.map(|fault| format!("{row}: {fault}")));
        // The model is told where it can read the rest.
        let said = requests[1].json()["messages"].to_string();
        let size = fs::metadata(files.person.path("work").join(row[2].as_str().unwrap())).unwrap().len();
        let is_shown = said.contains("data:image/") || said.len() as u64 > size;
        if !is_shown && !said.contains("tool-output") {
            wrong.push(format!("{row}: nothing tells where the rest is"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
