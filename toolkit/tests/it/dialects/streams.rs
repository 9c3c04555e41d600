//! Calls whose answer comes in fragments.

use super::calls::definitions;
use proptest::prelude::*;
use serde_json::{Value, json};
use toolkit::{
    ToolCall,
    arguments::CallArguments,
    dialects::{CallFormatError, Dialect, JsonEvents, MAX_ARGUMENT_BYTES, MAX_CALLS},
};

/// A text in pieces that end at these places.
fn pieces(text: &str, cuts: &[usize]) -> Vec<String> {
    let chars: Vec<char> = text.chars().collect();
    let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut % (chars.len() + 1)).collect();
    cuts.extend([0, chars.len()]);
    cuts.sort_unstable();
    cuts.windows(2).map(|pair| chars[pair[0]..pair[1]].iter().collect()).collect()
}

/// The events of an answer with these calls, and the answer as a whole.
fn answer(dialect: Dialect, calls: &[(String, String)], cuts: &[usize]) -> (Vec<Value>, Value) {
    let mut events = Vec::new();
    match dialect {
        Dialect::OpenAiChat | Dialect::OpenAiChatStrict => {
            let chunk = |delta: Value| json!({"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": delta, "finish_reason": null}]});
            events.push(chunk(json!({"role": "assistant", "content": null})));
            for (index, (id, text)) in calls.iter().enumerate() {
                events.push(chunk(json!({"tool_calls": [{"index": index, "id": id, "type": "function",
                    "function": {"name": "read", "arguments": ""}}]})));
                for piece in pieces(text, cuts) {
                    events.push(chunk(
                        json!({"tool_calls": [{"index": index, "function": {"arguments": piece}}]}),
                    ));
                }
            }
            events.push(json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]}));
            events.push(json!({"choices": [], "usage": {"total_tokens": 5}}));
            let whole = calls.iter().map(|(id, text)| {
                json!({"id": id, "type": "function", "function": {"name": "read", "arguments": text}})
            });
            (
                events,
                json!({"choices": [{"message": {"tool_calls": whole.collect::<Vec<_>>()}, "finish_reason": "tool_calls"}]}),
            )
        }
        Dialect::OpenAiResponses | Dialect::OpenAiResponsesStrict => {
            events.push(json!({"type": "response.created", "response": {"output": []}}));
            let mut output = Vec::new();
            for (index, (id, text)) in calls.iter().enumerate() {
                let item = format!("fc_{index}");
                let call = |arguments: &str, status: &str| {
                    json!({"type": "function_call", "id": item, "call_id": id,
                    "name": "read", "arguments": arguments, "status": status})
                };
                events.push(json!({"type": "response.output_item.added", "output_index": index, "item": call("", "in_progress")}));
                for piece in pieces(text, cuts) {
                    events.push(json!({"type": "response.function_call_arguments.delta", "item_id": item,
                        "output_index": index, "delta": piece}));
                }
                events.push(json!({"type": "response.function_call_arguments.done", "item_id": item, "output_index": index,
                    "arguments": text}));
                events.push(json!({"type": "response.output_item.done", "output_index": index, "item": call(text, "completed")}));
                output.push(call(text, "completed"));
            }
            let whole = json!({"object": "response", "output": output});
            events.push(json!({"type": "response.completed", "response": whole}));
            (events, whole)
        }
        Dialect::Anthropic => {
            events.push(json!({"type": "message_start", "message": {"content": []}}));
            events.push(json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}));
            events.push(json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "So."}}));
            events.push(json!({"type": "content_block_stop", "index": 0}));
            let mut content = vec![json!({"type": "text", "text": "So."})];
            for (index, (id, text)) in calls.iter().enumerate() {
                let index = index + 1;
                events.push(json!({"type": "content_block_start", "index": index,
                    "content_block": {"type": "tool_use", "id": id, "name": "read", "input": {}}}));
                events.push(json!({"type": "ping"}));
                for piece in pieces(text, cuts) {
                    events.push(json!({"type": "content_block_delta", "index": index,
                        "delta": {"type": "input_json_delta", "partial_json": piece}}));
                }
                events.push(json!({"type": "content_block_stop", "index": index}));
                let input: Value =
                    if text.is_empty() { json!({}) } else { serde_json::from_str(text).unwrap() };
                content.push(json!({"type": "tool_use", "id": id, "name": "read", "input": input}));
            }
            events.push(json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {}}));
            events.push(json!({"type": "message_stop"}));
            (events, json!({"role": "assistant", "content": content, "stop_reason": "tool_use"}))
        }
        Dialect::Gemini => {
            let part = |(id, text): &(String, String)| {
                let args: Value =
                    if text.is_empty() { json!({}) } else { serde_json::from_str(text).unwrap() };
                json!({"functionCall": {"id": id, "name": "read", "args": args}})
            };
            let response =
                |parts: Vec<Value>| json!({"candidates": [{"content": {"role": "model", "parts": parts}}]});
            events.extend(calls.iter().map(|call| response(vec![part(call)])));
            (events, response(calls.iter().map(part).collect()))
        }
        other => panic!("{other} needs the events and the answer with these calls"),
    }
}

/// Calls with their arguments as values.
fn plain(calls: &[ToolCall]) -> Vec<(String, String, Value)> {
    let value = |arguments: &CallArguments| match arguments {
        CallArguments::Text(text) => serde_json::from_str(text).unwrap(),
        CallArguments::Json(value) => value.clone(),
        other => panic!("{other:?}"),
    };
    calls.iter().map(|call| (call.id.clone(), call.name.clone(), value(&call.arguments))).collect()
}

const STREAMED: [Dialect; 4] =
    [Dialect::OpenAiChat, Dialect::OpenAiResponsesStrict, Dialect::Anthropic, Dialect::Gemini];

proptest! {
    #[test]
    fn fragments_give_what_the_whole_gives(
        texts in prop::collection::vec(prop_oneof!["[a-z\"\\\\é😀 ]{0,8}".prop_map(|text| json!({"a": text}).to_string()), Just(String::new())], 0..4),
        cuts in prop::collection::vec(any::<usize>(), 0..6),
        chunk in 1_usize..40,
        line_end in prop::sample::select(vec!["\n", "\r\n", "\r"]),
    ) {
        let calls: Vec<(String, String)> =
            texts.into_iter().enumerate().map(|(place, text)| (format!("id{place}"), text)).collect();
        for dialect in STREAMED {
            let definitions = definitions(dialect);
            let (events, whole) = answer(dialect, &calls, &cuts);
            let expected = plain(&definitions.parse(&whole).unwrap());
            prop_assert_eq!(expected.len(), calls.len());

            let mut stream = definitions.stream();
            for event in &events {
                stream.push(event).unwrap();
            }
            prop_assert_eq!(&plain(&stream.finish().unwrap()), &expected, "{}", dialect);

            // The same as bytes, cut anywhere, within characters too.
            let mut bytes = format!(": hello{line_end}{line_end}").into_bytes();
            for event in &events {
                bytes.extend(format!("event: x{line_end}data: {event}{line_end}{line_end}").into_bytes());
            }
            bytes.extend(format!("data: [DONE]{line_end}{line_end}").into_bytes());
            let mut stream = definitions.stream();
            for piece in bytes.chunks(chunk) {
                stream.push_sse(piece).unwrap();
            }
            prop_assert_eq!(&plain(&stream.finish().unwrap()), &expected, "{}", dialect);
        }
    }
}

fn stream(dialect: Dialect, events: &[Value]) -> Result<Vec<ToolCall>, CallFormatError> {
    let mut stream = definitions(dialect).stream();
    for event in events {
        stream.push(event)?;
    }
    stream.finish()
}

#[test]
fn servers_that_number_calls_otherwise_are_understood() {
    let chunk = |fragment: Value| json!({"choices": [{"delta": {"tool_calls": [fragment]}}]});
    let end = json!({"choices": [{"delta": {}, "finish_reason": "stop"}]});
    let begin = |index: Value, id: &str| {
        chunk(json!({"index": index, "id": id, "function": {"name": "read", "arguments": "{\"a\":"}}))
    };
    let more = |index: Value, id: Value| {
        chunk(json!({"index": index, "id": id, "function": {"name": "read", "arguments": "\"x\"}"}}))
    };
    for events in [
        // All have the same number.
        vec![
            begin(json!(0), "1"),
            more(json!(0), json!(null)),
            begin(json!(0), "2"),
            more(json!(0), json!(null)),
            end.clone(),
        ],
        // None has one.
        vec![
            begin(json!(null), "1"),
            more(json!(null), json!("1")),
            begin(json!(null), "2"),
            more(json!(null), json!(null)),
            end.clone(),
        ],
        // They come in turns, and the second first.
        vec![
            begin(json!(1), "2"),
            begin(json!(0), "1"),
            more(json!(1), json!(null)),
            more(json!(0), json!("")),
            end.clone(),
        ],
    ] {
        let calls = stream(Dialect::OpenAiChat, &events).unwrap();
        assert_eq!(calls, ["1", "2"].map(|id| ToolCall::new(id, "read", "{\"a\":\"x\"}")), "{events:?}");
    }
    let whole = chunk(json!({"id": "1", "function": {"name": "read", "arguments": {"a": "x"}}}));
    assert_eq!(
        stream(Dialect::OpenAiChat, &[whole]).unwrap(),
        [ToolCall::new("1", "read", json!({"a": "x"}))]
    );
    let named = ["re", "ad"].map(|part| chunk(json!({"index": 0, "function": {"name": part}})));
    let [first, second] = named;
    assert_eq!(stream(Dialect::OpenAiChat, &[first, second, end]).unwrap()[0].name, "read");
    let only_done = json!({"type": "response.completed", "response": {"output": [
        {"type": "function_call", "call_id": "1", "name": "read", "arguments": "{}"}]}});
    assert_eq!(stream(Dialect::OpenAiResponses, &[only_done]).unwrap(), [ToolCall::new("1", "read", "{}")]);
}

#[test]
fn a_stream_that_ends_early_runs_nothing() {
    for dialect in STREAMED {
        let calls = [("1".to_owned(), "{\"a\":\"x\"}".to_owned())];
        let (events, _) = answer(dialect, &calls, &[3, 6]);
        for end in 0..events.len() {
            match stream(dialect, &events[..end]) {
                Ok(calls) => assert!(
                    calls.is_empty() || plain(&calls)[0].2 == json!({"a": "x"}),
                    "{dialect}: {calls:?} of {:?}",
                    &events[..end]
                ),
                Err(error) => assert_eq!(error, CallFormatError::CutOff { name: "read".to_owned() }),
            }
        }
        // Without arguments nothing shows that some are missing but that the end is.
        let begun = events.iter().position(|event| event.to_string().contains("\"read\"")).unwrap();
        if dialect != Dialect::Gemini {
            assert!(stream(dialect, &events[..=begun]).is_err(), "{dialect}");
        }
    }
    let start = json!({"type": "content_block_start", "index": 0, "content_block": {"type": "tool_use", "id": "1", "name": "read", "input": {}}});
    let stop = json!({"type": "content_block_stop", "index": 0});
    let limit = json!({"type": "message_delta", "delta": {"stop_reason": "max_tokens"}});
    assert!(stream(Dialect::Anthropic, &[start.clone(), stop.clone(), limit]).is_err());
    assert_eq!(stream(Dialect::Anthropic, &[start, stop]).unwrap(), [ToolCall::new("1", "read", json!({}))]);
}

/// A call that has come whole, but for the end of the answer.
fn begun(dialect: Dialect) -> Vec<Value> {
    let (mut events, _) = answer(dialect, &[("1".to_owned(), "{\"a\":\"x\"}".to_owned())], &[]);
    let last = if dialect == Dialect::Gemini { 0 } else { 2 };
    events.truncate(events.len() - last);
    events
}

#[test]
fn an_error_within_a_stream_is_told_and_runs_nothing() {
    for (dialect, event, expected) in [
        (
            Dialect::OpenAiChat,
            json!({"error": {"message": "The server had an error", "type": "server_error", "code": null}}),
            "The server had an error (server_error)",
        ),
        (Dialect::OpenAiChatStrict, json!({"error": "out of memory"}), "out of memory"),
        (
            Dialect::OpenAiChat,
            json!({"object": "error", "message": "no such model", "code": 404}),
            "no such model (404)",
        ),
        (
            Dialect::OpenAiChat,
            json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "error", "error": {"code": 502, "message": "Upstream went away"}}]}),
            "Upstream went away (502)",
        ),
        (
            Dialect::OpenAiChat,
            json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "error"}]}),
            "it does not say which",
        ),
        (
            Dialect::OpenAiResponses,
            json!({"type": "error", "code": "server_error", "message": "It broke.", "param": null}),
            "It broke. (server_error)",
        ),
        (
            Dialect::OpenAiResponses,
            json!({"type": "error", "error": {"type": "too_many_requests", "message": "Slow down."}}),
            "Slow down. (too_many_requests)",
        ),
        (
            Dialect::OpenAiResponsesStrict,
            json!({"type": "response.failed", "response": {"status": "failed", "output": [], "error": {"code": "rate_limit_exceeded", "message": "Slow down."}}}),
            "Slow down. (rate_limit_exceeded)",
        ),
        (
            Dialect::OpenAiResponses,
            json!({"type": "response.failed", "response": {"error": null}}),
            "it does not say which",
        ),
        (
            Dialect::Anthropic,
            json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}),
            "Overloaded (overloaded_error)",
        ),
        (Dialect::Anthropic, json!({"type": "error"}), "it does not say which"),
        (
            Dialect::Gemini,
            json!({"error": {"code": 503, "message": "The model is overloaded.", "status": "UNAVAILABLE"}}),
            "The model is overloaded. (UNAVAILABLE)",
        ),
        (
            Dialect::Gemini,
            json!({"promptFeedback": {"blockReason": "PROHIBITED_CONTENT", "blockReasonMessage": "Not that."}}),
            "the prompt was blocked: Not that. (PROHIBITED_CONTENT)",
        ),
        (
            Dialect::Gemini,
            json!({"prompt_feedback": {"block_reason": "OTHER"}, "candidates": []}),
            "the prompt was blocked (OTHER)",
        ),
        (
            Dialect::Gemini,
            json!({"candidates": [{"finish_reason": "UNEXPECTED_TOOL_CALL"}]}),
            "the model's call of a tool cannot be read (UNEXPECTED_TOOL_CALL)",
        ),
    ] {
        let mut events = begun(dialect);
        assert_eq!(stream(dialect, &events).unwrap().len(), 1, "{dialect}");
        events.push(event.clone());
        let error = stream(dialect, &events).unwrap_err();
        assert!(matches!(error, CallFormatError::Provider { .. }), "{event}: {error:?}");
        assert!(error.to_string().contains(expected), "{event}: {error}");

        // Nor does anything run where the host passes over it, or where it comes last and nothing ends it.
        let mut passed_over = definitions(dialect).stream();
        for event in &events {
            let _ = passed_over.push(event);
        }
        assert_eq!(passed_over.finish(), Err(error.clone()), "{event}");
        let mut bytes = definitions(dialect).stream();
        bytes.push_sse(format!("event: error\ndata: {event}").as_bytes()).unwrap();
        assert_eq!(bytes.finish(), Err(error), "{event}");
    }
    // However much it says.
    let long = json!({"error": {"message": "é".repeat(1 << 20)}});
    assert!(stream(Dialect::OpenAiChat, &[long]).unwrap_err().to_string().len() < 4096);
    // Values that say that there are no calls.
    for (dialect, event) in [
        (Dialect::OpenAiChat, json!({"error": null, "choices": []})),
        (
            Dialect::OpenAiResponses,
            json!({"type": "response.created", "response": {"output": [], "error": null}}),
        ),
        (Dialect::Gemini, json!({"promptFeedback": {"safetyRatings": []}, "candidates": []})),
    ] {
        assert_eq!(stream(dialect, &[event]).unwrap(), []);
    }
}

#[test]
fn an_empty_reason_ends_nothing() {
    let chunk = |delta: Value| json!({"choices": [{"index": 0, "delta": delta, "finish_reason": ""}]});
    let begin = chunk(
        json!({"tool_calls": [{"index": 0, "id": "1", "function": {"name": "read", "arguments": "{\"a\":"}}]}),
    );
    let rest = chunk(json!({"tool_calls": [{"index": 0, "function": {"arguments": "\"x\"}"}}]}));
    let cut = Err(CallFormatError::CutOff { name: "read".to_owned() });
    assert_eq!(stream(Dialect::OpenAiChat, std::slice::from_ref(&begin)), cut);
    // Nor does it take back what ended the answer.
    let limit = json!({"choices": [{"delta": {}, "finish_reason": "length"}]});
    assert_eq!(stream(Dialect::OpenAiChat, &[begin.clone(), limit, chunk(json!({}))]), cut);
    assert_eq!(stream(Dialect::OpenAiChat, &[begin, rest]).unwrap().len(), 1);
}

#[test]
fn what_is_wrong_with_a_stream_is_named() {
    let fragment = |index: u64| {
        json!({"type": "content_block_delta", "index": index,
        "delta": {"type": "input_json_delta", "partial_json": "{"}})
    };
    let start = json!({"type": "content_block_start", "index": 0, "content_block": {"type": "tool_use", "id": "1", "name": "read"}});
    for (dialect, events, expected) in [
        (
            Dialect::Anthropic,
            vec![fragment(3)],
            "`/index` should be that of a block that began, and is a number",
        ),
        (Dialect::Anthropic, vec![start.clone(), start], "`/index` should be that of a new block"),
        (
            Dialect::Anthropic,
            vec![json!({"type": "content_block_start"})],
            "`/index` should be a whole number, and is missing",
        ),
        (
            Dialect::OpenAiResponses,
            vec![json!({"type": "response.function_call_arguments.delta", "item_id": "x", "delta": "{}"})],
            "should be the name of a tool, and is missing",
        ),
        (
            Dialect::OpenAiResponses,
            vec![json!({"type": "response.output_item.added"})],
            "`/item` should be an object, and is missing",
        ),
        (
            Dialect::OpenAiChat,
            vec![json!({"choices": [{"delta": {"tool_calls": [{"index": -1}]}}]})],
            "`/choices/0/delta/tool_calls/0/index` should be a whole number",
        ),
        (
            Dialect::OpenAiChat,
            vec![json!({"choices": [{"delta": {"tool_calls": [{"function": {"arguments": 5}}]}}]})],
            "function/arguments` should be a string, and is a number",
        ),
    ] {
        let error = stream(dialect, &events).unwrap_err().to_string();
        assert!(error.contains(expected), "{events:?}: {error}");
    }
    let mut bytes = definitions(Dialect::OpenAiChat).stream();
    let error = bytes.push_sse(b"data: nonsense\n\n").unwrap_err().to_string();
    assert!(error.starts_with("the stream has something else"), "{error}");
}

#[test]
fn what_a_stream_may_hold_is_bounded() {
    let start = |index: usize| json!({"type": "content_block_start", "index": index, "content_block": {"type": "tool_use", "name": "read"}});
    let events: Vec<Value> = (0..=MAX_CALLS).map(start).collect();
    assert_eq!(stream(Dialect::Anthropic, &events), Err(CallFormatError::TooManyCalls));
    let long = "x".repeat(MAX_ARGUMENT_BYTES / 4);
    let delta = json!({"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": long}});
    let events = [start(0), delta.clone(), delta.clone(), delta.clone(), delta.clone(), delta];
    assert_eq!(stream(Dialect::Anthropic, &events), Err(CallFormatError::TooLong));
    let name = json!({"choices": [{"delta": {"tool_calls": [{"index": 0, "function": {"name": "n".repeat(700)}}]}}]});
    let other = json!({"choices": [{"delta": {"tool_calls": [{"index": 0, "function": {"name": "m".repeat(700)}}]}}]});
    assert!(stream(Dialect::OpenAiChat, &[name, other]).is_err());
    let mut bytes = definitions(Dialect::OpenAiChat).stream();
    let line = vec![b'x'; 1 << 20];
    let ended = (0..32).find_map(|_| bytes.push_sse(&line).err());
    assert_eq!(ended, Some(CallFormatError::TooLong));
}

#[test]
fn calls_are_told_as_they_complete_with_the_ids_that_they_keep() {
    let calls =
        [("same".to_owned(), r#"{"file_path":"a"}"#.to_owned()), ("same".to_owned(), "{}".to_owned())];
    for dialect in Dialect::ALL.iter().copied().filter(|dialect| !matches!(dialect, Dialect::Mcp)) {
        let definitions = definitions(dialect);
        let (events, _) = answer(dialect, &calls, &[3, 9]);
        let mut stream = definitions.stream();
        let mut told = Vec::new();
        for event in &events {
            stream.push(event).unwrap();
            told.extend(stream.completed());
        }
        assert_eq!(told.len(), 2, "{dialect}");
        assert_eq!(stream.finish().unwrap(), told, "{dialect}");
        assert_eq!((told[0].id.as_str(), told[1].id.as_str()), ("same", "same-2"), "{dialect}");
    }
}

#[test]
fn a_call_that_was_cut_off_is_told_apart_from_whole_ones() {
    let definitions = definitions(Dialect::OpenAiChat);
    let mut stream = definitions.stream();
    for event in [
        json!({"choices": [{"delta": {"tool_calls": [{"index": 0, "id": "1", "function": {"name": "read", "arguments": "{}"}}]}}]}),
        json!({"choices": [{"delta": {"tool_calls": [{"index": 1, "id": "2", "function": {"name": "read", "arguments": "{\"file_"}}]}}]}),
        json!({"choices": [{"delta": {}, "finish_reason": "length"}]}),
    ] {
        stream.push(&event).unwrap();
    }
    let each = stream.finish_each().unwrap();
    let whole: Vec<(&str, bool)> =
        each.iter().map(|streamed| (streamed.call.id.as_str(), streamed.is_whole)).collect();
    assert_eq!(whole, [("1", true), ("2", false)]);
}

#[test]
fn events_in_json_are_read_whatever_ends_their_lines_and_wherever_they_are_cut() {
    let text = "\u{feff}: a comment\r\nevent: x\r\ndata: {\"a\":\r\ndata: \"\u{e9}\u{1f600}\"}\r\n\r\nid: 1\rdata:{\"b\":1}\r\rretry: 5\n\n\
                error: {\"message\": \"no\"}\n\ndata: [DONE]\n\ndata: 3";
    let expected =
        [json!({"a": "\u{e9}\u{1f600}"}), json!({"b": 1}), json!({"error": {"message": "no"}}), json!(3)];
    let bytes = text.as_bytes();
    for cut in 0..=bytes.len() {
        for second in [cut, usize::midpoint(cut, bytes.len())] {
            let mut events = JsonEvents::default();
            let mut found = Vec::new();
            for piece in [&bytes[..cut], &bytes[cut..second], &bytes[second..]] {
                found.extend(events.push(piece).unwrap());
            }
            assert!(events.is_done());
            found.extend(events.finish().unwrap());
            assert_eq!(found, expected, "cut at {cut} and {second}");
        }
    }
    assert!(JsonEvents::default().push(b"data: {\n\n").is_err());
}

#[test]
fn tools_go_on_in_another_dialect() {
    let strict = definitions(Dialect::OpenAiChatStrict);
    let anthropic = strict.in_dialect(Dialect::Anthropic);
    assert_eq!(anthropic.to_json(), definitions(Dialect::Anthropic).to_json());
    assert_eq!(anthropic.in_dialect(Dialect::OpenAiChatStrict).to_json(), strict.to_json());
}
