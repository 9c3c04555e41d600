//! Limits of what a model reads of a server's result, for every kind of content.

use crate::client::Host;
use crate::client::scripted::{Answer, Request, Scripted};
use serde_json::{Value, json};
use toolkit::dialects::Dialect;
use toolkit::output::{LeftOutMedia, OutputLocation};
use toolkit::{ToolCall, ToolResult};

/// A picture of one pixel.
const PIXEL: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/// A server with one tool, and one resource of any URI.
fn server(result: Value, contents: Value) -> Scripted {
    Scripted::new(move |request: &Request| {
        let id = &request.message["id"];
        let answer = |result: Value| Answer::json(&json!({"jsonrpc": "2.0", "id": id, "result": result}));
        match request.message["method"].as_str() {
            Some("initialize") => answer(json!({
                "protocolVersion": "2025-11-25", "capabilities": {"tools": {}, "resources": {}},
                "serverInfo": {"name": "scripted", "version": "1"},
            })),
            Some("tools/list") => {
                answer(json!({"tools": [{"name": "call", "inputSchema": {"type": "object"}}]}))
            }
            Some("tools/call") => answer(result.clone()),
            Some("resources/read") => answer(json!({"contents": contents})),
            Some(_) if id.is_null() => Answer::status(202),
            _ => {
                Answer::json(&json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32601, "message": "no"}}))
            }
        }
    })
}

/// The characters that a request to a model has of a result, without those of pictures that the model can see.
async fn request_of(host: &Host, result: &ToolResult) -> usize {
    let definitions = host.toolbox().await.definitions_for(Dialect::Anthropic);
    let mut request = definitions.render(std::slice::from_ref(result));
    for message in &mut request {
        for block in message["content"].as_array_mut().into_iter().flatten() {
            for part in block["content"].as_array_mut().into_iter().flatten() {
                if part["type"] == "image" {
                    *part = Value::Null;
                }
            }
        }
    }
    serde_json::to_string(&request).unwrap().len()
}

#[tokio::test]
async fn no_kind_of_text_in_a_result_exceeds_the_limit_and_all_of_it_is_kept() {
    let long = format!("{}the end", "long ".repeat(200_000));
    let link = |key: &str| {
        let mut link = json!({"type": "resource_link", "uri": "x:1", "name": "n"});
        link[key] = json!(long);
        link
    };
    let many: Vec<Value> = (0..20_000)
        .map(|number| json!({"type": "resource_link", "uri": format!("x:{number} the end"), "name": "n"}))
        .collect();
    for (case, result) in [
        ("document", json!({"content": [{"type": "resource", "resource": {"uri": "x:1", "text": long}}]})),
        ("URI", json!({"content": [{"type": "resource", "resource": {"uri": long, "text": "t"}}]})),
        ("link", json!({"content": [link("uri")]})),
        ("name", json!({"content": [link("name")]})),
        ("description", json!({"content": [link("description")]})),
        ("media type", json!({"content": [link("mimeType")]})),
        ("links", json!({ "content": many })),
        (
            "structured content",
            json!({"content": [{"type": "text", "text": "1 item"}], "structuredContent": {"a": long}}),
        ),
    ] {
        let server = server(result, json!([]));
        let host = Host::new(json!({"h": {"url": server.url("/mcp")}}));
        let result = host.call("h__call", json!({})).await;
        let length = request_of(&host, &result).await;
        assert!((20_000..120_000).contains(&length), "{case}: {length}");
        let path = result.output().unwrap().metadata["truncation"]["kept"]["path"].as_str().unwrap();
        let kept = std::fs::read_to_string(path).unwrap();
        assert!(kept.contains("the end") && result.text().contains(path), "{case}");
    }
}

#[tokio::test]
async fn data_that_is_no_picture_and_too_many_pictures_are_saved_and_named() {
    let picture = |data: &str| json!({"type": "image", "data": data, "mimeType": "image/png"});
    let page = data_encoding::BASE64.encode("<html>no picture</html>".repeat(30_000).as_bytes());
    let blob = json!({"type": "resource", "resource": {"uri": "x:1", "blob": page, "mimeType": "image/png"}});
    let pixels: Vec<Value> = (0..300).map(|_| picture(PIXEL)).collect();
    let mut wrong = picture(PIXEL);
    wrong["mimeType"] = json!("image/jpeg");
    for (case, content, shown, left_out) in [
        ("a pixel", vec![picture(PIXEL)], 1, 0),
        ("of another type", vec![wrong], 1, 0),
        ("no picture", vec![picture(&page), picture(PIXEL)], 1, 1),
        ("no picture in a document", vec![blob], 0, 1),
        ("many", pixels, 20, 50),
        ("long type", vec![json!({"type": "audio", "data": PIXEL, "mimeType": "x".repeat(500_000)})], 1, 0),
    ] {
        let server = server(json!({ "content": content }), json!([]));
        let host = Host::new(json!({"h": {"url": server.url("/mcp")}}));
        let result = host.call("h__call", json!({})).await;
        let output = result.output().unwrap();
        let data = output.content.iter().filter(|block| block.as_bytes().is_some());
        let listed = LeftOutMedia::of(output);
        assert_eq!((data.count(), listed.len()), (shown, left_out), "{case}: {}", result.text());
        let length = request_of(&host, &result).await;
        assert!(length < 20_000, "{case}: {length}");
        for media in listed {
            let OutputLocation::Whole { path } = &media.kept else { panic!("{media:?}") };
            assert_eq!(std::fs::metadata(path).unwrap().len(), media.bytes, "{case}");
            assert!(result.text().contains(&*path.to_string_lossy()), "{case}: {}", result.text());
        }
        let is_png = output.content.iter().all(
            |block| !matches!(block, toolkit::Content::Image { mime_type, .. } if mime_type != "image/png"),
        );
        assert!(is_png, "{case}");
    }
}

#[tokio::test]
async fn a_resource_has_the_limits_of_a_result() {
    let page = data_encoding::BASE64.encode("<html>no picture</html>".repeat(30_000).as_bytes());
    for contents in [
        json!([{"uri": "x:1", "text": "long ".repeat(200_000)}]),
        json!([{"uri": "x:1", "blob": page, "mimeType": "image/png"}]),
    ] {
        let server = server(json!({}), contents);
        let host = Host::new(json!({"h": {"url": server.url("/mcp")}}));
        let toolbox = host.toolbox().await;
        let arguments = json!({"server": "h", "uri": "x:1"});
        let result = toolbox.call(ToolCall::new("1", "resource_read", arguments)).await;
        let length = request_of(&host, &result).await;
        assert!(
            length < 120_000 && result.text().contains("tool-output"),
            "{length}: {:.500}",
            result.text()
        );
    }
}
