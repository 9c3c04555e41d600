//! The root of a tool's schema, which must be an object: other types are rejected.

use super::input::make;
use crate::parameter::Input;
use crate::schema::is_object;

/// Returns the reason why `input` cannot be a tool's arguments, if there is one: they are always a JSON object.
#[doc(hidden)]
pub fn root_fault(input: &Input) -> Option<String> {
    let Input::Whole(_) = input else { return None };
    let schema = make(input);
    (!is_object(&schema, &schema, 0)).then(|| {
        "a tool that takes its arguments whole, as an `#[args]` type, needs a struct with named fields, an enum of \
         such, or a map with strings as keys: arguments are always a JSON object"
            .to_owned()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arg::ToolArg;
    use crate::parameter::arg;
    use schemars::JsonSchema;
    use serde::Deserialize;
    use serde_json::Value;
    use std::collections::BTreeMap;

    #[derive(Deserialize, JsonSchema)]
    struct Fields {}

    #[derive(Deserialize, JsonSchema)]
    enum Mixed {
        Unit,
        Fields {},
    }

    #[derive(Deserialize, JsonSchema)]
    enum Units {
        One,
        Two,
    }

    #[derive(Deserialize, JsonSchema)]
    #[serde(untagged)]
    enum Untagged {
        Text(#[expect(dead_code, reason = "only its schema is wanted")] String),
        Fields {},
    }

    #[derive(Deserialize, JsonSchema)]
    struct Unit;

    fn is_refused<T: ToolArg>() -> bool {
        let def = Box::leak(Box::new(arg::<T>("", "").def));
        root_fault(&Input::Whole(def)).is_some()
    }

    #[test]
    fn only_objects_are_arguments() {
        assert!(!is_refused::<Fields>());
        assert!(!is_refused::<Mixed>());
        assert!(!is_refused::<BTreeMap<String, u8>>());
        assert!(!is_refused::<Box<Fields>>());
        for (name, is_refused) in [
            ("a number", is_refused::<u8>()),
            ("a list", is_refused::<Vec<Fields>>()),
            ("anything", is_refused::<Value>()),
            ("an option", is_refused::<Option<Fields>>()),
            ("units", is_refused::<Units>()),
            ("text too", is_refused::<Untagged>()),
            ("nothing", is_refused::<Unit>()),
            ("a tuple", is_refused::<(Fields, Fields)>()),
        ] {
            assert!(is_refused, "{name}");
        }
    }
}
