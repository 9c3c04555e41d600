//! Words that users and authors of tools use for the same thing.

use super::words::stem_of;
use std::collections::HashMap;
use std::sync::LazyLock;

/// Each line is a group; a word may be in several. Verbs of tools come first, then their objects.
const GROUPS: &[&str] = &[
    "create add make new insert open start register",
    "delete remove erase drop destroy discard trash",
    "list show enumerate browse view display",
    "get fetch retrieve read load view lookup show describe",
    "find search look query locate lookup",
    "update edit change modify alter adjust set patch revise amend",
    "send post deliver submit transmit",
    "send message notify tell text ping",
    "move transfer relocate",
    "copy duplicate clone",
    "rename retitle",
    "run execute launch invoke perform start trigger",
    "stop cancel abort halt terminate kill end",
    "pause suspend hold",
    "resume continue unpause restart",
    "close finish complete resolve end done",
    "approve accept confirm",
    "reject decline deny refuse",
    "assign allocate delegate",
    "archive store",
    "upload attach import put",
    "download export save",
    "share publish grant",
    "merge combine join",
    "enable activate",
    "disable deactivate",
    "schedule plan book arrange",
    "check verify validate test",
    "convert transform translate",
    "summarize summary digest",
    "subscribe follow watch",
    "unsubscribe unfollow",
    "reply respond answer",
    "invite ask",
    "refund reimburse",
    "pay charge",
    "label tag",
    "comment note remark",
    "buy purchase order",
    "draw paint",
    "email mail inbox",
    "ticket issue bug defect",
    "task todo",
    "repository repo",
    "pull merge pr",
    "event meeting appointment",
    "calendar agenda",
    "folder directory",
    "file document doc",
    "user person people member account",
    "employee staff worker colleague",
    "contact person",
    "customer client",
    "channel room",
    "picture image photo",
    "movie video film",
    "song track music",
    "invoice bill receipt",
    "order purchase",
    "payment transaction charge",
    "price cost",
    "product item article",
    "database db",
    "configuration config setting option preference",
    "message msg dm",
    "chat conversation thread",
    "page site website web",
    "link url address",
    "phone telephone call",
    "weather forecast temperature",
    "flight plane",
    "hotel accommodation",
    "company organization organisation business firm",
    "team group",
    "password credential secret",
    "server machine host instance vm",
    "log history",
    "command shell terminal bash",
    "code source program",
    "text string content",
    "lead prospect",
    "deal opportunity",
    "vacation holiday leave absence",
    "spreadsheet sheet excel",
    "slide presentation deck",
    "survey poll form questionnaire",
    "alert alarm warning",
    "error exception crash failure",
    "metric statistic stat",
    "report analytics",
    "number count amount",
    "place location",
    "map route direction",
    "language locale",
    "currency money",
    "stock share",
    "permission access right",
    "key token",
    "version release",
    "deploy release rollout ship",
];

/// Verbs of two words, each with the single verb that tools use.
const PHRASES: &[(&str, &str, &str)] = &[
    ("bring", "back", "restore"),
    ("call", "off", "cancel"),
    ("carry", "out", "run"),
    ("fill", "in", "submit"),
    ("fill", "out", "submit"),
    ("find", "out", "get"),
    ("get", "rid", "delete"),
    ("give", "back", "return"),
    ("hand", "over", "transfer"),
    ("kick", "off", "trigger"),
    ("look", "for", "find"),
    ("look", "up", "find"),
    ("pay", "back", "refund"),
    ("pick", "up", "get"),
    ("put", "off", "reschedule"),
    ("send", "out", "send"),
    ("set", "up", "create"),
    ("shut", "down", "stop"),
    ("sign", "off", "approve"),
    ("sign", "up", "register"),
    ("spin", "up", "launch"),
    ("switch", "off", "disable"),
    ("switch", "on", "enable"),
    ("take", "away", "remove"),
    ("take", "off", "remove"),
    ("throw", "away", "delete"),
    ("turn", "off", "disable"),
    ("turn", "on", "enable"),
    ("write", "down", "record"),
];

/// Returns the single verb for a verb of two words: "create" for "setting up".
pub(super) fn plain_verb(first: &str, second: &str) -> Option<&'static str> {
    let first = stem_of(first);
    let found = PHRASES.iter().find(|(verb, particle, _)| *particle == second && stem_of(verb) == first);
    found.map(|(.., plain)| *plain)
}

/// Returns the stems of synonyms of a stem, sorted; empty if there are none.
pub(super) fn synonyms(stem: &str) -> &'static [String] {
    static BY_STEM: LazyLock<HashMap<String, Vec<String>>> = LazyLock::new(|| {
        let mut by_stem: HashMap<String, Vec<String>> = HashMap::new();
        for group in GROUPS {
            let stems: Vec<String> = group.split(' ').map(stem_of).collect();
            for one in &stems {
                let others = stems.iter().filter(|other| *other != one).cloned();
                by_stem.entry(one.clone()).or_default().extend(others);
            }
        }
        for stems in by_stem.values_mut() {
            stems.sort_unstable();
            stems.dedup();
        }
        by_stem
    });
    BY_STEM.get(stem).map_or(&[], Vec::as_slice)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_a_synonym_of_whom_is_so_both_ways() {
        for group in GROUPS {
            for word in group.split(' ') {
                let stem = stem_of(word);
                for other in synonyms(&stem) {
                    assert!(synonyms(other).contains(&stem), "{word}: {other}");
                }
            }
        }
        assert!(synonyms(&stem_of("removes")).contains(&stem_of("delete")));
        assert!(synonyms("nothing").is_empty());
    }
}
