//! Calls in what a model answered.

use super::properties::definition;
use proptest::prelude::*;
use serde_json::{Value, json};
use toolkit::{
    ToolCall,
    arguments::CallArguments,
    dialects::{CallFormatError, Definitions, Dialect, MAX_CALLS},
};

pub(crate) fn definitions(dialect: Dialect) -> Definitions {
    let schema =
        json!({"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": false});
    dialect.definitions(["read", "files.read"].map(|name| definition(name, &schema)))
}

fn parse(dialect: Dialect, answer: &Value) -> Result<Vec<ToolCall>, CallFormatError> {
    definitions(dialect).parse(answer)
}

#[test]
fn calls_are_found_in_whatever_holds_them() {
    let chat = json!({"role": "assistant", "content": null, "tool_calls": [
        {"id": "c1", "type": "function", "function": {"name": "read", "arguments": "{\"a\":\"x\"}"}}]});
    let item = json!({"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "read", "arguments": "{\"a\":\"x\"}"});
    let block = json!({"type": "tool_use", "id": "c1", "name": "read", "input": {"a": "x"}});
    let part =
        json!({"functionCall": {"id": "c1", "name": "read", "args": {"a": "x"}}, "thoughtSignature": "s"});
    let params = json!({"name": "read", "arguments": {"a": "x"}});
    for (dialect, answer) in [
        (Dialect::OpenAiChat, chat.clone()),
        (Dialect::OpenAiChat, json!({"choices": [{"message": chat, "finish_reason": "tool_calls"}]})),
        (Dialect::OpenAiChatStrict, json!({"message": chat})),
        (Dialect::OpenAiResponses, item.clone()),
        (Dialect::OpenAiResponses, json!([{"type": "reasoning", "summary": []}, item])),
        (
            Dialect::OpenAiResponses,
            json!({"object": "response", "output": [{"type": "message", "content": []}, item]}),
        ),
        (
            Dialect::OpenAiResponsesStrict,
            json!({"type": "response.completed", "response": {"output": [item]}}),
        ),
        (
            Dialect::Anthropic,
            json!({"role": "assistant", "content": [{"type": "text", "text": "Let me see."}, block]}),
        ),
        (Dialect::Anthropic, json!([block])),
        (
            Dialect::Gemini,
            json!({"candidates": [{"content": {"role": "model", "parts": [{"text": "hm"}, part]}}]}),
        ),
        (Dialect::Gemini, json!({"parts": [part]})),
        (Dialect::Gemini, json!([{"function_call": {"id": "c1", "name": "read", "args": {"a": "x"}}}])),
        (Dialect::Mcp, json!({"jsonrpc": "2.0", "id": "c1", "method": "tools/call", "params": params})),
    ] {
        let calls = parse(dialect, &answer).unwrap();
        let [call] = calls.as_slice() else { panic!("{dialect}: {answer}") };
        assert_eq!((call.id.as_str(), call.name.as_str()), ("c1", "read"), "{dialect}: {answer}");
        let expected = [CallArguments::from("{\"a\":\"x\"}"), CallArguments::from(json!({"a": "x"}))];
        assert!(expected.contains(&call.arguments), "{dialect}: {:?}", call.arguments);
    }
    for (dialect, answer) in [
        (Dialect::OpenAiChat, json!({"role": "assistant", "content": "Hello."})),
        (Dialect::OpenAiChat, json!({"choices": []})),
        (Dialect::OpenAiChat, json!({"choices": [{"message": null}]})),
        (Dialect::OpenAiChat, json!({"tool_calls": [{"type": "something new"}]})),
        (Dialect::OpenAiResponses, json!({"output": [{"type": "web_search_call"}]})),
        (Dialect::Anthropic, json!({"content": "Hello."})),
        (Dialect::Anthropic, json!({"content": [{"type": "server_tool_use", "name": "web_search"}]})),
        (Dialect::Gemini, json!({"candidates": [{"finishReason": "SAFETY"}]})),
        (Dialect::Gemini, json!({"candidates": []})),
        (Dialect::Mcp, json!({"id": 1, "method": "ping"})),
    ] {
        assert_eq!(parse(dialect, &answer).unwrap(), [], "{dialect}: {answer}");
    }
}

#[test]
fn what_is_wrong_is_named() {
    for (dialect, answer, expected) in [
        (Dialect::OpenAiChat, json!([]), "it should be an object, and is a list"),
        (Dialect::OpenAiChat, json!({"tool_calls": 5}), "`/tool_calls` should be a list, and is a number"),
        (
            Dialect::OpenAiChat,
            json!({"choices": [{"message": {"tool_calls": [7]}}]}),
            "`/choices/0/message/tool_calls/0` should be an object",
        ),
        (
            Dialect::OpenAiChat,
            json!({"tool_calls": [{"id": "1"}]}),
            "`/tool_calls/0/function` should be an object, and is missing",
        ),
        (
            Dialect::OpenAiChat,
            json!({"tool_calls": [{"function": {"name": ""}}]}),
            "should be the name of a tool, and is empty",
        ),
        (
            Dialect::OpenAiChat,
            json!({"tool_calls": [{"id": [], "function": {"name": "a"}}]}),
            "`/tool_calls/0/id` should be a string",
        ),
        (Dialect::OpenAiResponses, json!({"output": {}}), "`/output` should be a list, and is an object"),
        (
            Dialect::OpenAiResponses,
            json!([{"type": "function_call"}]),
            "`/0/name` should be the name of a tool, and is missing",
        ),
        (Dialect::Anthropic, json!({"content": 5}), "`/content` should be a list"),
        (
            Dialect::Anthropic,
            json!([{"type": "tool_use", "name": 5}]),
            "`/0/name` should be the name of a tool, and is a number",
        ),
        (
            Dialect::Gemini,
            json!({"candidates": [{"content": {"parts": "x"}}]}),
            "`/candidates/0/content/parts` should be a list",
        ),
        (
            Dialect::Gemini,
            json!([{"functionCall": {"name": "a", "willContinue": true}}]),
            "streamFunctionCallArguments",
        ),
        (Dialect::Mcp, json!({"method": "tools/call"}), "`/params` should be an object, and is missing"),
    ] {
        let error = parse(dialect, &answer).unwrap_err().to_string();
        assert!(error.contains(expected) && error.contains(dialect.name()), "{answer}: {error}");
    }
}

#[test]
fn ids_are_made_and_kept_apart() {
    let block = |id: Value| json!({"type": "tool_use", "id": id, "name": "read", "input": {}});
    let answer = json!([
        block(json!("x")),
        block(json!("x")),
        block(json!("x-2")),
        block(json!("")),
        block(json!(null)),
        block(json!(5))
    ]);
    let calls = parse(Dialect::Anthropic, &answer).unwrap();
    let ids: Vec<&str> = calls.iter().map(|call| call.id.as_str()).collect();
    // One that is given, however late, is no other's.
    assert_eq!([ids[0], ids[1], ids[2], ids[5]], ["x", "x-3", "x-2", "5"]);
    let unique: std::collections::HashSet<&str> = ids.iter().copied().collect();
    assert_eq!(unique.len(), 6, "{ids:?}");
    assert!(ids[3].len() > 8 && ids[4].len() > 8);
}

#[test]
fn arguments_come_as_they_are() {
    let call = |arguments: Value| json!({"tool_calls": [{"id": "1", "function": {"name": "read", "arguments": arguments}}]});
    for (given, expected) in [
        (json!(""), CallArguments::from(json!({}))),
        (json!("  "), CallArguments::from(json!({}))),
        (json!(null), CallArguments::from(json!({}))),
        (json!({"a": "x"}), CallArguments::from(json!({"a": "x"}))),
        // For the toolbox to tell the model.
        (json!("{\"a\":"), CallArguments::from("{\"a\":")),
        (json!("{\"a\": 1, \"a\": 2}"), CallArguments::from("{\"a\": 1, \"a\": 2}")),
        (json!("{\"a\": null, \"a\": null}"), CallArguments::from("{\"a\": null, \"a\": null}")),
        (json!(5), CallArguments::from(json!(5))),
    ] {
        for dialect in [Dialect::OpenAiChat, Dialect::OpenAiChatStrict] {
            assert_eq!(parse(dialect, &call(given.clone())).unwrap()[0].arguments, expected, "{given}");
        }
    }
    // Only where the dialect had to let it in.
    let null = call(json!("{\"a\":null}"));
    assert_eq!(parse(Dialect::OpenAiChatStrict, &null).unwrap()[0].arguments, CallArguments::from(json!({})));
    assert_eq!(parse(Dialect::OpenAiChat, &null).unwrap()[0].arguments, CallArguments::from("{\"a\":null}"));
}

#[test]
fn only_a_null_that_was_let_in_is_taken_out() {
    let schema = json!({"type": "object", "additionalProperties": false, "required": ["keep"], "properties": {
        "keep": {"type": ["string", "null"]},
        "both": {"type": ["integer", "null"]},
        "gone": {"type": "integer"},
        "enum": {"enum": ["a", "b"]},
        "list": {"type": "array", "items": {"type": "object", "properties": {"x": {"type": "string"}}, "additionalProperties": false}},
        "union": {"anyOf": [
            {"type": "object", "properties": {"kind": {"const": "p"}, "n": {"type": "integer"}}, "required": ["kind"], "additionalProperties": false},
            {"type": "object", "properties": {"kind": {"const": "q"}, "n": {"type": ["integer", "null"]}}, "required": ["kind", "n"], "additionalProperties": false},
            {"type": "array", "items": {"type": ["integer", "null"]}},
            {"type": "object", "properties": {"m": {"type": "integer"}}, "additionalProperties": false},
            {"type": "object", "properties": {"m": {"type": ["integer", "null"]}}, "required": ["m"], "additionalProperties": false},
        ]},
    }});
    let definitions = Dialect::OpenAiChatStrict.definitions([definition("t", &schema)]);
    for (written, read) in [
        (
            json!({"keep": null, "both": null, "gone": null, "enum": null, "list": null, "union": null}),
            json!({"keep": null, "both": null}),
        ),
        (
            json!({"keep": "", "both": 1, "gone": 2, "enum": "a", "list": [{"x": null}, {"x": "y"}], "union": {"kind": "p", "n": null}}),
            json!({"keep": "", "both": 1, "gone": 2, "enum": "a", "list": [{}, {"x": "y"}], "union": {"kind": "p"}}),
        ),
        (
            json!({"keep": "", "both": 1, "gone": null, "enum": "a", "list": [], "union": {"kind": "q", "n": null}}),
            json!({"keep": "", "both": 1, "enum": "a", "list": [], "union": {"kind": "q", "n": null}}),
        ),
        (
            json!({"keep": "", "both": 1, "gone": null, "enum": "a", "list": [], "union": [null, 1]}),
            json!({"keep": "", "both": 1, "enum": "a", "list": [], "union": [null, 1]}),
        ),
        // Of two variants that fit, the one that takes it as it stands is meant.
        (
            json!({"keep": "", "both": 1, "gone": null, "enum": "a", "list": [], "union": {"m": null}}),
            json!({"keep": "", "both": 1, "enum": "a", "list": [], "union": {"m": null}}),
        ),
    ] {
        let message =
            json!({"tool_calls": [{"id": "1", "function": {"name": "t", "arguments": written.to_string()}}]});
        assert_eq!(definitions.parse(&message).unwrap()[0].arguments, CallArguments::from(read), "{written}");
    }
}

#[test]
fn an_answer_that_is_a_failure_is_one() {
    for (dialect, answer, expected) in [
        (
            Dialect::OpenAiChat,
            json!({"error": {"message": "Rate limit\nreached", "type": "requests", "code": "rate_limit_exceeded"}}),
            "Rate limit\\u{a}reached (rate_limit_exceeded)",
        ),
        (Dialect::OpenAiChat, json!({"error": "no such model"}), "no such model"),
        (
            Dialect::OpenAiResponses,
            json!({"id": "r", "status": "failed", "output": [], "error": {"code": "server_error", "message": "It broke."}}),
            "It broke. (server_error)",
        ),
        (
            Dialect::Anthropic,
            json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}),
            "Overloaded (overloaded_error)",
        ),
        (
            Dialect::Gemini,
            json!({"error": {"code": 429, "message": "Quota", "status": "RESOURCE_EXHAUSTED"}}),
            "Quota (RESOURCE_EXHAUSTED)",
        ),
        (Dialect::Gemini, json!([{"error": {"code": 503, "message": "Overloaded"}}]), "Overloaded (503)"),
        (
            Dialect::Gemini,
            json!({"promptFeedback": {"blockReason": "SAFETY"}}),
            "the prompt was blocked (SAFETY)",
        ),
        (
            Dialect::Gemini,
            json!({"candidates": [{"content": {}, "finishReason": "MALFORMED_FUNCTION_CALL", "finishMessage": "call:read{"}]}),
            "the model's call of a tool cannot be read: call:read{ (MALFORMED_FUNCTION_CALL)",
        ),
    ] {
        let error = parse(dialect, &answer).unwrap_err();
        assert!(matches!(error, CallFormatError::Provider { .. }), "{answer}: {error:?}");
        assert!(error.to_string().contains(expected), "{answer}: {error}");
    }
    let choice = json!({"choices": [{"message": null, "finish_reason": "error", "error": {"code": 502, "message": "Gone"}}]});
    let error = parse(Dialect::OpenAiChat, &choice).unwrap_err().to_string();
    assert!(error.ends_with("Gone (502)"), "{error}");
    // Values that say that there are no calls.
    assert_eq!(parse(Dialect::OpenAiResponses, &json!({"output": [], "error": null})), Ok(Vec::new()));
    assert_eq!(
        parse(Dialect::OpenAiChat, &json!({"role": "assistant", "content": "", "error": {}})),
        Ok(Vec::new())
    );
}

#[test]
fn an_answer_that_was_cut_off_runs_nothing() {
    let chat = |arguments: &str| {
        json!({"choices": [{"finish_reason": "length", "message": {"tool_calls": [
        {"id": "1", "function": {"name": "read", "arguments": arguments}}]}}]})
    };
    let cut = Err(CallFormatError::CutOff { name: "read".to_owned() });
    assert_eq!(parse(Dialect::OpenAiChat, &chat("")), cut);
    assert_eq!(parse(Dialect::OpenAiChat, &chat("{\"a\":")), cut);
    assert_eq!(parse(Dialect::OpenAiChat, &chat("{\"a\":\"x\"}")).unwrap().len(), 1);
    let block = json!({"type": "tool_use", "id": "1", "name": "read", "input": {}});
    for stop in ["max_tokens", "model_context_window_exceeded", "refusal"] {
        assert_eq!(
            parse(Dialect::Anthropic, &json!({"stop_reason": stop, "content": [block]})),
            cut,
            "{stop}"
        );
    }
    let text = json!({"type": "text", "text": "and"});
    let whole = json!({"stop_reason": "max_tokens", "content": [block, text]});
    assert_eq!(parse(Dialect::Anthropic, &whole).unwrap().len(), 1);
    let item = json!({"type": "function_call", "call_id": "1", "name": "read", "arguments": "{", "status": "incomplete"});
    assert_eq!(parse(Dialect::OpenAiResponses, &item), cut);
}

#[test]
fn what_one_answer_may_hold_is_bounded() {
    let block = json!({"type": "tool_use", "name": "read", "input": {}});
    let many = Value::Array(vec![block; MAX_CALLS + 1]);
    assert_eq!(parse(Dialect::Anthropic, &many), Err(CallFormatError::TooManyCalls));
    let long = json!({"tool_calls": [{"function": {"name": "read", "arguments": "x".repeat(toolkit::dialects::MAX_ARGUMENT_BYTES + 1)}}]});
    assert_eq!(parse(Dialect::OpenAiChat, &long), Err(CallFormatError::TooLong));
}

#[test]
fn a_call_with_a_changed_name_finds_its_tool() {
    let definitions = definitions(Dialect::Anthropic);
    let shown = &definitions.tool("files.read").unwrap().shown_name;
    assert!(!shown.contains('.'));
    let calls =
        definitions.parse(&json!([{"type": "tool_use", "id": "1", "name": shown, "input": {}}])).unwrap();
    assert_eq!(calls[0].name, "files.read");
}

/// Any JSON, with keys that the dialects have.
fn hostile() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!(null)),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        "[a-z{}\"]{0,6}".prop_map(Value::from),
        prop::sample::select(vec![
            "function_call",
            "tool_use",
            "function",
            "content_block_start",
            "content_block_delta",
            "input_json_delta",
            "content_block_stop",
            "response.output_item.added",
            "response.output_item.done",
            "tools/call",
            "length",
            "response.function_call_arguments.delta",
            "response.function_call_arguments.done",
            "response.completed",
        ])
        .prop_map(Value::from),
    ];
    leaf.prop_recursive(6, 40, 6, |inner| {
        let key = prop::sample::select(vec![
            "choices",
            "message",
            "delta",
            "tool_calls",
            "function",
            "name",
            "arguments",
            "id",
            "index",
            "type",
            "output",
            "response",
            "item",
            "call_id",
            "content",
            "content_block",
            "input",
            "partial_json",
            "candidates",
            "parts",
            "functionCall",
            "args",
            "params",
            "method",
            "finish_reason",
            "stop_reason",
            "output_index",
            "item_id",
        ]);
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((key, inner), 0..6).prop_map(|members| members
                .into_iter()
                .map(|(key, value)| (key.to_owned(), value))
                .collect()),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nothing_that_comes_is_a_panic(answers in prop::collection::vec(hostile(), 1..5)) {
        for dialect in Dialect::ALL {
            let definitions = definitions(*dialect);
            let mut stream = definitions.stream();
            for answer in &answers {
                let _ = definitions.parse(answer);
                let _ = stream.push(answer);
            }
            let _ = stream.finish();
        }
    }

    #[test]
    fn calls_that_are_rendered_are_parsed_again(
        arguments in prop::collection::vec(prop_oneof![
            "[a-z\"\\\\é]{0,5}".prop_map(|text| CallArguments::from(json!({"a": text}))),
            Just(CallArguments::from(json!({}))),
        ], 1..4),
    ) {
        let names = ["read", "files.read"];
        let calls: Vec<ToolCall> = arguments
            .into_iter()
            .enumerate()
            .map(|(place, arguments)| ToolCall::new(format!("call_{place}"), names[place % 2], arguments))
            .collect();
        for dialect in Dialect::ALL {
            let definitions = definitions(*dialect);
            let messages = definitions.render_calls(&calls);
            let answers = match dialect {
                Dialect::OpenAiResponses | Dialect::OpenAiResponsesStrict => vec![Value::Array(messages)],
                _ => messages,
            };
            let mut again = Vec::new();
            for answer in &answers {
                again.extend(definitions.parse(answer).unwrap());
            }
            let as_values = |calls: &[ToolCall]| -> Vec<(String, String, Value)> {
                calls
                    .iter()
                    .map(|call| {
                        let arguments = match &call.arguments {
                            CallArguments::Text(text) => serde_json::from_str(text).unwrap(),
                            CallArguments::Json(value) => value.clone(),
                            other => panic!("{other:?}"),
                        };
                        (call.id.clone(), call.name.clone(), arguments)
                    })
                    .collect()
            };
            prop_assert_eq!(as_values(&again), as_values(&calls), "{}", dialect);
        }
    }
}
