//! Frames: of the same site, and of another one, in a process of its own.

use super::site::{html, serve};
use super::{find_ref, house, page, picture, size, snapshot, text};
use serde_json::json;

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Chromium: cargo xtask test"]
async fn workers_of_a_page_and_of_its_frames_run() {
    let page = "<!doctype html><title>Workers</title><ul id=list></ul><script>
        const say = (text) => list.insertAdjacentHTML('beforeend', `<li>${text}</li>`);
        const inner = `postMessage('inner'); close()`;
        const outer = `const worker = new Worker(URL.createObjectURL(new Blob([${JSON.stringify(inner)}]))); worker.onmessage = (event) => postMessage('outer and ' + event.data)`;
        new Worker(URL.createObjectURL(new Blob([outer]))).onmessage = (event) => say(event.data);
        new Worker('/worker.js').onmessage = (event) => say(event.data);
        new SharedWorker('/shared.js').port.onmessage = (event) => say(event.data);
        navigator.serviceWorker.register('/service.js').then(() => navigator.serviceWorker.ready).then(() => say('service'));
        if (window === top) document.write('<iframe src=/inner></iframe>');
        </script>";
    let server = serve(move |request| match request.path.as_str() {
        "/worker.js" => script("postMessage('dedicated')"),
        "/shared.js" => script("onconnect = (event) => event.ports[0].postMessage('shared')"),
        "/service.js" => script("oninstall = () => {}"),
        _ => html(page),
    })
    .await;
    let house = house().await;
    text(&house, "navigate", json!({ "url": server.url() })).await;
    let all = ["outer and inner", "dedicated", "shared", "service"];
    let waits = all.map(|said| json!({ "text": said }));
    for wait in waits {
        text(&house, "wait", wait).await;
    }
    let mut shown = String::new();
    for _ in 0..1000 {
        shown = snapshot(&house).await;
        if all.iter().all(|said| shown.matches(said).count() == 2) {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    panic!("{shown}");
}

fn script(code: &str) -> toolkit_loopback::Answer {
    toolkit_loopback::Answer::bytes(200, code.to_owned()).with_header("content-type", "text/javascript")
}

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
