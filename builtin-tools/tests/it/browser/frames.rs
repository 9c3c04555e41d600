//! Frames: of the same site, and of another one, in a process of its own.

use super::site::{html, serve};
use super::{find_ref, house, page, picture, size, snapshot, text};
use serde_json::json;

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Chromium: cargo xtask test"]
async fn elements_in_frames_are_seen_and_acted_on() {
    let inner = "<!doctype html><title>Inner</title><style>body { margin: 40px }</style><p>Inside</p>\
        <button onclick=\"this.textContent = 'Pressed by ' + event.isTrusted\">Press</button><input aria-label=Word>";
    let server = serve(move |request| match request.path.as_str() {
        "/inner" | "/deep-inner" => html(inner),
        "/middle" => html("<!doctype html><p>Middle</p><iframe src=/deep-inner style='margin:30px'></iframe>"),
        _ => {
            let port = request.header("host").unwrap().rsplit(':').next().unwrap();
            html(&format!(
                "<!doctype html><title>Outer</title><p style='height:1000px'>Above</p><iframe id=same src=/inner></iframe>\
                 <iframe id=other src=http://localhost:{port}/middle style='margin:20px;width:500px;height:400px'></iframe>"
            ))
        }
    })
    .await;
    let house = house().await;
    text(&house, "navigate", json!({ "url": server.url() })).await;
    let tree = snapshot(&house).await;
    let depth = |part: &str| {
        let lines = tree.lines().filter(|line| line.contains(part));
        lines.map(|line| line.len() - line.trim_start().len()).collect::<Vec<_>>()
    };
    assert_eq!(depth("button \"Press\""), [2, 4], "{tree}");
    assert_eq!(depth("Middle"), [2], "{tree}");
    let buttons: Vec<String> = tree
        .lines()
        .filter(|line| line.contains("button \"Press\""))
        .map(|line| find_ref(line, "Press"))
        .collect();
    for (number, button) in buttons.iter().enumerate() {
        text(&house, "click", json!({ "ref": button })).await;
        let now = snapshot(&house).await;
        assert_eq!(now.matches("Pressed by true").count(), number + 1, "{now}");
    }
    let fields: Vec<String> = tree
        .lines()
        .filter(|line| line.contains("textbox \"Word\""))
        .map(|line| find_ref(line, "Word"))
        .collect();
    for (number, field) in fields.iter().enumerate() {
        text(&house, "type", json!({ "ref": field, "text": format!("word {number}") })).await;
    }
    let now = snapshot(&house).await;
    assert!(now.contains("value=\"word 0\"") && now.contains("value=\"word 1\""), "{now}");
    let shot = super::act(&house, "screenshot", json!({ "ref": buttons[1] })).await;
    let (width, height) = size(&picture(&shot));
    assert!(width > 20 && width < 300 && height > 10 && height < 60, "{width} x {height}");
    let said = text(&house, "wait", json!({})).await;
    assert!(page(&said).contains("Title: Outer"), "{said}");
}
