//! A program that links the channel by naming its crate.

use postbox as _;

#[test]
fn a_crate_that_is_named_is_linked() {
    let platforms = toolkit_channel::registered();
    assert!(platforms.iter().any(|platform| platform.platform == "postbox"), "{platforms:?}");
}
