//! Takes arguments out of one key around them, as protocols have it.

use super::super::known::add_properties;
use super::convert::is_null;
use super::mend::{Mender, Wrapping};
use super::names::is_closed;
use super::{Repair, RepairKind};
use crate::pointer::Pointer;
use serde_json::{Map, Value};

/// The keys under which models send all arguments, as protocols do.
const WRAPPERS: [&str; 8] =
    ["arguments", "args", "input", "inputs", "parameters", "params", "kwargs", "tool_input"];

impl Mender<'_> {
    /// Unwraps arguments that are all under one key, as in a protocol, with nothing beside it but the tool's
    /// name.
    pub(super) fn unwrap_arguments(&mut self, arguments: &mut Value) -> bool {
        let root = &self.compiled.annotated;
        let Some(members) = arguments.as_object() else { return false };
        let is_unknown = |name: &str| {
            let mut known = Vec::new();
            add_properties(&mut known, root, root, arguments, 0);
            !known.contains(&name)
        };
        if !root.as_object().is_some_and(is_closed) || members.len() > 2 {
            return false;
        }
        let mut found = None;
        for (name, member) in members {
            let is_name_of_tool =
                matches!(name.as_str(), "name" | "tool" | "tool_name") && *member == self.compiled.name;
            if WRAPPERS.contains(&name.as_str()) && found.is_none() {
                found = Some((name, member));
            } else if !is_name_of_tool {
                return false;
            }
            if !is_unknown(name) {
                return false;
            }
        }
        let Some((name, member)) = found else { return false };
        let note = format!("the arguments were nested under `{name}`");
        let is_nothing =
            member.is_null() || member.as_str().is_some_and(|text| text.trim().is_empty() || is_null(text));
        let mut within = if is_nothing { Value::Object(Map::new()) } else { member.clone() };
        if !self.mend(&mut within, root, Pointer::ROOT, Wrapping::Done) {
            self.repairs.clear();
            return false;
        }
        self.repairs.insert(0, Repair::new("", RepairKind::ArgumentsUnwrapped, note));
        *arguments = within;
        true
    }
}
