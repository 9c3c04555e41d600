//! Settings, and who the account is.

use super::{Place, opened};
use toolkit_channel::Identity;

#[tokio::test]
async fn accounts_are_those_of_the_settings() {
    let ids =
        |settings: &str| -> Vec<String> { opened(settings).unwrap().into_iter().map(|(id, _)| id).collect() };
    assert_eq!(ids("{ token: '1:a' }"), ["default"]);
    assert_eq!(ids("{ accounts: { home: { token: '1:a' }, work: { token: '2:a' } } }"), ["home", "work"]);
    assert!(
        ids("{ token: '1:a', baseUrl: 'http://127.0.0.1:8081/', pollSeconds: 50, timeoutSeconds: 300 }")
            .len()
            == 1
    );
}

#[tokio::test]
async fn wrong_settings_are_refused_and_no_token_is_shown() {
    for (settings, expected) in [
        ("{}", "set `token` to the token that @BotFather gave"),
        ("{ accounts: {} }", "set `token`"),
        (
            "{ token: '1:a', accounts: { home: { token: '2:a' } } }",
            "move the token to `accounts.default.token`",
        ),
        ("{ token: 'secret' }", "channels.telegram.telegram: `token` is not a bot token"),
        ("{ token: '1:secret/../x' }", "`token` is not a bot token"),
        ("{ accounts: { home: { token: 'secret' } } }", "`accounts.home.token` is not a bot token"),
        ("{ accounts: { '': { token: '1:secret' } } }", "has no id"),
        (
            "{ accounts: { home: { token: '1:secret' }, work: { token: '1:secret' } } }",
            "`home` and `work` are the same bot",
        ),
        ("{ accounts: { home: {} } }", "token"),
        ("{ token: '1:secret', baseUrl: 'ftp://x' }", "baseUrl"),
        ("{ token: '1:secret', baseUrl: 'http://[::' }", "`baseUrl` is not a URL"),
        ("{ token: '1:secret', baseUrl: 'http://no such host' }", "`baseUrl` is not a URL"),
        ("{ token: '1:secret', baseUrl: 'http://a:b@host' }", "`baseUrl` has a user name"),
        ("{ token: '1:secret', pollSeconds: 51 }", "pollSeconds"),
        ("{ token: '1:secret', timeoutSeconds: 0 }", "timeoutSeconds"),
        ("{ tokne: '1:secret' }", "tokne"),
    ] {
        let error = opened(settings).err().expect(settings);
        assert!(error.contains(expected) && !error.contains("secret"), "{settings}: {error}");
    }
}

#[tokio::test]
async fn an_account_is_identified_by_its_number_and_user_name() {
    let place = Place::new().await;
    let expected = Identity { id: "110201543".to_owned(), name: "@toolkit_test_bot".to_owned() };
    assert_eq!(place.channel.identify().await, Ok(expected));
    let (capabilities, limits) = (place.channel.capabilities(), place.channel.limits());
    assert!(capabilities.edit && capabilities.buttons && !capabilities.idempotency_keys);
    assert_eq!((limits.text, limits.caption, limits.poll_options, limits.button_data), (4096, 1024, 12, 64));
    assert_eq!((limits.media_out, limits.media_in), (50 << 20, 20 << 20));
    place.assert_no_violations();
}
