//! A server that does not keep to the protocol, in the way that its argument says: for tests of a client.

#![expect(clippy::print_stdout, reason = "it speaks on its standard output")]

use serde_json::{Value, json};
use std::io::Write as _;

fn say(message: &Value) {
    let mut out = std::io::stdout().lock();
    if writeln!(out, "{message}").and_then(|()| out.flush()).is_err() {
        std::process::exit(0);
    }
}

fn answer(id: &Value, result: &Value) {
    say(&json!({"jsonrpc": "2.0", "id": id, "result": result}));
}

fn tool(name: &str) -> Value {
    json!({"name": name, "description": "d", "inputSchema": {"type": "object"}})
}

/// The answer to `tools/list`.
fn tools(how: &str, cursor: Option<&str>) -> Value {
    match how {
        "many" => json!({"tools": (0..10_000).map(|number| tool(&format!("t{number}"))).collect::<Vec<_>>()}),
        "endless-pages" => json!({"tools": [tool(&format!("p{}", cursor.map_or(0, str::len)))],
            "nextCursor": format!("{}x", cursor.unwrap_or_default())}),
        "huge-pages" => {
            let mut huge = tool(&format!("p{}", cursor.map_or(0, str::len)));
            huge["description"] = "x".repeat(6 << 20).into();
            json!({"tools": [huge, tool("small")], "nextCursor": format!("{}x", cursor.unwrap_or_default())})
        }
        "huge" => {
            let mut huge = tool("huge");
            huge["inputSchema"]["properties"] =
                (0..20_000).map(|number| (format!("p{number}"), json!({"type": "string"}))).collect();
            json!({"tools": [huge, tool("small")]})
        }
        "broken" => json!({"tools": [
            tool("good"), {"name": "no_schema"}, {"name": "list", "inputSchema": []}, {"inputSchema": {"type": "object"}}, 7,
            {"name": "elsewhere", "inputSchema": {"type": "object", "properties": {"a": {"$ref": "https://example.org/x.json"}}}},
            {"name": "circle", "inputSchema": {"type": "object", "properties": {"a": {"$ref": "#/properties/a"}}}},
            {"name": "invalid", "inputSchema": {"type": "object", "properties": {"a": {"type": "nothing"}}}},
            {"name": "no object", "inputSchema": {"type": "string"}},
            {"name": "task", "inputSchema": {"type": "object"}, "execution": {"taskSupport": "required"}},
            tool("twice"), tool("twice"), tool("read"), tool("good-one"), tool("日本"),
        ]}),
        "tasks" => {
            let execution = |name: &str, support: &str| {
                let mut tool = tool(name);
                tool["execution"] = json!({"taskSupport": support});
                tool
            };
            json!({"tools": [tool("call"), execution("only", "required"), execution("also", "optional")]})
        }
        "wrong-structure" => {
            let mut summing = tool("call");
            summing["outputSchema"] =
                json!({"type": "object", "properties": {"sum": {"type": "integer"}}, "required": ["sum"]});
            json!({"tools": [summing]})
        }
        "no-list" => json!({"tools": "none"}),
        _ => json!({"tools": [tool("call")]}),
    }
}

fn call(how: &str, id: &Value, arguments: &Value) {
    match how {
        "wrong-ids" => {
            answer(&json!("none"), &json!({"content": [{"type": "text", "text": "for nobody"}]}));
            answer(&json!(999_999), &json!({"content": []}));
            answer(&json!(null), &json!({"content": []}));
            answer(id, &json!({"content": [{"type": "text", "text": "right"}]}));
            answer(id, &json!({"content": [{"type": "text", "text": "again"}]}));
        }
        "wrong-structure" => answer(
            id,
            &json!({"content": [{"type": "text", "text": "five"}], "structuredContent": {"sum": "five"}}),
        ),
        "wrong-answer" => answer(id, &json!({"content": "text"})),
        "endless-answer" => {
            let part = vec![b'x'; 65_536];
            while std::io::stdout().lock().write_all(&part).is_ok() {}
            std::process::exit(0);
        }
        // As its argument says, so that one call can go wrong and the next one right.
        "unreadable" => unreadable(arguments["how"].as_str().unwrap_or_default(), id),
        // Asks, and never listens again.
        "pings" => loop {
            say(&json!({"jsonrpc": "2.0", "id": 1, "method": "ping"}));
        },
        "many-questions" => {
            let ask = json!({"method": "elicitation/create", "params": {"mode": "form", "message": "Again?",
                "requestedSchema": {"type": "object", "properties": {"a": {"type": "boolean"}}}}});
            let requests: serde_json::Map<String, Value> =
                (0..1_000).map(|number| (format!("q{number}"), ask.clone())).collect();
            answer(
                id,
                &json!({"resultType": "input_required", "inputRequests": requests, "requestState": "s"}),
            );
        }
        "large-answer" => {
            answer(id, &json!({"content": [{"type": "text", "text": "large ".repeat(2 << 20)}]}));
        }
        "endless-questions" => {
            let ask = json!({"method": "elicitation/create", "params": {"mode": "form", "message": "Again?",
                "requestedSchema": {"type": "object", "properties": {"a": {"type": "boolean"}}}}});
            answer(
                id,
                &json!({"resultType": "input_required", "inputRequests": {"q": ask}, "requestState": "s"}),
            );
        }
        "error" => {
            say(
                &json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32602, "message": "no \u{1b}[2Jway"}}),
            );
        }
        "junk" => {
            println!("{{\"jsonrpc\": \"2.0\", \u{0}\nnull\n[]\n[1, 2\n\"\n{{}}");
            say(
                &json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": {}, "progress": "x"}}),
            );
            say(&json!({"jsonrpc": "2.0", "id": 1, "method": "roots/list"}));
            say(&json!({"jsonrpc": "2.0", "id": 2, "method": "sampling/createMessage", "params": {}}));
            answer(id, &json!({"content": [{"type": "text", "text": "after junk"}]}));
        }
        // Nothing ever comes.
        _ => {}
    }
}

/// An answer that cannot be read.
fn unreadable(how: &str, id: &Value) {
    let text = |before: &str, value: &[u8], after: &str| {
        let mut out = std::io::stdout().lock();
        let parts = [before.as_bytes(), value, after.as_bytes(), b"\n"];
        if parts.iter().try_for_each(|part| out.write_all(part)).and_then(|()| out.flush()).is_err() {
            std::process::exit(0);
        }
    };
    let begin = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":"#);
    let late = format!(r#","jsonrpc":"2.0","id":{id}}}"#);
    let nested = |levels: usize| format!("{}1{}", "[".repeat(levels), "]".repeat(levels));
    match how {
        "deep" => text(
            &begin,
            format!(r#"{{"content":[],"structuredContent":{{"a":{}}}}}"#, nested(130)).as_bytes(),
            "}",
        ),
        "nearly" => text(
            &begin,
            format!(r#"{{"content":[],"structuredContent":{{"a":{}}}}}"#, nested(100)).as_bytes(),
            "}",
        ),
        "deeper" => text(&begin, nested(100_000).as_bytes(), "}"),
        "json" => text(&begin, br#"{"content":[}"#, ""),
        "cut" => text(&begin, br#"{"content":[{"type":"text","text":"so far"#, ""),
        "utf8" => text(&begin, b"{\"content\":[{\"type\":\"text\",\"text\":\"\xff\xfe\"}]}", "}"),
        "shape" => text(&begin, br#"{"content":[]},"error":{"code":1,"message":"m"}"#, "}"),
        "no-id" => text(r#"{"jsonrpc":"2.0","result":{"content":["#, b"}", ""),
        "no-outcome" => text("", format!(r#"{{"jsonrpc":"2.0","id":{id}}}"#).as_bytes(), ""),
        "null-id" => text("", br#"{"jsonrpc":"2.0","error":{"code":-32700,"message":"Parse error"}}"#, ""),
        "huge" => text(&begin, &[vec![b'"'], vec![b'x'; 3 << 20], vec![b'"']].concat(), "}"),
        "huge-late" => text(r#"{"result":"#, &[vec![b'"'], vec![b'x'; 3 << 20], vec![b'"']].concat(), &late),
        "endless" => {
            let part = vec![b'x'; 65_536];
            let mut out = std::io::stdout().lock();
            while out.write_all(&part).is_ok() {}
            std::process::exit(0);
        }
        _ => answer(id, &json!({"content": [{"type": "text", "text": "fine"}]})),
    }
}

fn main() {
    let how = std::env::args().nth(1).unwrap_or_default();
    if how == "flood" {
        loop {
            println!("flood");
        }
    }
    for line in std::io::stdin().lines() {
        let Ok(line) = line else { return };
        let Ok(message) = serde_json::from_str::<Value>(&line) else { continue };
        let id = &message["id"];
        match message["method"].as_str() {
            Some("server/discover") if how != "older" => answer(
                id,
                &json!({"resultType": "complete", "supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}},
                    "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "hostile", "version": "1"}}}),
            ),
            Some("initialize") => answer(
                id,
                &json!({"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
                    "serverInfo": {"name": "hostile", "version": "1"}}),
            ),
            Some("tools/list") if how == "rude" => {
                say(&json!({"jsonrpc": "2.0", "id": id, "error": {"code": -1, "message": "\u{1b}[2Jgone"}}));
            }
            Some("tools/list") => answer(id, &tools(&how, message["params"]["cursor"].as_str())),
            Some("tools/call") => call(&how, id, &message["params"]["arguments"]),
            Some(_) if !id.is_null() => {
                say(
                    &json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32601, "message": "Method not found"}}),
                );
            }
            _ => {}
        }
    }
}
