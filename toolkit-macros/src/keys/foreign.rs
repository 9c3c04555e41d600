//! Well-known keys of other crates and of JSON Schema that no attribute here takes, each with the way out.

use super::{ARG, TOOL};
use proc_macro2::{TokenStream, TokenTree};

/// Keys with the same way out.
struct Foreign {
    /// The attribute's name, as errors show it.
    attribute: &'static str,
    keys: &'static [&'static str],
    /// The rest of the sentence that begins with "unknown key".
    advice: &'static str,
}

const fn foreign(attribute: &'static str, keys: &'static [&'static str], advice: &'static str) -> Foreign {
    Foreign { attribute, keys, advice }
}

/// Keys for the description of a tool.
const DESCRIPTIONS: &[&str] =
    &["desc", "doc", "docs", "about", "help", "long_about", "summary", "instructions", "prompt", "text"];

/// From rmcp, rig, schemars, serde, clap, garde and validator. A key that differs from one of the attribute's own only by
/// a few letters is found without this table.
const FOREIGN: &[Foreign] = &[
    foreign(
        "arg",
        &["description", "desc", "doc", "docs", "help", "long_help", "about", "comment"],
        "write a doc comment above it, `/// …`",
    ),
    foreign(
        "arg",
        &[
            "min",
            "max",
            "minimum",
            "maximum",
            "gt",
            "ge",
            "gte",
            "lt",
            "le",
            "lte",
            "exclusive_min",
            "exclusive_max",
            "exclusive_minimum",
            "exclusive_maximum",
            "between",
            "bounds",
            "positive",
        ],
        "write `range(1..=10)`, `range(1..)` or `range(..10)`",
    ),
    foreign(
        "arg",
        &[
            "min_length",
            "max_length",
            "min_len",
            "max_len",
            "min_items",
            "max_items",
            "min_size",
            "max_size",
            "min_chars",
            "max_chars",
            "min_properties",
            "max_properties",
            "non_empty",
            "not_empty",
            "size",
            "chars",
            "graphemes",
            "bytes",
            "minLength",
            "maxLength",
            "minItems",
            "maxItems",
        ],
        "write `length(1..=80)`, `length(1..)` or `length(..80)`",
    ),
    foreign("arg", &["regex", "regexp", "re", "matches", "match"], "write `pattern = \"^[a-z]+$\"`"),
    foreign(
        "arg",
        &["required", "mandatory"],
        "an argument is required unless it is an `Option` or has a default",
    ),
    foreign("arg", &["optional", "nullable", "not_required"], "take an `Option<T>`, or give it a `default`"),
    foreign(
        "arg",
        &[
            "one_of",
            "oneof",
            "any_of",
            "enum",
            "enum_values",
            "value_enum",
            "values",
            "choices",
            "options",
            "variants",
            "possible_values",
            "allowed",
            "allowed_values",
            "const",
        ],
        "take an enum with `#[toolkit::args]`",
    ),
    foreign(
        "arg",
        &["type", "schema", "schema_with", "json_schema", "inner", "items", "is_json"],
        "the schema comes from the parameter's type; choose that",
    ),
    foreign(
        "arg",
        &[
            "format",
            "email",
            "url",
            "uri",
            "ip",
            "ipv4",
            "ipv6",
            "uuid",
            "date",
            "date_time",
            "datetime",
            "phone_number",
            "credit_card",
            "ascii",
            "alphanumeric",
            "prefix",
            "suffix",
            "contains",
            "starts_with",
            "ends_with",
        ],
        "take a type such as `Url`, or write `pattern = \"…\"`",
    ),
    foreign("arg", &["name", "value_name", "key"], "write `rename = \"…\"`"),
    foreign(
        "arg",
        &[
            "sensitive",
            "redact",
            "redacted",
            "password",
            "private",
            "credential",
            "hidden",
            "hide",
            "hide_values",
        ],
        "write `secret`",
    ),
    foreign(
        "arg",
        &["skip", "skip_deserializing", "skip_serializing_if", "ignore", "inject", "state", "extension"],
        "take what a model must not see as `State<T>` or `Config<T>`",
    ),
    foreign(
        "arg",
        &["flatten"],
        "take all arguments as one struct, with `#[args]`\na field of the struct takes `#[serde(flatten)]`",
    ),
    foreign(
        "arg",
        &[
            "with",
            "deserialize_with",
            "serialize_with",
            "serde",
            "schemars",
            "garde",
            "validate",
            "validator",
            "from",
            "try_from",
            "value_parser",
            "parse",
            "transform",
            "custom",
            "nested",
            "dive",
            "must_match",
        ],
        "give it a type of its own, with `#[toolkit::args]`",
    ),
    foreign(
        "arg",
        &[
            "long",
            "short",
            "env",
            "index",
            "action",
            "num_args",
            "global",
            "id",
            "conflicts_with",
            "requires",
        ],
        "the toolkit makes the command's options by itself; remove it",
    ),
    foreign(
        "arg",
        &["title", "label", "display_name"],
        "an argument has a name and a doc comment; remove it",
    ),
    foreign("arg", &["deprecated"], "say it in the doc comment"),
    foreign("arg", &["unique", "unique_items", "uniqueItems"], "take a `HashSet<T>` or a `BTreeSet<T>`"),
    foreign(
        "arg",
        &["multiple_of", "multipleOf", "step"],
        "check it in the function, and return a `ToolError`",
    ),
    foreign(
        "tool",
        &[
            "params",
            "param",
            "parameters",
            "parameter",
            "args",
            "arg",
            "arguments",
            "input",
            "inputs",
            "required",
        ],
        "document each parameter with a doc comment\nan `Option`, or a `default` in `#[arg(..)]`, makes it optional",
    ),
    foreign("tool", DESCRIPTIONS, "write a doc comment on the function, `/// …`"),
    foreign(
        "tool",
        &[
            "input_schema",
            "output_schema",
            "schema",
            "json_schema",
            "return_schema",
            "inputSchema",
            "outputSchema",
        ],
        "schemas come from the types of the function; remove it",
    ),
    foreign(
        "tool",
        &["annotations", "annotation", "hints", "hint"],
        "write the hints themselves\nthey are `read_only`, `destructive`, `idempotent`, `open_world` and `title`",
    ),
    foreign(
        "tool",
        &[
            "approval",
            "approve",
            "requires_approval",
            "require_approval",
            "needs_approval",
            "confirm",
            "confirmation",
            "requires_confirmation",
            "require_confirmation",
            "needs_confirmation",
            "ask_first",
            "ask_user",
            "human_in_the_loop",
        ],
        "a plain tool needs approval already; remove it\n`read_only`, `auto_execute` and `asks` are what changes that",
    ),
    foreign(
        "tool",
        &[
            "auto_approve",
            "auto_approved",
            "auto_run",
            "autorun",
            "no_approval",
            "safe",
            "trusted",
            "allow",
            "always_allow",
        ],
        "write `read_only` or `auto_execute`",
    ),
    foreign(
        "tool",
        &[
            "dangerous",
            "unsafe",
            "mutating",
            "mutates",
            "mutable",
            "write",
            "writes",
            "modifies",
            "side_effects",
        ],
        "write `destructive`; without `read_only` it needs approval",
    ),
    foreign(
        "tool",
        &[
            "tag",
            "tags",
            "category",
            "categories",
            "toolset",
            "toolbox",
            "tool_box",
            "namespace",
            "module",
            "router",
        ],
        "write `group = \"fs\"`",
    ),
    foreign("tool", &["rename", "id", "tool_name", "function_name"], "write `name = \"read\"`"),
    foreign(
        "tool",
        &["label", "display_name", "user_facing_name", "heading"],
        "write `title = \"Read a file\"`",
    ),
    foreign("tool", &["version", "author", "license"], "a tool has that of its crate; remove it"),
    foreign(
        "tool",
        &[
            "return",
            "returns",
            "return_description",
            "return_type",
            "output",
            "result",
            "response",
            "output_description",
        ],
        "say in the doc comment what it returns; the type is the function's",
    ),
    foreign(
        "tool",
        &["async", "sync", "blocking", "spawn_blocking"],
        "an `async fn` runs async and a plain `fn` on the blocking pool; remove it",
    ),
    foreign(
        "tool",
        &["timeout_ms", "timeout_secs", "timeout_seconds", "time_limit", "max_time", "deadline", "ttl"],
        "write `timeout = \"30s\"`",
    ),
    foreign(
        "tool",
        &[
            "max_concurrency",
            "concurrent",
            "parallel",
            "max_parallel",
            "max_calls",
            "semaphore",
            "rate_limit",
        ],
        "write `concurrency = 4`",
    ),
    foreign(
        "tool",
        &["max_lines", "max_bytes", "max_output", "max_chars", "max_length", "max_tokens", "limit", "limits"],
        "write `truncate(max_lines = 2000)`",
    ),
    foreign(
        "tool",
        &["retry", "retries", "max_retries"],
        "no call is repeated; repeat in the function what may fail",
    ),
    foreign("tool", &["cache", "cached", "memoize"], "no result is kept; keep it in a service, `State<T>`"),
    foreign("tool", &["strict", "strict_mode", "streaming", "stream"], "the host decides that; remove it"),
    foreign(
        "tool",
        &["hidden", "disabled", "off", "experimental", "opt_in"],
        "write `optional` or `enabled = false`",
    ),
    foreign(
        "tool",
        &["state", "states", "context", "ctx", "services", "deps", "dependencies", "with", "inject"],
        "take `&ToolContext` or `State<T>` as a parameter",
    ),
    foreign("tool", &["examples", "sample", "samples"], "write `example = …` in `#[arg(..)]` of a parameter"),
    foreign("tool", &["error", "errors", "error_type", "err"], "return a `Result<T, E>`"),
    foreign("tool", &["on_error", "on_invalid", "error_format"], "write `format_error = path::to::function`"),
    foreign(
        "tool",
        &["meta", "metadata", "extra", "extensions", "execution", "task", "task_support"],
        "there is no such key; remove it",
    ),
    foreign(
        "toolkit::args",
        &[
            "rename",
            "rename_all",
            "rename_all_fields",
            "tag",
            "content",
            "untagged",
            "default",
            "transparent",
            "flatten",
            "skip",
            "from",
            "into",
            "try_from",
            "remote",
            "bound",
            "other",
            "alias",
        ],
        "write it as an attribute of serde, `#[serde(…)]`, below this one",
    ),
    foreign(
        "toolkit::args",
        &["title", "example", "examples", "extend", "schema", "schema_with", "inline", "schemars"],
        "write it as an attribute of schemars, `#[schemars(…)]`, below this one",
    ),
    foreign(
        "toolkit::args",
        &["description", "desc", "doc", "docs", "name", "about", "help"],
        "write a doc comment above the type and above each field",
    ),
    foreign(
        "toolkit::args",
        &[
            "derive",
            "debug",
            "clone",
            "Debug",
            "Clone",
            "Default",
            "PartialEq",
            "Deserialize",
            "Serialize",
            "JsonSchema",
        ],
        "write `#[derive(…)]` below this attribute",
    ),
    foreign(
        "toolkit::args",
        &["deny_unknown_fields", "strict", "additional_properties", "additionalProperties"],
        "unknown fields are refused already\n`allow_unknown_fields` is what accepts them",
    ),
    foreign(
        "tools",
        &["router", "vis", "server_handler", "handler", "tool_box"],
        "no router is needed; remove it",
    ),
    foreign("plugin!", &["name", "plugin", "key"], "write `id: \"acme\"`, and `title: \"Acme\"` for people"),
    foreign(
        "plugin!",
        &["desc", "doc", "docs", "about", "summary"],
        "write `description: \"Tools for Acme.\"`",
    ),
    foreign(
        "plugin!",
        &["version", "author", "authors", "license"],
        "a plugin has that of its crate; remove it",
    ),
    foreign("plugin!", &["enabled", "disabled", "default", "opt_in"], "write `optional: true`"),
    foreign("plugin!", &["tools", "services", "factories"], "a plugin has all tools of its crate; remove it"),
    foreign("plugin!", &["config", "settings", "schema"], "take `Config<T>` in a tool or a service"),
];

/// Returns what to do instead of an unknown key, if it is a well-known one.
pub(crate) fn advice(attribute: &str, name: &str) -> Option<&'static str> {
    let is = |foreign: &&Foreign| foreign.attribute == attribute && foreign.keys.contains(&name);
    FOREIGN.iter().find(is).map(|foreign| foreign.advice).or_else(|| elsewhere(attribute, name))
}

/// Returns true if the content of `#[tool(..)]` has a description under the key of another crate.
pub(crate) fn is_described(tokens: &TokenStream) -> bool {
    tokens
        .clone()
        .into_iter()
        .any(|token| matches!(&token, TokenTree::Ident(key) if DESCRIPTIONS.iter().any(|known| key == known)))
}

/// Returns the attribute that takes the key, if it is another one of this crate.
fn elsewhere(attribute: &str, name: &str) -> Option<&'static str> {
    let is = |keys: &[super::Key]| keys.iter().any(|key| key.name == name);
    Some(match attribute {
        "arg" if is(TOOL) => "it belongs in `#[tool(..)]` of the function",
        "tool" if is(ARG) => "it belongs in `#[arg(..)]` of a parameter",
        "tools" if is(TOOL) => "it belongs in `#[tool(..)]` of a method",
        "toolkit::args" if is(ARG) => "it belongs in `#[arg(..)]` of a field",
        "tool_factory" if is(TOOL) => "it belongs to the tools that the factory creates",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn no_key_has_two_ways_out_or_is_known() {
        let mut seen = HashSet::new();
        for Foreign { attribute, keys, advice } in FOREIGN {
            for key in *keys {
                assert!(seen.insert((attribute, key)), "`{key}` of `{attribute}` is there twice");
                let known = match *attribute {
                    "arg" => ARG,
                    "tool" => TOOL,
                    _ => &[],
                };
                assert!(!known.iter().any(|known| known.name == *key), "`{key}` is a key of `{attribute}`");
                let first = advice.lines().next().unwrap();
                assert!(first.chars().count() <= 76 && !first.ends_with('.'), "{advice}");
            }
        }
    }
}
