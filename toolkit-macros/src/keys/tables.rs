//! The keys of `#[tool(..)]` and of `#[arg(..)]`, which errors about keys in a wrong place name as well.

use super::{Form, Key};

/// The keys of `#[tool(..)]`.
pub(crate) const TOOL: &[Key] = &[
    Key { name: "name", form: Form::Value, example: "name = \"read\"" },
    Key { name: "group", form: Form::Value, example: "group = \"fs\"" },
    Key { name: "title", form: Form::Value, example: "title = \"Read a file\"" },
    Key { name: "description", form: Form::Value, example: "description = \"Reads a file.\"" },
    Key { name: "read_only", form: Form::Flag, example: "read_only" },
    Key { name: "destructive", form: Form::Flag, example: "destructive" },
    Key { name: "idempotent", form: Form::Flag, example: "idempotent" },
    Key { name: "open_world", form: Form::Flag, example: "open_world" },
    Key { name: "optional", form: Form::Flag, example: "optional" },
    Key { name: "enabled", form: Form::Flag, example: "enabled = false" },
    Key { name: "auto_execute", form: Form::Flag, example: "auto_execute" },
    Key { name: "asks", form: Form::Flag, example: "asks" },
    Key { name: "always_asks", form: Form::Flag, example: "always_asks" },
    Key { name: "channel", form: Form::Value, example: "channel = \"telegram\"" },
    Key { name: "prepare", form: Form::Value, example: "prepare = path::to::function" },
    Key { name: "icon", form: Form::Value, example: "icon = \"file\"" },
    Key { name: "deprecated", form: Form::Value, example: "deprecated = \"use `read`\"" },
    Key { name: "permission", form: Form::Value, example: "permission = \"edit\"" },
    Key { name: "timeout", form: Form::Value, example: "timeout = \"30s\"" },
    Key { name: "concurrency", form: Form::Value, example: "concurrency = 4" },
    Key { name: "truncate", form: Form::ListOrValue, example: "truncate(max_lines = 2000)" },
    Key { name: "alias", form: Form::Value, example: "alias = \"cat\"" },
    Key { name: "format_error", form: Form::Value, example: "format_error = path::to::function" },
    Key { name: "crate", form: Form::Value, example: "crate = ::toolkit" },
    // The method that the function calls: `#[toolkit::tools]` adds it.
    Key { name: METHOD, form: Form::Value, example: "" },
];

/// The key with which `#[toolkit::tools]` names the method of a tool.
pub(crate) const METHOD: &str = "__method";

/// The keys of `#[arg(..)]`.
pub(crate) const ARG: &[Key] = &[
    Key { name: "default", form: Form::FlagOrValue, example: "default = 10" },
    Key { name: "rename", form: Form::Value, example: "rename = \"name\"" },
    Key { name: "range", form: Form::List, example: "range(1..=10)" },
    Key { name: "length", form: Form::List, example: "length(1..=80)" },
    Key { name: "pattern", form: Form::Value, example: "pattern = \"^[a-z]+$\"" },
    Key { name: "example", form: Form::Value, example: "example = \"src/main.rs\"" },
    Key { name: "alias", form: Form::Value, example: "alias = \"path\"" },
    Key { name: "secret", form: Form::Flag, example: "secret" },
];
