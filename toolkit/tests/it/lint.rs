//! Findings of lint, each fault by itself, and that it finds nothing where nothing is wrong.

#![expect(clippy::unwrap_used, reason = "a test's helpers may panic too")]
#![expect(clippy::needless_pass_by_value, reason = "each caller makes it in place")]

use serde_json::{Map, Value, json};
use toolkit::lint::{Lint, LintFinding, RULES};
use toolkit::{Tool, descriptor::Source, dialects::Dialect};

/// A tool with nothing wrong about it, but for what `parameters` says.
fn tool(name: &str, description: &str, parameters: Value) -> Tool {
    with_schema(
        name,
        description,
        json!({"type": "object", "properties": parameters, "additionalProperties": false}),
    )
}

fn with_schema(name: &str, description: &str, schema: Value) -> Tool {
    Tool::builder(name)
        .description(description)
        .group("ships")
        .input_schema(schema)
        .build(|_, _| async { "" })
        .unwrap()
}

fn harbour() -> Value {
    json!({
        "harbour": {"type": "string", "description": "Name of the port, in English."},
        "wait_hours": {"type": "integer", "minimum": 0, "default": 2, "description": "How long to wait for a berth."},
    })
}

fn clean() -> Vec<Tool> {
    vec![
        tool(
            "dock_ship",
            "Brings a ship to a quay. Where `harbour` is full it waits; `track_cargo` says what is on board.",
            harbour(),
        ),
        tool(
            "track_cargo",
            "Tells where a container is, and when it comes. See also \"dock_ship\" and the dock_ship tool.",
            json!({
                "mode": {"enum": ["fast", "full"], "description": "How much is told: `fast` leaves out the route."},
                "stops": {"type": "array", "items": {"type": "object", "properties": {
                    "place": {"type": "string", "description": "Where."},
                }}, "description": "Stops on the way, each with its `place`."},
            }),
        ),
        tool(
            "weigh_anchor1",
            "Lifts the first anchor, by `Enter` or `C-c`, as in ```\nuse the tool `nothing`\n```.",
            json!({}),
        ),
        tool("weigh_anchor2", "Lifts the second anchor, after the first.", json!({})),
        Tool::builder("remote_pilot")
            .description("Asks a pilot to come.")
            .source(Source::mcp("pilots"))
            .build(|_, _| async { "" })
            .unwrap(),
    ]
}

fn found(tools: &[Tool]) -> Vec<(String, String, String)> {
    let findings = Lint::new().check(tools);
    findings.into_iter().map(|LintFinding { rule, tool, place, .. }| (tool, place, rule.to_owned())).collect()
}

/// Objects in one another, so many.
fn nested(depth: usize) -> Value {
    (0..depth).fold(json!({"type": "string", "description": "The innermost text."}), |inner, _| {
        json!({"type": "object", "description": "One level more.", "properties": {"inner_level": inner}})
    })
}

fn parameter(schema: Value) -> Value {
    let mut parameters = Map::new();
    parameters.insert("crew".to_owned(), schema);
    parameters.into()
}

#[test]
fn nothing_is_found_where_nothing_is_wrong() {
    assert_eq!(Lint::new().check(&clean()), []);
}

/// The description of a tool that is right in all else.
const DOES: &str = "Hires people for a voyage.";

#[test]
#[cfg_attr(not(feature = "json-schema"), ignore = "needs the feature json-schema: cargo xtask test")]
#[expect(clippy::too_many_lines, reason = "one list of faults")]
fn every_seeded_fault_is_found_at_its_place_and_nothing_else() {
    let text = |description: &str| parameter(json!({"type": "string", "description": description}));
    let said = |extra: Value| {
        let mut schema = json!({"type": "object", "description": "Who is on board, by name."});
        schema.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        parameter(schema)
    };
    let list = |extra: Value| {
        let mut schema = json!({"type": "array", "description": "Who is on board, by name."});
        schema.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        parameter(schema)
    };
    let t = |description: &str| tool("hire_crew", description, json!({}));
    let p = |parameters: Value| tool("hire_crew", DOES, parameters);
    let s = |schema: Value| with_schema("hire_crew", DOES, schema);
    let n = |name: &str| tool(name, DOES, json!({}));
    let many: Vec<String> = (0..1_001).map(|number| format!("v{number}")).collect();
    let faults: Vec<(Tool, &str, &str)> = vec![
        // Descriptions.
        (t(""), "no-description", "description"),
        (t("  \n"), "no-description", "description"),
        (t("Hires."), "short-description", "description"),
        (
            t(
                "Brings a ship to a quay, where `harbour` is full it waits; track_cargo says what is on board!",
            ),
            "same-description",
            "description",
        ),
        (t("Lifts the second anchor, after the first!"), "same-description", "description"),
        (t("Hires people\u{200b} for a voyage."), "unprintable", "description"),
        (t("Hires people for a \u{1b}[31mvoyage."), "unprintable", "description"),
        (p(text("Who is on board, by\u{202e} name.")), "unprintable", "/properties/crew"),
        (t(&"Hires people of all kinds for a voyage. ".repeat(200)), "over-budget", "definition"),
        // Names.
        (n("dock_ships"), "similar-names", "name"),
        (n("ship_dock"), "similar-names", "name"),
        (n("dockship"), "similar-names", "name"),
        (n("trakc_cargo"), "similar-names", "name"),
        (n("track_cargos"), "similar-names", "name"),
        (n("wiegh_anchor2"), "similar-names", "name"),
        (n("hire crew"), "tool-name-refused", "name"),
        (n(&"hire_".repeat(13)), "tool-name-refused", "name"),
        (n("crew.hire"), "tool-name-refused", "name"),
        // Groups and hints.
        (
            Tool::builder("hire_crew").description(DOES).build(|_, _| async { "" }).unwrap(),
            "no-group",
            "group",
        ),
        (
            Tool::builder("hire_crew")
                .description(DOES)
                .group("ships")
                .read_only()
                .destructive(true)
                .build(|_, _| async { "" })
                .unwrap(),
            "contradictory-hints",
            "definition",
        ),
        // The type that it returns.
        (
            Tool::builder("hire_crew")
                .description(DOES)
                .group("ships")
                .output_schema(json!({"type": "object", "properties": {"photo": {
                    "type": "array", "items": {"type": "integer", "minimum": 0, "maximum": 255},
                }}}))
                .build(|_, _| async { "" })
                .unwrap(),
            "bytes-as-numbers",
            "output",
        ),
        (
            Tool::builder("hire_crew")
                .description("Hires people in {work_space} and tells you who is on board.")
                .group("ships")
                .build(|_, _| async { "" })
                .unwrap(),
            "unknown-placeholder",
            "description",
        ),
        // Parameters.
        (
            p(parameter(json!({"description": "Who is on board, by name.", "anyOf": [
                {"type": "string"}, {"type": "string", "maxLength": 9},
            ]}))),
            "unreachable-variant",
            "/properties/crew/anyOf/1",
        ),
        (p(parameter(json!({"type": "string"}))), "parameter-without-description", "/properties/crew"),
        (
            p(list(json!({"items": {"type": "object", "properties": {"age": {"type": "integer"}}}}))),
            "parameter-without-description",
            "/properties/crew/items/properties/age",
        ),
        (p(text("The crew.")), "parameter-repeats-name", "/properties/crew"),
        (
            p(parameter(json!({"description": "Who is on board, by name."}))),
            "untyped-parameter",
            "/properties/crew",
        ),
        (
            p(json!({"crew members": {"type": "string", "description": "Who is on board, by name."}})),
            "parameter-name-refused",
            "/properties/crew members",
        ),
        (
            p(json!({
                "crew_name": {"type": "string", "description": "What they call it."},
                "crewName": {"type": "string", "description": "What others call it."},
            })),
            "similar-parameters",
            "/properties/crew_name",
        ),
        (
            p(parameter(json!({"type": "integer", "default": "two", "description": "How many to hire."}))),
            "default-does-not-fit",
            "/properties/crew/default",
        ),
        (
            s(
                json!({"type": "object", "properties": text("Who is on board, by name."), "required": ["captain"]}),
            ),
            "required-but-absent",
            "/required",
        ),
        // Names that descriptions mention.
        (t("Hires people. Use `trackCargo` before."), "wrong-tool-name", "description"),
        (t("Hires people. Use `track_cargoes` before."), "wrong-tool-name", "description"),
        (t("Hires people. Ask the tool `pay_crew` for wages."), "wrong-tool-name", "description"),
        (t("Hires people. The \"wages\" tool pays them."), "wrong-tool-name", "description"),
        (t("Hires people. Call pay_crew for wages."), "wrong-tool-name", "description"),
        (p(text("Who is on board; see the tool `roster`.")), "wrong-tool-name", "/properties/crew"),
        (
            tool("hire_crew", "Hires people for the argument `voyage`.", text("Who is on board, by name.")),
            "wrong-parameter-name",
            "description",
        ),
        (
            tool("hire_crew", "Hires people, as `Crew` says.", text("Who is on board, by name.")),
            "wrong-parameter-name",
            "description",
        ),
        // Keywords that providers lose.
        (
            p(parameter(
                json!({"not": {"type": "null"}, "type": "string", "description": "Who is on board."}),
            )),
            "lost-by-provider",
            "/properties/crew/not",
        ),
        (p(said(json!({"if": {"required": ["a"]}}))), "lost-by-provider", "/properties/crew/if"),
        (
            p(said(json!({"patternProperties": {"^x": {"type": "string"}}}))),
            "lost-by-provider",
            "/properties/crew/patternProperties",
        ),
        (
            p(said(json!({"propertyNames": {"maxLength": 5}}))),
            "lost-by-provider",
            "/properties/crew/propertyNames",
        ),
        (
            p(said(json!({"dependentRequired": {"a": ["b"]}}))),
            "lost-by-provider",
            "/properties/crew/dependentRequired",
        ),
        (
            p(said(json!({"unevaluatedProperties": false}))),
            "lost-by-provider",
            "/properties/crew/unevaluatedProperties",
        ),
        (
            p(list(json!({"prefixItems": [{"type": "string"}]}))),
            "lost-by-provider",
            "/properties/crew/prefixItems",
        ),
        (p(list(json!({"contains": {"type": "string"}}))), "lost-by-provider", "/properties/crew/contains"),
        (
            s(
                json!({"type": "object", "properties": text("Who is on board, by name."), "oneOf": [{"required": ["crew"]}, {"maxProperties": 0}]}),
            ),
            "lost-by-provider",
            "/oneOf",
        ),
        (
            s(json!({
                "type": "object",
                "properties": {"crew": {"$ref": "#/$defs/sailor"}},
                "$defs": {"sailor": {"type": "object", "description": "One of them, by name.", "properties": {
                    "mate": {"$ref": "#/$defs/sailor"},
                }}},
            })),
            "recursive-schema",
            "/properties/crew/properties/mate/$ref",
        ),
        (p(parameter(nested(11))), "deep-schema", "-"),
        (
            p(parameter(json!({"enum": many, "description": "Who is on board, by name."}))),
            "large-enum",
            "definition",
        ),
    ];
    assert!(faults.len() >= 40, "{}", faults.len());
    for (number, (faulty, rule, place)) in faults.into_iter().enumerate() {
        let name = faulty.name().to_owned();
        let mut tools = clean();
        tools.push(faulty);
        let found = found(&tools);
        // Of two that are alike the second is told of, and a great enumeration is long, too.
        let also = |other: &str| other == "over-budget" && rule == "large-enum";
        let of_it: Vec<&(String, String, String)> = found.iter().filter(|(.., other)| !also(other)).collect();
        let [(tool, at, by)] = of_it[..] else { panic!("{number} ({rule}): {found:?}") };
        assert_eq!(by, rule, "{number}: {found:?}");
        let is_of_pair = matches!(rule, "similar-names" | "same-description");
        assert!(is_of_pair || *tool == name, "{number}: {found:?}");
        assert!(place == "-" || at == place, "{number}: {found:?}");
    }
}

/// Texts that were once taken for a mistake, and are none.
#[test]
fn what_only_looks_like_a_fault_is_none() {
    let named = |names: &[&str]| -> Vec<Tool> {
        let tools = names.iter().enumerate();
        tools
            .map(|(number, name)| tool(name, &format!("Does the thing {number} to it."), json!({})))
            .collect()
    };
    for names in [
        ["get_user", "set_user"],
        ["getUser", "setUser"],
        ["lock_door", "block_door"],
        ["booking_list", "cooking_list"],
        ["upload_file", "unload_file"],
        ["import_list", "export_list"],
        ["increase_limit", "decrease_limit"],
        ["send_mail", "end_mail"],
        ["play_list", "plan_list"],
        ["list_car", "list_card"],
        ["user_to_row", "user_to_raw"],
        ["read_line", "head_line"],
    ] {
        assert_eq!(Lint::new().check(&named(&names)), [], "{names:?}");
    }
    for names in [
        ["get_user", "gte_user"],
        ["get_user", "get_users"],
        ["get_user", "GetUser"],
        ["get_user", "getuser"],
        ["get_user", "get_usr"],
        ["get_user", "user_get"],
        ["cancel_order", "cancel_ordre"],
        ["cancel_order", "cancal_order"],
        ["upload_file", "uplaod_file"],
    ] {
        let found = found(&named(&names));
        assert!(matches!(&found[..], [(.., rule)] if rule == "similar-names"), "{names:?}: {found:?}");
    }
    // Parameters, by the same rule.
    let place = |text: &str| json!({"type": "integer", "description": text});
    let places = json!({"x_position": place("From the left."), "y_position": place("From the top.")});
    assert_eq!(Lint::new().check([&tool("put_box", "Puts the box somewhere.", places)]), []);
    // Words of the language and values, by the names of tools and parameters.
    let text = |text: &str| json!({"crew": {"type": "string", "description": text}});
    for (others, description, parameters) in [
        (&["enable"][..], "Tells whether a lamp is `enabled`.", json!({})),
        (&["enable"], "Tells whether a lamp is \"enables\" or not.", json!({})),
        (&["stats"], "Tells the `status` of a lamp.", json!({})),
        (&["inputs"], "Has the `output` of a lamp, and what `input` it has.", json!({})),
        (&[], "Tells who is `crewed`.", text("Who is on board, by name.")),
        (&[], "Is `archived` at night.", json!({"archive": {"type": "string", "description": "Where to."}})),
    ] {
        let mut tools = named(others);
        tools.push(tool("hire_lamp", description, parameters));
        assert_eq!(Lint::new().check(&tools), [], "{description}");
    }
    for (other, description) in [
        ("search", "Is done with `serach` at night."),
        ("enable_lamp", "Is done with `enabled_lamp` at night."),
        ("enable", "Is done with `Enable` at night."),
        ("enable", "Is done with the tool `enabled` at night."),
    ] {
        let mut tools = named(&[other]);
        tools.push(tool("hire_lamp", description, json!({})));
        let found = found(&tools);
        assert!(matches!(&found[..], [(.., rule)] if rule == "wrong-tool-name"), "{description}: {found:?}");
    }
}

/// Each loss of a dialect is found, with its name, except for bounds of one value, which are in words in the description then.
#[test]
fn losses_are_those_of_the_dialects() {
    let messages = |schema: Value| -> Vec<(String, String)> {
        let findings = Lint::new().check([&with_schema("hire_crew", DOES, schema)]);
        findings.into_iter().map(|finding| (finding.place, finding.message)).collect()
    };
    let object = |crew: Value, defs: Value| json!({"type": "object", "properties": {"crew": crew}, "$defs": defs, "additionalProperties": false});
    let variants = json!({"description": "Who is on board.", "oneOf": [
        {"type": "string", "minLength": 1}, {"type": "string", "maxLength": 9}
    ]});
    let [(place, message)] = &messages(object(variants.clone(), json!({})))[..] else { panic!() };
    assert_eq!(place, "/properties/crew/oneOf");
    for part in
        ["`oneOf` is lost in ", "openai-chat-strict", "gemini", "exactly one variant", "; state it in"]
    {
        assert!(message.contains(part), "{part}: {message}");
    }
    // Of a part that is shared the parameter is told.
    let shared = object(
        json!({"type": "array", "description": "Who is on board.", "items": {"$ref": "#/$defs/sailor"}}),
        json!({"sailor": variants}),
    );
    let [(place, _)] = &messages(shared)[..] else { panic!() };
    assert_eq!(place, "/properties/crew/items/oneOf");
    let bounded = json!({"type": "string", "description": "Who is on board.", "minLength": 1, "pattern": "^a", "format": "uri"});
    assert_eq!(messages(object(bounded, json!({}))), []);
    // A schema that cannot be strict is written as if it need not be.
    let open = json!({"type": "object", "description": "Who is on board.", "additionalProperties": true});
    assert_eq!(messages(object(open, json!({}))), []);
    for dialect in Dialect::ALL.iter().filter(|dialect| **dialect != Dialect::Mcp) {
        let condition = json!({"type": "object", "description": "Who is on board.", "if": {"required": ["a"]}, "then": {"required": ["b"]}});
        let schema = object(condition, json!({}));
        let is_lost = dialect.schema(&schema).loosened.iter().any(|loss| loss.keyword == "if");
        let told = messages(schema);
        let is_told = told.iter().any(|(place, message)| {
            place.ends_with("/if") && message.split([' ', ',']).any(|word| word == dialect.name())
        });
        assert_eq!(is_told, is_lost, "{dialect}: {told:?}");
    }
}

#[test]
fn rules_are_sorted_known_and_can_be_left_out() {
    assert!(RULES.is_sorted_by(|one, other| one.name < other.name));
    let faulty = tool("hire_crew", "Hires.", json!({"crew": {"type": "string"}}));
    let rules =
        |lint: Lint| -> Vec<&str> { lint.check([&faulty]).into_iter().map(|finding| finding.rule).collect() };
    assert_eq!(rules(Lint::new()), ["parameter-without-description", "short-description"]);
    assert_eq!(rules(Lint::new().without("short-description")), ["parameter-without-description"]);
    assert_eq!(
        rules(Lint::new().max_tokens(5).without("short-description")),
        ["parameter-without-description", "over-budget"]
    );
    let also = Lint::new()
        .without("short-description")
        .without("parameter-without-description")
        .also("lost-by-provider", |tool| {
            vec![("/properties/crew".to_owned(), format!("{} is lost", tool.name()))]
        });
    let [finding] = &also.check([&faulty])[..] else { panic!() };
    assert_eq!(
        finding.to_string().split(" (").next().unwrap(),
        "hire_crew /properties/crew: hire_crew is lost [lost-by-provider]"
    );
    let speaks = tool("hire_crew", "Hires people; the tool `pay_crew` pays them.", json!({}));
    assert_eq!(Lint::new().check([&speaks]).len(), 1);
    assert_eq!(Lint::new().knowing(["pay_crew"]).check([&speaks]), []);
}

#[test]
fn what_is_quoted_of_a_tool_is_safe_to_show() {
    let faulty = tool(
        "hire_crew",
        "Hires people; the tool `pay` is \u{1b}]0;x\u{7} not.",
        json!({"a\u{1b}[2J\nb": {"type": "string"}}),
    );
    for finding in Lint::new().check([&faulty]) {
        let shown = finding.to_string();
        assert!(!shown.chars().any(char::is_control), "{shown:?}");
    }
}

#[test]
fn it_ends_whatever_the_schema_is() {
    let wide: Map<String, Value> =
        (0..5_000).map(|number| (format!("p{number}"), json!({"type": "string"}))).collect();
    assert!(!Lint::new().check([&tool("wide_one", "Is very wide indeed.", wide.into())]).is_empty());
    assert!(
        !Lint::new().check([&tool("deep_one", "Is very deep indeed.", parameter(nested(40)))]).is_empty()
    );
    // Each level twice the one before: there are 2^20 ways down.
    let mut defs = Map::new();
    for level in 0..20 {
        let inner = json!({"$ref": format!("#/$defs/l{}", level + 1)});
        defs.insert(format!("l{level}"), json!({"type": "object", "properties": {"a": inner, "b": inner}}));
    }
    defs.insert("l20".to_owned(), json!({"type": "string"}));
    let doubling = json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/l0"}}, "$defs": defs});
    assert!(
        !Lint::new().check([&with_schema("doubling_one", "Doubles at each level.", doubling)]).is_empty()
    );
}

/// A place, in one of two forms.
#[toolkit::args]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Destination {
    /// By a name that people gave it.
    Name {
        /// Name on the map.
        name: String,
    },
    /// By two numbers.
    Numbers {
        /// Degrees from the equator.
        north: f64,
        /// Degrees from Greenwich.
        east: f64,
    },
}

/// Goes to a place, by its name or its numbers.
#[toolkit::tool(group = "travel")]
async fn travel(
    /** Place to go to. */
    to: Destination,
) {
    drop(to);
}

fn rules(tool: &Tool, max_tokens: usize) -> Vec<&'static str> {
    Lint::new().max_tokens(max_tokens).check([tool]).iter().map(|finding| finding.rule).collect()
}

#[test]
fn each_further_variant_of_a_tagged_union_raises_the_budget_by_a_quarter() {
    let tool = toolkit::tool_ref!(travel);
    let tokens = tool.estimated_tokens();
    let least = tokens * 4 / 5 + 4;
    assert_eq!(rules(&tool, least), [""; 0]);
    assert_eq!(rules(&tool, least - 16), ["over-budget"]);
    // Variants that nothing distinguishes are no tagged union, and fields of one object are none either.
    let object = |members: Value| json!({ "type": "object", "description": "Place.", "properties": members });
    let field =
        json!({ "type": "string", "description": "Text on the map, which can be long and in any language." });
    let untagged = json!({ "type": "object", "properties": { "to": { "description": "Place to go to.", "oneOf": [
        object(json!({ "north": field, "south": field })), object(json!({ "east": field, "west": field })),
    ] } } });
    let flat = json!({ "type": "object", "properties": { "north": field, "east": field, "south": field, "west": field } });
    for (name, schema) in [("untagged_travel", untagged), ("flat_travel", flat)] {
        let tool = with_schema(name, "Goes to a place.", schema);
        let tokens = tool.estimated_tokens();
        assert!(rules(&tool, tokens * 4 / 5 + 4).contains(&"over-budget"), "{name}");
        assert!(!rules(&tool, tokens).contains(&"over-budget"), "{name}");
    }
}

#[test]
fn a_tag_needs_no_description_if_its_variant_has_one() {
    let variant = |description: Option<&str>, tag: Value| {
        let mut variant = json!({ "type": "object", "properties": { "kind": tag }, "required": ["kind"] });
        if let Some(description) = description {
            variant["description"] = json!(description);
        }
        json!({ "type": "object", "properties": { "to": { "description": "Place to go to.", "oneOf": [variant] } } })
    };
    let constant = json!({ "type": "string", "const": "home" });
    for (schema, is_found) in [
        (variant(Some("The place of the user."), constant.clone()), false),
        (variant(None, constant), true),
        (
            variant(Some("The place of the user."), json!({ "type": "string", "enum": ["home", "work"] })),
            true,
        ),
        (variant(Some("The place of the user."), json!({ "type": "string" })), true),
    ] {
        let tool = with_schema("travel_home", "Goes to a place.", schema.clone());
        let found = rules(&tool, 1_500).contains(&"parameter-without-description");
        assert_eq!(found, is_found, "{schema}");
    }
}
