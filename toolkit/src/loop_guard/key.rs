//! Keys of calls and results: 64-bit hashes with a seed of the process. The chance that two different calls share a key
//! is negligible.

use foldhash::quality::RandomState;
use serde_json::{Map, Value};
use std::hash::{BuildHasher as _, Hash as _, Hasher as _};
use std::sync::LazyLock;
use toolkit_core::arguments::Arguments;
use toolkit_core::content::Content;
use toolkit_core::error::ToolError;
use toolkit_core::output::ToolOutput;

static SEED: LazyLock<RandomState> = LazyLock::new(RandomState::default);

/// Returns the key of a call of a tool with valid arguments.
pub(crate) fn call_key(tool: &str, arguments: &Arguments) -> u64 {
    let mut hasher = SEED.build_hasher();
    tool.hash(&mut hasher);
    hasher.write_u64(of_members(arguments.members()));
    hasher.finish()
}

/// Returns the key of a call that was refused before it could run, by the text of its refusal.
pub(crate) fn refused_key(name: &str, refusal: &str) -> u64 {
    let mut hasher = SEED.build_hasher();
    hasher.write_u8(0xff);
    name.hash(&mut hasher);
    refusal.hash(&mut hasher);
    hasher.finish()
}

/// Returns the key of a result, as the model gets it. `kept_in` is the directory of saved outputs: the file of a
/// truncated output has another name each time, so names in it are ignored.
pub(crate) fn result_key(outcome: &Result<ToolOutput, ToolError>, kept_in: Option<&str>) -> u64 {
    let mut hasher = SEED.build_hasher();
    let mut add_text = |text: &str| {
        let mut pieces = kept_in.into_iter().flat_map(|directory| text.split(directory));
        match pieces.next() {
            None => text.hash(&mut hasher),
            Some(first) => {
                first.hash(&mut hasher);
                for piece in pieces {
                    piece.trim_start_matches(|letter: char| is_of_path(letter)).hash(&mut hasher);
                }
            }
        }
    };
    match outcome {
        Ok(output) => {
            for block in &output.content {
                match block {
                    Content::Text { text } => add_text(text),
                    Content::ResourceLink { uri, .. } => add_text(uri),
                    Content::Resource { resource } => add_text(&resource.uri),
                    Content::Image { .. } | Content::Audio { .. } => {}
                    // The enum has no further kinds; one that is added is compared by its JSON until it has a place here.
                    other => add_text(&serde_json::to_string(other).unwrap_or_default()),
                }
            }
            for block in &output.content {
                block.as_bytes().hash(&mut hasher);
            }
        }
        Err(error) => {
            add_text(error.message());
            error.kind().hash(&mut hasher);
        }
    }
    hasher.finish()
}

/// Returns true if the name of a saved file, or the path before it, can contain the character.
fn is_of_path(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || matches!(letter, '/' | '\\' | '-' | '_' | '.')
}

fn of_value(value: &Value) -> u64 {
    let mut hasher = SEED.build_hasher();
    match value {
        Value::Null => hasher.write_u8(0),
        Value::Bool(flag) => hasher.write_u8(1 + u8::from(*flag)),
        Value::Number(number) => {
            hasher.write_u8(3);
            match (number.as_u64(), number.as_i64(), number.as_f64()) {
                (Some(number), ..) => hasher.write_u64(number),
                (None, Some(number), _) => hasher.write_i64(number),
                (None, None, number) => hasher.write_u64(number.unwrap_or(f64::NAN).to_bits()),
            }
        }
        Value::String(text) => {
            hasher.write_u8(4);
            text.hash(&mut hasher);
        }
        Value::Array(items) => {
            hasher.write_u8(5);
            for item in items {
                hasher.write_u64(of_value(item));
            }
        }
        Value::Object(members) => {
            hasher.write_u8(6);
            hasher.write_u64(of_members(members));
        }
    }
    hasher.finish()
}

/// Hashes the members of an object independently of their order.
fn of_members(members: &Map<String, Value>) -> u64 {
    members.iter().fold(members.len() as u64, |sum, (name, member)| {
        let mut hasher = SEED.build_hasher();
        name.hash(&mut hasher);
        hasher.write_u64(of_value(member));
        sum.wrapping_add(hasher.finish())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn calls_are_the_same_in_any_order_of_their_arguments() {
        let values = [
            json!({}),
            json!({"a": null}),
            json!({"a": false}),
            json!({"a": true}),
            json!({"a": 0}),
            json!({"a": -1}),
            json!({"a": 1.5}),
            json!({"a": ""}),
            json!({"a": "b"}),
            json!({"b": "a"}),
            json!({"a": []}),
            json!({"a": {}}),
            json!({"a": [[]]}),
            json!({"a": [1, 2]}),
            json!({"a": [2, 1]}),
            json!({"a": 1, "b": 2}),
            json!({"a": 2, "b": 1}),
            json!({"a": {"b": 1}, "c": 2}),
            json!({"a": {"b": 1, "c": 2}}),
        ];
        for (place, value) in values.iter().enumerate() {
            for (other_place, other) in values.iter().enumerate() {
                assert_eq!(of_value(value) == of_value(other), place == other_place, "{value} {other}");
            }
        }
        assert_eq!(
            of_value(&json!({"a": 1, "b": {"c": 2, "d": 3}})),
            of_value(&json!({"b": {"d": 3, "c": 2}, "a": 1}))
        );
        assert_eq!(refused_key("x", "no"), refused_key("x", "no"));
        assert_ne!(refused_key("x", "no"), refused_key("x", "never"));
        assert_ne!(refused_key("x", "no"), refused_key("y", "no"));
    }

    #[test]
    fn answers_are_the_same_but_for_the_name_of_a_kept_file() {
        let text = |text: &str| Ok(ToolOutput::text(text));
        let error = |error: ToolError| Err(error);
        let image = |data: &[u8]| Ok(ToolOutput::default().with_content(Content::image(data, "image/png")));
        let dir = Some("/data/tool-output/s");
        for (one, other, same) in [
            (text("a"), text("a"), true),
            (text("a"), text("b"), false),
            (text("a"), error(ToolError::failed("a")), false),
            (error(ToolError::failed("a")), error(ToolError::denied("a")), false),
            (error(ToolError::failed("a")), error(ToolError::failed("a")), true),
            (image(b"x"), image(b"x"), true),
            (image(b"x"), image(b"y"), false),
            (
                text("see /data/tool-output/s/1-a.txt, line 2"),
                text("see /data/tool-output/s/2-b.txt, line 2"),
                true,
            ),
            (
                text("see /data/tool-output/s/1-a.txt, line 2"),
                text("see /data/tool-output/s/2-b.txt, line 3"),
                false,
            ),
            (text("see /data/elsewhere/1.txt"), text("see /data/elsewhere/2.txt"), false),
        ] {
            assert_eq!(result_key(&one, dir) == result_key(&other, dir), same, "{one:?} {other:?}");
        }
    }
}
