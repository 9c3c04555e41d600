//! Forms: fields, lists, files, keys.

use super::site::{html, serve, site};
use super::{act, error, find_ref, house, page, snapshot, text};
use serde_json::json;
use std::fs;
use toolkit::ToolErrorKind;

const FORM: &str = "<!doctype html><title>Order</title><h1>Order</h1><form method=post action=/send>\
    <label>Name <input name=name required></label>\
    <label>Note <textarea name=note>old</textarea></label>\
    <label><input type=checkbox name=gift value=yes> A gift</label>\
    <label>Size <select name=size><option value=s>Small</option><option value=m>Medium</option><option value=l disabled>Large</option></select></label>\
    <label>Extras <select name=extra multiple><option>Salt</option><option>Pepper</option><option>Oil</option></select></label>\
    <label>Day <input type=date name=day></label>\
    <label>Code <input name=code maxlength=3></label>\
    <input name=fixed value=fixed readonly aria-label=Fixed><button>Send</button><button disabled>Later</button></form>";

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Chromium: cargo xtask test"]
async fn a_form_is_filled_and_sent() {
    let server = serve(|request| match request.path.as_str() {
        "/send" => html("<title>Thanks</title><p>Thank you"),
        _ => html(FORM),
    })
    .await;
    let house = house().await;
    let opened = text(&house, "navigate", json!({ "url": server.url() })).await;
    assert!(opened.starts_with("Opened the page.\n<untrusted-content-"), "{opened}");
    assert!(page(&opened).contains("Title: Order") && !page(&opened).contains("Refused"), "{opened}");
    let before = snapshot(&house).await;
    assert!(before.contains("- heading \"Order\""), "{before}");
    assert!(!before.contains("MenuListPopup") && before.contains("option \"Small\""), "{before}");
    // A label stands for its field.
    text(&house, "type", json!({ "selector": "text=Code", "text": "99" })).await;
    text(&house, "select", json!({ "selector": "text=Size", "values": ["Small"] })).await;
    assert!(snapshot(&house).await.contains("value=\"99\""));
    assert!(before.contains("textbox \"Name\"") && before.contains("[required]"), "{before}");
    for (part, typed) in
        [("textbox \"Name\"", "Ada Lovelace"), ("textbox \"Note\"", "two\nlines"), ("\"Day\"", "2026-11-24")]
    {
        let name = find_ref(&before, part);
        let said = text(&house, "type", json!({ "ref": name, "text": typed })).await;
        assert!(said.starts_with(&format!("Typed into {name}.")), "{said}");
    }
    text(&house, "type", json!({ "selector": "[name=note]", "text": " more", "append": true })).await;
    let cut = text(&house, "type", json!({ "selector": "[name=code]", "text": "12345" })).await;
    assert!(page(&cut).contains("The field now has: 123"), "{cut}");
    text(&house, "click", json!({ "ref": find_ref(&before, "checkbox") })).await;
    let chosen = text(&house, "select", json!({ "selector": "[name=size]", "values": ["medium"] })).await;
    assert!(page(&chosen).contains("Selected: Medium"), "{chosen}");
    text(&house, "select", json!({ "selector": "[name=extra]", "values": ["Salt", "Oil"] })).await;

    let quick = json!({ "selector": "[name=size]", "values": ["Huge"], "timeout_ms": 2_000 });
    let failed = error(&house, "select", quick).await;
    assert!(
        failed.message().contains("there is no option Huge; the options are: Small, Medium, Large"),
        "{failed}"
    );
    let failed = error(&house, "select", json!({ "selector": "[name=size]", "values": ["l"] })).await;
    assert!(failed.message().contains("\"Large\" is disabled"), "{failed}");
    let failed =
        error(&house, "type", json!({ "selector": "[name=fixed]", "text": "x", "timeout_ms": 100 })).await;
    assert!(failed.message().contains("it is read-only"), "{failed}");
    let failed = error(&house, "click", json!({ "selector": "text=Later", "timeout_ms": 100 })).await;
    assert!(failed.message().contains("it is disabled"), "{failed}");

    let changed = text(&house, "snapshot", json!({ "diff": true })).await;
    assert!(changed.starts_with("The changes since the last snapshot:"), "{changed}");
    // How many lines are around the changes depends on the version of the browser.
    let is_changed =
        |what: &str| page(&changed).lines().any(|line| line.starts_with(['+', '-']) && line.contains(what));
    assert!(is_changed("value=\"Ada Lovelace\"") && !is_changed("heading"), "{changed}");
    let sent = text(&house, "click", json!({ "selector": "button" })).await;
    assert!(page(&sent).contains("Title: Thanks"), "{sent}");
    let request = server.requests().into_iter().find(|request| request.path == "/send").unwrap();
    let body = String::from_utf8(request.body).unwrap();
    assert_eq!(
        body,
        "name=Ada+Lovelace&note=two%0D%0Alines+more&gift=yes&size=m&extra=Salt&extra=Oil&day=2026-11-24&code=123&fixed=fixed"
    );
    // Refs of the page before are void.
    let failed = error(&house, "click", json!({ "ref": find_ref(&before, "checkbox") })).await;
    assert!(
        failed.kind() == ToolErrorKind::NotFound && failed.message().contains("take a new `snapshot`"),
        "{failed}"
    );
    let back = text(&house, "back", json!({})).await;
    assert!(page(&back).contains("Title: Order"), "{back}");
    assert!(error(&house, "back", json!({})).await.message().contains("no page before"));
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Chromium: cargo xtask test"]
async fn keys_reach_the_page() {
    let server = site(&[("/", "<!doctype html><title>Keys</title><input id=field autofocus><div id=edit contenteditable>old</div><output id=seen></output><script>\
        let all = []; document.addEventListener('keydown', (event) => { \
        all.push((event.ctrlKey ? 'C-' : '') + (event.shiftKey ? 'S-' : '') + event.key); document.title = all.join(' '); });\
        </script>"), ("/found", "<title>Found</title>")]).await;
    let house = house().await;
    text(&house, "navigate", json!({ "url": server.url() })).await;
    text(&house, "type", json!({ "selector": "#field", "text": "abc" })).await;
    for key in ["ArrowLeft", "Control+A", "Shift+Tab", "x", "F2"] {
        text(&house, "press", json!({ "selector": "#field", "key": key })).await;
    }
    let said = text(&house, "press", json!({ "key": "Escape" })).await;
    assert!(page(&said).contains("Title: ArrowLeft C-a S-Tab x F2 Escape"), "{said}");
    // All was selected, so the x took its place.
    let shown = snapshot(&house).await;
    assert!(shown.contains("value=\"x\""), "{shown}");
    text(&house, "type", json!({ "selector": "#edit", "text": "new" })).await;
    assert!(snapshot(&house).await.contains("new"));
    let failed = error(&house, "press", json!({ "selector": "#seen", "key": "a" })).await;
    assert!(failed.message().contains("it cannot have the focus"), "{failed}");
    let failed = error(&house, "press", json!({ "key": "Entr" })).await;
    assert!(
        failed.kind() == ToolErrorKind::InvalidArguments && failed.message().contains("`Entr` is not a key"),
        "{failed}"
    );
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Chromium: cargo xtask test"]
async fn files_are_uploaded_once_a_person_agreed() {
    let server = serve(|request| match request.path.as_str() {
        "/up" => html("<title>Got it</title>"),
        _ => html("<!doctype html><title>Files</title><form method=post enctype=multipart/form-data action=/up>\
            <input type=file name=one id=one><button>Send</button></form>\
            <button id=choose onclick=\"document.getElementById('one').click()\">Choose</button><p id=text>Text</p>"),
    })
    .await;
    let house = house().await;
    fs::write(house.path("report.csv"), "a,b\n1,2\n").unwrap();
    text(&house, "navigate", json!({ "url": server.url() })).await;
    assert_eq!(house.asked().len(), 0);
    let said = text(&house, "upload", json!({ "selector": "#one", "files": ["report.csv"] })).await;
    assert!(said.starts_with("Gave 1 file to `#one`."), "{said}");
    let asked = house.asked();
    assert_eq!(asked.len(), 1);
    let question = asked[0].to_text();
    assert!(question.contains("Upload report.csv to http://127.0.0.1"), "{question}");
    let sent = text(&house, "click", json!({ "selector": "text=Send" })).await;
    assert!(page(&sent).contains("Title: Got it"), "{sent}");
    let request = server.requests().into_iter().find(|request| request.path == "/up").unwrap();
    let body = String::from_utf8(request.body).unwrap();
    assert!(body.contains("filename=\"report.csv\"") && body.contains("a,b\n1,2\n"), "{body}");

    text(&house, "navigate", json!({ "url": server.url() })).await;
    let wants = text(&house, "click", json!({ "selector": "#choose" })).await;
    assert!(page(&wants).contains("wants files: call `upload`"), "{wants}");
    let given = text(&house, "upload", json!({ "files": ["report.csv"] })).await;
    assert!(given.starts_with("Gave 1 file to the file chooser."), "{given}");
    assert_eq!(house.asked().len(), 1, "a person is asked each time");
    let again = error(&house, "upload", json!({ "files": ["report.csv"] })).await;
    assert!(again.message().contains("no file chooser"), "{again}");
    for (arguments, expected) in [
        (json!({ "selector": "#one", "files": ["missing.csv"] }), "missing.csv"),
        (json!({ "selector": "#one", "files": ["."] }), "is a directory"),
        (json!({ "selector": "#text", "files": ["report.csv"] }), "not a file input"),
        (json!({ "selector": "#one", "files": ["report.csv", "a.txt"] }), "takes one file"),
    ] {
        let failed = act(&house, "upload", arguments).await;
        assert!(failed.is_error() && failed.text().contains(expected), "{expected}: {}", failed.text());
    }
}
