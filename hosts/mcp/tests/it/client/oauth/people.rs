//! People who do not want to, who never come back, and who take their time.

use super::{Guarded, Person, failed};
use crate::client::Host;
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use toolkit::Builder;
use toolkit_mcp::{ServerState, SignIn, SigningIn};

/// Somebody who does not want to.
#[derive(Debug, Default)]
struct Unwilling(AtomicUsize);

impl SignIn for Unwilling {
    fn redirect_uri(&self) -> String {
        "http://127.0.0.1:1/callback".to_owned()
    }

    fn sign_in<'a>(&'a self, _: &'a str, url: &'a str) -> SigningIn<'a> {
        self.0.fetch_add(1, Ordering::SeqCst);
        let url = reqwest::Url::parse(url).unwrap();
        let state = url.query_pairs().find(|(name, _)| name == "state").unwrap().1.into_owned();
        Box::pin(async move { Ok(format!("http://127.0.0.1:1/callback?error=access_denied&state={state}")) })
    }
}

#[tokio::test]
async fn who_does_not_want_to_is_not_asked_again_at_once() {
    let guarded = Guarded::start();
    let person = Arc::new(Unwilling::default());
    let host = {
        let person = Arc::clone(&person);
        Host::with(guarded.settings(), |options| options.sign_in(person), Builder::without_asking_first)
    };
    for _ in 0..3 {
        // Each of these is a further attempt to connect.
        assert!(host.call("guarded__echo", json!({"message": "1"})).await.is_error());
        let why = failed(&host);
        assert!(why.contains("the sign-in was refused (access_denied)"), "{why}");
        host.servers.start(&host.toolkit).await;
        host.toolkit.toolbox(&toolkit::Caller::new()).await;
    }
    host.until("it is tried again", |host| failed_now(host).contains("the next attempt is possible in"))
        .await;
    assert_eq!(person.0.load(Ordering::SeqCst), 1);
    host.servers.stop().await;
}

fn failed_now(host: &Host) -> String {
    match host.state("guarded") {
        ServerState::Failed { why } => why,
        _ => String::new(),
    }
}

/// Somebody who never comes back.
#[derive(Debug, Default)]
struct Away(Arc<AtomicUsize>);

/// Counts who waits.
struct Waiting(Arc<AtomicUsize>);

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

impl SignIn for Away {
    fn redirect_uri(&self) -> String {
        "http://127.0.0.1:1/callback".to_owned()
    }

    fn sign_in<'a>(&'a self, _: &'a str, _: &'a str) -> SigningIn<'a> {
        self.0.fetch_add(1, Ordering::SeqCst);
        let waiting = Waiting(Arc::clone(&self.0));
        Box::pin(async move {
            let _waiting = waiting;
            std::future::pending().await
        })
    }
}

#[tokio::test]
async fn nobody_is_waited_for_once_the_attempt_is_given_up() {
    let guarded = Guarded::start();
    let waiting = Arc::new(AtomicUsize::new(0));
    let person = Arc::new(Away(Arc::clone(&waiting)));
    let host = Host::with(
        guarded.settings(),
        |options| options.sign_in(person).start_within(Duration::from_secs(5)),
        Builder::without_asking_first,
    );
    let caller = toolkit::Caller::new();
    let begun = host.toolkit.toolbox(&caller);
    let seen = async {
        while waiting.load(Ordering::SeqCst) == 0 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    let both = async {
        tokio::join!(begun, seen);
    };
    assert!(tokio::time::timeout(Duration::from_mins(1), both).await.is_ok(), "nobody is asked");
    host.until("it is given up", |host| failed_now(host).contains("did not answer within 5s")).await;
    host.until("nobody waits", |_| waiting.load(Ordering::SeqCst) == 0).await;
    host.servers.stop().await;
}

/// Somebody who takes longer than an answer in the newer protocol is waited for.
#[derive(Debug, Default)]
struct Slow(Person);

impl SignIn for Slow {
    fn redirect_uri(&self) -> String {
        self.0.redirect_uri()
    }

    fn sign_in<'a>(&'a self, server: &'a str, url: &'a str) -> SigningIn<'a> {
        Box::pin(async move {
            tokio::time::sleep(Duration::from_secs(11)).await;
            self.0.sign_in(server, url).await
        })
    }
}

#[tokio::test]
async fn who_takes_their_time_gets_the_newer_protocol_all_the_same() {
    let guarded = Guarded::start();
    let host = Host::with(
        guarded.settings(),
        |options| options.sign_in(Arc::new(Slow::default())),
        Builder::without_asking_first,
    );
    host.servers.start(&host.toolkit).await;
    assert_eq!(host.call("guarded__echo", json!({"message": "1"})).await.text(), "1");
    let ServerState::Ready { about, .. } = host.state("guarded") else {
        panic!("{:?}", host.state("guarded"))
    };
    assert!(about.ends_with("protocol 2026-07-28"), "{about}");
    host.servers.stop().await;
}
