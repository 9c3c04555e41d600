//! A platform that this program registers.

use std::sync::Arc;

use bytes::Bytes;
use toolkit::config::{Configuration, LoadOptions};
use toolkit_channel::{
    Accounts, Batch, Capabilities, Channel, Future, Identity, Limits, Media, OpenError, Outgoing, Receipt,
    ReceiveError, SendError, registered,
};

/// Settings of a post office.
#[toolkit::args]
#[derive(Debug)]
struct PostSettings {
    /// The boxes.
    boxes: Vec<String>,
}

struct PostBox;

impl Channel for PostBox {
    fn capabilities(&self) -> Capabilities {
        Capabilities::default()
    }

    fn limits(&self) -> Limits {
        Limits::new(100, 50)
    }

    fn identify(&self) -> Future<'_, Result<Identity, ReceiveError>> {
        Box::pin(async { Ok(Identity { id: "1".to_owned(), name: "box".to_owned() }) })
    }

    fn receive<'a>(&'a self, _: Option<&'a str>) -> Future<'a, Result<Batch, ReceiveError>> {
        Box::pin(async { Ok(Batch::default()) })
    }

    fn send<'a>(&'a self, _: &'a Outgoing) -> Future<'a, Result<Receipt, SendError>> {
        Box::pin(async { Ok(Receipt::default()) })
    }

    fn fetch<'a>(&'a self, _: &'a Media, _: u64) -> Future<'a, Result<Bytes, ReceiveError>> {
        Box::pin(async { Err(ReceiveError::new("there are no media")) })
    }
}

fn open(settings: &PostSettings) -> Result<Accounts, OpenError> {
    let one = |name: &String| {
        if name.is_empty() {
            return Err(OpenError("a box has no name".to_owned()));
        }
        Ok((name.clone(), Arc::new(PostBox) as Arc<dyn Channel>))
    };
    settings.boxes.iter().map(one).collect()
}

toolkit_channel::channel! {
    platform: "post",
    settings: PostSettings,
    open: open,
}

fn opened(setting: &str) -> Result<Vec<(String, String)>, String> {
    let configuration =
        Configuration::load(LoadOptions::new().set(setting)).map_err(|error| error.to_string())?;
    let all = registered();
    let [post] = all.as_slice() else { panic!("{all:?}") };
    assert_eq!(post.platform, "post");
    let accounts = post.open(&configuration).map_err(|error| error.to_string())?;
    Ok(accounts.into_iter().map(|account| (account.channel, account.id)).collect())
}

#[test]
fn the_accounts_of_a_configuration_are_opened() {
    let pair = |id: &str| ("post".to_owned(), id.to_owned());
    assert_eq!(opened("channels.post.post={ boxes: ['a', 'b'] }"), Ok(vec![pair("a"), pair("b")]));
    assert_eq!(opened("channels={}"), Ok(Vec::new()));
}

#[test]
fn wrong_settings_are_refused_with_their_place() {
    for (setting, expected) in [
        ("channels.post.post={ boxes: [''] }", "channels.post.post: a box has no name"),
        ("channels.mail.post={ boxes: ['a'] }", "move this to `channels.post.post`"),
        ("channels.post.post={ boxes: 5 }", "boxes"),
    ] {
        let error = opened(setting).expect_err("is wrong");
        assert!(error.contains(expected), "{error}");
    }
}
