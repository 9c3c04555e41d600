//! The web console of a gateway, in Chromium, beside the terminal.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;
use toolkit_loopback::bot_api::{Chat, FakeBotApi, User};

/// The program has a limit for each of its waits; this one only ends it if the browser hangs.
const LONG: Duration = Duration::from_mins(15);

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Chromium: cargo xtask test"]
async fn a_person_steers_agents_in_the_browser_as_in_the_terminal() {
    let repository = toolkit_tests::repository();
    let directory = tempfile::tempdir().unwrap();
    let telegram = FakeBotApi::start().await;
    let ada = User::new(234_567, "<b>Ada</b> \u{202e}adA");
    telegram.say(&ada, &Chat::direct(&ada), "hello");
    let tools = repository.join("target/tools");
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/gateway/console/page.mjs");
    let mut node = tokio::process::Command::new(tools.join("python/bin/node"));
    node.arg(page)
        .arg(env!("CARGO_BIN_EXE_toolkit"))
        .arg(tools.join("node_modules/playwright-core"))
        .arg("/usr/bin/chromium")
        .arg(directory.path())
        .env("TELEGRAM_URL", telegram.url())
        .env("TELEGRAM_TOKEN", telegram.token())
        .stdin(Stdio::null())
        .kill_on_drop(true);
    let output = tokio::time::timeout(LONG, node.output()).await.expect("the browser ends").unwrap();
    let [said, errors] =
        [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
    assert!(output.status.success(), "{said}\n{errors}");
    // Whoever was let in hears of it, and nobody else.
    assert!(!telegram.sent().is_empty());
}
