//! Servers that want to know who asks.

use super::{Host, example};
use serde_json::{Value, json};
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use toolkit::{Builder, CallOptions, ToolResult};
use toolkit_mcp::{ServerState, SignIn, SigningIn};

/// The example that guards its tools.
struct Guarded {
    child: Child,
    url: String,
}

impl Guarded {
    fn start() -> Self {
        Self::with(&[])
    }

    fn with(args: &[&str]) -> Self {
        let mut command = Command::new(example("guarded"));
        let mut child = command.args(args).stdout(Stdio::piped()).spawn().unwrap();
        let mut url = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut url).unwrap();
        Self { child, url: url.trim().to_owned() }
    }

    /// Takes back what it gave out.
    async fn revoke(&self, query: &str) {
        self.post(&format!("/revoke{query}")).await;
    }

    async fn post(&self, path: &str) {
        reqwest::Client::new().post(self.url.replace("/mcp", path)).send().await.unwrap();
    }

    /// How often somebody wanted tokens where it moved to.
    async fn asked_elsewhere(&self) -> String {
        let url = self.url.replace("/mcp", "/elsewhere");
        reqwest::get(url).await.unwrap().text().await.unwrap()
    }

    fn settings(&self) -> Value {
        json!({"guarded": {"url": self.url}})
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Somebody who goes wherever they are sent.
#[derive(Debug, Default)]
struct Person(AtomicUsize);

impl SignIn for Person {
    fn redirect_uri(&self) -> String {
        "http://127.0.0.1:1/callback".to_owned()
    }

    fn sign_in<'a>(&'a self, server: &'a str, url: &'a str) -> SigningIn<'a> {
        assert_eq!(server, "guarded");
        self.0.fetch_add(1, Ordering::SeqCst);
        Box::pin(async move {
            let client =
                reqwest::Client::builder().redirect(reqwest::redirect::Policy::none()).build().unwrap();
            let answer = client.get(url).send().await.unwrap();
            Ok(answer.headers()["location"].to_str().unwrap().to_owned())
        })
    }
}

fn failed(host: &Host) -> String {
    match host.state("guarded") {
        ServerState::Failed { why } => why,
        state => panic!("{state:?}"),
    }
}

fn host(guarded: &Guarded, person: &Arc<Person>) -> Host {
    let person = Arc::clone(person);
    Host::with(guarded.settings(), |options| options.sign_in(person), Builder::without_asking_first)
}

/// The file with the tokens.
fn kept(host: &Host) -> PathBuf {
    let directory = host.directory.path().join("data/mcp-oauth");
    let mut files = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    files.find(|path| path.extension().is_some_and(|extension| extension == "json")).unwrap()
}

#[tokio::test]
async fn a_person_signs_in_once_and_again_for_more() {
    let guarded = Guarded::start();
    let person = Arc::new(Person::default());
    let host = host(&guarded, &person);
    assert_eq!(host.call("guarded__echo", json!({"message": "hello"})).await.text(), "hello");
    assert_eq!(person.0.load(Ordering::SeqCst), 1);
    let file = kept(&host);
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    // One of its tools wants leave of its own: of calls at once one asks for it.
    let toolbox = host.toolbox().await;
    let calls =
        (1..=3).map(|n| toolkit::ToolCall::new(n.to_string(), "guarded__sum", json!({"numbers": [n, n]})));
    let texts: Vec<String> =
        toolbox.call_all(calls, CallOptions::new()).await.iter().map(ToolResult::text).collect();
    assert_eq!(texts, ["2", "4", "6"]);
    assert_eq!(person.0.load(Ordering::SeqCst), 2);
    let granted: Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
    assert_eq!(granted["credentials"]["granted_scopes"], json!(["sums", "basic"]));

    // What expired or was taken back is replaced without anybody.
    guarded.revoke("").await;
    assert_eq!(host.call("guarded__echo", json!({"message": "again"})).await.text(), "again");
    assert_eq!(person.0.load(Ordering::SeqCst), 2);
    // Where that is taken back too, the person is sent there again.
    guarded.revoke("?all").await;
    assert_eq!(host.call("guarded__echo", json!({"message": "anew"})).await.text(), "anew");
    assert_eq!(person.0.load(Ordering::SeqCst), 3);
    // Where nobody knows this program any more, it registers again.
    guarded.revoke("?clients").await;
    assert_eq!(host.call("guarded__echo", json!({"message": "known"})).await.text(), "known");
    assert_eq!(person.0.load(Ordering::SeqCst), 4);
    host.servers.stop().await;
}

#[tokio::test]
async fn without_anybody_to_sign_in_it_is_said_what_to_do() {
    let guarded = Guarded::start();
    let host = Host::new(guarded.settings());
    let result = host.call("guarded__echo", json!({"message": "hello"})).await;
    assert!(result.is_error());
    let ServerState::Failed { why } = host.state("guarded") else { panic!("{:?}", host.state("guarded")) };
    assert_eq!(
        why,
        "it wants to know who asks: sign in with `toolkit mcp login guarded`, or give it a header `Authorization` in its `headers`"
    );
    host.servers.stop().await;
}

/// Another process with the same directory of data, and nobody to ask.
fn later(guarded: &Guarded, earlier: &Host) -> Host {
    let data = earlier.directory.path().join("data");
    Host::with(guarded.settings(), |options| options.data_dir(data), Builder::without_asking_first)
}

#[tokio::test]
async fn who_signed_in_is_known_later_and_by_others() {
    let guarded = Guarded::start();
    let person = Arc::new(Person::default());
    let first = host(&guarded, &person);
    assert_eq!(first.call("guarded__echo", json!({"message": "1"})).await.text(), "1");
    first.servers.stop().await;
    // What gets the next token is good once: all of these get theirs one after the other.
    let others: Vec<Host> = (0..4).map(|_| later(&guarded, &first)).collect();
    for round in 0..3 {
        let said = format!("{round}");
        guarded.revoke("").await;
        let calls = others.iter().map(|host| host.call("guarded__echo", json!({"message": said})));
        for result in futures_util::future::join_all(calls).await {
            assert_eq!(result.text(), said);
        }
    }
    assert_eq!(person.0.load(Ordering::SeqCst), 1);

    // More leave is not to be had without a person.
    let text = others[0].call("guarded__sum", json!({"numbers": [1]})).await.text();
    assert!(text.contains("`toolkit mcp login guarded --scope sums`"), "{text}");
    // The connection is as good as before.
    assert_eq!(others[0].call("guarded__echo", json!({"message": "x"})).await.text(), "x");

    assert!(others[0].servers.sign_out("guarded").await.unwrap());
    assert!(!others[0].servers.sign_out("guarded").await.unwrap());
    let text = others[1].call("guarded__echo", json!({"message": "x"})).await.text();
    assert!(text.contains("`toolkit mcp login guarded`"), "{text}");
    for host in others {
        host.servers.stop().await;
    }
}

#[tokio::test]
async fn tokens_that_others_can_read_or_that_are_for_elsewhere_are_not_used() {
    let guarded = Guarded::start();
    let person = Arc::new(Person::default());
    let first = host(&guarded, &person);
    assert_eq!(first.call("guarded__echo", json!({"message": "1"})).await.text(), "1");
    first.servers.stop().await;
    let file = kept(&first);
    let text = fs::read_to_string(&file).unwrap();

    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
    let open = later(&guarded, &first);
    assert!(open.call("guarded__echo", json!({"message": "1"})).await.is_error());
    assert!(failed(&open).contains("others can read the file"), "{}", failed(&open));

    fs::write(&file, "{\"url\": \"secret-beginning").unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    let broken = later(&guarded, &first);
    assert!(broken.call("guarded__echo", json!({"message": "1"})).await.is_error());
    let why = failed(&broken);
    assert!(
        why.contains("it does not hold what it should; remove it and sign in again")
            && !why.contains("secret"),
        "{why}"
    );

    fs::write(&file, text.replacen(&guarded.url, "http://127.0.0.1:2/mcp", 1)).unwrap();
    let elsewhere = later(&guarded, &first);
    assert!(elsewhere.call("guarded__echo", json!({"message": "1"})).await.is_error());
    assert!(failed(&elsewhere).starts_with("it wants to know who asks"), "{}", failed(&elsewhere));
    for host in [open, broken, elsewhere] {
        host.servers.stop().await;
    }
}

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
        assert!(why.contains("signing in was refused (access_denied)"), "{why}");
        host.servers.start(&host.toolkit).await;
        host.toolkit.toolbox(&toolkit::Caller::new()).await;
    }
    host.until("it is tried again", |host| failed_now(host).contains("nobody is asked again for")).await;
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
        |options| options.sign_in(person).start_within(Duration::from_secs(1)),
        Builder::without_asking_first,
    );
    let caller = toolkit::Caller::new();
    let begun = host.toolkit.toolbox(&caller);
    let seen = async {
        while waiting.load(Ordering::SeqCst) == 0 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::join!(begun, seen);
    host.until("it is given up", |host| failed_now(host).contains("did not answer within 1s")).await;
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

#[tokio::test]
async fn without_a_directory_one_is_signed_in_as_long_as_the_process_runs() {
    let guarded = Guarded::start();
    let person = Arc::new(Person::default());
    let host = {
        let person = Arc::clone(&person);
        let in_memory = |mut options: toolkit_mcp::ClientOptions| {
            options.data_dir = None;
            options.sign_in(person)
        };
        Host::with(guarded.settings(), in_memory, Builder::without_asking_first)
    };
    for round in 0..3 {
        // Of several at once that are refused one gets the next token.
        let calls = (0..4).map(|_| host.call("guarded__echo", json!({"message": "1"})));
        for result in futures_util::future::join_all(calls).await {
            assert_eq!(result.text(), "1", "{round}");
        }
        guarded.revoke("").await;
    }
    assert_eq!(person.0.load(Ordering::SeqCst), 1);
    assert!(host.servers.sign_out("guarded").await.unwrap());
    assert!(!host.servers.sign_out("guarded").await.unwrap());
    assert_eq!(host.call("guarded__echo", json!({"message": "2"})).await.text(), "2");
    assert_eq!(person.0.load(Ordering::SeqCst), 2);
    host.servers.stop().await;
}

#[tokio::test]
async fn what_is_over_and_has_no_successor_is_signed_in_for_again() {
    let guarded = Guarded::start();
    let person = Arc::new(Person::default());
    let host = host(&guarded, &person);
    host.servers.start(&host.toolkit).await;
    guarded.revoke("?all").await;
    guarded.post("/brief").await;
    for count in 2..4 {
        assert_eq!(host.call("guarded__echo", json!({"message": "1"})).await.text(), "1");
        assert_eq!(person.0.load(Ordering::SeqCst), count);
        tokio::time::sleep(Duration::from_millis(1_200)).await;
        guarded.revoke("").await;
    }
    host.servers.stop().await;
}

#[tokio::test]
async fn a_call_that_is_cancelled_while_a_token_is_renewed_loses_nothing() {
    let guarded = Guarded::start();
    let person = Arc::new(Person::default());
    let host = host(&guarded, &person);
    assert_eq!(host.call("guarded__echo", json!({"message": "1"})).await.text(), "1");
    guarded.post("/slow").await;
    for round in 0..3 {
        guarded.revoke("").await;
        let toolbox = host.toolbox().await;
        let cancel = tokio_util::sync::CancellationToken::new();
        let call = toolkit::ToolCall::new("1", "guarded__echo", json!({"message": "1"}));
        let call = toolbox.call_with(call, CallOptions::new().cancel(cancel.clone()));
        let ended = async {
            tokio::time::sleep(Duration::from_millis(250)).await;
            cancel.cancel();
        };
        assert!(tokio::join!(call, ended).0.is_error());
        assert_eq!(host.call("guarded__echo", json!({"message": "2"})).await.text(), "2", "{round}");
    }
    assert_eq!(person.0.load(Ordering::SeqCst), 1);
    host.servers.stop().await;
}

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
        assert!(why.contains("says something else of where to sign in than the server does"), "{why}");
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
    assert!(failed(&moved).contains("so that `oauth.clientSecret` is not sent there"), "{}", failed(&moved));
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
    // What gets the next token does not go to where tokens are now.
    let second = later(&guarded, &first);
    assert!(second.call("guarded__echo", json!({"message": "1"})).await.is_error());
    assert!(failed(&second).contains("wants to know who asks"), "{}", failed(&second));
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
    assert!(why.contains("came from") && why.contains("`toolkit mcp logout guarded`"), "{why}");
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
