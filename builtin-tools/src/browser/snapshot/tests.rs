use super::tree::{Frame, Frames, parse};
use super::{changes, render};
use crate::browser::refs::Refs;
use serde_json::{Value, json};

fn node(id: &str, role: &str, name: &str, children: &[&str], more: &Value) -> Value {
    let mut node = json!({
        "nodeId": id, "ignored": false, "role": { "value": role }, "name": { "value": name }, "childIds": children,
        "backendDOMNodeId": id.parse::<i64>().unwrap(),
    });
    for (key, value) in more.as_object().unwrap() {
        node[key] = value.clone();
    }
    node
}

fn properties(pairs: &[(&str, Value)]) -> Value {
    let pairs = pairs.iter().map(|(name, value)| json!({ "name": name, "value": { "value": value } }));
    json!({ "properties": pairs.collect::<Vec<_>>() })
}

fn frame(session: &str, nodes: &[Value]) -> Frame {
    Frame { session: session.to_owned(), id: format!("F{session}"), nodes: parse(&json!({ "nodes": nodes })) }
}

fn page() -> Frames {
    let none = json!({});
    let mut frames = Frames::default();
    let root = properties(&[("url", json!("http://a.test/path"))]);
    frames.push(None, frame("S", &[
        node("1", "RootWebArea", "Title", &["2"], &root),
        node("2", "none", "", &["3", "5", "7", "9", "11", "13", "15"], &json!({ "ignored": true })),
        node("3", "heading", "Hello", &["4"], &properties(&[("level", json!(1))])),
        node("4", "StaticText", "Hello", &[], &none),
        node("5", "link", "More", &["6"], &properties(&[("url", json!("http://a.test/more")), ("focusable", json!(true))])),
        node("6", "StaticText", "More", &[], &none),
        node("7", "paragraph", "", &["8", "17"], &none),
        node("8", "StaticText", "Some  \n text", &[], &none),
        node("9", "textbox", "Name", &["10"], &json!({ "value": { "value": "Ada" }, "properties": [
            { "name": "focused", "value": { "value": true } }, { "name": "required", "value": { "value": true } },
            { "name": "invalid", "value": { "value": "true" } },
        ] })),
        node("10", "StaticText", "Ada", &[], &none),
        node("11", "checkbox", "Agree \"now\"", &[], &properties(&[("checked", json!("mixed")), ("disabled", json!(true))])),
        node("13", "Iframe", "", &[], &none),
        node("15", "generic", "", &["16"], &properties(&[("focusable", json!(true))])),
        node("16", "StaticText", "Open", &[], &none),
        node("17", "StaticText", "goes on", &[], &none),
    ]));
    frames.push(
        Some(("S".to_owned(), 13)),
        frame(
            "T",
            &[
                node("1", "RootWebArea", "", &["2"], &none),
                node("2", "button", "Inner", &[], &properties(&[("expanded", json!(false))])),
            ],
        ),
    );
    frames
}

#[test]
fn a_page_is_shown_with_refs_and_states() {
    let mut refs = Refs::default();
    let text = render(&page(), &mut refs);
    assert_eq!(
        text,
        "\
- heading \"Hello\" [e1] [level=1]
- link \"More\" [e2] -> /more
- paragraph: Some text goes on
- textbox \"Name\" [e3] [required] [focused] [invalid] value=\"Ada\"
- checkbox \"Agree \\\"now\\\"\" [e4] [checked=mixed] [disabled]
- iframe [e5]:
  - button \"Inner\" [e6] [collapsed]
- generic [e7]: Open
"
    );
    let inner = refs.get("e6").unwrap();
    assert_eq!((&*inner.session, &*inner.frame, inner.backend), ("T", "FT", 2));
    assert_eq!(inner.description, "button \"Inner\"");
}

#[test]
fn refs_stay_within_a_document_and_are_never_used_again() {
    let mut refs = Refs::default();
    let first = render(&page(), &mut refs);
    assert_eq!(render(&page(), &mut refs), first);
    for name in ["e2", "[e2]", "ref=e2", "@e2", " e2 "] {
        assert_eq!(refs.get(name).unwrap().backend, 5, "{name}");
    }
    for name in ["e0", "e99", "2", "x2", "", "e-1", "e99999999999999"] {
        assert_eq!(refs.get(name), None, "{name}");
    }
    refs.clear();
    assert!(refs.get("e2").is_none() && refs.is_old("e2") && !refs.is_old("e99"));
    assert!(render(&page(), &mut refs).starts_with("- heading \"Hello\" [e8]"));
}

#[test]
fn changes_are_those_lines_alone() {
    let old = (0..100).map(|number| format!("- text: {number}")).collect::<Vec<_>>().join("\n") + "\n";
    let new = old.replace("- text: 50\n", "- text: fifty\n");
    assert_eq!(changes(&old, &old), None);
    let diff = changes(&old, &new).unwrap();
    assert!(diff.contains("-- text: 50\n+- text: fifty\n"), "{diff}");
    assert_eq!(diff.lines().count(), 7, "{diff}");
}

#[test]
fn hostile_trees_end() {
    let loops = vec![node("1", "group", "", &["2"], &json!({})), node("2", "group", "", &["1"], &json!({}))];
    let mut frames = Frames::default();
    frames.push(None, frame("S", &loops));
    let mut refs = Refs::default();
    assert!(render(&frames, &mut refs).len() < 1 << 20);
    // Each level has two children that are the same one: without a bound it would double each time.
    let wide: Vec<Value> = (0..60)
        .map(|number| {
            let next = (number + 1).to_string();
            node(&number.to_string(), "group", "x", &[&next, &next], &json!({}))
        })
        .collect();
    let mut frames = Frames::default();
    frames.push(None, frame("S", &wide));
    assert!(render(&frames, &mut refs).len() < 4 << 20);
    assert_eq!(render(&Frames::default(), &mut refs), "(the page shows nothing)\n");
    assert_eq!(parse(&json!({ "nodes": [null, 5, {}] })).len(), 3);
}
