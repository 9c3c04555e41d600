//! Tests which tools of linked crates a toolkit selects.

mod changes;

use super::candidates::{Candidate, choose};
use super::origins::{Known, Origins};
use super::register::Registry;
use super::tools::{FIRST, Tools};
use crate::link::Links;
use crate::tool::Tool;
use crate::tool::def::ToolDef;
use toolkit_core::diagnostic::Diagnostic;
use toolkit_core::location::Location;
use toolkit_core::plugin::PluginDef;
use toolkit_core::source::Source;

fn location(module: &'static str, line: u32) -> Location {
    Location { module, package: module, version: "1.0.0", file: "lib.rs", line, column: 1 }
}

/// Returns a tool of a crate.
fn def(module: &'static str, name: &'static str, aliases: &'static [&'static str]) -> ToolDef {
    ToolDef { name, aliases, location: location(module, 1), ..ToolDef::BASE }
}

/// Returns the plugin definition of a crate.
fn plugin(module: &'static str, id: &'static str) -> PluginDef {
    PluginDef { id, location: location(module, 9), ..PluginDef::BASE }
}

#[derive(Default)]
struct Case {
    /// The linked crates in the order of `link!`, with a flag for core crates.
    links: &'static [(&'static str, bool)],
    linked: Vec<ToolDef>,
    added: Vec<Tool>,
    plugins: Vec<PluginDef>,
    prefer: &'static [&'static str],
    /// Names of planned core tools.
    planned: &'static [&'static str],
}

struct Chosen {
    tools: Tools,
    diagnostics: Vec<Diagnostic>,
    problems: Vec<String>,
    origins: Origins,
}

impl Case {
    fn choose(self) -> Chosen {
        let mut linked: Vec<&'static ToolDef> =
            self.linked.into_iter().map(|def| &*Box::leak(Box::new(def))).collect();
        let prefer: Vec<String> = self.prefer.iter().map(|id| (*id).to_owned()).collect();
        let mut outcomes = Vec::new();
        // The linker's order has no effect.
        for _ in 0..2 {
            linked.reverse();
            let (mut problems, mut diagnostics) = (Vec::new(), Vec::new());
            let known = Known {
                links: Links::of(self.links),
                linked: &linked,
                added: &self.added,
                plugins: self.plugins.iter().map(|def| &*Box::leak(Box::new(*def))).collect(),
                prefer: &prefer,
                planned: self.planned.to_vec(),
            };
            let mut origins = Origins::collect(known, &mut problems, &mut diagnostics);
            let added = self.added.iter().cloned().enumerate();
            let mut candidates: Vec<Candidate> =
                added.map(|(place, tool)| Candidate::Added(place, tool)).collect();
            for def in &linked {
                if def.enabled {
                    candidates.push(Candidate::Linked(def));
                } else {
                    origins.withhold(def.name);
                }
            }
            let tools = choose(candidates, &origins, &mut problems, &mut diagnostics);
            let tools = Tools::build(tools, &origins, &mut diagnostics);
            problems.sort_unstable();
            outcomes.push(Chosen { tools, diagnostics, problems, origins });
        }
        let (two, one) = (outcomes.pop().expect("two"), outcomes.pop().expect("two"));
        assert_eq!(one.crates(), two.crates(), "the linker's order means nothing");
        assert_eq!(one.diagnostics, two.diagnostics);
        assert_eq!(one.problems, two.problems);
        two
    }
}

impl Chosen {
    /// Returns name and crate of each tool.
    fn crates(&self) -> Vec<(&str, &str)> {
        self.tools.iter().map(|tool| (tool.name(), tool.crate_name())).collect()
    }

    fn told(&self) -> String {
        self.diagnostics.iter().map(Diagnostic::to_string).collect::<Vec<_>>().join("\n")
    }
}

#[test]
fn core_goes_before_all_plugins_by_name_and_alias() {
    let chosen = Case {
        links: &[("acme", false), ("core", true)],
        linked: vec![
            def("core", "read", &["view"]),
            def("acme", "read", &[]),
            def("acme", "view", &[]),
            def("acme", "other", &["view", "look"]),
            def("unlisted", "read", &[]),
        ],
        ..Case::default()
    }
    .choose();
    assert_eq!(chosen.crates(), [("other", "acme"), ("read", "core")]);
    assert_eq!(chosen.tools.get("view").map(Tool::name), Some("read"));
    assert_eq!(chosen.tools.get("look").map(Tool::name), Some("other"));
    let told = chosen.told();
    for part in [
        "the tool `read` of the crate `acme` is left out: the core tool `read` has this name (plugin `acme`, lib.rs:1)",
        "the tool `view` of the crate `acme` is left out: the core tool `read` answers to this name",
        "the tool `read` of the crate `unlisted` is left out",
        "the alias `view` of the tool `other` is left out: it already names `read`",
    ] {
        assert!(told.contains(part), "{told}");
    }
    assert_eq!(chosen.diagnostics.len(), 4, "{told}");
    assert_eq!(chosen.diagnostics[0].plugin_id.as_deref(), Some("acme"));
    assert!(chosen.origins.reserved_names().eq(["read", "view"]));
}

#[test]
fn what_core_has_switched_off_is_still_its_own() {
    let off = ToolDef { enabled: false, ..def("core", "exec", &["bash"]) };
    let chosen = Case {
        links: &[("core", true)],
        linked: vec![
            off,
            def("acme", "exec", &[]),
            def("acme", "bash", &[]),
            def("acme", "run", &["exec", "bash"]),
        ],
        ..Case::default()
    }
    .choose();
    assert_eq!(chosen.crates(), [("run", "acme")]);
    assert_eq!((chosen.tools.get("exec").is_some(), chosen.tools.get("bash").is_some()), (false, false));
}

#[test]
fn an_alias_never_takes_the_name_of_a_tool_that_is_switched_off() {
    let off = ToolDef { enabled: false, ..def("acme", "run", &[]) };
    let chosen = Case { linked: vec![off, def("other", "start", &["run"])], ..Case::default() }.choose();
    assert!(chosen.tools.get("run").is_none());
    assert!(chosen.told().contains("it names a tool that is switched off"), "{}", chosen.told());
}

#[test]
fn a_plugin_with_the_name_of_a_core_tool_is_blocked_whole() {
    for id in ["apply_patch", "apply-patch", "Apply.Patch", "patch"] {
        let mut of_plugin = def("acme", "one", &[]);
        of_plugin.location.line = 7;
        let chosen = Case {
            links: &[("core", true), ("acme", false)],
            linked: vec![def("core", "apply_patch", &["patch"]), of_plugin, def("acme", "two", &[])],
            plugins: vec![plugin("acme", id)],
            added: vec![Tool::new(Box::leak(Box::new(def("acme", "three", &[]))))],
            ..Case::default()
        }
        .choose();
        assert_eq!(chosen.crates(), [("apply_patch", "core")], "{id}");
        let [told] = &chosen.diagnostics[..] else { panic!("one, not {}", chosen.told()) };
        assert!(told.message.contains("is left out whole"), "{told}");
        assert_eq!(told.plugin_id, Some(id.to_lowercase()));
        assert!(chosen.origins.plugins()[0].blocked);
    }
}

#[test]
fn between_plugins_the_list_decides_and_what_is_preferred_goes_first() {
    let tools =
        || vec![def("a", "same", &[]), def("b", "same", &[]), def("c", "same", &[]), def("z", "same", &[])];
    for (links, prefer, first) in [
        (&[("b", false), ("a", false), ("c", false)][..], &[][..], "b"),
        (&[("b", false), ("a", false)], &["c"], "c"),
        (&[("b", false), ("a", false)], &[" Z ", "c"], "z"),
        (&[("c", false)], &[], "c"),
        (&[], &[], "a"),
        (&[("b", true), ("a", false)], &["a"], "b"),
    ] {
        let chosen = Case { links, prefer, linked: tools(), ..Case::default() }.choose();
        assert_eq!(chosen.crates(), [("same", first)], "{links:?} {prefer:?}");
        assert_eq!(chosen.diagnostics.len(), 3, "{}", chosen.told());
    }
    let chosen =
        Case { prefer: &["acne"], linked: vec![def("acme", "one", &[])], ..Case::default() }.choose();
    assert!(chosen.told().contains("did you mean `acme`?"), "{}", chosen.told());
}

#[test]
fn an_alias_goes_to_the_plugin_that_goes_first() {
    for (prefer, owner) in [(&[][..], "one"), (&["b"], "two")] {
        let linked = vec![def("a", "one", &["first"]), def("b", "two", &["first"])];
        let chosen =
            Case { links: &[("a", false), ("b", false)], prefer, linked, ..Case::default() }.choose();
        assert_eq!(chosen.tools.get("first").map(Tool::name), Some(owner));
    }
}

#[test]
fn what_the_host_adds_goes_first() {
    let own = Tool::new(Box::leak(Box::new(def("host", "read", &[]))));
    let chosen = Case {
        links: &[("core", true)],
        linked: vec![def("core", "read", &[])],
        added: vec![own],
        ..Case::default()
    }
    .choose();
    assert_eq!(chosen.crates(), [("read", "host")]);
    assert_eq!(chosen.tools[0].source(), &Source::plugin("host"));
}

#[test]
fn a_tool_knows_whose_it_is() {
    let channel = ToolDef { channel: Some("mail"), ..def("acme_tools", "send", &[]) };
    let named = PluginDef { optional: true, ..plugin("named", "Fine.Name") };
    let through = PluginDef { channel: Some("telegram"), ..plugin("through", "tg") };
    let mut packaged = def("acme_tools", "plain", &[]);
    packaged.location.package = "acme-tools";
    let channel = ToolDef { location: packaged.location, ..channel };
    let said = Tool::nameless().named("said").with_source(Source::mcp("files"));
    let claims = Tool::nameless().named("claims").with_source(Source::Core);
    let chosen = Case {
        links: &[("core", true)],
        linked: vec![
            def("core", "read", &[]),
            packaged,
            channel,
            def("named", "one", &[]),
            def("through", "two", &[]),
        ],
        plugins: vec![named, through, plugin("core", "core")],
        added: vec![said, claims],
        ..Case::default()
    }
    .choose();
    let seen: Vec<_> = chosen
        .tools
        .iter()
        .map(|tool| {
            (tool.name(), tool.source().clone(), tool.plugin_id(), tool.is_optional(), tool.channel())
        })
        .collect();
    assert_eq!(
        seen,
        [
            ("claims", Source::Runtime, None, false, None),
            ("one", Source::plugin("fine.name"), Some("fine.name"), true, None),
            ("plain", Source::plugin("acme-tools"), Some("acme-tools"), false, None),
            ("read", Source::Core, None, false, None),
            ("said", Source::mcp("files"), None, false, None),
            ("send", Source::channel("mail"), Some("acme-tools"), false, Some("mail")),
            ("two", Source::channel("telegram"), Some("tg"), false, Some("telegram")),
        ]
    );
}

#[test]
fn a_name_of_a_core_tool_to_come_is_nobodys() {
    let case = |linked: Vec<ToolDef>, planned| Case {
        links: &[("core", true)],
        linked: [vec![def("core", "read", &[])], linked].concat(),
        planned,
        ..Case::default()
    };
    let planned: &[&str] = &["browser", "web_search"];
    for (linked, expected) in [
        (
            vec![def("acme", "browser", &[])],
            "`browser`, the name of the tool `browser` of the crate `acme` at lib.rs:1",
        ),
        (
            vec![def("acme", "find", &["web_search"])],
            "`web_search`, an alias of the tool `find` of the crate `acme`",
        ),
        (vec![def("web_search", "find", &[])], "the plugin id `web_search` of the crate `web_search`"),
    ] {
        let chosen = case(linked.clone(), planned).choose();
        let [problem] = &chosen.problems[..] else { panic!("{:?}", chosen.problems) };
        assert!(problem.starts_with(expected), "{problem}");
        assert!(problem.contains("is reserved for a future builtin tool; give"), "{problem}");
        assert!(case(linked, &[]).choose().problems.is_empty());
    }
    // Once the core tool exists, it has the name, and the others are reported as for any core tool.
    let chosen = case(vec![def("core", "browser", &[]), def("acme", "browser", &[])], planned).choose();
    assert!(chosen.problems.is_empty(), "{:?}", chosen.problems);
    assert_eq!(chosen.crates(), [("browser", "core"), ("read", "core")]);
    assert!(chosen.origins.reserved_names().eq(["browser", "read", "web_search"]));
    // The host may add any tool directly.
    let own = Tool::builder("web_search").build(|_, _| async {}).expect("a tool");
    let chosen = Case { links: &[("core", true)], added: vec![own], planned, ..Case::default() }.choose();
    assert!(chosen.problems.is_empty(), "{:?}", chosen.problems);
}

#[test]
fn one_id_is_one_plugin() {
    let two = Case {
        linked: vec![def("a", "one", &[]), def("b", "two", &[])],
        plugins: vec![plugin("a", "B")],
        ..Case::default()
    }
    .choose();
    assert_eq!(two.problems.len(), 1, "{:?}", two.problems);
    assert!(
        two.problems[0].contains("the crates `a` and `b` have the same plugin id `b`"),
        "{:?}",
        two.problems
    );
    let mut again = plugin("a", "other");
    again.location.line = 20;
    let twice = Case {
        linked: vec![def("a", "one", &[])],
        plugins: vec![again, plugin("a", "mine"), plugin("c", "group:fs"), plugin("d", "*")],
        ..Case::default()
    }
    .choose();
    assert_eq!(twice.problems.len(), 3, "{:?}", twice.problems);
    assert!(
        twice.problems.iter().any(|problem| problem.contains("at lib.rs:9 and lib.rs:20")),
        "{:?}",
        twice.problems
    );
}

#[test]
fn no_name_of_core_is_given_away_while_the_process_runs() {
    let off = ToolDef { enabled: false, ..def("core", "exec", &["bash"]) };
    let asleep = ToolDef { enabled: false, ..def("acme", "asleep", &[]) };
    let chosen = Case { links: &[("core", true)], linked: vec![off, asleep], ..Case::default() }.choose();
    let registry = Registry::new(chosen.tools);
    let register = |tool: Tool| {
        let tool = chosen.origins.place(tool);
        registry
            .change(|edit, _| edit.insert(tool, FIRST, &chosen.origins))
            .map_err(|error| error.to_string())
    };
    let made = |name: &str| Tool::builder(name).build(|_, _| async {}).expect("a tool");
    let aliased = |alias: &str| Tool::builder("fine").alias(alias).build(|_, _| async {}).expect("a tool");
    for (tool, expected) in [
        (made("exec"), "`exec` is a name of the core tool `exec`"),
        (made("bash"), "`bash` is a name of the core tool `exec`"),
        (made("exec").with_source(Source::Core), "`exec` is a name of the core tool `exec`"),
        (made("exec").with_source(Source::mcp("core")), "`exec` is a name of the core tool `exec`"),
        (aliased("bash"), "`bash` is a name of the core tool `exec`"),
        (aliased("asleep"), "names a tool that is switched off"),
        (made("fine").with_source(Source::plugin("exec")), "the id `exec` of its plugin"),
    ] {
        let error = register(tool).expect_err(expected);
        assert!(error.contains(expected), "{error}");
        assert_eq!(registry.version(), 0);
    }
    let own = ToolDef { enabled: true, ..def("core", "exec", &["bash"]) };
    register(Tool::new(Box::leak(Box::new(own)))).expect("core may have its own name");
    assert_eq!(registry.snapshot().get("bash").map(Tool::name), Some("exec"));
}
