//! Names that nobody can read: refused wherever they stand, since in a list that denies they would deny nothing.

use super::Place;
use toolkit::config::{Configuration, LoadOptions};

#[test]
fn one_that_nobody_can_read_stops_the_host_with_its_place() {
    let hidden = "contains a character that names cannot have; expected a tool by its name or alias";
    let unseen = "which contains an invisible character";
    for (text, expected) in [
        (
            "{ tools: { deny: ['read', '\\u200bread'] } }",
            format!("1:27: tools.deny.1: `\\u{{200b}}read` {hidden}"),
        ),
        // A Cyrillic letter that looks like an "a".
        ("{ tools: { deny: ['re\\u0430d'] } }", format!("1:19: tools.deny.0: `re\u{430}d` {hidden}")),
        ("{ tools: { deny: [''] } }", "1:19: tools.deny.0: `` is empty".to_owned()),
        ("{ tools: { deny: ['group:'] } }", "`group:` names no group".to_owned()),
        ("{ tools: { allow: ['re\\nad'] } }", "`re\\u{a}ad` contains a control character".to_owned()),
        ("{ tools: { alsoAllow: ['\\u00e9'] } }", hidden.to_owned()),
        (
            "{ tools: { sandbox: { deny: ['\\u200bx'] } } }",
            format!("tools.sandbox.deny.0: `\\u{{200b}}x` {hidden}"),
        ),
        ("{ tools: { subagents: { deny: ['\\u200bx'] } } }", hidden.to_owned()),
        ("{ tools: { profiles: { p: { deny: ['\\u200bx'] } } } }", hidden.to_owned()),
        ("{ tools: { byProvider: { p: { deny: ['\\u200bx'] } } } }", hidden.to_owned()),
        ("{ agents: { kid: { tools: { deny: ['\\u200bx'] } } } }", hidden.to_owned()),
        ("{ agents: { kid: { tools: { byProvider: { p: { deny: ['\\u200bx'] } } } } } }", hidden.to_owned()),
        ("{ channels: { web: { tools: { deny: ['\\u200bx'] } } } }", hidden.to_owned()),
        ("{ plugins: { acme: { joinGroups: ['\\u200bfs'] } } }", hidden.to_owned()),
        (
            "{ tools: { settings: { '\\u200bread': { enabled: false } } } }",
            "the name of a tool, got `\\u{200b}read`".to_owned(),
        ),
        (
            "{ tools: { settings: { 're*': { enabled: false } } } }",
            "got `re*`, which contains `*`".to_owned(),
        ),
        (
            "{ plugins: { '\\u200bacme': { enabled: false } } }",
            "the name of a plugin, got `\\u{200b}acme`".to_owned(),
        ),
        ("{ plugins: { 'group:x': { enabled: false } } }", "got `group:x`, which is a group".to_owned()),
        (
            "{ agents: { 'k\\u200bid': { tools: { deny: ['read'] } } } }",
            format!("the name of an agent, got `k\\u{{200b}}id`, {unseen}"),
        ),
        ("{ channels: { 'web\\u202e': {} } }", unseen.to_owned()),
        ("{ tools: { byProvider: { '\\u001bx': { deny: ['*'] } } } }", unseen.to_owned()),
        ("{ tools: { profile: 'full\\n read is there' } }", unseen.to_owned()),
        ("{ tools: { profiles: { 'a\\u200b': {} } } }", unseen.to_owned()),
        (
            "{ permission: { '\\u200bedit': 'deny' } }",
            format!("the name of a kind of permission or a tool, got `\\u{{200b}}edit`, {unseen}"),
        ),
        ("{ agents: { kid: { permission: { 'ed\\u200bit': 'deny' } } } }", unseen.to_owned()),
    ] {
        for file in ["user/toolkit.json5", "work/toolkit.json5"] {
            let place = Place::new();
            let error = place.write(file, text).fails();
            assert!(error.contains(&expected), "{file} {text}: {error}\nlacks {expected}");
            assert!(error.contains(&format!("- {file}:1:")), "{error}");
        }
    }
}

#[test]
fn one_that_is_too_long_is_refused_in_few_words() {
    let text =
        format!("{{ tools: {{ profile: '{}', deny: ['{}'] }} }}", "x".repeat(900_000), "y".repeat(257));
    let error = Place::new().write("work/toolkit.json5", &text).fails();
    assert!(
        error.contains("which is longer than 256 bytes") && error.contains("yyy…` is longer than"),
        "{error}"
    );
    assert!(error.len() < 1_000, "{}", error.len());
}

#[test]
fn one_of_256_bytes_is_taken() {
    let place = Place::new();
    place.write("user/toolkit.json5", &format!("{{ tools: {{ profile: '{}' }} }}", "a".repeat(256)));
    place.load();
    let error = place
        .write("user/toolkit.json5", &format!("{{ tools: {{ profile: '{}' }} }}", "a".repeat(257)))
        .fails();
    assert!(error.contains("which is longer than 256 bytes"), "{error}");
}

#[test]
fn no_more_than_twenty_are_told_of_one_source() {
    let text = format!("{{ tools: {{ deny: [{}] }} }}", "'',".repeat(10_000));
    let error = Configuration::load(LoadOptions::new().set(format!("tools={}", &text[9..text.len() - 2])));
    assert_eq!(error.unwrap_err().problems.len(), 20);
}

#[test]
fn names_that_people_have_are_taken() {
    let place = Place::new();
    place.write(
        "user/toolkit.json5",
        "{ agents: { 'Größe 7': { tools: { profile: 'mein Profil' } } }, channels: { '日本': {} }, \
         tools: { profiles: { 'mein Profil': { allow: [' Read ', 'group: fs', 'web_*', 'acme.tools'] } }, \
         byProvider: { 'openai/gpt-5*': {} } }, plugins: { 'acme.tools': {} } }",
    );
    place.load();
}
