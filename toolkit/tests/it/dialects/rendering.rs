//! Results as messages.

use super::calls::definitions;
use serde_json::{Value, json};
use toolkit::{ToolResult, dialects::Dialect};

fn result(id: &str, content: &Value) -> ToolResult {
    serde_json::from_value(json!({"id": id, "name": "files.read", "isError": false, "content": content}))
        .unwrap()
}

fn failure(id: &str) -> ToolResult {
    let error = json!({"kind": "not_found", "message": "there is no file `x`"});
    serde_json::from_value(json!({"id": id, "name": "read", "isError": true, "error": error})).unwrap()
}

fn image(kind: &str) -> Value {
    json!({"type": "image", "data": "YWJj", "mimeType": kind})
}

#[test]
fn results_are_said_in_the_order_asked() {
    let results = [
        result(
            "1",
            &json!([{"type": "text", "text": "one"}, {"type": "text", "text": ""}, {"type": "text", "text": "two"}]),
        ),
        failure("2"),
        result("3", &json!([])),
    ];
    let shown = |dialect| definitions(dialect).tool("files.read").unwrap().shown_name.clone();
    let failed = "there is no file `x`";
    let text = |text: &str| json!({"type": "text", "text": text});
    for (dialect, expected) in [
        (
            Dialect::OpenAiChat,
            json!([
            {"role": "tool", "tool_call_id": "1", "content": "one\ntwo"},
            {"role": "tool", "tool_call_id": "2", "content": failed},
            {"role": "tool", "tool_call_id": "3", "content": "Done."}]),
        ),
        (
            Dialect::OpenAiResponses,
            json!([
            {"type": "function_call_output", "call_id": "1", "output": "one\ntwo"},
            {"type": "function_call_output", "call_id": "2", "output": failed},
            {"type": "function_call_output", "call_id": "3", "output": "Done."}]),
        ),
        (
            Dialect::Anthropic,
            json!([{"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "1", "content": [text("one"), text("two")]},
            {"type": "tool_result", "tool_use_id": "2", "content": [text(failed)], "is_error": true},
            {"type": "tool_result", "tool_use_id": "3", "content": [text("Done.")]}]}]),
        ),
        (
            Dialect::Gemini,
            json!([{"role": "user", "parts": [
            {"functionResponse": {"id": "1", "name": shown(Dialect::Gemini), "response": {"output": "one\ntwo"}}},
            {"functionResponse": {"id": "2", "name": "read", "response": {"error": failed}}},
            {"functionResponse": {"id": "3", "name": shown(Dialect::Gemini), "response": {"output": "Done."}}}]}]),
        ),
        (
            Dialect::Mcp,
            json!([
            {"content": [text("one"), text(""), text("two")], "isError": false},
            {"content": [text(failed)], "isError": true},
            {"content": [], "isError": false}]),
        ),
    ] {
        assert_eq!(Value::Array(definitions(dialect).render(&results)), expected, "{dialect}");
        assert!(definitions(dialect).render(&[]).is_empty());
    }
}

#[test]
fn pictures_go_where_each_provider_takes_them() {
    let results = [
        result("1", &json!([{"type": "text", "text": "a chart"}, image("image/png")])),
        result("2", &json!([image("image/tiff")])),
    ];
    let render = |dialect| Value::Array(definitions(dialect).render(&results));
    let url = "data:image/png;base64,YWJj";

    let chat = render(Dialect::OpenAiChat);
    assert_eq!(chat[0]["content"], "a chart\n[a picture; it follows in a message of the user]");
    assert_eq!([&chat[1]["role"], &chat[2]["role"]], ["tool", "user"]);
    assert_eq!(chat[2]["content"][0]["text"], "From the result of `files.read` (1):");
    assert_eq!(chat[2]["content"][1], json!({"type": "image_url", "image_url": {"url": url}}));

    let responses = render(Dialect::OpenAiResponses);
    assert_eq!(responses[0]["output"][0], json!({"type": "input_text", "text": "a chart"}));
    assert_eq!(responses[0]["output"][1], json!({"type": "input_image", "image_url": url, "detail": "auto"}));

    let anthropic = render(Dialect::Anthropic);
    let source = json!({"type": "base64", "media_type": "image/png", "data": "YWJj"});
    assert_eq!(anthropic[0]["content"][0]["content"][1], json!({"type": "image", "source": source}));
    // It takes four kinds, and refuses the whole request for another.
    let named = "[a picture, image/tiff, 3 bytes; it cannot be shown here]";
    assert_eq!(anthropic[0]["content"][1]["content"], json!([{"type": "text", "text": named}]));

    let gemini = render(Dialect::Gemini);
    let parts = gemini[0]["parts"].as_array().unwrap();
    assert_eq!(parts.len(), 3);
    assert!(parts[1].get("functionResponse").is_some());
    assert_eq!(parts[2], json!({"inlineData": {"mimeType": "image/png", "data": "YWJj"}}));

    assert_eq!(render(Dialect::Mcp)[0]["content"][1], image("image/png"));
}

/// A GIF of this many pictures of one point.
fn gif(pictures: usize) -> Vec<u8> {
    let mut data = b"GIF89a\x01\0\x01\0\x80\0\0\0\0\0\xff\xff\xff".to_vec();
    for _ in 0..pictures {
        // How long it is shown, the picture, and its one block of data.
        data.extend(b"\x21\xf9\x04\0\x0a\0\0\0");
        data.extend(b"\x2c\0\0\0\0\x01\0\x01\0\0\x02\x02\x44\x01\0");
    }
    data.push(0x3b);
    data
}

#[test]
fn each_provider_is_sent_the_kinds_of_pictures_that_it_takes() {
    use Dialect::{Anthropic, Gemini, OpenAiChat, OpenAiResponses};
    let all = &[OpenAiChat, OpenAiResponses, Anthropic, Gemini][..];
    let encode = |data: &[u8]| data_encoding::BASE64.encode(data);
    let (still, moving) = (encode(&gif(1)), encode(&gif(2)));
    for (kind, data, sent, takers) in [
        ("image/png", "YWJj", "image/png", all),
        ("IMAGE/PNG; q=1", "YWJj", "image/png", all),
        ("image/jpeg", "YWJj", "image/jpeg", all),
        ("image/jpg", "YWJj", "image/jpeg", all),
        (" image/webp ", "YWJj", "image/webp", all),
        ("image/gif", &still, "image/gif", &[OpenAiChat, OpenAiResponses, Anthropic]),
        ("image/gif", &moving, "image/gif", &[Anthropic]),
        ("image/heic", "YWJj", "image/heic", &[Gemini]),
        ("image/heif", "YWJj", "image/heif", &[Gemini]),
        ("image/svg+xml", "YWJj", "", &[]),
        ("image/bmp", "YWJj", "", &[]),
        ("image/tiff", "YWJj", "", &[]),
        ("", "YWJj", "", &[]),
    ] {
        let picture = json!({"type": "image", "data": data, "mimeType": kind});
        let resource =
            json!({"type": "resource", "resource": {"uri": "x://pic", "mimeType": kind, "blob": data}});
        for dialect in all {
            for (block, is_named) in [(&picture, true), (&resource, !kind.is_empty())] {
                let rendered =
                    Value::Array(definitions(*dialect).render(&[result("1", &json!([block]))])).to_string();
                let is_sent = rendered.contains(data);
                assert_eq!(is_sent, takers.contains(dialect), "{dialect} {kind:?}: {rendered}");
                if is_sent {
                    let expected = match *dialect {
                        Anthropic => format!("\"media_type\":\"{sent}\""),
                        Gemini => format!("\"mimeType\":\"{sent}\""),
                        _ => format!("data:{sent};base64,"),
                    };
                    assert!(rendered.contains(&expected), "{dialect} {kind:?}: {rendered}");
                } else {
                    let what = if is_named { "a picture" } else { "the file" };
                    assert!(
                        rendered.contains(what) && rendered.contains("cannot be shown here"),
                        "{dialect} {kind:?}: {rendered}"
                    );
                }
            }
        }
    }
}

#[test]
fn sounds_and_documents_are_known_by_any_spelling_of_their_kind() {
    let block = |kind: &str| json!({"type": "audio", "data": "YWJj", "mimeType": kind});
    for (kind, format) in [("Audio/X-WAV", "wav"), ("audio/mpeg; rate=1", "mp3"), ("audio/mp3", "mp3")] {
        let rendered = definitions(Dialect::OpenAiChat).render(&[result("1", &json!([block(kind)]))]);
        assert_eq!(rendered[1]["content"][1]["input_audio"]["format"], format, "{kind}");
    }
    let gemini = definitions(Dialect::Gemini).render(&[result("1", &json!([block("audio/basic")]))]);
    assert_eq!(gemini[0]["parts"].as_array().unwrap().len(), 1, "{gemini:?}");
    let document = json!({"type": "resource", "resource": {"uri": "x://a.pdf", "mimeType": "Application/PDF; v=1", "blob": "YWJj"}});
    for dialect in [Dialect::OpenAiResponses, Dialect::Anthropic, Dialect::Gemini] {
        let rendered =
            Value::Array(definitions(dialect).render(&[result("1", &json!([document]))])).to_string();
        assert!(rendered.contains("YWJj") && rendered.contains("application/pdf"), "{dialect}: {rendered}");
    }
}

#[test]
fn nothing_of_a_result_is_silently_gone() {
    let blocks = json!([
        {"type": "audio", "data": "YWJj", "mimeType": "audio/wav"},
        {"type": "resource_link", "uri": "file:///log", "name": "log", "mimeType": "text/plain", "description": "The whole."},
        {"type": "resource", "resource": {"uri": "x://doc", "text": "within"}},
        {"type": "resource", "resource": {"uri": "x://a/b.pdf", "mimeType": "application/pdf", "blob": "YWJj"}},
        {"type": "resource", "resource": {"uri": "x://bin", "blob": "YWJj"}},
        {"type": "resource", "resource": {"uri": "x://pic", "mimeType": "image/png", "blob": "YWJj"}}]);
    for dialect in Dialect::ALL {
        let said = Value::Array(definitions(*dialect).render(&[result("1", &blocks)])).to_string();
        for part in ["file:///log", "The whole.", "within", "x://bin"] {
            assert!(said.contains(part), "{dialect} {part}: {said}");
        }
        let says_sound =
            ["input_audio", "a sound", "audio/wav", "\"audio\""].iter().any(|part| said.contains(part));
        let says_file = ["input_file", "document", "application/pdf", "x://a/b.pdf"]
            .iter()
            .any(|part| said.contains(part));
        assert!(says_sound && says_file && said.contains("image/png"), "{dialect}: {said}");
    }
}

#[test]
fn an_id_that_the_provider_did_not_give_is_not_given_back() {
    let definitions = definitions(Dialect::Gemini);
    let calls = definitions.parse(&json!([{"functionCall": {"name": "read"}}])).unwrap();
    let mut result = failure("x");
    result.id.clone_from(&calls[0].id);
    let rendered = definitions.render(&[result]);
    assert!(rendered[0]["parts"][0]["functionResponse"].get("id").is_none(), "{rendered:?}");
    let again = definitions.render_calls(&calls);
    assert!(again[0]["parts"][0]["functionCall"].get("id").is_none(), "{again:?}");
}

#[test]
fn structured_data_is_for_who_asked_for_its_schema() {
    let wire = json!({"name": "measure", "description": "Measures.", "inputSchema": {"type": "object"},
        "outputSchema": {"type": "object"}, "annotations": {"readOnlyHint": true, "idempotentHint": true}});
    let definitions = Dialect::Mcp.definitions([serde_json::from_value(wire).unwrap()]);
    let result = |name: &str| -> ToolResult {
        serde_json::from_value(json!({"id": "1", "name": name, "isError": false,
            "content": [{"type": "text", "text": "{}"}], "details": {"width": 1}}))
        .unwrap()
    };
    let rendered = definitions.render(&[result("measure"), result("other")]);
    assert_eq!(rendered[0]["structuredContent"], json!({"width": 1}));
    assert!(rendered[1].get("structuredContent").is_none());
}
