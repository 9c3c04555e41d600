//! `schema`: definitions in the format of each provider.

use crate::fixture::fixture;
use serde_json::Value;

#[test]
fn a_provider_gets_the_list_of_its_format() {
    for (dialect, name, parameters) in [
        ("anthropic", "/0/name", "/0/input_schema"),
        ("openai", "/0/function/name", "/0/function/parameters"),
        ("openai-chat", "/0/function/name", "/0/function/parameters"),
        ("openai-chat-strict", "/0/function/name", "/0/function/parameters"),
        ("openai-responses", "/0/name", "/0/parameters"),
        ("openai-responses-strict", "/0/name", "/0/parameters"),
        ("gemini", "/0/functionDeclarations/0/name", "/0/functionDeclarations/0/parametersJsonSchema"),
        ("mcp", "/0/name", "/0/inputSchema"),
    ] {
        let one = fixture(["schema", "say", "--dialect", dialect]).json();
        assert_eq!(one.pointer(name), Some(&"say".into()), "{dialect}: {one:#}");
        assert_eq!(one.pointer(parameters).unwrap_or(&Value::Null)["type"], "object", "{dialect}: {one:#}");
        let all = fixture(["schema", "--dialect", dialect]).json();
        let count = |list: &Value| {
            list.pointer("/0/functionDeclarations").unwrap_or(list).as_array().map_or(0, Vec::len)
        };
        assert_eq!(count(&one), 1, "{dialect}");
        assert_eq!(count(&all), fixture(["schema"]).json().as_array().map_or(0, Vec::len), "{dialect}");
    }
}

#[test]
fn a_part_that_a_dialect_does_not_express_is_noted() {
    let run = fixture(["schema", "--dialect", "openai-chat-strict"]);
    assert!(run.err.contains("note: not expressed in this dialect: `"), "{}", run.err);
    assert_eq!(fixture(["schema", "--dialect", "mcp"]).err, "");
}

#[test]
fn an_unknown_dialect_is_refused() {
    let error = fixture(["schema", "--dialect", "cohere"]).fails(2);
    assert!(error.contains("anthropic") && error.contains("gemini"), "{error}");
}
