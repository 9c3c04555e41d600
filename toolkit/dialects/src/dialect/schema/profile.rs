//! The JSON Schema features that each dialect accepts.

use super::super::Dialect;

/// The JSON Schema features that a dialect accepts.
#[derive(Debug)]
pub(super) struct Profile {
    pub(super) writing: Writing,
    /// Keywords of one type that are written unchanged.
    pub(super) keeps: &'static [&'static str],
    /// The supported formats of strings; all if `None`.
    pub(super) formats: Option<&'static [&'static str]>,
    /// True if every object must be closed and require all its properties.
    pub(super) is_strict: bool,
    /// Keywords that are not accepted at the root, which must be an object.
    pub(super) not_at_root: &'static [&'static str],
    /// Returns true if a property name is accepted.
    pub(super) takes_name: fn(&str) -> bool,
}

/// The way in which a schema is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Writing {
    /// The schema is unchanged.
    AsItIs,
    /// In JSON Schema without references.
    Whole {
        /// True if only keywords that grammars support are written.
        for_grammars: bool,
    },
    /// In a few keywords.
    Flat {
        /// True if an enum can have `null` and booleans among its values.
        has_any_enum: bool,
        /// True if lists can have a schema for each position.
        has_places: bool,
    },
}

impl Profile {
    pub(super) fn of(dialect: Dialect) -> &'static Self {
        match dialect {
            Dialect::OpenAiChat | Dialect::OpenAiResponses => &OPENAI,
            Dialect::OpenAiChatStrict | Dialect::OpenAiResponsesStrict => &OPENAI_STRICT,
            Dialect::Anthropic => &ANTHROPIC,
            Dialect::Gemini => &GEMINI,
            Dialect::Mcp => &MCP,
        }
    }

    /// Returns the profile of schemas shown to people, which supports everything.
    pub(super) fn for_people() -> &'static Self {
        &PEOPLE
    }
}

/// OpenAI's functions that are not strict accept any JSON Schema, except `oneOf` (Responses), lists without `items`, and anything
/// but an object at the root: known from the interface's errors. Many other servers use this dialect, and generate a grammar from a
/// schema: llama.cpp, and servers based on llguidance or xgrammar. They refuse the whole request because of an unknown keyword.
/// Patterns are unchanged, unless they contain look-around: an engine that requires patterns anchored by `^` and `$`, such as
/// llama.cpp, refuses others.
static OPENAI: Profile = Profile {
    writing: Writing::Whole { for_grammars: true },
    keeps: &[],
    formats: Some(&[
        "date-time",
        "time",
        "date",
        "duration",
        "email",
        "hostname",
        "ipv4",
        "ipv6",
        "uuid",
        "uri",
    ]),
    is_strict: false,
    not_at_root: &["enum", "const"],
    takes_name: |_| true,
};

/// "Supported schemas" in OpenAI's guide "Structured model outputs".
static OPENAI_STRICT: Profile = Profile {
    writing: Writing::Flat { has_any_enum: true, has_places: false },
    keeps: &[
        "pattern",
        "multipleOf",
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "minItems",
        "maxItems",
    ],
    formats: Some(&["date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"]),
    is_strict: true,
    not_at_root: &[],
    takes_name: |_| true,
};

/// "Tool use" in Anthropic's documentation: JSON Schema without references, without `oneOf`, `anyOf`, `allOf` at the root, and with
/// restricted property names.
static ANTHROPIC: Profile = Profile {
    writing: Writing::Whole { for_grammars: false },
    keeps: &[],
    formats: None,
    is_strict: false,
    not_at_root: &[],
    takes_name: |name| {
        (1..=64).contains(&name.len())
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-'))
    },
};

/// "JSON Schema support" in the reference of the Gemini API: the keywords of `responseJsonSchema`, which are also those of
/// `parametersJsonSchema`. Gemini also accepts references, but they are replaced here: for a recursive reference its own,
/// undocumented limit of expansion would apply.
static GEMINI: Profile = Profile {
    writing: Writing::Flat { has_any_enum: false, has_places: true },
    keeps: &["minimum", "maximum", "minItems", "maxItems"],
    formats: Some(&["date-time", "date", "time"]),
    is_strict: false,
    not_at_root: &[],
    takes_name: |_| true,
};

static PEOPLE: Profile = Profile {
    writing: Writing::Whole { for_grammars: false },
    keeps: &[],
    formats: None,
    is_strict: false,
    not_at_root: &[],
    takes_name: |_| true,
};

static MCP: Profile = Profile {
    writing: Writing::AsItIs,
    keeps: &[],
    formats: None,
    is_strict: false,
    not_at_root: &[],
    takes_name: |_| true,
};
