//! Names: every address is checked, and the connection goes to one that was checked. The resolver is injected.

use super::server::{Server, ok, settings};
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use toolkit_http::{Client, ConnectError, FetchError, Guard, Limits, Refused, Request, Resolver, Resolving};

/// Gives one list of addresses after the other, the last one for ever: a name that rebinds.
struct Rebinding {
    answers: Vec<Vec<IpAddr>>,
    asked: AtomicUsize,
}

impl Rebinding {
    fn new(answers: &[&[&str]]) -> Arc<Self> {
        let parse = |list: &&[&str]| list.iter().map(|text| text.parse().unwrap()).collect();
        Arc::new(Self { answers: answers.iter().map(parse).collect(), asked: AtomicUsize::new(0) })
    }
}

impl Resolver for Rebinding {
    fn resolve<'a>(&'a self, _: &'a str, port: u16) -> Resolving<'a> {
        let time = self.asked.fetch_add(1, Ordering::Relaxed).min(self.answers.len() - 1);
        let found = self.answers[time].iter().map(|ip| SocketAddr::new(*ip, port)).collect();
        Box::pin(async move { Ok(found) })
    }
}

fn guard(resolver: &Arc<Rebinding>, ranges: &[&str]) -> Guard {
    let mut own = settings(ranges);
    own.resolver = Arc::<Rebinding>::clone(resolver);
    own.connect_timeout = Duration::from_secs(3);
    Guard::new(own)
}

#[tokio::test]
async fn a_name_that_rebinds_reaches_nothing_else() {
    let allowed = Server::at("127.0.0.2".parse().unwrap(), 0, |_| ok("allowed")).await;
    let secret = Server::at("127.0.0.1".parse().unwrap(), allowed.port(), |_| ok("secret")).await;
    let resolver = Rebinding::new(&[&["127.0.0.2"], &["127.0.0.1"]]);
    let client = Client::new(guard(&resolver, &["127.0.0.2/32"]), Limits::default());
    let url = format!("http://rebinds.test:{}/", allowed.port());
    let got = client.send(Request::get(&url)).await.unwrap();
    assert_eq!(got.body, b"allowed");
    assert_eq!(resolver.asked.load(Ordering::Relaxed), 1, "one look-up for check and connection");
    assert!(
        allowed.requests()[0].contains(&format!("host: rebinds.test:{}", allowed.port())),
        "{:?}",
        allowed.requests()
    );
    // The next request looks the name up anew, and is refused.
    let error = client.send(Request::get(&url)).await.unwrap_err();
    assert!(matches!(error, FetchError::Refused(Refused::NotPublic { .. })), "{error}");
    assert_eq!(secret.requests(), Vec::<String>::new());
}

#[tokio::test]
async fn every_address_of_a_name_is_checked() {
    let secret = Server::start(|_| ok("secret")).await;
    for (addresses, refused) in [
        (&["127.0.0.1"][..], true),
        (&["93.184.216.34", "127.0.0.1"], true),
        (&["127.0.0.1", "93.184.216.34"], true),
        (&["::ffff:127.0.0.1"], true),
        (&["2606:4700::1111", "fd00::1"], true),
        (&["64:ff9b::a00:1"], true),
        (&["169.254.169.254"], true),
        (&["93.184.216.34", "2606:4700::1111"], false),
    ] {
        let guard = guard(&Rebinding::new(&[addresses]), &[]);
        let target = guard.check_url(&format!("http://name.test:{}/", secret.port())).unwrap();
        let resolved = guard.resolve(&target).await;
        assert_eq!(matches!(resolved, Err(ConnectError::Refused(_))), refused, "{addresses:?}: {resolved:?}");
        if let Err(error) = resolved {
            let told = error.to_string();
            assert!(addresses.iter().all(|address| !told.contains(address)), "no address is told: {told}");
        }
    }
    assert_eq!(secret.requests(), Vec::<String>::new());
}

#[tokio::test]
async fn an_address_that_refuses_leaves_the_others() {
    let server = Server::at("127.0.0.3".parse().unwrap(), 0, |_| ok("third")).await;
    let resolver = Rebinding::new(&[&["127.0.0.1", "127.0.0.2", "127.0.0.3"]]);
    let client = Client::new(guard(&resolver, &["127.0.0.0/8"]), Limits::default());
    let got = client.send(Request::get(format!("http://several.test:{}/", server.port()))).await.unwrap();
    assert_eq!(got.body, b"third");
}

#[tokio::test]
async fn a_name_without_an_address() {
    let client = Client::new(guard(&Rebinding::new(&[&[]]), &[]), Limits::default());
    let error = client.send(Request::get("http://nowhere.test/")).await.unwrap_err();
    assert!(matches!(error, FetchError::Connect(ConnectError::NotFound { .. })), "{error}");
}

#[tokio::test]
async fn the_system_resolver_is_checked_too() {
    let server = Server::start(|_| ok("secret")).await;
    let client = Client::new(Guard::default(), Limits::default());
    let error = client.send(Request::get(format!("http://localhost:{}/", server.port()))).await.unwrap_err();
    assert!(matches!(error, FetchError::Refused(Refused::NotPublic { .. })), "{error}");
    assert_eq!(server.requests(), Vec::<String>::new());
}
