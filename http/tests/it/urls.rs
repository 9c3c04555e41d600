//! Tricks with URLs: each is refused, or read as browsers read it.

use super::server::settings;
use toolkit_http::{Guard, Refused};

#[test]
fn tricks() {
    let guard = Guard::default();
    for (url, expected) in [
        // Read as browsers read them: what counts is the host that is connected to.
        ("https://example.com", Ok("https://example.com/")),
        ("  https://example.com/a b  ", Ok("https://example.com/a%20b")),
        ("ht\ntps://exam\tple.com/", Ok("https://example.com/")),
        ("https:example.com", Ok("https://example.com/")),
        ("https:/example.com", Ok("https://example.com/")),
        ("https:\\\\example.com\\a", Ok("https://example.com/a")),
        ("https://example.com\\@127.0.0.1/", Ok("https://example.com/@127.0.0.1/")),
        ("https://example.com/@127.0.0.1", Ok("https://example.com/@127.0.0.1")),
        ("https://example.com#@127.0.0.1/", Ok("https://example.com/")),
        ("https://example.com?@127.0.0.1/", Ok("https://example.com/?@127.0.0.1/")),
        ("https://EXAMPLE.com:443/", Ok("https://example.com/")),
        ("https://b\u{fc}cher.example/", Ok("https://xn--bcher-kva.example/")),
        ("https://ex\u{ad}ample.com/", Ok("https://example.com/")),
        ("https://\u{24d4}xample.com/", Ok("https://example.com/")),
        ("https://127.0.0.1.example.com/", Ok("https://127.0.0.1.example.com/")),
        ("https://example.com/#secret", Ok("https://example.com/")),
        ("https://example.com:8443/x?y=1", Ok("https://example.com:8443/x?y=1")),
        // User names.
        ("http://127.0.0.1@example.com/", Err("user name")),
        ("http://example.com@127.0.0.1/", Err("user name")),
        ("http://example.com:80@127.0.0.1/", Err("user name")),
        ("http://user:secret@example.com/", Err("user name")),
        ("http://example.com%2f@127.0.0.1/", Err("user name")),
        ("http://example.com%40127.0.0.1/", Err("not a valid domain name")),
        ("http://\\\\@127.0.0.1/", Err("loopback")),
        // The addresses that they lead to.
        ("http:127.0.0.1/", Err("loopback")),
        ("http:///127.0.0.1/", Err("loopback")),
        ("http:\\\\127.0.0.1", Err("loopback")),
        ("http://127.0.0.1:80\\@example.com/", Err("loopback")),
        ("http://127.0.0.1#@example.com/", Err("loopback")),
        ("http://127.0.0.1?@example.com/", Err("loopback")),
        ("http://127.0.0.1\t.\n/", Err("loopback")),
        ("http://\u{ff11}27.0.0.1/", Err("loopback")),
        ("http://127\u{3002}0\u{3002}0\u{3002}1/", Err("loopback")),
        ("http://%31%32%37.0.0.1/", Err("loopback")),
        ("http://127.1/", Err("loopback")),
        ("http://0x7f000001/", Err("loopback")),
        ("http://017700000001/", Err("loopback")),
        ("http://2130706433/", Err("loopback")),
        ("http://0/", Err("this host on this network")),
        ("http://[::]/", Err("unspecified")),
        ("http://[::1]/", Err("loopback")),
        ("http://[::127.0.0.1]/", Err("IPv4-compatible")),
        ("http://[::ffff:7f00:1]/", Err("loopback")),
        ("http://[64:ff9b::7f00:1]/", Err("loopback")),
        ("http://[fe80::1]/", Err("link-local")),
        // Texts that are no hosts.
        ("http://[fe80::1%25eth0]/", Err("not a valid IPv6 address")),
        ("http://[fe80::1%eth0]/", Err("not a valid IPv6 address")),
        ("http://[::1", Err("not a valid IPv6 address")),
        ("http://[v1.fe80::a]/", Err("not a valid IPv6 address")),
        ("http://256.256.256.256/", Err("not a valid IPv4 address")),
        ("http://1.2.3.4.5/", Err("not a valid IPv4 address")),
        ("http://0x100000000/", Err("not a valid IPv4 address")),
        ("http://08.0.0.1/", Err("not a valid IPv4 address")),
        ("http://exa mple.com/", Err("not a valid domain name")),
        ("http://exa%00mple.com/", Err("not a valid domain name")),
        ("http://exa<mple.com/", Err("not a valid domain name")),
        ("http://xn--a/", Err("not a valid domain name")),
        ("http://a..b/", Err("not a valid domain name")),
        ("http://.example.com/", Err("not a valid domain name")),
        ("http://example.com../", Err("not a valid domain name")),
        ("http:///", Err("no host")),
        ("http://", Err("no host")),
        ("http://example.com:99999/", Err("not a number up to 65535")),
        ("http://example.com:-1/", Err("not a number up to 65535")),
        ("example.com", Err("no scheme")),
        ("//example.com/", Err("no scheme")),
        ("", Err("no scheme")),
        // Other schemes.
        ("file:///etc/passwd", Err("scheme `file`")),
        ("ftp://example.com/", Err("scheme `ftp`")),
        ("gopher://127.0.0.1:70/_x", Err("scheme `gopher`")),
        ("data:text/html,x", Err("scheme `data`")),
        ("javascript:alert(1)", Err("scheme `javascript`")),
        ("ws://example.com/", Err("scheme `ws`")),
        ("view-source:https://example.com/", Err("scheme `view-source`")),
        ("blob:https://example.com/x", Err("scheme `blob`")),
        // Ports of other protocols.
        ("http://example.com:22/", Err("port 22")),
        ("http://example.com:25/", Err("port 25")),
        ("http://example.com:6667/", Err("port 6667")),
        ("http://example.com:0/", Err("port 0")),
        ("http://example.com:000025/", Err("port 25")),
    ] {
        match (guard.check_url(url), expected) {
            (Ok(target), Ok(expected)) => assert_eq!(target.url().as_str(), expected, "{url:?}"),
            (Err(error), Err(expected)) => {
                assert!(error.to_string().contains(expected), "{url:?}: {error}");
                assert!(!error.to_string().contains("secret"), "{url:?}: {error}");
            }
            (found, expected) => panic!("{url:?}: expected {expected:?}, found {found:?}"),
        }
    }
    let long = format!("https://example.com/{}", "x".repeat(8 << 10));
    assert!(matches!(guard.check_url(&long), Err(Refused::Invalid(_))));
    let label = format!("https://{}.com/", "x".repeat(64));
    assert!(guard.check_url(&label).is_err());
}

#[test]
fn a_host_in_punycode_is_shown_decoded() {
    let target = Guard::default().check_url("https://xn--80ak6aa92e.com/").unwrap();
    assert_eq!(target.host().to_string(), "\u{430}\u{440}\u{440}\u{4cf}\u{435}.com (xn--80ak6aa92e.com)");
}

#[test]
fn authorities_of_a_proxy() {
    let guard = Guard::default();
    for (authority, is_allowed) in [
        ("example.com:443", true),
        ("example.com:8443", true),
        ("93.184.216.34:443", true),
        ("[2606:4700::1111]:443", true),
        ("127.0.0.1:443", false),
        ("[::1]:443", false),
        ("0x7f.1:443", false),
        ("example.com:25", false),
        ("user@example.com:443", false),
        ("example.com:443/path", false),
        ("example.com:443 ", false),
        ("", false),
    ] {
        assert_eq!(guard.check_authority(authority).is_ok(), is_allowed, "{authority:?}");
    }
}

#[test]
fn domains() {
    let mut own = settings(&[]);
    own.allowed_domains = Some(vec!["example.com".parse().unwrap(), "*.test:8443".parse().unwrap()]);
    own.blocked_domains = vec!["private.example.com".parse().unwrap(), "=exact.example.com".parse().unwrap()];
    let guard = Guard::new(own);
    for (url, expected) in [
        ("https://example.com/", None),
        ("https://EXAMPLE.COM./", None),
        ("https://a.example.com/", None),
        ("https://exact.example.com/", Some("domain is blocked (rule `=exact.example.com`)")),
        ("https://below.exact.example.com/", None),
        ("https://private.example.com/", Some("domain is blocked (rule `private.example.com`)")),
        ("https://PRIVATE.example.com./", Some("domain is blocked")),
        ("https://a.private.example.com/", Some("domain is blocked")),
        ("https://example.com.evil.test/", Some("not among the allowed domains")),
        ("https://a.test:8443/", None),
        ("https://a.test/", Some("not among the allowed domains")),
        ("https://93.184.216.34/", Some("not among the allowed domains")),
    ] {
        let error = guard.check_url(url).err().map(|error| error.to_string());
        match expected {
            None => assert_eq!(error, None, "{url}"),
            Some(part) => {
                assert!(error.as_ref().is_some_and(|error| error.contains(part)), "{url}: {error:?}");
            }
        }
    }
}

#[test]
fn hosts_that_the_settings_name() {
    let mut own = settings(&["10.0.0.0/8"]);
    let is_named = |own: &toolkit_http::GuardSettings, url: &str| {
        let guard = Guard::new(own.clone());
        guard.is_named(&guard.check_url(url).unwrap())
    };
    assert!(is_named(&own, "http://10.1.2.3/") && is_named(&own, "http://[::ffff:10.1.2.3]/"));
    assert!(!is_named(&own, "http://93.184.216.34/") && !is_named(&own, "http://example.com/"));
    own.allowed_domains = Some(vec!["example.com:8443".parse().unwrap(), "93.184.216.34".parse().unwrap()]);
    assert!(is_named(&own, "https://a.example.com:8443/") && is_named(&own, "http://93.184.216.34/"));
}
