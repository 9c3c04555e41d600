//! The page of the console, in Chromium.

mod tools;

use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::net::TcpListener;
use toolkit_web::Console;

/// The program has a limit for each of its waits; this one only ends it if the browser hangs.
const LONG: Duration = Duration::from_mins(10);

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap().to_owned()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs Chromium: cargo xtask test"]
async fn the_page_lists_fills_runs_and_asks() {
    let console = Console::new(tools::toolkit()).unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let page = console.open(listener.local_addr().unwrap()).unwrap();
    let serving = tokio::spawn({
        let console = console.clone();
        async move { console.serve(listener).await }
    });
    let tools = repository().join("target/tools");
    let mut node = tokio::process::Command::new(tools.join("python/bin/node"));
    node.arg(repository().join("hosts/web/tests/it/console_page/page.mjs"));
    node.arg(page)
        .arg(tools.join("node_modules/playwright-core"))
        .arg("/usr/bin/chromium")
        .kill_on_drop(true);
    let output = tokio::time::timeout(LONG, node.output()).await.expect("the browser ends").unwrap();
    let [said, errors] =
        [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
    assert!(output.status.success(), "{said}\n{errors}");
    console.shutdown().cancel();
    serving.await.unwrap().unwrap();
}
