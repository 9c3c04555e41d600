//! Tests of the functions that call policies, alone and combined, and of the tool properties that policies use.

use super::fixture::policy as configured;
use crate::policy::subject::Subject;
use crate::policy::{self, Both, LayerVerdict, Policy, PolicySettings, PolicyVerdict, Refusal, ToolRules};
use crate::tool::Tool;
use crate::tool::def::ToolDef;
use std::sync::Arc;
use toolkit_core::caller::Caller;
use toolkit_core::diagnostic::{Diagnostic, Level};
use toolkit_core::source::Source;

fn tool(name: &'static str) -> Tool {
    tool_with(name, |_| {})
}

fn tool_with(name: &'static str, change: impl FnOnce(&mut ToolDef)) -> Tool {
    let mut def = Box::new(ToolDef { name, ..ToolDef::BASE });
    change(&mut def);
    Tool::new(Box::leak(def))
}

/// A tool that its author disabled.
static OFF: ToolDef = ToolDef { name: "off", enabled: false, ..ToolDef::BASE };

/// A policy that admits certain tools, with default methods otherwise.
#[derive(Debug)]
struct Bare(&'static [&'static str]);

impl Policy for Bare {
    fn check(&self, _: &Caller, tool: &Tool) -> Result<(), Refusal> {
        if self.0.contains(&tool.name()) {
            Ok(())
        } else {
            Err(Refusal::new("bare", "it lets others through"))
        }
    }
}

/// A policy that admits the same tools, and returns given values from its other methods.
#[derive(Debug, Clone, Default)]
struct Says {
    layer: &'static str,
    names: &'static [&'static str],
    places: Vec<usize>,
    version: Option<u64>,
    switches_on: bool,
}

impl Policy for Says {
    fn check(&self, caller: &Caller, tool: &Tool) -> Result<(), Refusal> {
        Bare(self.names)
            .check(caller, tool)
            .map_err(|refusal| Refusal { layer: self.layer.to_owned(), ..refusal })
    }

    fn admitted(&self, _: &Caller, _: &[Tool]) -> Vec<usize> {
        self.places.clone()
    }

    fn explain(&self, _: &Caller, _: &Tool) -> Vec<LayerVerdict> {
        vec![LayerVerdict::new(self.layer, PolicyVerdict::Silent, "it says nothing")]
    }

    fn diagnostics(&self, tools: &[Tool]) -> Vec<Diagnostic> {
        vec![Diagnostic::new(Level::Info, self.layer, format!("of {} tools", tools.len()))]
    }

    fn version(&self) -> Option<u64> {
        self.version
    }

    fn switches_on(&self, _: &Tool) -> bool {
        self.switches_on
    }
}

/// A policy whose every method panics.
#[derive(Debug)]
struct Fails;

impl Policy for Fails {
    fn check(&self, _: &Caller, _: &Tool) -> Result<(), Refusal> {
        panic!("its own fault")
    }

    fn admitted(&self, _: &Caller, _: &[Tool]) -> Vec<usize> {
        panic!("its own fault")
    }

    fn explain(&self, _: &Caller, _: &Tool) -> Vec<LayerVerdict> {
        panic!("its own fault")
    }

    fn diagnostics(&self, _: &[Tool]) -> Vec<Diagnostic> {
        panic!("its own fault")
    }

    fn version(&self) -> Option<u64> {
        panic!("its own fault")
    }

    fn switches_on(&self, _: &Tool) -> bool {
        panic!("its own fault")
    }
}

#[test]
fn all_that_a_policy_does_not_say_itself_comes_from_its_check() {
    let tools = [tool("a"), tool("b"), tool("c"), tool("d")];
    let (policy, caller) = (Bare(&["b", "d"]), Caller::new());
    assert_eq!(policy.admitted(&caller, &tools), [1, 3]);
    let verdict =
        |tool: &Tool| policy.explain(&caller, tool).iter().map(ToString::to_string).collect::<Vec<_>>();
    assert_eq!(verdict(&tools[1]), ["allows  the policy: it has nothing against it"]);
    assert_eq!(verdict(&tools[0]), ["denies  bare: it lets others through"]);
    assert!(policy.diagnostics(&tools).is_empty());
    assert_eq!((policy.version(), policy.switches_on(&tools[1])), (None, false));
}

#[test]
fn a_policy_that_fails_says_nothing_and_allows_nothing() {
    let (tools, caller) = ([tool("a"), tool("b")], Caller::new());
    let refusal = policy::check(&Fails, &caller, &tools[0]).expect_err("it fails");
    assert_eq!(refusal.to_string(), "denied by the policy: it stopped on an internal error");
    assert_eq!(policy::admitted(&Fails, &caller, &tools), [0; 0]);
    let explained = policy::explain(Some(&Fails), &caller, &tools[1]);
    assert_eq!((explained.tool.as_str(), explained.exists, explained.layers.len()), ("b", false, 1));
    assert_eq!(
        explained.denied_by().map(|layer| layer.reason.as_str()),
        Some("it stopped on an internal error")
    );
    assert!(policy::diagnostics(&Fails, &tools).is_empty());
    assert_eq!(policy::version(&Fails), None);
    assert!(!policy::switches_on(&Fails, &Tool::new(&OFF)));
}

#[test]
fn what_a_policy_says_is_what_counts_of_it() {
    let (tools, caller) = ([tool("a"), tool("b")], Caller::new());
    let says = Says { layer: "one", names: &["b"], version: Some(7), switches_on: true, ..Says::default() };
    assert_eq!(policy::check(&says, &caller, &tools[1]), Ok(()));
    assert_eq!(
        policy::check(&says, &caller, &tools[0]).map_err(|refusal| refusal.layer),
        Err("one".to_owned())
    );
    assert_eq!(policy::diagnostics(&says, &tools)[0].message, "of 2 tools");
    assert_eq!(policy::version(&says), Some(7));
    assert!(policy::switches_on(&says, &Tool::new(&OFF)));
    // The check decides, whatever the explanation says.
    let explained = policy::explain(Some(&says), &caller, &tools[0]);
    assert_eq!((explained.exists, explained.layers[0].layer.as_str()), (false, "one"));
    let explained = policy::explain(None, &caller, &tools[0]);
    assert!(explained.exists && explained.layers.is_empty());
}

#[test]
fn places_where_no_tool_is_are_left_out() {
    let tools = [tool("a"), tool("b"), tool("c")];
    for (places, expected) in
        [(&[][..], &[][..]), (&[2, 0, 2, 1], &[0, 1, 2]), (&[3], &[]), (&[usize::MAX, 4, 2, 3], &[2])]
    {
        let says = Says { places: places.to_vec(), ..Says::default() };
        assert_eq!(policy::admitted(&says, &Caller::new(), &tools), expected, "{places:?}");
    }
}

#[test]
fn a_policy_is_current_only_while_it_counts_the_same() {
    for (then, now, expected) in [
        (None, None, false),
        (None, Some(1), false),
        (Some(1), None, false),
        (Some(1), Some(1), true),
        (Some(1), Some(2), false),
        (Some(0), Some(0), true),
    ] {
        let says = Says { version: now, ..Says::default() };
        assert_eq!(policy::is_current(&says, then), expected, "{then:?} {now:?}");
    }
    assert!(!policy::is_current(&Fails, Some(1)) && !policy::is_current(&Fails, None));
}

#[test]
fn of_two_policies_each_takes_away() {
    let (tools, caller) = ([tool("a"), tool("b"), tool("c"), tool("d")], Caller::new());
    let one = Says { layer: "one", names: &["a", "b", "d"], places: vec![0, 1, 3], ..Says::default() };
    let other = Says { layer: "other", names: &["b", "c", "d"], places: vec![1, 2, 3], ..Says::default() };
    for (one, other) in [(one.clone(), other.clone()), (other, one)] {
        let (first, second) = (one.layer, other.layer);
        let both = Both(Arc::new(one), Arc::new(other));
        assert_eq!(both.admitted(&caller, &tools), [1, 3]);
        let refused: Vec<Option<String>> =
            tools.iter().map(|tool| both.check(&caller, tool).err().map(|refusal| refusal.layer)).collect();
        let refused: Vec<Option<&str>> = refused.iter().map(Option::as_deref).collect();
        assert_eq!(refused, [Some("other"), None, Some("one"), None]);
        let layers: Vec<String> =
            both.explain(&caller, &tools[0]).into_iter().map(|layer| layer.layer).collect();
        assert_eq!(layers, [first, second]);
        let sources: Vec<String> =
            both.diagnostics(&tools).into_iter().map(|diagnostic| diagnostic.source).collect();
        assert_eq!(sources, [first, second]);
    }
    // A policy that panics denies every tool.
    let both = Both(Arc::new(Bare(&["a"])), Arc::new(Fails));
    assert!(both.admitted(&caller, &tools).is_empty() && both.check(&caller, &tools[0]).is_err());
}

#[test]
fn two_policies_have_another_version_when_either_has() {
    let version = |one, other| {
        let says = |version| Arc::new(Says { version, ..Says::default() });
        Both(says(one), says(other)).version()
    };
    let mut seen = Vec::new();
    for one in 0..4 {
        for other in 0..4 {
            let both = version(Some(one), Some(other));
            assert_eq!(both, version(Some(one), Some(other)));
            assert!(both.is_some() && !seen.contains(&both), "{one} {other}");
            seen.push(both);
        }
    }
    assert_eq!((version(None, Some(1)), version(Some(1), None), version(None, None)), (None, None, None));
}

#[test]
fn either_of_two_policies_switches_on() {
    for (one, other) in [(false, false), (false, true), (true, false), (true, true)] {
        let says = |switches_on| Arc::new(Says { switches_on, ..Says::default() });
        let both = Both(says(one), says(other));
        assert_eq!(both.switches_on(&tool("a")), one || other);
    }
}

#[test]
fn what_a_policy_looks_at_in_a_tool_is_what_the_tool_says() {
    let plain = tool("a");
    assert_eq!((plain.is_optional(), Subject::is_enabled(&plain)), (false, true));
    let tool = tool_with("a", |def| {
        (def.aliases, def.groups, def.channel) = (&["b", "c"], &["g", "h"], Some("chat"));
        (def.optional, def.enabled) = (true, false);
    });
    assert_eq!(Subject::name(&tool), "a");
    assert_eq!(Subject::aliases(&tool).collect::<Vec<_>>(), ["b", "c"]);
    assert_eq!(Subject::groups(&tool).collect::<Vec<_>>(), ["g", "h"]);
    assert_eq!(Subject::channel(&tool), Some("chat"));
    assert!(Subject::is_optional(&tool) && !Subject::is_enabled(&tool));
    for (source, plugin, is_core) in [
        (Source::Core, None, true),
        (Source::plugin("acme"), Some("acme"), false),
        (Source::mcp("files"), Some("mcp:files"), false),
        (Source::client("web"), Some("client:web"), false),
        (Source::Runtime, None, false),
    ] {
        let tool = tool.with_source(source.clone());
        assert_eq!(
            (Subject::plugin_id(&tool).as_deref(), Subject::is_core(&tool)),
            (plugin, is_core),
            "{source}"
        );
    }
}

#[test]
fn the_policy_that_is_configured_answers_for_tools() {
    let tools = [tool("a"), tool("b"), tool("c")];
    let mut settings = PolicySettings::default();
    settings.agents.insert("kid".to_owned(), ToolRules::default().deny(["b", "zzzz"]));
    let (policy, kid) = (configured(settings), Caller::new().with_agent("kid"));
    assert_eq!(policy.admitted(&kid, &tools), [0, 2]);
    assert_eq!(policy.admitted(&Caller::new(), &tools), [0, 1, 2]);
    assert_eq!(policy.check(&kid, &tools[0]), Ok(()));
    let refusal = policy.check(&kid, &tools[1]).expect_err("it is denied");
    assert_eq!(refusal.pointer.as_deref(), Some("/agents/kid/tools/deny/0"));
    let layers: Vec<String> = policy.explain(&kid, &tools[1]).into_iter().map(|layer| layer.layer).collect();
    assert!(layers.contains(&"the rules of agent `kid`".to_owned()), "{layers:?}");
    let said = policy.diagnostics(&tools);
    assert!(said.len() == 1 && said[0].message.contains("zzzz"), "{said:?}");
    assert_eq!(policy.version(), Some(0));
}

#[test]
fn a_tool_is_switched_on_by_its_name_where_nothing_switches_it_off() {
    let dark = tool_with("dark", |def| (def.aliases, def.enabled) = (&["dim"], false));
    let other = tool("other");
    for (switches, expected) in [
        (&[][..], false),
        (&[("dark", true)], true),
        (&[(" DARK ", true)], true),
        (&[("dark", false)], false),
        (&[("dark", true), ("Dark", false)], false),
        // Any author can give a tool an alias: it disables the tool, but does not enable it.
        (&[("dim", true)], false),
        (&[("dark", true), ("dim", false)], false),
    ] {
        let settings = PolicySettings {
            enabled: switches.iter().map(|(name, is_on)| ((*name).to_owned(), *is_on)).collect(),
            ..PolicySettings::default()
        };
        let policy = configured(settings.clone());
        assert_eq!(
            (policy.switches_on(&dark), policy.switches_on(&other)),
            (expected, false),
            "{switches:?}"
        );
        // A source that only narrows enables nothing.
        let narrowed = configured(PolicySettings::default()).narrowed_by("./toolkit.json5", settings);
        assert!(!narrowed.switches_on(&dark), "{switches:?}");
    }
}
