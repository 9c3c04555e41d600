//! The names that the docs call reserved are those that are.

#![cfg(all(feature = "canvas", feature = "fs", feature = "media", feature = "runtime", feature = "web"))]

use std::collections::BTreeSet;
use toolkit::{Caller, Tool, Toolkit, descriptor::Source, registry::RegisterError};

toolkit::link!(core: builtin_tools);

#[test]
fn the_docs_name_every_reserved_name() {
    let toolkit = Toolkit::builder().leave_out_incomplete().build().expect("a toolkit");
    let reserved: BTreeSet<&str> = toolkit.reserved_names().collect();
    let docs = include_str!("../../src/lib.rs");
    let (_, section) = docs.split_once("# Reserved names").expect("the section");
    let (_, list) = section.split_once("switched off too:").expect("the list");
    let (list, _) = list.split_once("\n\n").expect("an end");
    let named: BTreeSet<&str> = list.split('`').skip(1).step_by(2).collect();
    assert!(!reserved.is_empty());
    assert_eq!(named, reserved);
}

/// Lists speak of core tools by these names, also where none of them is linked.
#[test]
fn no_server_has_a_tool_that_lists_would_mean_a_core_tool_by() {
    let toolkit = Toolkit::builder().leave_out_incomplete().build().expect("a toolkit");
    let tool = |name: &str, source: &Source| {
        let tool = Tool::builder(name).description("Is there.").source(source.clone());
        tool.build(|_, _| async { "ran" }).expect("a tool")
    };
    for source in [Source::mcp("files"), Source::client("tab")] {
        for (name, meant) in [("exec", "exec"), ("bash", "exec"), ("message", "message"), ("write", "write")]
        {
            match toolkit.register(tool(name, &source)) {
                Err(RegisterError::Reserved { name: taken, core, .. }) => {
                    assert_eq!((&*taken, &*core), (name, meant));
                }
                other => panic!("{name} of {source}: {other:?}"),
            }
        }
        toolkit.register(tool("files__exec", &source)).expect("its name is free");
        toolkit.unregister("files__exec").expect("it is there");
    }
    // A name that is planned is nobody's, under any source: what is configured of it must mean the same later.
    for (name, source) in [("delegate", Source::Runtime), ("delegate", Source::mcp("files"))] {
        let error = toolkit.register(tool(name, &source)).expect_err("it is planned");
        assert!(matches!(error, RegisterError::Planned { .. }), "{error}");
        assert!(
            error.to_string().contains("is reserved for a future builtin tool; give it another one"),
            "{error}"
        );
    }
}

#[test]
fn what_is_not_linked_is_not_there_whatever_the_rules_say() {
    let toolkit = Toolkit::empty().build().expect("a toolkit");
    let explained = toolkit.explain(&Caller::new(), "message").expect("the name is known");
    assert!(explained.denied_by().is_none());
    assert!(!explained.exists && !explained.present, "{explained:?}");
}
