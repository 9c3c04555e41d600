//! The searchable texts of a tool, and their weights.

use super::words::is_empty_word;
use crate::tool::Tool;
use serde_json::Value;

/// The maximum number of words of a tool that are indexed, because servers send texts of any size.
pub(super) const MAX_WORDS: usize = 500;
/// The maximum length of one text that is indexed, in bytes.
const MAX_BYTES: usize = 8 * 1024;
/// The maximum number of parameters that are indexed, including nested ones.
const MAX_PARAMETERS: usize = 128;
/// The maximum depth of parameters that are indexed.
const DEEPEST: usize = 4;

/// The place of a text in a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Field {
    Name,
    Alias,
    Title,
    Group,
    /// The first sentence of the description.
    Summary,
    Description,
    Parameter,
    ParameterDescription,
}

impl Field {
    /// Returns the weight of one word in a text with this number of words.
    ///
    /// Lengths are compared with fixed lengths and not with the mean of all tools: otherwise the texts of one tool
    /// would change the rank of another.
    pub(super) fn weight(self, words: usize) -> f32 {
        // The weight, the influence of the length, and the length that changes nothing.
        let (weight, influence, usual) = match self {
            Self::Name => (4.0, 0.4, 3.0),
            Self::Alias | Self::Title => (2.0, 0.4, 3.0),
            Self::Group => (1.5, 0.0, 1.0),
            Self::Summary => (1.6, 0.4, 10.0),
            Self::Description => (0.8, 0.6, 20.0),
            // Each is a text of its own, so their number is the length; a repeated word adds little because of
            // saturation.
            Self::Parameter => (0.6, 0.3, 2.0),
            Self::ParameterDescription => (0.25, 0.5, 8.0),
        };
        #[expect(clippy::cast_precision_loss, reason = "there are few words")]
        let length = words as f32 / usual;
        weight / (1.0 - influence + influence * length)
    }

    /// Returns true if the word is not significant in this field. In names every word is significant.
    pub(super) fn leaves_out(self, word: &str) -> bool {
        !matches!(self, Self::Name | Self::Alias) && is_empty_word(word)
    }
}

/// A tool as a document.
pub(super) struct Document<'a>(pub(super) &'a Tool);

impl Document<'_> {
    /// Calls back with each text.
    pub(super) fn each_text(&self, mut each: impl FnMut(Field, &str)) {
        let tool = self.0;
        each(Field::Name, tool.name());
        tool.aliases().for_each(|alias| each(Field::Alias, alias));
        if tool.title() != tool.name() {
            each(Field::Title, start(tool.title()));
        }
        tool.groups().for_each(|group| each(Field::Group, start(group)));
        let description = start(tool.description());
        let (first, rest) = description.split_at(end_of_sentence(description));
        each(Field::Summary, first);
        each(Field::Description, rest);
        if let Ok(schema) = tool.input_schema() {
            let mut left = MAX_PARAMETERS;
            parameters(schema, DEEPEST, &mut left, &mut each);
        }
    }
}

/// Collects the parameters in a schema, and their descriptions.
fn parameters(schema: &Value, depth: usize, left: &mut usize, each: &mut impl FnMut(Field, &str)) {
    let Some(depth) = depth.checked_sub(1) else { return };
    for (name, parameter) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
        if *left == 0 {
            return;
        }
        *left -= 1;
        each(Field::Parameter, start(name));
        if let Some(text) = parameter.get("description").and_then(Value::as_str) {
            each(Field::ParameterDescription, start(text));
        }
        for word in parameter
            .get("enum")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .take(64)
        {
            each(Field::ParameterDescription, start(word));
        }
        parameters(parameter, depth, left, each);
    }
    for key in ["items", "additionalProperties"] {
        if let Some(inner) = schema.get(key).filter(|inner| inner.is_object()) {
            parameters(inner, depth, left, each);
        }
    }
    for key in ["oneOf", "anyOf", "allOf"] {
        for inner in schema.get(key).and_then(Value::as_array).into_iter().flatten().take(16) {
            parameters(inner, depth, left, each);
        }
    }
}

/// Returns the beginning of a text, if it is too long.
fn start(text: &str) -> &str {
    &text[..text.floor_char_boundary(MAX_BYTES)]
}

/// Returns the end of the first sentence, or of the first paragraph.
fn end_of_sentence(text: &str) -> usize {
    let ends = |(at, sign): &(usize, char)| match sign {
        '.' | '!' | '?' => text[at + 1..].chars().next().is_none_or(char::is_whitespace),
        '\n' => text[at + 1..].starts_with('\n'),
        _ => false,
    };
    text.char_indices().find(ends).map_or(text.len(), |(at, _)| at + 1)
}
