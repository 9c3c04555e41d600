//! The program: missing, found, started in the right way.

use super::{allow, error, house_with};
use serde_json::json;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use toolkit::ToolErrorKind;

#[tokio::test(flavor = "multi_thread")]
async fn without_a_browser_the_error_says_what_to_do() {
    let house = house_with(&json!({ "executable": "/no/such/browser" }), allow).await;
    let failed = error(&house, "navigate", json!({ "url": "http://127.0.0.1:8099/" })).await;
    assert_eq!(failed.kind(), ToolErrorKind::Unavailable);
    assert!(failed.message().contains("`tools.browser.executable` names /no/such/browser"), "{failed}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_program_that_is_no_browser_is_an_error_with_what_it_said() {
    let house = house_with(&json!({}), allow).await;
    let program = house.path("program");
    fs::write(&program, "#!/bin/sh\necho 'no display, says the program' >&2\nexit 3\n").unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let house = house_with(&json!({ "executable": program }), allow).await;
    let failed = error(&house, "navigate", json!({ "url": "http://127.0.0.1:8099/" })).await;
    assert_eq!(failed.kind(), ToolErrorKind::Unavailable);
    assert!(failed.message().contains("the browser cannot be started"), "{failed}");
    assert!(failed.message().contains("it said: no display, says the program"), "{failed}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_state_of_the_browser_is_told() {
    let house = house_with(&json!({ "executable": "/bin/sh" }), allow).await;
    let context = house.toolbox.context("browser").unwrap();
    let state = builtin_tools::browser::browser_state(&context).unwrap();
    assert_eq!(state.executable.as_deref(), Some(std::path::Path::new("/bin/sh")));
    assert_eq!(state.missing, None);
    let house = house_with(&json!({ "executable": "/no/such/browser" }), allow).await;
    let context = house.toolbox.context("browser").unwrap();
    let state = builtin_tools::browser::browser_state(&context).unwrap();
    assert!(state.executable.is_none() && state.missing.unwrap().contains("tools.browser.executable"));
}
