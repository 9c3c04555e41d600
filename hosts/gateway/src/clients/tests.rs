use super::*;

#[test]
fn a_resume_id_is_of_one_person() {
    let id = new_resume_id().unwrap_or_default();
    assert!(is_resume_id(&id) && !is_resume_id("") && !is_resume_id(&id.to_uppercase().replace('0', "G")));
    assert_ne!(digest("ada", &id), digest("bob", &id));
    assert_ne!(digest("a", "b/c"), digest("a/b", "c"));
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
        (json!(7), "(no content)"),
        (json!({ "content": [{ "text": "a" }] }), "[content of the type `unknown` is left out]"),
    ] {
        assert_eq!(text_of(&result), CallEnd::Answered(expected.to_owned()), "{result}");
    }
    let failed = json!({ "isError": true, "content": [{ "type": "text", "text": "no" }] });
    assert_eq!(text_of(&failed), CallEnd::Failed("no".to_owned()));
    let long = json!({ "content": [{ "type": "text", "text": "ä".repeat(100_000) }] });
    assert!(
        matches!(text_of(&long), CallEnd::Answered(text) if text.len() < 100_100 && text.ends_with("longer]"))
    );
}
