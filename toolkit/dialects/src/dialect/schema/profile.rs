//! What each dialect takes of JSON Schema.

use super::super::Dialect;

/// What a dialect takes of JSON Schema.
#[derive(Debug)]
pub(super) struct Profile {
    pub(super) writing: Writing,
    /// Keywords of one type that are written as they are.
    pub(super) keeps: &'static [&'static str],
    /// The formats of strings that it knows; all where `None`.
    pub(super) formats: Option<&'static [&'static str]>,
    /// Every object is closed and requires all its properties.
    pub(super) is_strict: bool,
    /// At the root there is an object, and none of these keywords.
    pub(super) not_at_root: &'static [&'static str],
    /// Which names of properties it takes.
    pub(super) takes_name: fn(&str) -> bool,
}

/// How a schema is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Writing {
    /// Not at all.
    AsItIs,
    /// In JSON Schema without references.
    Whole {
        /// Only in keywords of which grammars are made.
        for_grammars: bool,
    },
    /// In a few keywords.
    Flat {
        /// Whether an enum can have `null` and booleans among its values.
        has_any_enum: bool,
        /// Whether lists can say what stands at which place.
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

    /// What people are shown: everything.
    pub(super) fn for_people() -> &'static Self {
        &PEOPLE
    }
}

/// Functions of OpenAI that are not strict take any JSON Schema, but `oneOf` (Responses), lists without `items`, and at the root all
/// but an object: by what its interface answers to others. Many other servers speak this dialect, and make a grammar of a schema:
/// llama.cpp, and who builds on llguidance or xgrammar. They refuse the whole request for a keyword that they do not know. Patterns
/// stay as they are, unless they look around: an engine that wants them anchored by `^` and `$`, as llama.cpp does, refuses others.
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
/// these names of properties.
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

/// "JSON Schema support" in the reference of the Gemini API: the keywords of `responseJsonSchema`, which are those of
/// `parametersJsonSchema` too. It also has references, which this does without: in one that leads round in a circle its own limit of
/// unrolling would count, which nobody states.
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
