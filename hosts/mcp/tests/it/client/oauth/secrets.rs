//! Where tokens and secrets go, and where not.

use super::{Guarded, Person, failed, host, later};
use crate::client::Host;
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use toolkit::Builder;

#[tokio::test]
async fn the_secret_of_who_registered_goes_with_their_name() {
    let guarded = Guarded::with(&["secret"]);
    let person = Arc::new(Person::default());
    let first = host(&guarded, &person);
    assert_eq!(first.call("guarded__echo", json!({"message": "1"})).await.text(), "1");
    let data = first.directory.path().join("data");
    let second = {
        let person = Arc::clone(&person);
        Host::with(
            guarded.settings(),
            |options| options.data_dir(data).sign_in(person),
            Builder::without_asking_first,
        )
    };
    assert_eq!(second.call("guarded__echo", json!({"message": "1"})).await.text(), "1");
    // Who signs in anew is registered anew.
    assert!(second.servers.sign_out("guarded").await.unwrap());
    guarded.revoke("?clients").await;
    assert_eq!(second.call("guarded__echo", json!({"message": "2"})).await.text(), "2");
    let signed_in = person.0.load(Ordering::SeqCst);
    let third = later(&guarded, &first);
    for _ in 0..2 {
        // Whoever registered, all of them get the next token as the one whose tokens are kept.
        for host in [&third, &first, &second] {
            guarded.revoke("").await;
            assert_eq!(host.call("guarded__echo", json!({"message": "3"})).await.text(), "3");
        }
    }
    assert_eq!(person.0.load(Ordering::SeqCst), signed_in);
    for host in [first, second, third] {
        host.servers.stop().await;
    }
}

#[tokio::test]
async fn nobody_signs_in_by_a_forged_description() {
    let guarded = Guarded::start();
    let nobody = Host::new(guarded.settings());
    assert!(nobody.call("guarded__echo", json!({"message": "1"})).await.is_error());
    nobody.servers.stop().await;
    guarded.post("/forge").await;
    let person = Arc::new(Person::default());
    for oauth in [
        json!({}),
        json!({"issuer": guarded.url.replace("/mcp", "")}),
        json!({"clientId": "me", "clientSecret": "very-secret", "grant": "client_credentials"}),
    ] {
        let mut settings = guarded.settings();
        settings["guarded"]["oauth"] = oauth;
        let person = Arc::clone(&person);
        let host = Host::with(settings, |options| options.sign_in(person), Builder::without_asking_first);
        assert!(host.call("guarded__echo", json!({"message": "1"})).await.is_error());
        let why = failed(&host);
        assert!(why.contains("names other sign-in endpoints than the server does"), "{why}");
        host.servers.stop().await;
    }
    assert_eq!((person.0.load(Ordering::SeqCst), &*guarded.asked_elsewhere().await), (0, "0"));
}

#[tokio::test]
async fn a_person_can_sign_in_again_and_keys_in_addresses_stay_there() {
    let guarded = Guarded::start();
    let person = Arc::new(Person::default());
    let first = host(&guarded, &person);
    assert_eq!(first.call("guarded__echo", json!({"message": "1"})).await.text(), "1");
    first.servers.stop().await;
    let data = first.directory.path().join("data");
    let again = |url: &str, oauth: Value| {
        let (data, person) = (data.clone(), Arc::clone(&person));
        let settings = json!({"guarded": {"url": url, "oauth": oauth}});
        let host = Host::with(
            settings,
            |options| options.data_dir(data).sign_in(person),
            Builder::without_asking_first,
        );
        host.servers.sign_in_again("guarded");
        host
    };
    let second = again(&guarded.url, json!({}));
    assert_eq!(second.call("guarded__echo", json!({"message": "1"})).await.text(), "1");
    assert_eq!(second.call("guarded__echo", json!({"message": "1"})).await.text(), "1");
    assert_eq!(person.0.load(Ordering::SeqCst), 2);
    second.servers.stop().await;
    // The server refuses to give tokens for another address than its own.
    let with_key = again(&format!("{}?api_key=very-secret", guarded.url), json!({}));
    assert_eq!(with_key.call("guarded__echo", json!({"message": "1"})).await.text(), "1");
    with_key.servers.stop().await;

    // Where it came from stays known, and a sign-in that fails leaves what is kept.
    guarded.post("/move").await;
    let secret = json!({"clientId": "me", "clientSecret": "very-secret"});
    let moved = again(&guarded.url, secret);
    assert!(moved.call("guarded__echo", json!({"message": "1"})).await.is_error());
    assert!(failed(&moved).contains("so `oauth.clientSecret` is not sent there"), "{}", failed(&moved));
    moved.servers.stop().await;
    let kept = later(&guarded, &first);
    assert_eq!(kept.call("guarded__echo", json!({"message": "1"})).await.text(), "1");
    kept.servers.stop().await;
    assert_eq!((person.0.load(Ordering::SeqCst), &*guarded.asked_elsewhere().await), (3, "0"));
}

#[tokio::test]
async fn what_is_secret_stays_with_whom_it_came_from() {
    let guarded = Guarded::start();
    let person = Arc::new(Person::default());
    let first = host(&guarded, &person);
    assert_eq!(first.call("guarded__echo", json!({"message": "1"})).await.text(), "1");
    first.servers.stop().await;
    guarded.post("/move").await;
    guarded.revoke("").await;
    // The refresh token does not go to where tokens are now.
    let second = later(&guarded, &first);
    assert!(second.call("guarded__echo", json!({"message": "1"})).await.is_error());
    assert!(failed(&second).contains("requires authentication"), "{}", failed(&second));
    second.servers.stop().await;
    assert_eq!(guarded.asked_elsewhere().await, "0");

    // Nor does a secret that is configured; unless it is said who decides.
    let mut settings = guarded.settings();
    let mut with = async |oauth: Value| {
        settings["guarded"]["oauth"] = oauth;
        let (data, person) = (first.directory.path().join("data"), Arc::clone(&person));
        let host = Host::with(
            settings.clone(),
            |options| options.data_dir(data).sign_in(person),
            Builder::without_asking_first,
        );
        assert!(host.call("guarded__echo", json!({"message": "1"})).await.is_error());
        let why = failed(&host);
        host.servers.stop().await;
        why
    };
    let secret = json!({"clientId": "me", "clientSecret": "very-secret", "grant": "client_credentials"});
    let why = with(secret.clone()).await;
    assert!(
        why.contains("its token endpoint is now") && why.contains("`toolkit mcp logout guarded`"),
        "{why}"
    );
    assert_eq!(guarded.asked_elsewhere().await, "0");
    let mut other = secret.clone();
    other["issuer"] = json!("https://login.example");
    let why = with(other).await;
    assert!(why.contains("`oauth.issuer` is \"https://login.example\""), "{why}");
    let why = with(json!({"issuer": "https://login.example"})).await;
    assert!(why.contains("`oauth.issuer` is \"https://login.example\""), "{why}");
    assert_eq!(guarded.asked_elsewhere().await, "0");
    let mut right = secret;
    right["issuer"] = json!(guarded.url.replace("/mcp", "/"));
    let why = with(right).await;
    assert!(why.contains("invalid_grant"), "{why}");
    assert_ne!(guarded.asked_elsewhere().await, "0");
    assert_eq!(person.0.load(Ordering::SeqCst), 1);
}
