//! Why a tool is there for a caller: `explain`.

use crate::fixture;

use fixture::{command, finish, fixture};
use serde_json::json;
use std::fs;

#[test]
fn the_layer_that_denies_is_printed_with_the_line_of_its_rule() {
    let run = fixture(["explain", "tool", "repeat", "--agent", "kid"]);
    assert_eq!((run.code, run.err.as_str()), (5, ""), "{run:?}");
    assert_eq!(
        run.out,
        "repeat is not there for this caller: denied by the rules of agent `kid`.\n\
         \n\
         silent  the profile: none is set, and the default one, `full`, has every tool\n\
         silent  the rules of the provider: the calling provider is unknown\n\
         silent  the global lists: no entry matches the tool\n\
         denies  the rules of agent `kid`: `mirror` is in its deny list (/agents/kid/tools/deny/0 at toolkit.json5:3:30)\n\
         silent  the rules of the channel: the call did not come from a channel\n\
         silent  the rules of the sandbox: the caller is not in a sandbox\n\
         silent  the rules of sub-agents: the caller is not a sub-agent\n"
    );
}

#[test]
fn each_option_of_the_caller_chooses_its_layer() {
    for (options, expected) in [
        (&[][..], 0),
        (&["--agent", "kid"], 0),
        (&["--sandboxed"], 5),
        (&["--depth", "1"], 0),
        (&["--provider", "acme"], 5),
        (&["--model", "acme/large"], 5),
        (&["--model", "large"], 0),
    ] {
        let run = fixture(["explain", "tool", "greet"].iter().chain(options));
        assert_eq!(run.code, expected, "{options:?}: {run:?}");
    }
    assert_eq!(fixture(["--depth", "2", "explain", "tool", "place"]).code, 5);
    let listed = fixture(["list", "--sandboxed", "--agent", "kid"]).ok();
    assert!(
        listed.contains("place ") && !listed.contains("repeat ") && !listed.contains("greet "),
        "{listed}"
    );
}

#[test]
fn json_has_the_same() {
    let run = fixture(["explain", "tool", "mirror", "--agent", "kid", "-o", "json"]);
    assert_eq!(run.code, 5, "{run:?}");
    let page: serde_json::Value = serde_json::from_str(&run.out).unwrap();
    assert_eq!((&page["tool"], &page["exists"]), (&json!("repeat"), &json!(false)));
    assert_eq!(
        page["layers"][3],
        json!({
            "layer": "the rules of agent `kid`",
            "verdict": "denies",
            "reason": "`mirror` is in its deny list",
            "rule": { "entry": "mirror", "pointer": "/agents/kid/tools/deny/0", "origin": "toolkit.json5:3:30" },
        })
    );
    assert_eq!(page["layers"].as_array().unwrap().len(), 7);
}

#[test]
fn a_tool_that_is_not_known_is_told_as_everywhere() {
    assert!(fixture(["explain", "tool", "graet"]).fails(3).contains("did you mean `greet`?"));
    assert!(fixture(["explain", "greet"]).fails(2).contains("`greet` is a tool, not a subcommand"));
}

/// A name that lists can use without the tool being there: judged, with the line that denies it.
#[cfg(feature = "fs")]
#[test]
fn a_tool_that_is_not_linked_is_judged_by_its_name() {
    let user = tempfile::tempdir().unwrap();
    std::fs::write(
        user.path().join("toolkit.json5"),
        "{\n  agents: {\n    kid: { tools: { deny: ['bash', 'message', 'delegate'] } },\n  },\n}\n",
    )
    .unwrap();
    let run = |args: &[&str]| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_toolkit"));
        command.args(args).current_dir(user.path()).env("TOOLKIT_CONFIG_DIR", user.path());
        fixture::finish(command.env("TOOLKIT_DATA_DIR", user.path().join("data")))
    };
    let place = user.path().join("toolkit.json5");
    let kid = run(&["explain", "tool", "exec", "--agent", "kid"]);
    assert_eq!(kid.code, 5, "{kid:?}");
    let denies = format!(
        "\ndenies  the rules of agent `kid`: `bash` is in its deny list (/agents/kid/tools/deny/0 at {}:3:28)\n",
        place.display()
    );
    assert!(kid.out.contains(&denies), "{denies}{}", kid.out);

    // Of a tool that is to come, too.
    let absent = if cfg!(feature = "gateway") { "delegate" } else { "message" };
    let kid = run(&["explain", "tool", absent, "--agent", "kid"]);
    // No group speaks of the one, which is warned of.
    assert!(kid.code == 5 && kid.err.is_empty() == (absent == "message"), "{kid:?}");
    assert_eq!(
        kid.out.lines().next().unwrap(),
        format!(
            "{absent} is not linked into this program; for this caller that name is denied by the rules of agent `kid`."
        )
    );
    let json = run(&["explain", "tool", absent, "--agent", "kid", "-o", "json"]);
    let page: serde_json::Value = serde_json::from_str(&json.out).unwrap();
    assert_eq!((&page["exists"], &page["present"]), (&json!(false), &json!(false)));

    // Nobody else is denied it, and there is none all the same.
    let anybody = run(&["explain", "tool", absent]);
    if cfg!(feature = "gateway") {
        assert!(anybody.fails(3).contains("there is no tool `delegate`"));
    } else {
        assert!(anybody.code == 3 && anybody.err.is_empty(), "{anybody:?}");
        assert!(anybody.out.starts_with(
            "message is not linked into this program; for this caller nothing in the policy denies that name.\n\nsilent"
        ));
    }
    assert!(run(&["explain", "tool", "nodez"]).fails(3).contains("there is no tool `nodez`"));
}

#[test]
fn an_agent_that_is_not_configured_is_refused() {
    let (directory, data) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let rules = "{ agents: { kid: { permission: { '*': 'deny' } }, boss: { tools: { deny: ['repeat'] } } } }";
    fs::write(directory.path().join("toolkit.json5"), rules).unwrap();
    let run = |args: &[&str]| {
        let mut command = command(args);
        finish(command.current_dir(directory.path()).env("TOOLKIT_DATA_DIR", data.path()))
    };
    let mut all =
        vec![vec!["list"], vec!["call", "whoami"], vec!["explain", "tool", "repeat"], vec!["schema"]];
    if cfg!(feature = "mcp") {
        all.push(vec!["mcp", "serve"]);
    }
    if cfg!(feature = "agent") {
        all.extend([vec!["agent", "Hello"], vec!["chat"]]);
    }
    for args in all {
        // An option after the name of a tool is one of the tool.
        let (first, rest) = args.split_at(args.len() - usize::from(args[0] == "call"));
        let error = run(&[first, &["--agent", "kdi"], rest].concat()).fails(2);
        assert!(
            error.contains("there is no agent `kdi` in the configuration; did you mean `kid`?"),
            "{args:?}: {error}"
        );
    }
    let error = run(&["list", "--agent", "nobody-near"]).fails(2);
    assert!(error.ends_with("; `agents` has `boss`, `kid`\n"), "{error}");
    for agent in ["kid", " KID", "boss"] {
        run(&["list", "--agent", agent]).ok();
    }
    // Without any configured agent, the id is a label.
    fs::remove_file(directory.path().join("toolkit.json5")).unwrap();
    assert!(run(&["call", "--agent", "kdi", "whoami"]).ok().contains("kdi"));
}
