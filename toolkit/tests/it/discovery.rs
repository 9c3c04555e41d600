//! The tools that a model is shown of many, and how it finds the others.

#![expect(clippy::unwrap_used, reason = "a test's helpers may panic too")]

use serde_json::{Value, json};
use std::sync::Arc;
use toolkit::prelude::*;
use toolkit::{
    Builder, Tool, Toolbox, Toolkit,
    config::{Configuration, LoadOptions},
    descriptor::Source,
    discovery::{Discovery, Showing},
    events::Event,
    policy::{PolicySettings, ToolPolicy, ToolRules},
};

fn tool(name: &str, description: &str) -> Tool {
    Tool::builder(name)
        .description(description)
        .input_schema(json!({
            "type": "object",
            "properties": {"id": {"type": "string", "description": "Which one."}},
            "required": ["id"],
            "additionalProperties": false,
        }))
        .auto_execute()
        .build(|_, _| async { "done" })
        .unwrap()
}

const TOOLS: &[(&str, &str)] = &[
    ("calendar__create_event", "Creates an event in a calendar."),
    ("calendar__delete_event", "Deletes an event of a calendar."),
    ("mail__send_message", "Sends a message to somebody."),
    ("mail__list_folders", "Lists the folders of the mailbox."),
    ("shop__refund_order", "Gives a customer the money of an order back."),
    ("shop__list_orders", "Lists the orders of the shop."),
];

fn builder() -> Builder {
    TOOLS.iter().fold(Toolkit::empty(), |builder, (name, description)| {
        let server = name.split_once("__").unwrap().0;
        builder.tool(tool(name, description).with_source(Source::mcp(server)))
    })
}

fn caller() -> Caller {
    Caller::new().with_session("s")
}

fn names(toolbox: &Toolbox) -> Vec<String> {
    toolbox.definitions().into_iter().map(|definition| definition.name).collect()
}

fn found(toolbox: &Toolbox, query: &str) -> Vec<String> {
    toolbox.search(query, 5).iter().map(|hit| hit.tool.name().to_owned()).collect()
}

async fn search(toolbox: &Toolbox, arguments: Value) -> toolkit::ToolResult {
    toolbox.call(ToolCall::new("1", "tool_search", arguments)).await
}

#[tokio::test]
async fn without_it_every_tool_is_shown_by_name() {
    let toolbox = builder().build().unwrap().toolbox(&caller()).await;
    let mut expected: Vec<&str> = TOOLS.iter().map(|(name, _)| *name).collect();
    expected.sort_unstable();
    assert_eq!(names(&toolbox), expected);
    assert!(!toolbox.defers());
    assert_eq!(toolbox.showing("shop__list_orders"), Some(Showing::Always));
    assert_eq!(found(&toolbox, "refund an order")[0], "shop__refund_order");
    assert!(toolbox.reveal(["shop__list_orders"]).is_empty());
}

#[tokio::test]
async fn within_the_budget_every_tool_is_shown() {
    let tokens: usize = builder().build().unwrap().tools().iter().map(Tool::estimated_tokens).sum();
    for (discovery, all) in [
        (Discovery::new(), true),
        (Discovery::new().max_tools(6), true),
        (Discovery::new().max_tools(5), false),
        (Discovery::new().max_tokens(tokens), true),
        (Discovery::new().max_tokens(tokens - 1), false),
        (Discovery::new().max_tools(6).max_tokens(tokens - 1), false),
        (Discovery::new().max_tools(5).max_tokens(tokens), false),
        (Discovery::new().max_tools(0), false),
    ] {
        let text = format!("{discovery:?}");
        let toolbox = builder().discovery(discovery).build().unwrap().toolbox(&caller()).await;
        assert_eq!(toolbox.defers(), !all, "{text}");
        assert_eq!(names(&toolbox).len(), if all { 6 } else { 1 }, "{text}");
    }
}

#[tokio::test]
async fn what_is_always_shown() {
    for (show, expected) in [
        (&[][..], &["tool_search"][..]),
        (&["mail__send_message"], &["mail__send_message", "tool_search"]),
        (&["MAIL__*"], &["mail__list_folders", "mail__send_message", "tool_search"]),
        (&["mcp:shop"], &["shop__list_orders", "shop__refund_order", "tool_search"]),
        (&["group:reading", "nothing"], &["calendar__delete_event", "tool_search"]),
    ] {
        let toolkit = builder()
            .tool(Tool::builder("calendar__read").group("reading").build(|_, _| async { "" }).unwrap())
            .discovery(Discovery::new().max_tools(3).show(show.iter().copied()))
            .build()
            .unwrap();
        let expected: Vec<&str> = expected
            .iter()
            .map(|name| if *name == "calendar__delete_event" { "calendar__read" } else { name })
            .collect();
        assert_eq!(names(&toolkit.toolbox(&caller()).await), expected, "{show:?}");
    }
}

#[tokio::test]
async fn what_was_found_comes_behind_in_this_session_and_in_no_other() {
    let toolkit = builder().discovery(Discovery::new().max_tools(3).show(["mail__*"])).build().unwrap();
    let toolbox = toolkit.toolbox(&caller()).await;
    let first = names(&toolbox);
    assert_eq!(first, ["mail__list_folders", "mail__send_message", "tool_search"]);
    assert_eq!(toolbox.showing("shop__refund_order"), Some(Showing::Deferred));
    let mut events = toolbox.events();

    let result = search(&toolbox, json!({"query": "refunding orders", "limit": 1})).await;
    assert!(
        result.text().starts_with(
            "Found 1 tool; it can be called now, by this name:\n\nshop__refund_order(id: string)\n"
        ),
        "{}",
        result.text()
    );
    assert_eq!(result.output().unwrap().details, Some(json!({"found": ["shop__refund_order"]})));
    assert_eq!(toolbox.showing("shop__refund_order"), Some(Showing::Found));
    search(&toolbox, json!({"query": "create calendar event", "limit": 1})).await;
    search(&toolbox, json!({"query": "refunding orders", "limit": 1})).await;
    let now = [&first[..], &["shop__refund_order".to_owned(), "calendar__create_event".to_owned()]].concat();
    assert_eq!(names(&toolbox), now);
    assert_eq!(names(&toolkit.toolbox(&caller()).await), now, "the next turn");
    assert_eq!(names(&toolkit.toolbox(&Caller::new().with_session("other")).await), first);
    assert_eq!(names(&toolkit.toolbox(&Caller::new()).await), first);

    let mut told = Vec::new();
    while let Some(event) = events.try_next() {
        if let Event::Found { tools } = event.event {
            told.extend(tools);
        }
    }
    assert_eq!(told, ["shop__refund_order", "calendar__create_event"]);

    toolkit.end_session("s");
    assert_eq!(names(&toolkit.toolbox(&caller()).await), first);
}

#[tokio::test]
async fn providers_that_defer_themselves_get_the_same_throughout() {
    let toolkit = builder().discovery(Discovery::new().max_tools(3).show(["mail__*"])).build().unwrap();
    let toolbox = toolkit.toolbox(&caller()).await;
    let native = |toolbox: &Toolbox| {
        let mut deferred: Vec<(String, bool)> = toolbox
            .all_definitions()
            .into_iter()
            .filter(|(_, showing)| *showing != Showing::Search)
            .map(|(definition, showing)| (definition.name, showing.is_deferred_natively()))
            .collect();
        deferred.sort();
        deferred
    };
    let before = native(&toolbox);
    assert_eq!(before.len(), TOOLS.len());
    assert_eq!(before.iter().filter(|(_, deferred)| *deferred).count(), 4);
    search(&toolbox, json!({"query": "orders"})).await;
    assert_eq!(native(&toolbox), before);
    let order: Vec<Showing> = toolbox.all_definitions().into_iter().map(|(_, showing)| showing).collect();
    let expected = [
        Showing::Always,
        Showing::Always,
        Showing::Search,
        Showing::Found,
        Showing::Found,
        Showing::Deferred,
        Showing::Deferred,
    ];
    assert_eq!(order, expected);
}

#[tokio::test]
async fn a_tool_that_was_not_found_can_be_called_and_is_shown_from_then_on() {
    let local = TOOLS.iter().fold(Toolkit::empty(), |builder, (name, text)| builder.tool(tool(name, text)));
    let toolkit = local.discovery(Discovery::new().max_tools(3)).build().unwrap();
    let toolbox = toolkit.toolbox(&caller()).await;
    let result = toolbox.call(ToolCall::new("1", "shop__list_orders", json!({"id": "1"}))).await;
    assert_eq!(result.text(), "done");
    let refused = toolbox.call(ToolCall::new("2", "mail__send_message", json!({"di": "1"}))).await;
    assert!(refused.text().contains("mail__send_message(id: string)"), "{}", refused.text());
    assert_eq!(names(&toolbox), ["tool_search", "shop__list_orders", "mail__send_message"]);
    let all = Tool::builder("all_of_it")
        .auto_execute()
        .build(|ctx, _| async move { ctx.call("mail__list_folders", json!({"id": "1"})).await });
    toolkit.register(all.unwrap()).unwrap();
    let toolbox = toolkit.toolbox(&caller()).await;
    let nested = toolbox.call(ToolCall::new("4", "all_of_it", json!({}))).await;
    assert_eq!(nested.text(), "done");
    assert_eq!(names(&toolbox).len(), 4, "what another tool calls is not shown");
    let unknown = toolbox.call(ToolCall::new("3", "shop__list_order", json!({}))).await;
    assert!(unknown.text().contains("did you mean `shop__list_orders`"), "{}", unknown.text());
    assert_eq!(names(&toolbox).len(), 4);
}

#[tokio::test]
async fn policy_comes_before_search() {
    let mut settings = PolicySettings::default();
    settings
        .agents
        .insert("kid".to_owned(), ToolRules::default().deny(["shop__refund_order", "mcp:calendar"]));
    let build = |extra: Vec<Tool>| {
        let builder = extra.into_iter().fold(builder(), Builder::tool);
        builder
            .discovery(Discovery::new().max_tools(1))
            .policy(ToolPolicy::new(settings.clone()))
            .build()
            .unwrap()
    };
    let kid = Caller::new().with_agent("kid").with_session("kid");
    let toolbox = build(Vec::new()).toolbox(&kid).await;
    for query in [
        "refund an order",
        "shop__refund_order",
        "calendar event",
        "create delete send list refund order event",
    ] {
        let found = found(&toolbox, query);
        assert!(
            found.iter().all(|name| !name.contains("refund") && !name.contains("calendar")),
            "{query}: {found:?}"
        );
        let result = search(&toolbox, json!({"query": query, "limit": 20})).await;
        assert!(
            !result.text().contains("calendar__") && !result.text().contains("refund_order"),
            "{}",
            result.text()
        );
    }
    let fresh = build(Vec::new()).toolbox(&kid).await;
    assert_eq!(fresh.reveal(["shop__refund_order", "mail__send_message", "nothing"]), ["mail__send_message"]);
    assert_eq!(toolbox.showing("shop__refund_order"), None);
    let denied = toolbox.call(ToolCall::new("1", "shop__refund_order", json!({"id": "1"}))).await;
    assert!(denied.text().contains("denied"), "{}", denied.text());
    assert!(!names(&toolbox).contains(&"shop__refund_order".to_owned()));

    // A tool that is denied, optional or a channel's own changes neither the hits nor their order.
    let others = vec![
        Tool::builder("calendar_order")
            .description("Orders orders; sends, lists, gets messages of the folders.")
            .optional()
            .build(|_, _| async { "" })
            .unwrap(),
        tool("calendar__orders_folders_mesages", "Lists mesages, mesages and mesages.")
            .with_source(Source::mcp("calendar")),
    ];
    let crowded = build(others).toolbox(&kid).await;
    for query in ["orders", "list folders", "send mesages", "mesage order", "shop"] {
        let scores = |toolbox: &Toolbox| -> Vec<(String, f32)> {
            toolbox.search(query, 10).iter().map(|hit| (hit.tool.name().to_owned(), hit.score)).collect()
        };
        assert_eq!(scores(&crowded), scores(&toolbox), "{query}");
        assert!(!scores(&toolbox).is_empty(), "{query}");
    }
}

#[tokio::test]
async fn where_nobody_may_search_everything_is_shown_and_the_host_told() {
    let rules = ToolRules::default().allow(["mcp:shop", "mcp:mail"]);
    let mut settings = PolicySettings::default();
    settings.tools = rules;
    let toolkit =
        builder().discovery(Discovery::new().max_tools(1)).policy(ToolPolicy::new(settings)).build().unwrap();
    let toolbox = toolkit.toolbox(&caller()).await;
    assert_eq!(names(&toolbox).len(), 4);
    let [diagnostic] = toolbox.diagnostics() else { panic!("{:?}", toolbox.diagnostics()) };
    assert!(diagnostic.message.contains("more than 1 tools: `tool_search`"), "{diagnostic}");
    assert!(diagnostic.message.contains("tools.alsoAllow"), "{diagnostic}");
}

#[tokio::test]
async fn what_is_shown_stays_while_tools_come_and_go() {
    let toolkit = builder().discovery(Discovery::new().max_tools(7)).build().unwrap();
    let mut before = names(&toolkit.toolbox(&caller()).await);
    assert_eq!(before.len(), 6);
    // Beyond the budget now: what was shown stays, and what came is to be found.
    for name in ["a_first", "m_second", "z_third"] {
        toolkit.register(tool(name, "Paints a picture.")).unwrap();
    }
    let toolbox = toolkit.toolbox(&caller()).await;
    before.push("tool_search".to_owned());
    assert_eq!(names(&toolbox), before);
    assert_eq!(found(&toolbox, "drawing photos"), ["a_first", "m_second", "z_third"]);
    search(&toolbox, json!({"query": "picture", "limit": 1})).await;
    before.push("a_first".to_owned());
    assert_eq!(names(&toolbox), before);
    // One that goes is gone, also for a toolbox that was made before; what changed is found by its new words.
    toolkit.unregister("mail__list_folders").unwrap();
    toolkit.replace(tool("z_third", "Counts sheep.")).unwrap();
    let toolbox = toolkit.toolbox(&caller()).await;
    before.retain(|name| name != "mail__list_folders");
    assert_eq!(names(&toolbox), before);
    assert_eq!(found(&toolbox, "pictures"), ["a_first", "m_second"]);
    assert_eq!(found(&toolbox, "sheep"), ["z_third"]);
    assert!(found(&toolbox, "folders").is_empty());
    // Fewer than the budget again: all are shown, the new ones behind.
    for name in ["calendar__create_event", "calendar__delete_event"] {
        toolkit.unregister(name).unwrap();
        before.retain(|other| other != name);
    }
    before.extend(["m_second".to_owned(), "z_third".to_owned()]);
    assert_eq!(names(&toolkit.toolbox(&caller()).await), before);
}

#[tokio::test]
async fn many_changes_are_found_as_well_as_few() {
    let toolkit = Toolkit::empty().discovery(Discovery::new().max_tools(0)).build().unwrap();
    for number in 0..1_500_usize {
        let word = format!(
            "w{}",
            (0..4)
                .map(|at| char::from(b'a' + u8::try_from(number / 6_usize.pow(at) % 6).unwrap()))
                .collect::<String>()
        );
        toolkit.register(tool(&format!("t{number}_{word}"), "Does it.")).unwrap();
        if number % 3 == 0 {
            toolkit.unregister(&format!("t{number}_{word}")).unwrap();
        }
        if number % 100 == 50 {
            let toolbox = toolkit.toolbox(&Caller::new()).await;
            let name = format!("t{number}_{word}");
            let is_there = number % 3 != 0;
            let hits = found(&toolbox, &word);
            assert_eq!(hits.contains(&name), is_there, "{name}: {hits:?}");
        }
    }
}

#[tokio::test]
async fn what_a_query_finds() {
    let builder = TOOLS
        .iter()
        .fold(Toolkit::empty(), |builder, (name, description)| builder.tool(tool(name, description)));
    let own = [
        Tool::builder("web_hook_add").description("Adds a hook.").alias("register_callback").build(|_, _| async { "" }).unwrap(),
        Tool::builder("timesheet").description("Shows hours.").group("payroll").title("Working hours").build(|_, _| async { "" }).unwrap(),
        Tool::builder("device").input_schema(json!({"type": "object", "properties": {
            "action": {"enum": ["screenshot", "locate"]},
            "where": {"type": "object", "properties": {"latitude": {"type": "number", "description": "Degrees north."}}},
        }})).build(|_, _| async { "" }).unwrap(),
        Tool::builder("do_it").description("It is.").build(|_, _| async { "" }).unwrap(),
    ];
    let toolkit = own.into_iter().fold(builder, Builder::tool).build().unwrap();
    let toolbox = toolkit.toolbox(&Caller::new()).await;
    for (query, expected) in [
        ("create event", Some("calendar__create_event")),
        ("event creation", Some("calendar__create_event")),
        ("calendarCreateEvent", Some("calendar__create_event")),
        ("calendar__create_event", Some("calendar__create_event")),
        ("use calendar__delete_event please", Some("calendar__delete_event")),
        ("register_callback", Some("web_hook_add")),
        ("webhook", Some("web_hook_add")),
        ("time sheet", Some("timesheet")),
        ("payroll", Some("timesheet")),
        ("working", Some("timesheet")),
        ("screenshot", Some("device")),
        ("latitude", Some("device")),
        ("degrees", Some("device")),
        ("removing an appointment", Some("calendar__delete_event")),
        ("refnud", Some("shop__refund_order")),
        ("lsit ordres", Some("shop__list_orders")),
        ("do it", Some("do_it")),
        ("the", None),
        ("", None),
        ("   ", None),
        ("xylophone", None),
        ("\u{0}\u{1b}[31m\u{202e}", None),
        ("🦀🦀🦀", None),
    ] {
        assert_eq!(found(&toolbox, query).first().map(String::as_str), expected, "{query:?}");
    }
    // However long.
    let long = "create event ".repeat(100_000);
    assert_eq!(found(&toolbox, &long)[0], "calendar__create_event");
    assert!(found(&toolbox, &"é".repeat(1_000_000)).is_empty());
    assert!(toolbox.search("event", 0).is_empty());
    assert_eq!(toolbox.search("event", usize::MAX).len(), 2);
    // The same each time, and ties by name.
    for _ in 0..3 {
        assert_eq!(found(&toolbox, "calendar"), ["calendar__create_event", "calendar__delete_event"]);
    }
}

#[tokio::test]
async fn what_a_model_is_told() {
    let toolkit = builder().discovery(Discovery::new().max_tools(0)).build().unwrap();
    let toolbox = toolkit.toolbox(&caller()).await;
    let nothing = search(&toolbox, json!({"query": "xylophone"})).await;
    assert_eq!(
        nothing.text(),
        "Found no tool. Rephrase the query: name the action and its object. There are tools for: calendar, discovery, mail, shop.\n"
    );
    let two = search(&toolbox, json!({"query": "event"})).await;
    assert_eq!(
        two.text(),
        "Found 2 tools; they can be called now, by these names:\n\ncalendar__create_event(id: string)\n  Creates an event in a \
         calendar.\n\ncalendar__delete_event(id: string)\n  Deletes an event of a calendar.\n"
    );
    let wrong = search(&toolbox, json!({"query": "", "limit": 21})).await;
    assert!(wrong.text().contains("2 problems"), "{}", wrong.text());
}

#[tokio::test]
async fn a_huge_tool_is_cut_where_it_is_told_of() {
    let huge = "very ".repeat(100_000) + "zebra";
    let toolkit = Toolkit::empty()
        .tool(tool("huge", &huge))
        .tool(tool("last", "A zebra."))
        .discovery(Discovery::new().max_tools(0))
        .build()
        .unwrap();
    let toolbox = toolkit.toolbox(&caller()).await;
    let result = search(&toolbox, json!({"query": "very huge"})).await;
    assert!(result.text().len() < 1_000, "{}", result.text().len());
    assert_eq!(found(&toolbox, "zebra"), ["last"], "what is beyond the limits is not looked at");
}

#[test]
fn what_is_configured_counts_and_what_is_wrong_is_told() {
    let load = |text: &str| Configuration::load(LoadOptions::new().set(text));
    let first = |text: &str, own: Option<Discovery>| {
        let builder = own.into_iter().fold(builder(), Builder::discovery);
        let toolkit = builder.configuration(load(text).unwrap()).build().unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        names(&runtime.block_on(toolkit.toolbox(&caller()))).len()
    };
    let own = || Some(Discovery::new().max_tools(2));
    assert_eq!(first("tools.discovery={}", None), 6);
    assert_eq!(first("tools.discovery={maxTools: 5}", None), 1);
    assert_eq!(first("tools.discovery={maxTokens: 0}", None), 1);
    assert_eq!(first("tools.discovery={enabled: true}", None), 6);
    assert_eq!(first("tools.discovery={show: ['mail__*']}", own()), 3);
    assert_eq!(first("tools.discovery={maxTools: 6}", own()), 6);
    assert_eq!(first("tools.discovery={enabled: false, maxTools: 0}", own()), 6);
    assert_eq!(first("tools.discovery={enabled: false}", own()), 6);
    for (text, expected) in [
        ("tools.discovery={maxTools: -1}", "tools.discovery.maxTools: expected an integer from 0 to 100000"),
        ("tools.discovery={maxtokens: 5}", "did you mean `maxTokens`?"),
        ("tools.discovery={show: 'all'}", "tools.discovery.show: expected"),
    ] {
        let error = load(text).unwrap_err().to_string();
        assert!(error.contains(expected), "{text}: {error}");
    }
    let refused = builder().discovery(Discovery::new().show(["group:"])).build().unwrap_err();
    assert!(
        refused.problems[0].contains("the entry `group:` of the always-shown tools names no group"),
        "{refused}"
    );
    let refused = builder().discovery(Discovery::new().named("Find It")).build().unwrap_err();
    assert!(refused.problems[0].contains("`Find It`"), "{refused}");
    let twice = builder().tool(tool("tool_search", "Mine.")).discovery(Discovery::new()).build().unwrap_err();
    assert!(twice.problems[0].contains("tool_search"), "{twice}");
}

#[tokio::test]
async fn the_index_keeps_no_tool_alive() {
    let held = Arc::new(());
    let watched = Arc::downgrade(&held);
    let toolkit = Toolkit::empty().build().unwrap();
    let run = move |_: ToolContext, _: toolkit::descriptor::DynamicArgs| {
        let held = Arc::clone(&held);
        async move { format!("{held:?}") }
    };
    toolkit.register(Tool::builder("holds").description("Holds.").build(run).unwrap()).unwrap();
    assert_eq!(found(&toolkit.toolbox(&Caller::new()).await, "holding"), ["holds"]);
    toolkit.unregister("holds").unwrap();
    // The last change is kept until the next one.
    toolkit.register(tool("other", "Other.")).unwrap();
    assert!(watched.upgrade().is_none());
    assert!(found(&toolkit.toolbox(&Caller::new()).await, "holding").is_empty());
}
