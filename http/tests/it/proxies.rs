//! Proxies: the target is checked, and the proxy is asked for the checked address.

use super::server::{Server, ok, response, settings};
use toolkit_http::{Client, FetchError, Guard, Limits, Proxies, Request};

async fn through(proxy: &Server, url: &str, ranges: &[&str]) -> Result<toolkit_http::Response, FetchError> {
    let mut own = settings(ranges);
    own.proxies = Proxies::all(format!("http://user:pass@127.0.0.1:{}", proxy.port()).parse().unwrap());
    Client::new(Guard::new(own), Limits::default()).send(Request::get(url)).await
}

#[tokio::test]
async fn the_target_is_checked_before_the_proxy_is_asked() {
    let proxy = Server::start(|_| ok("never")).await;
    for url in ["http://127.0.0.1/", "http://10.0.0.1/", "https://[::1]/", "http://localhost/"] {
        let error = through(&proxy, url, &[]).await.unwrap_err();
        assert!(matches!(error, FetchError::Refused(_)), "{url}: {error}");
    }
    assert_eq!(proxy.requests(), Vec::<String>::new());
}

#[tokio::test]
async fn the_proxy_is_asked_for_the_address() {
    let proxy = Server::start(|_| response("403 Forbidden", &[], "")).await;
    let error =
        through(&proxy, "http://localhost:8080/secret-path", &["127.0.0.0/8", "::1/128"]).await.unwrap_err();
    assert!(
        error.to_string().contains("the configured proxy failed: it refused the connection (status 403)"),
        "{error}"
    );
    let asked = proxy.requests().remove(0);
    let is_address = asked.starts_with("CONNECT 127.0.0.1:8080 ") || asked.starts_with("CONNECT [::1]:8080 ");
    assert!(is_address && !asked.contains("localhost"), "{asked}");
    assert!(asked.contains("Proxy-Authorization: Basic dXNlcjpwYXNz"), "{asked}");
    assert!(!error.to_string().contains("pass"), "{error}");
}
