//! Definitions for providers that find tools themselves.

use serde_json::{Value, json};
use toolkit::{Caller, Tool, Toolbox, Toolkit, dialects::Dialect, discovery::Discovery};

async fn toolbox(most: usize) -> Toolbox {
    let mut builder = Toolkit::empty().discovery(Discovery::new().max_tools(most).show(["send_mail"]));
    for name in ["create_invoice", "book_flight", "send_mail"] {
        let tool = Tool::builder(name).description(format!("Does {name}.")).build(|_, _| async { "done" });
        builder = builder.tool(tool.unwrap());
    }
    builder.without_asking_first().build().unwrap().toolbox(&Caller::new()).await
}

/// The names in a list of definitions, with whether each is left to be found.
fn listed(definitions: &Value) -> Vec<(&str, bool)> {
    let each = definitions.as_array().unwrap().iter();
    each.map(|tool| {
        let name = tool.get("name").or(tool.get("type")).and_then(Value::as_str).unwrap_or_default();
        (name, tool.get("defer_loading") == Some(&Value::Bool(true)))
    })
    .collect()
}

#[tokio::test]
async fn who_finds_tools_itself_gets_all_of_them_in_an_order_that_stays() {
    for (dialect, finder) in [
        (Dialect::Anthropic, "tool_search_tool_bm25"),
        (Dialect::OpenAiResponses, "tool_search"),
        (Dialect::OpenAiResponsesStrict, "tool_search"),
    ] {
        let toolbox = toolbox(1).await;
        let before = toolbox.definitions_deferring(dialect).to_json();
        assert_eq!(
            listed(&before),
            [(finder, false), ("send_mail", false), ("book_flight", true), ("create_invoice", true)],
            "{dialect}"
        );
        // One that is found, or called, changes nothing of what is sent.
        let message = match dialect {
            Dialect::Anthropic => json!({"role": "assistant", "content": [
                {"type": "server_tool_use", "id": "s", "name": "tool_search_tool_bm25", "input": {"query": "invoice"}},
                {"type": "tool_search_tool_result", "tool_use_id": "s", "content": {"type": "tool_search_tool_search_result",
                    "tool_references": [{"type": "tool_reference", "tool_name": "create_invoice"}]}},
                {"type": "tool_use", "id": "c", "name": "create_invoice", "input": {}},
            ]}),
            _ => json!({"output": [
                {"type": "tool_search_call", "execution": "server", "call_id": null, "arguments": {"paths": ["create_invoice"]}},
                {"type": "tool_search_output", "execution": "server", "call_id": null, "tools": []},
                {"type": "function_call", "id": "f", "call_id": "c", "name": "create_invoice", "arguments": "{}"},
            ]}),
        };
        let calls = toolbox.definitions_deferring(dialect).parse(&message).unwrap();
        assert_eq!(calls.len(), 1, "{calls:?}");
        for call in calls {
            assert_eq!(call.name, "create_invoice");
            assert_eq!(toolbox.call(call).await.text(), "done");
        }
        assert_eq!(toolbox.definitions_deferring(dialect).to_json(), before, "{dialect}");
    }
}

#[tokio::test]
async fn all_others_get_what_is_shown() {
    let toolbox = toolbox(1).await;
    for dialect in [Dialect::OpenAiChat, Dialect::Gemini, Dialect::Mcp] {
        let shown = toolbox.definitions_for(dialect).to_json();
        assert_eq!(toolbox.definitions_deferring(dialect).to_json(), shown);
        assert!(shown.to_string().contains("tool_search") && !shown.to_string().contains("create_invoice"));
    }
    // Where nothing is left to be found, nobody looks for it.
    let whole = self::toolbox(9).await;
    for dialect in Dialect::ALL {
        let definitions = whole.definitions_deferring(*dialect);
        assert_eq!(definitions.to_json(), whole.definitions_for(*dialect).to_json());
        assert!(!definitions.to_json().to_string().contains("defer_loading"));
    }
}
