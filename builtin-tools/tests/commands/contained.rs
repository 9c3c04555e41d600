//! What a sandbox changes. Where this system has not got all of it, commands are asked about as without one.

use crate::house::{House, fact};
use serde_json::json;
use toolkit::{Answer, ToolErrorKind};

#[tokio::test(flavor = "multi_thread")]
async fn what_a_working_sandbox_contains_is_not_asked_about() {
    let house = House::with(json!({ "tools": { "exec": { "security": "auto" } } }), |_| Answer::deny()).await;
    let is_whole = toolkit_sandbox::probe().is_whole();
    for (command, contained) in [
        ("touch made; ls made", true),
        ("make nothing", true),
        ("python3 -c 'print(1)'", true),
        ("cat .env", false),
        ("touch ../outside", false),
        ("mkdir sub; rm -rf sub", false),
        ("curl http://127.0.0.1", false),
    ] {
        let result = house.exec(command).await;
        let asked = house.asked().len();
        assert_eq!(asked, usize::from(!(is_whole && contained)), "{command}: {}", result.text());
        if asked == 0 {
            assert_eq!(fact(&result, "sandbox")["whole"], json!(true), "{command}: {}", result.text());
        }
    }
    assert_eq!(house.path("made").exists(), is_whole);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_person_allowed_is_contained_all_the_same() {
    if !toolkit_sandbox::probe().is_whole() {
        // Then the parts that are missing are told, which is what the test of the results looks at.
        return;
    }
    let house = House::new(json!({})).await;
    std::fs::create_dir_all(house.path(".vscode")).unwrap();
    let outside = std::env::current_dir().unwrap().join(format!("outside-{}", std::process::id()));
    for (command, says) in [
        (format!("touch inside; touch {}", outside.display()), "sandbox"),
        ("echo x > .vscode/tasks.json".to_owned(), "sandbox"),
        ("touch inside; exec 3<>/dev/tcp/127.0.0.1/1".to_owned(), "exit code 1"),
    ] {
        let result = house.exec(&command).await;
        assert!(result.is_error() && result.text().contains(says), "{command}: {}", result.text());
    }
    assert!(!outside.exists() && house.path("inside").exists());
    // One finds in /tmp what another left there, and nobody else does.
    let name = format!("/tmp/left-{}", std::process::id());
    house.exec(&format!("echo here > {name}")).await;
    assert!(!std::path::Path::new(&name).exists());
    let result = house.exec(&format!("touch inside; cat {name}")).await;
    assert!(result.text().starts_with("here\n"), "{}", result.text());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_leaves_the_sandbox_is_asked_for() {
    let house = House::with(json!({}), |_| Answer::deny()).await;
    let refused = house.call("exec", json!({ "command": "ls", "escalate": "no-sandbox" })).await;
    assert_eq!((refused.error().unwrap().kind(), house.asked().len()), (ToolErrorKind::Denied, 1));
    let house = House::new(json!({ "tools": { "exec": { "sandbox": "required" } } })).await;
    let refused = house.call("exec", json!({ "command": "ls", "escalate": "no-sandbox" })).await;
    assert_eq!((refused.error().unwrap().kind(), house.asked().len()), (ToolErrorKind::Denied, 0));
}
