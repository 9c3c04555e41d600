//! Commands that `safeBins` lets run without a question.

use crate::commands::asking::{Becomes, becomes};
use crate::commands::house::House;
use builtin_tools::runtime::{ExplainedCommand, explain};
use serde_json::{Value, json};

fn safe(names: &[&str]) -> Value {
    json!({ "tools": { "exec": { "safeBins": names } } })
}

#[tokio::test(flavor = "multi_thread")]
async fn a_safe_bin_lifts_nothing_that_its_program_is_known_to_do() {
    for (name, command, expected) in [
        // The directory that holds when it runs counts.
        ("make", "cd folder && make all inner", Becomes::Asked),
        ("make", "cd folder && make all a.txt", Becomes::Runs),
        ("make", "env -C folder make all inner", Becomes::Asked),
        ("make", "cd $UNKNOWN && make all", Becomes::Asked),
        ("git", "git push", Becomes::Asked),
        ("git", "git fetch", Becomes::Asked),
        ("git", "git add .", Becomes::Asked),
        ("git", "git add -A", Becomes::Asked),
        ("git", "git commit -m x", Becomes::Asked),
        ("git", "git unheard-of", Becomes::Asked),
        ("git", "git reset --hard", Becomes::Asked),
        ("npm", "npm publish", Becomes::Asked),
        ("npm", "npm --tag next publish", Becomes::Asked),
        ("npm", "npm install x", Becomes::Asked),
        ("cargo", "cargo publish", Becomes::Asked),
        ("pip3", "pip3 install x", Becomes::Asked),
        ("uv", "uv pip install x", Becomes::Asked),
        ("npx", "npx x", Becomes::Asked),
        ("curl", "curl example.org", Becomes::Asked),
        ("pkill", "pkill x", Becomes::Asked),
        ("rm", "rm x", Becomes::Asked),
        ("crontab", "crontab -r", Becomes::Asked),
        ("sudo", "sudo ls", Becomes::Denied),
    ] {
        assert_eq!(becomes(&safe(&[name]), command).await, expected, "{command}");
    }
}

async fn explained(house: &House, command: &str) -> ExplainedCommand {
    explain(&house.toolbox.context("exec").unwrap(), command).await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn explain_says_why_a_safe_bin_counts_or_not() {
    let house = House::new(safe(&["git", "npm", "make"])).await;
    for (command, verdict, words) in [
        ("make all", "allow", "names make, and `make all` only filters its input"),
        ("make all a.txt", "ask", "a safe bin names no file, and `a.txt` is one"),
        ("git push", "ask", "a safe bin only filters its input, and git speaks with other machines here"),
        ("npm publish", "ask", "and npm speaks with other machines here"),
        ("git add .", "ask", "and git changes the repository here"),
    ] {
        let explained = explained(&house, command).await;
        assert_eq!(explained.verdict, verdict, "{command}");
        assert!(explained.why.iter().any(|why| why.contains(words)), "{command}: {:?}", explained.why);
    }
    assert_eq!(
        explained(&house, "git log -1; ls").await.why,
        [""; 0],
        "nothing is said where nothing was asked"
    );
}
