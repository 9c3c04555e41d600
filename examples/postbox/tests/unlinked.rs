//! A program that does not name the crate of the channel: cargo compiles it, and the program does not contain it.

use toolkit::config::{Configuration, LoadOptions};

#[test]
fn settings_of_a_channel_that_is_not_linked_are_an_error() {
    assert!(toolkit_channel::registered().is_empty());
    let options = LoadOptions::new().set("channels.postbox.postbox={ token: 'b7-secret' }");
    let error = Configuration::load(options).unwrap_err().to_string();
    assert!(error.contains("`channels.postbox` has no key `postbox`"), "{error}");
    assert!(!error.contains("b7-secret"), "{error}");
}
