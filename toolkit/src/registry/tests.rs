//! Which tools a toolkit has of those that crates bring, and that nobody ever sees half a change.

use super::candidates::{Candidate, choose};
use super::index::Index;
use super::origins::{Known, Origins};
use super::register::Registry;
use super::tools::{FIRST, Tools};
use crate::diagnostic::Diagnostic;
use crate::link::Links;
use crate::plugin::PluginDef;
use crate::source::Source;
use crate::tool::Tool;
use crate::tool_def::{Location, ToolDef};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError, mpsc};
use std::thread;
use std::time::Duration;

fn location(module: &'static str, line: u32) -> Location {
    Location { module, package: module, version: "1.0.0", file: "lib.rs", line, column: 1 }
}

/// A tool of a crate.
fn def(module: &'static str, name: &'static str, aliases: &'static [&'static str]) -> ToolDef {
    ToolDef { name, aliases, location: location(module, 1), ..ToolDef::BASE }
}

/// A crate that says which plugin it is.
fn plugin(module: &'static str, id: &'static str) -> PluginDef {
    PluginDef { id, location: location(module, 9), ..PluginDef::BASE }
}

#[derive(Default)]
struct Case {
    /// In the order of `link!`: core or not.
    links: &'static [(&'static str, bool)],
    linked: Vec<ToolDef>,
    added: Vec<Tool>,
    plugins: Vec<PluginDef>,
    prefer: &'static [&'static str],
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
        // Whatever the linker's order is.
        for _ in 0..2 {
            linked.reverse();
            let (mut problems, mut diagnostics) = (Vec::new(), Vec::new());
            let known = Known {
                links: Links::of(self.links),
                linked: &linked,
                added: &self.added,
                plugins: self.plugins.iter().map(|def| &*Box::leak(Box::new(*def))).collect(),
                prefer: &prefer,
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
    /// Name and crate of each tool.
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
fn one_id_is_one_plugin() {
    let two = Case {
        linked: vec![def("a", "one", &[]), def("b", "two", &[])],
        plugins: vec![plugin("a", "B")],
        ..Case::default()
    }
    .choose();
    assert_eq!(two.problems.len(), 1, "{:?}", two.problems);
    assert!(
        two.problems[0].contains("the crates `a` and `b` are one plugin by their id `b`"),
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

/// A list of tools that many threads change and look at.
trait Board: Sync {
    /// Lets the two tools of a thread come or go, at once.
    fn switch(&self, thread: usize, on: bool);
    fn look(&self) -> Look;
}

/// What a reader saw at one moment.
struct Look {
    names: Vec<String>,
    /// Where the index leads for each of the names, and for the alias of each.
    found: Vec<(Option<usize>, Option<usize>)>,
}

impl Look {
    fn of(tools: &[Tool], index: impl Fn(&str) -> Option<usize>) -> Self {
        let names: Vec<String> = tools.iter().map(|tool| tool.name().to_owned()).collect();
        let found = tools.iter().map(|tool| (index(tool.name()), tool.aliases().next().and_then(&index)));
        Self { found: found.collect(), names }
    }

    /// What is torn about it.
    fn tear(&self) -> Option<String> {
        if !self.names.is_sorted() {
            return Some(format!("not by name: {:?}", self.names));
        }
        for (place, name) in self.names.iter().enumerate() {
            if self.found[place] != (Some(place), Some(place)) {
                return Some(format!("`{name}` at {place} is found at {:?}", self.found[place]));
            }
            let other = match name.strip_suffix("_one") {
                Some(of) => format!("{of}_two"),
                None => format!("{}_one", name.trim_end_matches("_two")),
            };
            if !self.names.contains(&other) {
                return Some(format!("`{name}` is there without `{other}`"));
            }
        }
        None
    }
}

fn pair(thread: usize) -> [Tool; 2] {
    ["one", "two"].map(|which| {
        Tool::builder(format!("tool_{thread}_{which}"))
            .alias(format!("alias_{thread}_{which}"))
            .build(|_, _| async {})
            .expect("a tool")
    })
}

struct Sound {
    registry: Registry,
    origins: Origins,
}

impl Board for Sound {
    fn switch(&self, thread: usize, on: bool) {
        let done: Result<(), super::RegisterError> = self.registry.change(|edit, _| {
            for tool in pair(thread) {
                match edit.place(tool.name()) {
                    Some(place) if !on => drop(edit.remove(place)),
                    None if on => edit.insert(tool, FIRST, &self.origins)?,
                    there => panic!("it is there or not: {there:?}"),
                }
            }
            Ok(())
        });
        done.expect("nobody else has these names");
    }

    fn look(&self) -> Look {
        let tools = self.registry.snapshot();
        Look::of(&tools, |name| tools.place(name))
    }
}

/// The bug that the test must see: the list and its index are changed one after the other.
#[derive(Default)]
struct Torn {
    tools: Mutex<Vec<Tool>>,
    index: Mutex<Index>,
    writing: Mutex<()>,
    looks: AtomicUsize,
}

impl Board for Torn {
    fn switch(&self, thread: usize, on: bool) {
        let _one_at_a_time = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let mut tools = self.tools.lock().expect("no panic").clone();
        let of_pair = pair(thread);
        tools.retain(|tool| of_pair.iter().all(|other| other.name() != tool.name()));
        if on {
            tools.extend(of_pair);
            tools.sort_by(|one, other| one.name().cmp(other.name()));
        }
        let mut index = Index::default();
        for (place, tool) in tools.iter().enumerate() {
            index.insert(tool.name(), place, 0);
            index.insert(tool.aliases().next().expect("it has one"), place, 1);
        }
        *self.tools.lock().expect("no panic") = tools;
        // A second look begins after the first one ended.
        let looks = self.looks.load(Ordering::SeqCst);
        while self.looks.load(Ordering::SeqCst) < looks + 2 {
            thread::yield_now();
        }
        *self.index.lock().expect("no panic") = index;
    }

    fn look(&self) -> Look {
        let tools = self.tools.lock().expect("no panic").clone();
        let index = self.index.lock().expect("no panic").clone();
        // What leads beyond the end leads nowhere.
        let look = Look::of(&tools, |name| {
            catch_unwind(AssertUnwindSafe(|| index.get(name, &tools))).ok().flatten()
        });
        self.looks.fetch_add(1, Ordering::SeqCst);
        look
    }
}

/// Lets eight threads change a board so often each, while two look at it. The first tear that was seen.
fn first_tear(board: &impl Board, changes: usize) -> Option<String> {
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        let over = &over;
        let readers: Vec<_> = (0..2)
            .map(|_| {
                scope.spawn(move || {
                    let mut tear = None;
                    while !over.load(Ordering::SeqCst) {
                        tear = tear.or(board.look().tear());
                    }
                    tear.or(board.look().tear())
                })
            })
            .collect();
        let writers: Vec<_> = (0..8)
            .map(|thread| {
                scope.spawn(move || (0..changes).for_each(|change| board.switch(thread, change % 2 == 0)))
            })
            .collect();
        let written = writers.into_iter().map(|writer| writer.join().is_ok()).collect::<Vec<_>>();
        over.store(true, Ordering::SeqCst);
        let seen = readers.into_iter().find_map(|reader| reader.join().expect("it only looks"));
        assert!(written.into_iter().all(|ok| ok), "a writer stopped");
        seen
    })
}

#[test]
fn nobody_sees_half_a_change() {
    let board = Sound { registry: Registry::default(), origins: Origins::default() };
    assert_eq!(first_tear(&board, 2_500), None);
    assert_eq!(board.registry.version(), 20_000);
    assert_eq!(board.registry.snapshot().len(), 0);
}

/// The list that is changed next is the one before the current one, brought up to date, or a copy where somebody holds that
/// one: what comes of it is the same, and what is held stays as it is.
#[test]
fn a_spare_list_is_as_good_as_a_copy() {
    let (spared, copied) = (Registry::default(), Registry::default());
    let origins = Origins::default();
    let mut random = 1_u64;
    let mut held: Vec<(Tools, Vec<String>)> = Vec::new();
    for step in 0..2_000 {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let (pick, other) = ((random >> 33) as usize % 30, (random >> 45) as usize % 30);
        // Now and then one that fails before, or after, it has changed something.
        let steps = [pick, other, pick].into_iter().take(1 + step % 3);
        let steps: Vec<(usize, bool)> = steps.map(|number| (number, step % 7 == 0)).collect();
        let apply = |registry: &Registry| {
            registry.change(|edit, last| {
                for (number, fails) in &steps {
                    let tool = Tool::builder(format!("tool_{number}")).alias(format!("alias_{number}"));
                    match edit.place(&format!("tool_{number}")) {
                        Some(_) if *fails => return Err(()),
                        Some(place) => drop(edit.remove(place)),
                        None => {
                            *last += 1;
                            let tool = tool.build(|_, _| async {}).expect("a tool");
                            edit.insert(tool, *last, &origins).map_err(|_| ())?;
                        }
                    }
                }
                Ok(())
            })
        };
        let before = copied.snapshot();
        let look = |registry: &Registry| {
            let tools = registry.snapshot();
            let look = Look::of(&tools, |name| tools.place(name));
            let still = before.iter().enumerate().map(|(place, _)| before.is_still_in(place, &tools));
            (look.names, look.found, tools.version(), still.collect::<Vec<_>>())
        };
        // Of the one somebody always holds the current list, so that it is never spared.
        assert_eq!(apply(&spared), apply(&copied));
        let (one, two) = (look(&spared), look(&copied));
        assert_eq!(one, two, "after {step} steps");
        assert!(
            one.1.iter().enumerate().all(|(place, found)| *found == (Some(place), Some(place))),
            "{one:?}"
        );
        if step % 50 == 0 {
            held.push((spared.snapshot(), one.0));
        }
    }
    for (tools, names) in held {
        assert!(
            tools.iter().map(Tool::name).eq(names.iter().map(String::as_str)),
            "it has changed: {tools:?}"
        );
    }
}

#[test]
fn what_was_taken_out_is_let_go() {
    let registry = Registry::default();
    let state = std::sync::Arc::new(());
    let tool = Tool::nameless().named("tool").with_shared_state(std::sync::Arc::clone(&state));
    let origins = Origins::default();
    registry.change(|edit, _| edit.insert(tool, FIRST, &origins)).expect("it is free");
    registry
        .change(|edit, _| edit.insert(Tool::nameless().named("other"), FIRST, &origins))
        .expect("it is free");
    let place = registry.snapshot().place("tool").expect("it is there");
    let removed: Result<(), ()> = registry.change(|edit, _| {
        drop(edit.remove(place));
        Ok(())
    });
    removed.expect("it was there");
    assert_eq!(std::sync::Arc::strong_count(&state), 1, "nothing holds it any more");
}

#[test]
fn a_list_changed_before_its_index_is_noticed() {
    let tear = first_tear(&Torn::default(), 4);
    assert!(tear.is_some());
}

#[test]
fn readers_go_on_while_a_change_is_made() {
    let registry = Registry::default();
    let (began, begins) = mpsc::channel();
    let (looked, looks) = mpsc::channel();
    thread::scope(|scope| {
        let registry = &registry;
        scope.spawn(move || {
            begins.recv().expect("a change");
            for _ in 0..1_000 {
                assert_eq!((registry.snapshot().len(), registry.version()), (0, 0));
            }
            looked.send(()).expect("it waits");
        });
        let done = registry.change(|edit, _| {
            began.send(()).expect("it waits");
            // Nothing is measured: without the readers this would never go on.
            looks.recv_timeout(Duration::from_mins(1)).map_err(|error| error.to_string())?;
            edit.insert(Tool::nameless().named("late"), FIRST, &Origins::default())
                .map_err(|error| error.to_string())
        });
        assert_eq!(done, Ok(()));
    });
    assert_eq!((registry.snapshot().len(), registry.version()), (1, 1));
}
