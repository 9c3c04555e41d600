//! A choice in a form: a field with a list of values.

use serde_json::Value;

/// The values of a field, one or several of which can be chosen.
#[doc(hidden)]
pub struct Choice<'a> {
    /// The values, each with its title if it has one.
    pub options: Vec<(&'a Value, Option<&'a str>)>,
    pub is_several: bool,
}

impl<'a> Choice<'a> {
    /// Returns the choice of a form's property, if it is one: `enum`, or `oneOf` with titles; for several values, the same in the
    /// `items` of an array, with `anyOf`.
    #[doc(hidden)]
    pub fn of(property: &'a Value) -> Option<Self> {
        let is_several = property.get("type").is_some_and(|kind| kind == "array");
        let (place, titled) =
            if is_several { (property.get("items")?, "anyOf") } else { (property, "oneOf") };
        if let Some(values) = place.get("enum").and_then(Value::as_array) {
            let names = place.get("enumNames").and_then(Value::as_array);
            let title = |at: usize| names.and_then(|names| names.get(at)).and_then(Value::as_str);
            let options = values.iter().enumerate().map(|(at, value)| (value, title(at))).collect();
            return Some(Self { options, is_several });
        }
        let options = place.get(titled)?.as_array()?.iter().map(|option| {
            let value = option.get("const").filter(|value| value.is_string())?;
            Some((value, option.get("title").and_then(Value::as_str)))
        });
        options.collect::<Option<_>>().map(|options| Self { options, is_several })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn one_and_several_are_chosen_with_titles_and_without() {
        for (schema, options, is_several) in [
            (json!({"type": "string", "enum": ["a", "b"]}), "a b", false),
            (json!({"type": "string", "enum": ["a", "b"], "enumNames": ["A"]}), "a=A b", false),
            (
                json!({"type": "string", "oneOf": [{"const": "a", "title": "A"}, {"const": "b"}]}),
                "a=A b",
                false,
            ),
            (json!({"type": "array", "items": {"type": "string", "enum": ["a"]}}), "a", true),
            (json!({"type": "array", "items": {"anyOf": [{"const": "a", "title": "A"}]}}), "a=A", true),
        ] {
            let choice = Choice::of(&schema).unwrap();
            let shown: Vec<String> = choice
                .options
                .iter()
                .map(|(value, title)| {
                    let title = title.map(|title| format!("={title}")).unwrap_or_default();
                    format!("{}{title}", value.as_str().unwrap_or_default())
                })
                .collect();
            assert_eq!((shown.join(" ").as_str(), choice.is_several), (options, is_several), "{schema}");
        }
        for none in [
            json!({"type": "string"}),
            json!({"type": "array", "items": {"type": "string"}}),
            json!({"type": "array", "items": {"oneOf": [{"const": "a"}]}}),
            json!({"type": "string", "oneOf": [{"const": 1}]}),
            json!({"type": "string", "oneOf": [{"pattern": "a"}]}),
        ] {
            assert!(Choice::of(&none).is_none(), "{none}");
        }
    }
}
