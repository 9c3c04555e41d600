//! Tests of the limits on messages, and of invalid entries.

use super::fixture::{Thing, existing, policy, things};
use crate::policy::{PolicySettings, ToolRules, lint};
use std::collections::BTreeMap;
use toolkit_core::caller::Caller;

fn rules() -> ToolRules {
    ToolRules::default()
}

fn global(tools: ToolRules) -> PolicySettings {
    PolicySettings { tools, ..PolicySettings::default() }
}

fn agents(all: impl IntoIterator<Item = (String, ToolRules)>) -> PolicySettings {
    PolicySettings { agents: BTreeMap::from_iter(all), ..PolicySettings::default() }
}

fn told(settings: PolicySettings) -> Vec<String> {
    lint::diagnostics(&policy(settings), &things()).iter().map(ToString::to_string).collect()
}

#[test]
fn so_much_is_told_and_no_more() {
    let hints = |told: &[String]| told.iter().filter(|line| line.contains("did you mean")).count();
    // Without `exec`, which exists.
    let names = ('d'..='y').map(|last| format!("exe{last}"));
    for (what, settings, lines, hinted, last) in [
        ("the nearest names of tools", global(rules().deny(names)), 22, 20, None),
        (
            "the nearest names of profiles",
            agents(('a'..='v').map(|agent| (agent.to_string(), rules().profile("codign")))),
            22,
            20,
            None,
        ),
        (
            "patterns that nothing fits",
            global(rules().deny((0..502).map(|number| format!("zzz{number}*")))),
            101,
            0,
            Some("400 more like these of what is denied"),
        ),
        (
            "names that allow nothing",
            global(rules().allow(std::iter::repeat_n("also", 202))),
            101,
            0,
            Some("100 more like these;"),
        ),
    ] {
        let told = told(settings);
        assert_eq!((told.len(), hints(&told)), (lines, hinted), "{what}: {told:#?}");
        let said_last = told.last().unwrap();
        assert!(last.is_none_or(|last| said_last.contains(last)), "{what}: {said_last}");
    }
}

#[test]
fn a_message_of_4000_bytes_is_told_whole_and_a_longer_one_is_cut() {
    let of = |name: &str| {
        let settings = agents([(name.to_owned(), rules().also_allow(["read"]))]);
        lint::diagnostics(&policy(settings), &things()).remove(0).message
    };
    let rest = of("x").len() - 1;
    let whole = "x".repeat(4_000 - rest);
    let said = of(&whole);
    assert!(said.len() == 4_000 && said.contains(&whole), "{}", said.len());
    let longer = format!("{whole}x");
    assert!(!of(&longer).contains(&longer));
}

#[test]
fn each_list_that_nobody_can_read_denies_by_itself() {
    let unreadable = || rules().deny(["", "\u{200b}x"]);
    let settings = agents(["a", "b", "c"].map(|agent| (agent.to_owned(), unreadable())));
    let policy = policy(settings);
    for agent in ["a", "b", "c"] {
        let caller = Caller::new().with_agent(agent);
        assert_eq!(existing(&policy, &caller, &things()), [""; 0], "{agent}");
        let said: Vec<String> =
            policy.verdicts(&caller, &Thing::core("read")).iter().map(ToString::to_string).collect();
        let expected = format!(
            "denies  the rules of agent `{agent}`: the entry `` in its deny list is invalid, so it denies every tool \
             (/agents/{agent}/tools/deny/0)"
        );
        assert!(said.contains(&expected), "{said:#?}");
    }
    assert!(!existing(&policy, &Caller::new().with_agent("d"), &things()).is_empty());
}
