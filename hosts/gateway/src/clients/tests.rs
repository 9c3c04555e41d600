use serde_json::Value;

use super::*;
use crate::store::CallEnd;

fn end_of(result: &Value) -> CallEnd {
    let result: ResultOfClient = serde_json::from_value(result.clone()).expect("a result");
    result.into_end()
}

#[test]
fn a_resume_id_is_of_one_person() {
    let id = new_resume_id().unwrap_or_default();
    assert!(is_resume_id(&id) && !is_resume_id("") && !is_resume_id(&id.to_uppercase().replace('0', "G")));
    assert_ne!(digest_of("ada", &id), digest_of("bob", &id));
    assert_ne!(digest_of("a", "b/c"), digest_of("a/b", "c"));
}

#[test]
fn a_result_is_said_as_text() {
    for (result, expected) in [
        (json!({ "content": [{ "type": "text", "text": "a" }, { "type": "text", "text": "b" }] }), "a\nb"),
        (
            json!({ "content": [{ "type": "image", "data": "AA==" }] }),
            "[content of the type `image` is left out]",
        ),
        (json!({ "structuredContent": { "a": 1 } }), "{\"a\":1}"),
        (json!({ "content": [] }), "(no content)"),
        (
            json!({ "content": [{ "type": ["text"], "text": 7 }] }),
            "[content of the type `unknown` is left out]",
        ),
        (json!({ "content": [], "isError": "true", "more": [1] }), "(no content)"),
        (json!({ "content": [{ "text": "a" }] }), "[content of the type `unknown` is left out]"),
    ] {
        assert_eq!(end_of(&result), CallEnd::Answered(expected.to_owned()), "{result}");
    }
    let failed = json!({ "isError": true, "content": [{ "type": "text", "text": "no" }] });
    assert_eq!(end_of(&failed), CallEnd::Failed("no".to_owned()));
    let long = json!({ "content": [{ "type": "text", "text": "ä".repeat(100_000) }] });
    assert!(
        matches!(end_of(&long), CallEnd::Answered(text) if text.len() < 100_100 && text.ends_with("longer]"))
    );
}

#[test]
fn a_result_that_is_none_is_an_error() {
    for result in ["7", "\"a\"", "{\"content\":{}}", "{\"content\":[7]}", "{\"content\":[],\"content\":[]}"] {
        assert!(serde_json::from_str::<ResultOfClient>(result).is_err(), "{result}");
    }
}

#[test]
fn a_long_list_of_content_is_read_to_its_end_and_kept_in_part() {
    let blocks = vec![json!({ "type": "text", "text": "0123456789" }); 50_000];
    let CallEnd::Answered(text) = end_of(&json!({ "content": blocks, "isError": false })) else {
        panic!("an answer");
    };
    assert!(text.len() < 100_100 && text.ends_with("longer]"), "{}", text.len());
}
