//! From the sources of a configuration to a toolkit, and a configuration that is followed.

#![expect(clippy::unwrap_used, reason = "a test's helpers may panic too")]

use std::fs;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;
use tempfile::TempDir;
use tokio::time::timeout;
use toolkit::prelude::*;
use toolkit::{
    ToolErrorKind,
    bootstrap::{Bootstrap, BootstrapError, ConfigurationFollower, FollowTask},
    config::{Configuration, LoadOptions, TrustStore},
    registry::Reloaded,
    tool_ref,
};

/// Does nothing.
#[tool(auto_execute)]
async fn idle() {}

struct User {
    directory: TempDir,
}

impl User {
    fn new(configuration: &str) -> Self {
        let user = Self { directory: tempfile::tempdir().unwrap() };
        fs::create_dir_all(user.directory.path().join("user")).unwrap();
        fs::create_dir_all(user.directory.path().join("work")).unwrap();
        user.write(configuration);
        user
    }

    fn write(&self, configuration: &str) {
        // As a whole: it may be read at any time.
        let new = self.directory.path().join("user/new");
        fs::write(&new, configuration).unwrap();
        fs::rename(new, self.directory.path().join("user/toolkit.json5")).unwrap();
    }

    fn load(&self) -> LoadOptions {
        let directory = self.directory.path();
        LoadOptions::new()
            .user_file(directory.join("user/toolkit.json5"))
            .workspace(directory.join("work"))
            .data_dir(directory.join("data"))
    }
}

#[tokio::test]
async fn a_toolkit_has_its_configuration_its_directories_and_the_parts_of_its_host() {
    let user = User::new("{ permission: { idle: 'deny' } }");
    let mut order = Vec::new();
    let toolkit = Toolkit::empty().tool(tool_ref!(idle)).keeps_history();
    let bootstrap = Bootstrap::new(toolkit, user.load()).part(|toolkit, configuration| {
        order.push(configuration.permissions().0.len());
        toolkit
    });
    let toolkit = bootstrap.start().unwrap();
    assert_eq!(order, [1]);
    let toolbox = toolkit.toolbox(&Caller::new()).await;
    let denied = toolbox.call(ToolCall::new("1", "idle", "{}")).await.outcome.unwrap_err();
    assert_eq!(denied.kind(), ToolErrorKind::Denied);
    let own = toolbox.context("idle").unwrap().own_paths();
    assert!(own.config.contains(&user.directory.path().join("user")), "{own:?}");
    assert!(own.data.contains(&user.directory.path().join("data")), "{own:?}");
    assert!(user.directory.path().join("data/history/calls.jsonl").exists());
}

#[test]
fn errors_are_those_of_the_configuration_and_of_building() {
    let user = User::new("{ tols: {} }");
    let start = || Bootstrap::new(Toolkit::empty().tool(tool_ref!(idle)), user.load()).start().unwrap_err();
    assert!(matches!(start(), BootstrapError::Configuration(error) if error.to_string().contains("`tools`")));
    user.write("{ permission: { idel: 'deny' } }");
    assert!(matches!(start(), BootstrapError::Build(error) if error.to_string().contains("`idle`")));
}

fn followed(user: &User) -> (Toolkit, FollowTask, Receiver<Result<Reloaded, BootstrapError>>) {
    let toolkit = Bootstrap::new(Toolkit::empty().tool(tool_ref!(idle)), user.load()).start().unwrap();
    let (told, tellings) = channel();
    let task = toolkit.follow_configuration(user.load(), move |reloaded| drop(told.send(reloaded)));
    (toolkit, task, tellings)
}

async fn next(tellings: &Receiver<Result<Reloaded, BootstrapError>>) -> Result<Reloaded, BootstrapError> {
    let next = async {
        loop {
            match tellings.try_recv() {
                Ok(next) => return next,
                Err(_) => tokio::time::sleep(Duration::from_millis(100)).await,
            }
        }
    };
    timeout(Duration::from_mins(10), next).await.unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_file_that_changes_is_reloaded_and_a_broken_one_is_reported_once() {
    let user = User::new("{}");
    let (toolkit, task, tellings) = followed(&user);
    user.write("{ permission: { idle: 'deny' } }");
    assert_eq!(next(&tellings).await.unwrap().changed, ["permission"]);
    let is_denied = async || {
        let toolbox = toolkit.toolbox(&Caller::new()).await;
        toolbox.call(ToolCall::new("1", "idle", "{}")).await.is_error()
    };
    assert!(is_denied().await);
    user.write("{ permission: ");
    assert!(next(&tellings).await.is_err());
    // The same error is not reported again, and what was in effect stays so.
    tokio::time::sleep(Duration::from_secs(30)).await;
    assert!(tellings.try_recv().is_err() && is_denied().await);
    user.write("{}");
    assert_eq!(next(&tellings).await.unwrap().changed, ["permission"]);
    assert!(!is_denied().await);
    drop(task);
    user.write("{ permission: { idle: 'deny' } }");
    tokio::time::sleep(Duration::from_secs(30)).await;
    assert!(tellings.try_recv().is_err() && !is_denied().await);
}

#[tokio::test(start_paused = true)]
async fn a_file_of_a_workspace_that_appears_only_restricts() {
    let user = User::new("{ permission: { idle: 'ask' } }");
    let (toolkit, _task, tellings) = followed(&user);
    let file = user.directory.path().join("work/toolkit.json5");
    fs::write(&file, "{ permission: { idle: 'allow' }, tools: { deny: ['idle'] } }").unwrap();
    next(&tellings).await.unwrap();
    assert!(toolkit.toolbox(&Caller::new()).await.tool("idle").is_none());
    fs::remove_file(file).unwrap();
    next(&tellings).await.unwrap();
    let toolbox = toolkit.toolbox(&Caller::new()).await;
    assert!(toolbox.call(ToolCall::new("1", "idle", "{}")).await.is_error(), "nobody can be asked");
}

#[tokio::test(start_paused = true)]
async fn toolkits_of_one_follower_are_reloaded_together_until_each_is_left() {
    let user = User::new("{}");
    let follower = ConfigurationFollower::new(user.load());
    let start = || {
        let toolkit = Bootstrap::new(Toolkit::empty().tool(tool_ref!(idle)), user.load()).start().unwrap();
        let (told, tellings) = channel();
        let task = follower.follow(&toolkit, move |reloaded| drop(told.send(reloaded)));
        (toolkit, task, tellings)
    };
    let (one, of_one, told_one) = start();
    let (two, of_two, told_two) = start();
    user.write("{ tools: { deny: ['idle'] } }");
    for told in [&told_one, &told_two] {
        assert_eq!(next(told).await.unwrap().changed, ["tools"]);
    }
    let denies = |toolkit: &Toolkit| !toolkit.configuration().document()["tools"]["deny"].is_null();
    assert!(denies(&one) && denies(&two));

    user.write("{ tools: ");
    assert!(next(&told_one).await.is_err() && next(&told_two).await.is_err());
    drop(of_one);
    user.write("{}");
    assert_eq!(next(&told_two).await.unwrap().changed, ["tools"]);
    assert!(denies(&one) && !denies(&two), "only the second one is followed");
    assert!(told_one.try_recv().is_err());

    // It begins again after nothing was followed.
    drop(of_two);
    let (three, _of_three, told_three) = start();
    user.write("{ tools: { deny: ['idle'] } }");
    assert_eq!(next(&told_three).await.unwrap().changed, ["tools"]);
    assert!(denies(&three) && !denies(&two));
}

#[test]
fn configurations_are_the_same_until_a_value_or_the_trust_in_a_file_changes() {
    let user = User::new("{ tools: { deny: ['idle'] } }");
    let load = || Configuration::load(user.load()).unwrap();
    let first = load();
    user.write("{ /* a comment */ tools: { deny: ['idle'] } }");
    assert!(load().is_same_as(&first));
    user.write("{ tools: { deny: [] } }");
    assert!(!load().is_same_as(&first));
    user.write("{ tools: { deny: ['idle'] } }");
    // It changes no value, but may be trusted.
    let file = user.directory.path().join("work/toolkit.json5");
    fs::write(&file, "{}").unwrap();
    let untrusted = load();
    assert!(!untrusted.is_same_as(&first));
    let store = TrustStore::new(user.directory.path().join("data"));
    store.trust(&untrusted.workspace_files()[0].file).unwrap();
    assert!(!load().is_same_as(&untrusted));
}
