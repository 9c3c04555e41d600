//! Actions wait for what they act on.

use super::site::site;
use super::{error, find_ref, house, page, snapshot, text};
use serde_json::json;
use toolkit::ToolErrorKind;

const LATE: &str = "<!doctype html><title>Late</title><main id=app>Loading</main><script>\
    setTimeout(() => { app.innerHTML = '<button id=go disabled>Go</button>'; \
      setTimeout(() => { go.disabled = false; }, 200); \
      go.onclick = () => setTimeout(() => { app.innerHTML = '<p>Done at last</p><ul>' + '<li>Item</li>'.repeat(3) + '</ul>'; history.pushState(null, '', '/done'); }, 300); \
    }, 400);</script>";

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Chromium: cargo xtask test"]
async fn a_page_that_renders_late_is_waited_for() {
    let server = site(&[("/", LATE), ("/more", "<title>More</title><p>More")]).await;
    let house = house().await;
    text(&house, "navigate", json!({ "url": server.url() })).await;
    text(&house, "click", json!({ "selector": "#go" })).await;
    let waited = text(&house, "wait", json!({ "text": "Done  at last" })).await;
    assert!(waited.starts_with("the text \"Done  at last\" is visible."), "{waited}");
    assert!(page(&waited).contains("/done"), "the address of the router: {waited}");
    assert!(snapshot(&house).await.contains("Done at last"));
    let came = text(&house, "wait", json!({ "address": "/done" })).await;
    assert!(came.starts_with("The address contains \"/done\"."), "{came}");
    let failed = error(&house, "wait", json!({ "address": "/never", "timeout_ms": 100 })).await;
    assert!(
        failed.kind() == ToolErrorKind::TimedOut && failed.message().contains("/done after 100ms"),
        "{failed}"
    );
    let gone = text(&house, "wait", json!({ "selector": "#go", "gone": true })).await;
    assert!(gone.starts_with("`#go` is gone."), "{gone}");
    let failed = error(&house, "wait", json!({ "text": "never", "timeout_ms": 100 })).await;
    assert!(
        failed.kind() == ToolErrorKind::TimedOut && failed.message().contains("did not appear within 100ms"),
        "{failed}"
    );
    let failed = error(&house, "click", json!({ "selector": "#never", "timeout_ms": 100 })).await;
    assert!(failed.kind() == ToolErrorKind::NotFound, "{failed}");
    assert!(
        failed.message().contains("no element matches `#never` within 100ms; take a `snapshot`"),
        "{failed}"
    );
    let failed = error(&house, "click", json!({ "selector": "a[", "timeout_ms": 100 })).await;
    assert!(
        failed.kind() == ToolErrorKind::InvalidArguments && failed.message().contains("cannot be read"),
        "{failed}"
    );
}

const MOVING: &str = "<!doctype html><title>0</title><style>#slide { position: absolute; left: 0; top: 200px; transition: left .4s linear } \
    .over { position: fixed; inset: 0; background: white } #low { margin-top: 3000px } #shadow { margin-top: 60px }</style>\
    <button id=slide onclick=\"document.title += ' slide'\">Slide</button>\
    <div id=shadow></div><label id=label><input type=checkbox id=box style=\"position:absolute;width:0;height:0;appearance:none\" onchange=\"document.title += ' box'\">Agree</label>\
    <button id=low onclick=\"document.title += ' low'\">Low</button>\
    <button hidden id=hidden>Hidden</button><div id=twice ondblclick=\"document.title += ' twice'\" oncontextmenu=\"document.title += ' menu'; return false\">Twice</div>\
    <div id=menu onmouseenter=\"sub.hidden = false\">Menu<a hidden id=sub href=#x onclick=\"document.title += ' sub'\">Sub</a></div>\
    <script>setTimeout(() => slide.style.left = '400px', 50); \
    const root = shadow.attachShadow({ mode: 'open' }); root.innerHTML = '<button id=inner>Inner</button>'; \
    root.getElementById('inner').onclick = () => document.title += ' inner';</script>";

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Chromium: cargo xtask test"]
async fn what_is_hidden_moving_or_covered_is_not_clicked_blindly() {
    let server = site(&[("/", MOVING)]).await;
    let house = house().await;
    text(&house, "navigate", json!({ "url": server.url() })).await;
    text(&house, "click", json!({ "selector": "#slide" })).await;
    text(&house, "click", json!({ "selector": "#inner" })).await;
    text(&house, "click", json!({ "selector": "#box" })).await;
    text(&house, "click", json!({ "selector": "text=Low" })).await;
    text(&house, "click", json!({ "selector": "#twice", "double": true })).await;
    text(&house, "click", json!({ "selector": "xpath=//div[text()='Twice']", "button": "right" })).await;
    text(&house, "hover", json!({ "selector": "#menu" })).await;
    let last = text(&house, "click", json!({ "selector": "#sub" })).await;
    assert!(page(&last).contains("Title: 0 slide inner box low twice menu sub"), "{last}");
    let failed = error(&house, "click", json!({ "selector": "#hidden", "timeout_ms": 150 })).await;
    assert!(
        failed.message().contains("`#hidden` cannot be acted on: it is not visible (waited 150ms)"),
        "{failed}"
    );
    let script = "document.body.insertAdjacentHTML('beforeend', '<div class=over>Cookies?</div>')";
    text(&house, "evaluate", json!({ "script": script })).await;
    let failed = error(&house, "click", json!({ "selector": "#slide", "timeout_ms": 200 })).await;
    assert!(failed.message().contains("it is covered by <div.over> \"Cookies?\""), "{failed}");
    text(
        &house,
        "evaluate",
        json!({ "script": "setTimeout(() => document.querySelector('.over').remove(), 300)" }),
    )
    .await;
    let last = text(&house, "click", json!({ "selector": "#slide" })).await;
    assert!(page(&last).contains("sub slide"), "{last}");
}

const DRAG: &str = "<!doctype html><title>Drag</title><style>div { width: 80px; height: 60px; border: 1px solid } #bar { position: absolute; top: 300px; left: 10px; width: 40px }</style>\
    <div id=from draggable=true>From</div><div id=to>To</div><div id=bar>Bar</div><script>\
    from.ondragstart = (event) => event.dataTransfer.setData('text/plain', 'payload'); \
    to.ondragover = (event) => event.preventDefault(); \
    to.ondrop = (event) => { event.preventDefault(); document.title = 'dropped ' + event.dataTransfer.getData('text/plain'); }; \
    let held = false; bar.onmousedown = (event) => { held = true; event.preventDefault(); }; \
    document.onmousemove = (event) => { if (held) bar.style.left = event.pageX + 'px'; }; \
    document.onmouseup = () => { if (held) document.title = 'bar at ' + bar.style.left; held = false; };</script>\
    <div id=target style='position:absolute;left:500px;top:300px'>Target</div>";

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Chromium: cargo xtask test"]
async fn dragging_and_scrolling() {
    let list = "<!doctype html><title>Long</title><style>p { height: 500px } #box { height: 200px; overflow: auto }</style>\
        <div id=box><p>1<p>2<p>3</div><p>a<p>b<p>c<p id=end>end<script>onscroll = () => document.title = 'at ' + Math.round(scrollY)</script>";
    let server = super::site::serve(move |request| {
        super::site::html(if request.path == "/long" { list } else { DRAG })
    })
    .await;
    let house = house().await;
    text(&house, "navigate", json!({ "url": server.url() })).await;
    let tree = snapshot(&house).await;
    let dropped = text(&house, "drag", json!({ "selector": "#from", "to_selector": "#to" })).await;
    assert!(page(&dropped).contains("Title: dropped payload"), "{dropped} {tree}");
    let moved = text(&house, "drag", json!({ "selector": "#bar", "to_selector": "#target" })).await;
    assert!(page(&moved).contains("Title: bar at 54"), "{moved}");

    text(&house, "navigate", json!({ "url": format!("{}/long", server.url()) })).await;
    text(&house, "scroll", json!({ "selector": "#box", "amount": 300 })).await;
    let said = text(&house, "scroll", json!({ "selector": "#box", "amount": 100, "direction": "up" })).await;
    assert!(said.starts_with("Scrolled `#box`: it is at 200 of "), "{said}");
    text(&house, "scroll", json!({ "selector": "#end" })).await;
    let top = text(&house, "scroll", json!({ "amount": 5000, "direction": "up" })).await;
    assert!(page(&top).contains("Title: at 0"), "{top}");
    let down = text(&house, "scroll", json!({ "amount": 250 })).await;
    assert!(page(&down).contains("Title: at 250"), "{down}");
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Chromium: cargo xtask test"]
async fn refs_are_checked() {
    let server = site(&[("/", "<!doctype html><title>Refs</title><button onclick=\"this.remove(); document.title = 'gone'\">One</button><button>Two</button>")]).await;
    let house = house().await;
    text(&house, "navigate", json!({ "url": server.url() })).await;
    let failed = error(&house, "click", json!({ "ref": "e1" })).await;
    assert!(failed.message().contains("refs come from a `snapshot`"), "{failed}");
    let tree = snapshot(&house).await;
    let (one, two) = (find_ref(&tree, "\"One\""), find_ref(&tree, "\"Two\""));
    let failed = error(&house, "click", json!({ "ref": "e77" })).await;
    assert!(failed.message().contains("there is no element e77"), "{failed}");
    text(&house, "click", json!({ "ref": one })).await;
    let failed = error(&house, "click", json!({ "ref": one })).await;
    assert!(
        failed.kind() == ToolErrorKind::NotFound && failed.message().contains("not on the page any more"),
        "{failed}"
    );
    text(&house, "click", json!({ "ref": format!("[{two}]") })).await;
    let again = snapshot(&house).await;
    assert_eq!(find_ref(&again, "\"Two\""), two, "an element keeps its ref");
    let same = text(&house, "snapshot", json!({ "diff": true })).await;
    assert!(same.starts_with("Nothing changed since the last snapshot."), "{same}");
}
