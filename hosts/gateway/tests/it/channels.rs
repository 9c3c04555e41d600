//! Chat channels in a whole gateway, over a platform within the test.
#![allow(clippy::unwrap_used)]

mod answers;
mod apart;
mod asks;
mod configured;
mod ending;
mod groups;
mod media;
mod messages;
mod outages;
mod platform;
mod strangers;
mod telegram;

use std::path::Path;
use std::time::Duration;

use serde_json::Value;
use toolkit::config::LoadOptions;
use toolkit_channel::Account;
use toolkit_gateway::{Gateway, GatewayError, GatewayOptions};
use toolkit_host::Host;

use crate::agents::in_time;
use crate::websocket::{Model, http};
use platform::Platform;

/// A gateway with one account of a platform, in a directory of its own.
struct Chat {
    directory: tempfile::TempDir,
    model: Model,
    platform: Platform,
    gateway: Gateway,
    owner: String,
    settings: Vec<String>,
}

impl Chat {
    async fn new() -> Self {
        Self::with(&[]).await
    }

    async fn with(settings: &[&str]) -> Self {
        let settings: Vec<String> = settings.iter().map(|setting| (*setting).to_owned()).collect();
        let directory = tempfile::tempdir().unwrap();
        let (model, platform) = (Model::start().await, Platform::default());
        let gateway = start(directory.path(), &model, &platform, &settings).await;
        let owner = std::fs::read_to_string(gateway.owner_token_file()).unwrap().trim().to_owned();
        Self { directory, model, platform, gateway, owner, settings }
    }

    /// Stops the gateway, and starts it again.
    async fn restart(self) -> Self {
        let Self { directory, model, platform, gateway, owner, settings } = self;
        in_time(gateway.stop(Duration::ZERO)).await.unwrap();
        let gateway = start(directory.path(), &model, &platform, &settings).await;
        Self { directory, model, platform, gateway, owner, settings }
    }

    async fn stop(self) {
        in_time(self.gateway.stop(Duration::ZERO)).await.unwrap();
    }

    async fn post(&self, path: &str, body: Value) -> (u16, Value) {
        http(self.gateway.address(), "POST", path, &self.owner, Some(body)).await
    }

    async fn get(&self, path: &str) -> Value {
        let (status, answer) = http(self.gateway.address(), "GET", path, &self.owner, None).await;
        assert_eq!(status, 200, "{answer}");
        answer
    }

    /// Waits until an answer is as it should be.
    async fn becomes(&self, path: &str, is_so: impl Fn(&Value) -> bool) {
        in_time(async {
            while !is_so(&self.get(path).await) {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        })
        .await;
    }

    /// Lets a sender in as this, such as `{ "owner": true }`.
    async fn let_in(&self, sender: &str, mut becomes: Value) {
        self.platform.say(sender, "hello");
        let told = self.platform.next(&format!("direct/{sender}")).await;
        becomes["sender"] = code(&told).into();
        let (status, approved) = self.post("/v1/pairings/approve", becomes).await;
        assert_eq!(status, 200, "{approved}");
        let welcome = self.platform.next(&format!("direct/{sender}")).await;
        assert!(welcome.starts_with("You are let in"), "{welcome}");
    }
}

/// The code in the message to an unknown sender.
fn code(told: &str) -> String {
    told.rsplit(' ').next().unwrap().to_owned()
}

async fn start(directory: &Path, model: &Model, platform: &Platform, settings: &[String]) -> Gateway {
    try_start(directory, model, platform, settings).await.unwrap()
}

async fn try_start(
    directory: &Path,
    model: &Model,
    platform: &Platform,
    settings: &[String],
) -> Result<Gateway, GatewayError> {
    let mut load = LoadOptions::new()
        .data_dir(directory)
        .set("gateway.address='127.0.0.1:0'")
        .set("gateway.othersMayUse=['plugins']")
        .set(format!(
            "models={{ local: {{ baseUrl: '{}', model: 'm', contextTokens: 1000000 }} }}",
            model.url
        ));
    for setting in settings {
        load = load.set(setting.clone());
    }
    // Tools of other tests need what is not here.
    let host = |load| Host::builder(load).with_toolkit(toolkit::Builder::leave_out_incomplete);
    let account = Account {
        channel: "post".to_owned(),
        id: "box".to_owned(),
        account: std::sync::Arc::new(platform.clone()),
    };
    Gateway::start(load, host, GatewayOptions::new().account(account)).await
}
