#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;

fn direct(peer: &str, thread: Option<&str>) -> SessionKey {
    SessionKey::peer("main", "chat", "one", PeerKind::Direct, peer, thread).unwrap()
}

#[test]
fn peers_whose_ids_would_collide_when_joined_have_sessions_of_their_own() {
    let peers = [
        "",
        ":",
        "::",
        "%",
        "%3A",
        "%3a",
        "%253A",
        "a",
        "A",
        "a:b",
        "a%3Ab",
        "a/b",
        "a%2Fb",
        "/",
        "\u{e9}",
        "e\u{301}",
        "\u{fb01}",
        "fi",
        "\u{130}",
        "i\u{307}",
        "a ",
        " a",
        "a\n",
        "a\0",
        "1",
        "01",
        "+1",
        "user",
        "direct",
        "agent:main:main",
        "main",
        "..",
        ".",
        "a\tb",
        "\u{200b}",
        "\u{feff}",
        "\u{202e}a",
        "\u{1f600}",
        "a+b",
        "a%20b",
    ];
    assert_eq!(peers.len(), 40);
    let keys: BTreeSet<String> = peers.iter().map(|peer| direct(peer, None).to_string()).collect();
    assert_eq!(keys.len(), 40);
    // A thread is no part of the peer.
    assert_ne!(direct("a", Some("b")), direct("a:b", None));
    assert_ne!(direct("a", Some("")), direct("a", None));
}

#[test]
fn a_key_is_read_as_it_was_written() {
    for (text, kind) in [
        ("agent:main:main", SessionKind::Main),
        ("agent:main:person:ada", SessionKind::Direct),
        ("agent:main:telegram:bot:direct:123456", SessionKind::Direct),
        ("agent:main:telegram:bot:group:-100:7", SessionKind::Group),
        ("agent:main:slack:team:channel:C1", SessionKind::Group),
        ("agent:main:webhook:gateway:hook:deploys", SessionKind::Hook),
        ("agent:main:sub:01", SessionKind::Sub),
        ("agent:main:cron:report", SessionKind::Cron),
    ] {
        let key: SessionKey = text.parse().unwrap();
        assert_eq!((key.as_str(), key.kind(), key.agent()), (text, kind, "main"));
    }
    // The same peer, written in other ways.
    let plain: SessionKey = "agent:main:chat:one:direct:a%3Ab".parse().unwrap();
    assert_eq!("agent:main:chat:one:direct:%61%3ab".parse(), Ok(plain));
}

#[test]
fn a_text_that_is_no_key_is_refused_with_the_forms() {
    for text in [
        "",
        "agent",
        "agent:",
        "agent::main",
        "agent:a",
        "agent:a:other",
        "main",
        "agent:a:person:",
        "agent:a:chat:one:direct",
        "agent:a:chat:one:direct:p:t:more",
        "agent:a::one:direct:p",
        "agent:a:chat:one:friend:p",
        "agent:a%:main",
        "agent:a%zz:main",
        "agent:%ff:main",
        "agents:a:main",
    ] {
        let error = text.parse::<SessionKey>().unwrap_err().to_string();
        assert!(error.len() > 30, "{text}: {error}");
    }
    let long = "x".repeat(MAX_KEY_PART_BYTES + 1);
    assert_eq!(SessionKey::person("main", &long), Err(KeyError::Long { length: long.len() }));
}

#[test]
fn a_short_key_is_completed_by_agent_and_account() {
    let short: ShortKey = "telegram:user:123456".parse().unwrap();
    assert_eq!(short.complete("main", "bot").unwrap().as_str(), "agent:main:telegram:bot:direct:123456");
    let short: ShortKey = "slack:channel:C1:17.5".parse().unwrap();
    assert_eq!(short.complete("main", "team").unwrap().as_str(), "agent:main:slack:team:channel:C1:17.5");
    for text in ["telegram:123", "telegram:friend:1", "agent:main:main", ":user:1", "telegram:user:%f"] {
        text.parse::<ShortKey>().unwrap_err();
    }
}

proptest! {
    #[test]
    fn every_peer_has_a_key_that_leads_back_to_it(peer in ".{0,40}", account in ".{0,20}", thread in proptest::option::of(".{0,20}")) {
        let key = SessionKey::peer("main", "chat", &account, PeerKind::Group, &peer, thread.as_deref()).unwrap();
        prop_assert_eq!(key.as_str().parse::<SessionKey>().unwrap(), key.clone());
        let parts: Vec<String> = key.as_str().split(':').map(|part| decode(part).unwrap()).collect();
        prop_assert_eq!(&parts[3], &account);
        prop_assert_eq!(&parts[5], &peer);
        prop_assert_eq!(parts.get(6), thread.as_ref());
    }
}
