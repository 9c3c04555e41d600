//! The channel against a double of its platform.

#![expect(clippy::unwrap_used, reason = "a test's helpers may panic too")]

mod document;
mod double;

use double::{PostboxDouble, TOKEN, opened};
use postbox as _;
use toolkit_channel::conformance::run;

#[tokio::test]
async fn the_channel_keeps_to_its_trait() {
    let report = run(&PostboxDouble::start().await).await;
    report.assert();
    // Postbox has none of these.
    let expected = ["groups", "send_markup", "press", "moved"];
    assert_eq!(report.left_out(), expected, "{report}");
}

#[test]
fn wrong_settings_are_refused_without_the_token() {
    for (settings, expected) in [
        ("{}", "token"),
        ("{ token: 'no token' }", "channels.postbox.postbox: `token` is no token"),
        (&format!("{{ token: '{TOKEN}', baseUrl: 'http://a:b@c' }}"), "has a user name or password"),
        (&format!("{{ token: '{TOKEN}', waitSeconds: 0 }}"), "waitSeconds"),
        (&format!("{{ tokne: '{TOKEN}' }}"), "did you mean `token`"),
    ] {
        let error = opened(settings).err().unwrap();
        assert!(error.contains(expected) && !error.contains(TOKEN), "{settings}: {error}");
    }
}
