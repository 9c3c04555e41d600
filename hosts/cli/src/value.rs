//! Conversion of command-line words to JSON, by the parameter's type.
//!
//! Nothing is refused here: a text that fits no permitted kind of value becomes a string, and the toolbox reports the
//! validation error. Typed JSON is kept as text, so that the toolbox sees all of it, including duplicate keys.

use crate::kinds::Kinds;
use crate::parameter_type::ParameterType;
use serde_json::Value;

/// The JSON text of the values that one flag was given.
pub(crate) fn to_json(words: &[String], ty: &ParameterType<'_>) -> String {
    let kinds = ty.kinds();
    if let [word] = words {
        if kinds.has(Kinds::ARRAY) && is_whole_list(word, ty) {
            return word.clone();
        }
        if let Some(json) = single(word, kinds.without(Kinds::ARRAY)) {
            return json;
        }
        if !kinds.has(Kinds::ARRAY) {
            return quoted(word);
        }
    }
    let items: Vec<String> = words
        .iter()
        .enumerate()
        .map(|(index, word)| single(word, ty.item(index).kinds()).unwrap_or_else(|| quoted(word)))
        .collect();
    format!("[{}]", items.join(","))
}

/// Returns true if a word is the whole list, rather than one item that is itself a list.
fn is_whole_list(word: &str, ty: &ParameterType<'_>) -> bool {
    match serde_json::from_str(word) {
        Ok(Value::Array(items)) => items.iter().enumerate().all(|(index, item)| {
            let kinds = ty.item(index).kinds();
            kinds == Kinds::ANY || !kinds.has(Kinds::ARRAY) || kinds.has(Kinds::of(item))
        }),
        _ => false,
    }
}

/// Returns the JSON text of a word that is one value of these kinds, if it is.
fn single(word: &str, kinds: Kinds) -> Option<String> {
    let meant = |value: &Value| match Kinds::of(value) {
        // Quotes are part of a string, unless the type does not restrict the kind.
        Kinds::STRING => is_untyped(kinds),
        Kinds::NULL => kinds.has(Kinds::NULL) && (!kinds.has(Kinds::STRING) || is_untyped(kinds)),
        // A fraction where an integer is wanted is still a number, unless a string will do.
        Kinds::FRACTION => {
            kinds.has(Kinds::FRACTION) || kinds.has(Kinds::INTEGER) && !kinds.has(Kinds::STRING)
        }
        kind => kinds.has(kind),
    };
    match serde_json::from_str(word) {
        Ok(value) if meant(&value) => Some(word.to_owned()),
        _ => kinds.has(Kinds::STRING).then(|| quoted(word)),
    }
}

/// Returns true if a type does not restrict the kind of value.
fn is_untyped(kinds: Kinds) -> bool {
    kinds | Kinds::ARRAY == Kinds::ANY
}

/// A string as JSON.
fn quoted(word: &str) -> String {
    Value::from(word).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parameter_type::tests::typed;
    use serde_json::json;

    #[test]
    fn words_become_what_the_schema_wants() {
        let list = |items: Value| json!({"type": "array", "items": items});
        let union = |kinds: Value| json!({"type": kinds});
        for (schema, words, expected) in [
            (json!({"type": "string"}), &["5"][..], r#""5""#),
            (json!({"type": "string"}), &["true"], r#""true""#),
            (json!({"type": "string"}), &["-"], r#""-""#),
            (json!({"type": "string"}), &[""], r#""""#),
            (json!({"type": "string"}), &["\"a\"\n"], r#""\"a\"\n""#),
            (json!({"type": "integer"}), &["5"], "5"),
            (json!({"type": "integer"}), &["-5"], "-5"),
            (json!({"type": "integer"}), &["5.5"], "5.5"),
            (json!({"type": "integer"}), &["1e3"], "1e3"),
            (json!({"type": "integer"}), &["99999999999999999999999"], "99999999999999999999999"),
            (json!({"type": "integer"}), &["five"], r#""five""#),
            (json!({"type": "integer"}), &["null"], r#""null""#),
            (json!({"type": "integer"}), &["true"], r#""true""#),
            (json!({"type": "integer"}), &["+5"], r#""+5""#),
            (json!({"type": "number"}), &["-0.5"], "-0.5"),
            (json!({"type": "number"}), &["NaN"], r#""NaN""#),
            (json!({"type": "boolean"}), &["false"], "false"),
            (json!({"type": "boolean"}), &["yes"], r#""yes""#),
            (json!({"type": "null"}), &["null"], "null"),
            (union(json!(["integer", "null"])), &["null"], "null"),
            (union(json!(["string", "null"])), &["null"], r#""null""#),
            (union(json!(["string", "integer"])), &["5"], "5"),
            (union(json!(["string", "integer"])), &["5.5"], r#""5.5""#),
            (union(json!(["string", "integer"])), &["x"], r#""x""#),
            (union(json!(["string", "boolean"])), &["auto"], r#""auto""#),
            (union(json!(["string", "boolean"])), &["true"], "true"),
            (union(json!(["string", "object"])), &["{\"a\":1}"], "{\"a\":1}"),
            (union(json!(["string", "array"])), &["a"], r#""a""#),
            (union(json!(["string", "array"])), &["a", "b"], r#"["a","b"]"#),
            (union(json!(["array", "null"])), &["null"], "null"),
            (json!({"type": "object"}), &["{\"x\":1,\"x\":2}"], "{\"x\":1,\"x\":2}"),
            (json!({"type": "object"}), &["{x:1}"], r#""{x:1}""#),
            (list(json!({"type": "string"})), &["a", "5"], r#"["a","5"]"#),
            (list(json!({"type": "string"})), &["[a]"], r#"["[a]"]"#),
            (list(json!({"type": "string"})), &[r#"["a","b"]"#], r#"["a","b"]"#),
            (list(json!({"type": "string"})), &["[]"], "[]"),
            (list(json!({"type": "string"})), &[r#"["a"]"#, "b"], r#"["[\"a\"]","b"]"#),
            (list(json!({"type": "integer"})), &["1"], "[1]"),
            (list(json!({"type": "integer"})), &["1", "-2", "x"], r#"[1,-2,"x"]"#),
            (list(list(json!({"type": "integer"}))), &["[1,2]"], "[[1,2]]"),
            (list(list(json!({"type": "integer"}))), &["[1,2]", "[3]"], "[[1,2],[3]]"),
            (list(list(json!({"type": "integer"}))), &["[[1,2],[3]]"], "[[1,2],[3]]"),
            (list(json!({"type": "object"})), &["{}", "{\"a\":1}"], "[{},{\"a\":1}]"),
            (json!({"type": "array"}), &["1", "x"], r#"[1,"x"]"#),
            (json!({"type": "array"}), &["[1,[2]]"], "[1,[2]]"),
            (json!({}), &["5"], "5"),
            (json!({}), &["null"], "null"),
            (json!({}), &["\"5\""], "\"5\""),
            (json!({}), &["[1]"], "[1]"),
            (json!({}), &["x y"], r#""x y""#),
            (json!({}), &["1", "x"], r#"[1,"x"]"#),
        ] {
            let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
            assert_eq!(to_json(&words, &typed(&schema)), expected, "{words:?} for {schema}");
        }
    }
}
