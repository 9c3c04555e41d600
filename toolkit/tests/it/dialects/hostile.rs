//! Schemas of somebody who means harm: none costs more than its size, and none ends the program.

use serde_json::{Map, Value, json};
use std::fmt::Write as _;
use std::time::{Duration, Instant};
use toolkit::dialects::Dialect;

/// An object with one required property `a`.
fn closed(property: &Value) -> Value {
    json!({"type": "object", "properties": {"a": property}, "required": ["a"], "additionalProperties": false})
}

/// The time limit of each, in a build without optimisation and on a busy machine.
const LONGEST: Duration = Duration::from_secs(20);

/// Runs on a stack of its own: a schema that nests deep takes a large one to be made and to be dropped, whatever is done with it.
fn on_a_stack_of<T: Send>(bytes: usize, work: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(bytes).spawn_scoped(scope, work).unwrap();
        thread.join().unwrap()
    })
}

/// Every dialect says it, on the stack that a thread has, in a time and size that go with its size.
fn ends(what: &str, schema: &Value) {
    for dialect in [Dialect::OpenAiChat, Dialect::OpenAiChatStrict, Dialect::Anthropic, Dialect::Gemini] {
        let started = Instant::now();
        let length = on_a_stack_of(2 << 20, || dialect.schema(schema).schema.to_string().len());
        assert!(length < 16 << 20, "{what}, {dialect}: {length} bytes");
        assert!(started.elapsed() < LONGEST, "{what}, {dialect}: {:?}", started.elapsed());
    }
}

#[test]
fn a_schema_may_nest_however_deep() {
    on_a_stack_of(256 << 20, || {
        // Moved, not copied: else most of the time goes into making it.
        let with = |mut around: Value, place: &str, inner: Value| {
            *around.pointer_mut(place).unwrap() = inner;
            around
        };
        let nest = |around: Value, place: &str| {
            (0..5000).fold(json!({"type": "string"}), |inner, _| with(around.clone(), place, inner))
        };
        for (what, schema) in [
            ("items", nest(json!({"type": "array", "items": 0}), "/items")),
            ("properties", nest(json!({"type": "object", "properties": {"a": 0}}), "/properties/a")),
            ("allOf", nest(json!({"allOf": [0]}), "/allOf/0")),
            ("anyOf", nest(json!({"anyOf": [0, {"type": "null"}]}), "/anyOf/0")),
            ("oneOf", nest(json!({"oneOf": [{"type": "integer"}, 0]}), "/oneOf/1")),
            ("not", nest(json!({"not": 0}), "/not")),
            ("if", nest(json!({"if": 0, "then": {"type": "string"}}), "/if")),
            ("additionalProperties", nest(json!({"additionalProperties": 0}), "/additionalProperties")),
            ("contains", nest(json!({"contains": 0}), "/contains")),
            ("const", with(json!({"const": 0}), "/const", nest(json!([0]), "/0"))),
            ("enum", with(json!({"enum": [0]}), "/enum/0", nest(json!({"a": 0}), "/a"))),
            ("nonsense", with(json!({"nonsense": 0}), "/nonsense", nest(json!([0]), "/0"))),
        ] {
            ends(what, &closed(&schema));
            ends(what, &schema);
            let by_reference = json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/deep"}}, "$defs": {"deep": schema}});
            ends(what, &by_reference);
        }
        let mut chain = Map::new();
        for number in 0..5000 {
            chain.insert(format!("d{number}"), json!({"$ref": format!("#/$defs/d{}", number + 1)}));
        }
        ends(
            "references",
            &json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/d0"}}, "$defs": chain}),
        );
    });
}

#[test]
fn a_schema_may_be_put_together_of_however_many() {
    let all = |part: &dyn Fn(usize) -> Value| -> Value {
        json!({"allOf": (0..4000).map(part).collect::<Vec<_>>()})
    };
    let numbered = |number: usize| format!("p{number}");
    let names: Vec<String> = (0..10_000).map(numbered).collect();
    let by_name: Map<String, Value> = names.iter().map(|name| (name.clone(), json!(true))).collect();
    let numbers = |from: usize| (from..from + 15_000).collect::<Vec<_>>();
    let mut pattern = String::new();
    for number in 0..2000 {
        write!(pattern, "(?:{number}").unwrap();
    }
    for (what, schema) in [
        ("demands on one property", all(&|number| json!({"properties": {"a": {"minLength": number}}}))),
        (
            "more demands on one property",
            json!({"allOf": vec![json!({"properties": {"a": {"minLength": 1}, "b": {"pattern": "x"}}, "required": ["a"]}); 10_000]}),
        ),
        (
            "nested demands",
            all(&|number| json!({"properties": {"a": {"properties": {"b": {"minLength": number}}}}})),
        ),
        ("demands on further ones", all(&|number| json!({"additionalProperties": {"minLength": number}}))),
        (
            "each with others",
            all(
                &|number| json!({"properties": {numbered(number): true}, "additionalProperties": {"minLength": number}}),
            ),
        ),
        (
            "each with its own",
            all(&|number| json!({"properties": {numbered(number): true}, "required": [numbered(number)]})),
        ),
        (
            "each closed",
            all(
                &|number| json!({"properties": {numbered(number): true}, "unevaluatedProperties": {"minLength": number}}),
            ),
        ),
        ("patterns", all(&|number| json!({"patternProperties": {"^a": {"minLength": number}}}))),
        ("lists", all(&|number| json!({"items": {"minLength": number}}))),
        (
            "unions of one",
            json!({"properties": by_name, "allOf": (0..5000).map(|n| json!({"anyOf": [{"minProperties": n}]})).collect::<Vec<_>>()}),
        ),
        (
            "unions of open objects",
            json!({"unevaluatedProperties": false, "anyOf": (0..60).map(|of| json!({"properties": (0..300).map(|n| (format!("p{of}_{n}"), json!(true))).collect::<Map<_, _>>()})).collect::<Vec<_>>()}),
        ),
        (
            "names",
            json!({"type": "object", "properties": by_name, "required": names, "additionalProperties": false}),
        ),
        (
            "names of variants",
            json!({"oneOf": (0..60).map(|of| json!({"required": names[..500], "properties": {"kind": {"const": of}}})).collect::<Vec<_>>()}),
        ),
        ("enums", json!({"allOf": [{"enum": numbers(0)}, {"enum": numbers(1)}]})),
        ("values that are objects", json!({"enum": (0..5000).map(|n| json!({"a": n})).collect::<Vec<_>>()})),
        (
            "variants",
            json!({"oneOf": (0..5000).map(|n| json!({"type": "string", "const": n.to_string()})).collect::<Vec<_>>()}),
        ),
        ("groups", json!({"type": "string", "pattern": pattern})),
        (
            "variants of many values",
            json!({"oneOf": (0..512).map(|of| json!({"type": "string", "enum": (0..90).map(|n| format!("v{of}_{n}")).collect::<Vec<_>>()})).collect::<Vec<_>>()}),
        ),
    ] {
        ends(what, &closed(&schema));
        ends(what, &schema);
    }
}

#[test]
fn each_property_may_ask_of_the_same_base() {
    let base = json!({"allOf": vec![json!(true); 20_000]});
    let properties: Map<String, Value> =
        (0..30_000).map(|number| (format!("p{number}"), json!({"$ref": "#/$defs/base"}))).collect();
    let schema = json!({"type": "object", "properties": properties, "additionalProperties": false, "$defs": {"base": base}});
    ends("a base of many parts", &schema);
}

#[test]
fn hostile_schemas_end() {
    // Each definition holds the next twice: written out, more than anybody can hold.
    let mut definitions = serde_json::Map::new();
    for number in 0..64 {
        let next = json!({"$ref": format!("#/$defs/d{}", (number + 1) % 64)});
        definitions.insert(
            format!("d{number}"),
            json!({"type": "object", "properties": {"a": next, "b": next}, "additionalProperties": false}),
        );
    }
    let bomb = json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/d0"}}, "additionalProperties": false, "$defs": definitions});
    let mut nulls = serde_json::Map::from_iter([("d40".to_owned(), json!({"type": "null"}))]);
    for number in 0..40 {
        let next = json!({"$ref": format!("#/$defs/d{}", number + 1)});
        nulls.insert(format!("d{number}"), json!({"oneOf": [next, next]}));
    }
    let nulls = json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/d0"}}, "additionalProperties": false, "$defs": nulls});
    let union = |depth: usize| {
        (0..depth).fold(
            json!({"type": "string"}),
            |inner, _| json!({"oneOf": [inner, {"anyOf": [inner, {"minLength": 1}]}]}),
        )
    };
    let many = |key: &str| json!({ key: (0..3000).map(|n| json!({"const": n})).collect::<Vec<_>>() });
    let circle = json!({"type": "object", "$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"anyOf": [{"$ref": "#/$defs/a"}]}}});
    let crossed = json!({"allOf": (0..12).map(|_| json!({"anyOf": [{"minimum": 1}, {"maxLength": 2}, {"minItems": 1}]})).collect::<Vec<_>>()});
    let deep = (0..120).fold(json!({"type": "string"}), |inner, _| json!({"type": "array", "items": inner}));
    let deep_not = (0..120).fold(json!({"type": "string"}), |inner, _| json!({"not": {"allOf": [inner]}}));
    for schema in [
        bomb,
        nulls,
        closed(&union(12)),
        closed(&many("anyOf")),
        closed(&many("oneOf")),
        circle,
        closed(&crossed),
        closed(&deep),
        closed(&deep_not),
        closed(
            &json!({"type": 5, "enum": "x", "properties": [], "required": {}, "items": 3, "anyOf": {}, "$ref": 7}),
        ),
        closed(&json!({"$ref": "https://example.com/x", "pattern": "(", "minimum": "x", "prefixItems": 1})),
        json!(true),
        json!("nothing"),
        json!({"type": "string"}),
    ] {
        for dialect in Dialect::ALL {
            let said = dialect.schema(&schema);
            assert!(said.schema.to_string().len() < 16 << 20);
        }
    }
}
