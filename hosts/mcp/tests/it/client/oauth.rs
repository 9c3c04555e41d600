//! Servers that want to know who asks.

mod people;
mod secrets;

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

    // A token that expired or was taken back is replaced without a person.
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
        "it requires authentication: sign in with `toolkit mcp login guarded`, or give it a header `Authorization` in its `headers`"
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
    // A refresh token is good once: all of these get theirs one after the other.
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
    assert!(failed(&open).contains("other users can read the file"), "{}", failed(&open));

    fs::write(&file, "{\"url\": \"secret-beginning").unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    let broken = later(&guarded, &first);
    assert!(broken.call("guarded__echo", json!({"message": "1"})).await.is_error());
    let why = failed(&broken);
    assert!(
        why.contains("its content is invalid; remove it and sign in again") && !why.contains("secret"),
        "{why}"
    );

    fs::write(&file, text.replacen(&guarded.url, "http://127.0.0.1:2/mcp", 1)).unwrap();
    let elsewhere = later(&guarded, &first);
    assert!(elsewhere.call("guarded__echo", json!({"message": "1"})).await.is_error());
    assert!(failed(&elsewhere).starts_with("it requires authentication"), "{}", failed(&elsewhere));
    for host in [open, broken, elsewhere] {
        host.servers.stop().await;
    }
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
        tokio::time::sleep(Duration::from_millis(3_200)).await;
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
