//! Names that a provider does not take.

use super::properties::definition;
use proptest::prelude::*;
use serde_json::json;
use std::collections::HashSet;
use toolkit::{descriptor::Definition, dialects::Dialect};

fn tools(names: &[&str]) -> Vec<Definition> {
    names.iter().map(|name| definition(name, &json!({"type": "object"}))).collect()
}

fn shown(dialect: Dialect, names: &[&str]) -> Vec<String> {
    dialect.definitions(tools(names)).tools().iter().map(|tool| tool.shown_name.clone()).collect()
}

#[test]
fn a_name_that_is_taken_stays() {
    let long = "l".repeat(65);
    for (name, dialect, stays) in [
        ("read", Dialect::Anthropic, true),
        ("files-read_2", Dialect::OpenAiChat, true),
        ("2files", Dialect::OpenAiChat, true),
        ("2files", Dialect::Gemini, false),
        ("files.read", Dialect::Gemini, true),
        ("files.read", Dialect::OpenAiResponses, false),
        ("files.read", Dialect::Mcp, true),
        ("files/read", Dialect::Mcp, false),
        (&long, Dialect::Mcp, true),
        (&long, Dialect::Gemini, false),
        ("", Dialect::Anthropic, false),
        ("日本", Dialect::Anthropic, false),
    ] {
        let shown = shown(dialect, &[name]);
        assert_eq!(shown[0] == name, stays, "{dialect} {name}: {shown:?}");
        assert!(dialect.takes_name(&shown[0]), "{dialect} {name}: {shown:?}");
    }
}

#[test]
fn no_tool_takes_the_name_that_another_is_shown_by() {
    let [first] = &shown(Dialect::Anthropic, &["a.b"])[..] else { panic!() };
    let both = shown(Dialect::Anthropic, &["a.b", first]);
    assert_eq!(both[1], *first);
    assert_ne!(both[0], *first);
    assert_eq!(shown(Dialect::Anthropic, &[first, "a.b"]), [both[1].clone(), both[0].clone()]);
    let definitions = Dialect::Anthropic.definitions(tools(&["a.b", first]));
    let message = json!([{"type": "tool_use", "id": "1", "name": first, "input": {}},
        {"type": "tool_use", "id": "2", "name": both[0], "input": {}}]);
    let calls = definitions.parse(&message).unwrap();
    assert_eq!([&calls[0].name, &calls[1].name], [first, "a.b"]);
}

#[test]
fn of_two_of_one_name_the_first_counts() {
    let mut twice = tools(&["a", "a"]);
    twice[1].description = "Another.".to_owned();
    let definitions = Dialect::OpenAiChat.definitions(twice);
    assert_eq!(definitions.tools().len(), 1);
    assert_eq!(definitions.tools()[0].definition["function"]["description"], "Does something.");
}

#[test]
fn a_name_of_no_tool_is_passed_on() {
    let definitions = Dialect::Anthropic.definitions(tools(&["a"]));
    let calls =
        definitions.parse(&json!([{"type": "tool_use", "id": "1", "name": "b", "input": {}}])).unwrap();
    assert_eq!(calls[0].name, "b");
}

proptest! {
    #[test]
    fn names_are_legal_and_lead_back(
        names in prop::collection::hash_set("[a-c./ é-]{0,4}|[a-z_]{60,140}", 1..12),
        alone in any::<prop::sample::Index>(),
    ) {
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        for dialect in Dialect::ALL {
            let definitions = dialect.definitions(tools(&names));
            let shown: Vec<&str> = definitions.tools().iter().map(|tool| tool.shown_name.as_str()).collect();
            let unique: HashSet<&str> = shown.iter().copied().collect();
            prop_assert_eq!(unique.len(), names.len(), "{:?}", shown);
            for (name, shown) in names.iter().zip(&shown) {
                prop_assert!(dialect.takes_name(shown), "{} {:?}", dialect, shown);
                prop_assert_eq!(&definitions.shown(shown).unwrap().name, name);
                prop_assert_eq!(&definitions.tool(name).unwrap().shown_name, shown);
            }
            let one = alone.index(names.len());
            prop_assert_eq!(&super::names::shown(*dialect, &[names[one]])[0], shown[one], "others change it");
        }
    }
}
