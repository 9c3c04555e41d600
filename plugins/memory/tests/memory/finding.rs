//! Which notes are found by which words.

use super::bench::{ALLOWED, call, error, found, store, told, toolbox};
use proptest::prelude::*;
use serde_json::{Value, json};
use toolkit::ToolErrorKind;

#[tokio::test]
async fn notes_are_found_by_their_words_the_best_first() {
    let data = tempfile::tempdir().unwrap();
    let toolbox = toolbox(data.path(), "ada", &[ALLOWED]).await;
    for text in [
        "The deployment of the shop runs on Tuesdays",
        "We deploy the shop with `make deploy`; deploy twice a week",
        "Ada likes Café au lait",
        "東京の会議は金曜日です",
        "ประชุมที่กรุงเทพ",
        "हिन्दी में लिखें",
        "회의는 서울에서 합니다",
        "Überraschung für Zoë",
        "C++ and C# notes",
        "🎂 12 May",
        "我的生日是五月十二日🎉",
        "the 🅐 way, ☎ first",
        "𞤀𞤣𞤤𞤢𞤥 is Adlam",
        "𰻞𰻝面 in Xi'an",
        "from 🇩🇪 and 🇫🇷",
    ] {
        store(&toolbox, text).await;
    }
    for (query, expected) in [
        (
            "deploy",
            &[
                "We deploy the shop with `make deploy`; deploy twice a week",
                "The deployment of the shop runs on Tuesdays",
            ][..],
        ),
        ("DEPLOYMENT", &["The deployment of the shop runs on Tuesdays"]),
        ("cafe", &["Ada likes Café au lait"]),
        ("CAFÉ", &["Ada likes Café au lait"]),
        ("cafe\u{301}", &["Ada likes Café au lait"]),
        ("会議", &["東京の会議は金曜日です"]),
        ("京", &["東京の会議は金曜日です"]),
        ("いつ東京で会いますか", &["東京の会議は金曜日です"]),
        ("กรุงเทพ", &["ประชุมที่กรุงเทพ"]),
        ("हिन्दी", &["हिन्दी में लिखें"]),
        ("회의", &["회의는 서울에서 합니다"]),
        ("uberraschung zoe", &["Überraschung für Zoë"]),
        ("🎂", &["🎂 12 May"]),
        ("🎂🚀", &["🎂 12 May"]),
        ("12 may", &["🎂 12 May"]),
        ("生日", &["我的生日是五月十二日🎉"]),
        ("十二日", &["我的生日是五月十二日🎉"]),
        ("五月十二日的会", &["我的生日是五月十二日🎉"]),
        ("🎉", &["我的生日是五月十二日🎉"]),
        ("🅐", &["the 🅐 way, ☎ first"]),
        ("☎\u{fe0f}", &["the 🅐 way, ☎ first"]),
        ("𞤀𞤣𞤤𞤢𞤥", &["𞤀𞤣𞤤𞤢𞤥 is Adlam"]),
        ("𰻞𰻝", &["𰻞𰻝面 in Xi'an"]),
        ("🇫🇷", &["from 🇩🇪 and 🇫🇷"]),
        ("🇪🇫", &[]),
        ("ploy", &[]),
        ("議会", &[]),
        ("hin", &[]),
    ] {
        assert_eq!(found(&toolbox, query).await, expected, "{query}");
    }
    let limited = told(&toolbox, "memory_search", json!({ "query": "the deploy", "limit": 1 })).await;
    assert_eq!(limited["notes"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn tags_find_a_note_and_count_more() {
    let data = tempfile::tempdir().unwrap();
    let toolbox = toolbox(data.path(), "ada", &[ALLOWED]).await;
    store(&toolbox, "billing is mentioned here, among other words").await;
    let tagged = json!({ "text": "Invoices go out on the first", "tags": ["billing", "Buchführung"] });
    told(&toolbox, "memory_store", tagged).await;
    let notes = told(&toolbox, "memory_search", json!({ "query": "billing" })).await;
    assert_eq!(notes["notes"][0]["text"], "Invoices go out on the first");
    assert_eq!(notes["notes"][0]["tags"], json!(["billing", "Buchführung"]));
    assert_eq!(notes["notes"][1]["text"], "billing is mentioned here, among other words");
    let stored = notes["notes"][0]["stored"].as_str().unwrap();
    assert!(stored.len() == 20 && stored.starts_with("20") && stored.ends_with('Z'), "{stored}");
    assert_eq!(found(&toolbox, "buchfuhrung").await, ["Invoices go out on the first"]);
}

#[tokio::test]
async fn a_query_has_no_operators() {
    let data = tempfile::tempdir().unwrap();
    let toolbox = toolbox(data.path(), "ada", &[ALLOWED]).await;
    store(&toolbox, "apple banana").await;
    store(&toolbox, "cherry").await;
    for (query, expected) in [
        ("apple NOT banana", 1),
        ("cherry AND apple", 2),
        ("NEAR(apple cherry, 1)", 2),
        ("tags : apple", 1),
        ("{tags text} : cherry", 1),
        ("-text : apple", 1),
        ("^apple", 1),
        ("\"apple", 1),
        ("\"\"\" cherry", 1),
        ("app*", 1),
        ("(((((((((( apple", 1),
        ("apple + banana", 1),
        ("apple\u{0}cherry", 2),
        ("x' OR 1=1 --", 0),
    ] {
        assert_eq!(found(&toolbox, query).await.len(), expected, "{query:?}");
    }
    for query in ["*", "\"\"", "()", "^", ":", " ", "│ ─", "\u{0}", "'; -- "] {
        let error = error(&toolbox, "memory_search", json!({ "query": query })).await;
        assert_eq!(error.kind(), ToolErrorKind::InvalidArguments, "{query:?}: {error}");
        assert!(error.message().contains("holds no word"), "{error}");
    }
}

#[test]
fn no_query_is_a_fault_of_syntax() {
    let data = tempfile::tempdir().unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let toolbox = runtime.block_on(toolbox(data.path(), "ada", &[ALLOWED]));
    runtime.block_on(store(&toolbox, "a note"));
    let cases = ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() };
    proptest!(cases, |(query in "(?s)(\\PC|[\"'*^:(){}+\\-]|AND|OR|NOT|NEAR|.| ){1,80}")| {
        if query.chars().count() <= 500 {
            let result = runtime.block_on(call(&toolbox, "memory_search", json!({ "query": query })));
            prop_assert!(!result.is_error() || result.text().contains("holds no word"), "{}", result.text());
        }
    });
}

/// Whatever is stored is found by each of its own words.
#[test]
fn what_is_stored_is_found() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let data = tempfile::tempdir().unwrap();
    let toolbox = runtime.block_on(toolbox(data.path(), "ada", &[ALLOWED]));
    let cases = ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() };
    let word = "[a-zäöüßéñçøåœ]{1,8}|[α-ωά]{2,6}|[а-я]{2,6}|\\p{Han}{1,4}|[ぁ-んァ-ヶ]{1,5}|[가-힣]{1,4}|\\p{Thai}{2,4}|\\p{Devanagari}{2,5}|\\p{Arabic}{2,5}|\\p{Adlam}{2,4}|\\p{So}{1,3}|[0-9]{1,5}";
    proptest!(cases, |(words in proptest::collection::vec(word, 1..5))| {
        let text = words.join(" ");
        let result = runtime.block_on(call(&toolbox, "memory_store", json!({ "text": text })));
        prop_assume!(!result.text().contains("holds no word"));
        prop_assert!(!result.is_error(), "{}", result.text());
        let id = serde_json::from_str::<Value>(&result.text()).unwrap()["id"].clone();
        let found = runtime.block_on(call(&toolbox, "memory_search", json!({ "query": text, "limit": 20 })));
        let found: Value = serde_json::from_str(&found.text()).unwrap();
        let ids: Vec<&Value> = found["notes"].as_array().unwrap().iter().map(|note| &note["id"]).collect();
        prop_assert!(ids.contains(&&id), "{text:?}: {id} in {ids:?}");
    });
}
