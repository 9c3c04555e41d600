//! Patterns of keys and tokens.

use super::names::{self, Assigned};
use aho_corasick::AhoCorasick;
use regex_automata::Input;
use regex_automata::meta::Regex;
use regex_automata::util::captures::Captures;
use regex_automata::util::primitives::PatternID;
use std::ops::Range;
use std::sync::{LazyLock, OnceLock};

/// A pattern for one kind of secret.
struct Pattern {
    /// Every match contains one of these, ignoring case: a text without them is not searched.
    triggers: &'static [&'static str],
    /// The secret is the group whose name starts with `s`, or else the whole match.
    regex: &'static str,
    /// Returns true if a match is a secret.
    check: fn(&str, &Captures, &Range<usize>) -> bool,
}

const fn pattern(triggers: &'static [&'static str], regex: &'static str) -> Pattern {
    Pattern { triggers, regex, check: |_, _, _| true }
}

const fn checked(
    triggers: &'static [&'static str],
    regex: &'static str,
    check: fn(&str, &Captures, &Range<usize>) -> bool,
) -> Pattern {
    Pattern { triggers, regex, check }
}

/// The patterns. They are ASCII only, which keeps the compiled ones small.
static PATTERNS: &[Pattern] = &[
    // OpenAI, Anthropic, OpenRouter and others that use this form.
    checked(&["sk-"], r"(?-u:\b)sk-(?:[a-z]+[0-9]*-)*[A-Za-z0-9_-]{20,}", has_digit_and_capital),
    // GitHub.
    pattern(&["ghp_", "gho_", "ghu_", "ghs_", "ghr_"], r"(?-u:\b)gh[pousr]_[A-Za-z0-9]{30,}"),
    pattern(&["github_pat_"], r"(?-u:\b)github_pat_[A-Za-z0-9_]{22,}"),
    // GitLab.
    checked(
        &["glpat-", "gldt-", "glrt-", "glcbt-", "glptt-", "glft-", "glagent-"],
        r"(?-u:\b)gl(?:pat|dt|rt|cbt|ptt|ft|agent)-[A-Za-z0-9_.-]{20,}",
        has_digit_or_capital,
    ),
    // Amazon.
    pattern(&["akia", "asia"], r"(?-u:\b)(?:AKIA|ASIA)[A-Z0-9]{16}(?-u:\b)"),
    // Google.
    pattern(&["aiza"], r"(?-u:\b)AIza[A-Za-z0-9_-]{35}"),
    pattern(&["ya29."], r"(?-u:\b)ya29\.[A-Za-z0-9_-]{20,}"),
    pattern(&["gocspx-"], r"(?-u:\b)GOCSPX-[A-Za-z0-9_-]{20,}"),
    // Slack.
    checked(&["xox"], r"(?-u:\b)xox[abeoprs](?:\.xox[bp])?-[A-Za-z0-9-]{10,}", has_digit_or_capital),
    pattern(&["xapp-"], r"(?-u:\b)xapp-[0-9]-[A-Za-z0-9-]{10,}"),
    pattern(&["hooks.slack.com"], r"hooks\.slack\.com/(?:services|workflows)/(?<s>[A-Za-z0-9_/]{20,})"),
    // Stripe.
    pattern(&["k_live_", "k_test_"], r"(?-u:\b)[sr]k_(?:live|test)_[A-Za-z0-9]{16,}"),
    pattern(&["whsec_"], r"(?-u:\b)whsec_[A-Za-z0-9+/=]{24,}"),
    // Package registries and models.
    pattern(&["npm_"], r"(?-u:\b)npm_[A-Za-z0-9]{36}"),
    pattern(&["pypi-"], r"(?-u:\b)pypi-AgE[A-Za-z0-9_-]{40,}"),
    checked(&["hf_"], r"(?-u:\b)hf_[A-Za-z0-9]{30,}", has_digit_or_capital),
    // Telegram.
    pattern(&[":aa"], r"(?:bot|(?-u:\b))(?<s>[0-9]{8,10}:AA[A-Za-z0-9_-]{33})"),
    // JSON web tokens, signed and encrypted.
    pattern(
        &["eyj"],
        r"(?-u:\b)eyJ[A-Za-z0-9_-]{8,}\.(?:eyJ[A-Za-z0-9_-]{4,}\.[A-Za-z0-9_-]*|[A-Za-z0-9_-]*\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,})",
    ),
    // Headers.
    checked(
        &["authorization"],
        r#"(?i)(?-u:\b)authorization\\*["']?[ \t]{0,4}(?:=>|[:=])[ \t]{0,4}\\*["']?(?:(?:bearer|basic|token|digest|negotiate|apikey|key)[ \t]+)?(?<s>[A-Z0-9._~+/=:-]{6,})"#,
        |text, captures, secret| {
            !is_code(text, secret)
                && !is_scheme(&text[secret.clone()])
                && has_digit_or_capital(text, captures, secret)
        },
    ),
    checked(&["bearer"], r"(?i)(?-u:\b)bearer[ \t]+(?<s>[A-Z0-9._~+/=-]{12,})", |text, captures, secret| {
        has_digit_or_capital(text, captures, secret) && names::is_random(&text[secret.clone()])
    }),
    pattern(&["cookie"], r"(?im)(?-u:\b)(?:set-)?cookie:[ \t]*(?<s>[A-Z0-9_.-]+=[^\r\n'\x22]{4,})"),
    // A password, or a token alone, before the host of a URL.
    checked(
        &["://"],
        r#"(?i)(?-u:\b)[a-z][a-z0-9+.-]*://[^\s/:@"'<>]*:(?<s>[^\s/@"'<>]+)@"#,
        |text, _, secret| !names::is_placeholder(&text[secret.clone()]),
    ),
    checked(&["://"], r"(?i)(?-u:\b)[a-z][a-z0-9+.-]*://(?<s>[A-Z0-9_-]{16,})@", |text, _, secret| {
        names::is_random(&text[secret.clone()])
    }),
    // Private keys, whole or with one end cut off.
    pattern(
        &["private key"],
        r"(?s)-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?<s>.*?)(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|\z)",
    ),
    pattern(
        &["private key"],
        r"(?s)(?<s>(?:[^\r\n]{0,16}?[A-Za-z0-9+/=]{4,}(?:\r?\n|\\r\\n|\\n))+)[^\r\n]{0,16}?-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----",
    ),
    // Assignments, in any programming language.
    checked(
        ASSIGNED,
        r#"(?ix)(?<name>[A-Z0-9_.-]*
            (?:passw(?:or)?d|passphrase|pwd|secret|token|credentials?|(?:api|access|secret|private|auth|signing|encryption|account)[_-]?key))
            \\*["'`]?\]?[\ \t]{0,8}(?:=>|:=|==?=?|:)[\ \t]{0,8}
            (?: b?"(?<s_double>(?:[^"\\\r\n]|\\.)+)"
              | \\+"(?<s_escaped>[^"\\\r\n]+)\\+"
              | b?'(?<s_single>(?:[^'\\\r\n]|\\.)+)'
              | `(?<s_back>[^`\r\n]+)`
              | (?<s_word>[^\s"'`,;&<>(){}\[\]\\|=]+={0,2}))"#,
        is_assigned_secret,
    ),
    // Options of a command line.
    checked(
        ASSIGNED,
        r#"(?ix)(?:^|\s)--(?<name>[A-Z0-9_-]*
            (?:passw(?:or)?d|passphrase|secret|token|(?:api|access|secret|private|auth)[_-]?key))
            [\ \t]+(?: "(?<s_double>[^"\r\n]+)" | '(?<s_single>[^'\r\n]+)' | (?<s_word>[^\s"'`,;&<>(){}\[\]\\|-][^\s"'`,;&<>(){}\[\]\\|]+))"#,
        is_assigned_secret,
    ),
];

const ASSIGNED: &[&str] = &[
    "passwd",
    "password",
    "passphrase",
    "pwd",
    "secret",
    "token",
    "credential",
    "apikey",
    "api_key",
    "api-key",
    "accesskey",
    "access_key",
    "access-key",
    "private_key",
    "privatekey",
    "private-key",
    "auth_key",
    "authkey",
    "auth-key",
    "signing_key",
    "signingkey",
    "signing-key",
    "encryption_key",
    "encryptionkey",
    "encryption-key",
    "account_key",
    "accountkey",
    "account-key",
];

/// The triggers of all patterns, and the pattern of each.
static TRIGGERS: LazyLock<(Option<AhoCorasick>, Vec<u32>)> = LazyLock::new(|| {
    let mut places = Vec::new();
    let mut triggers = Vec::new();
    for (place, pattern) in (0..).zip(PATTERNS) {
        for trigger in pattern.triggers {
            triggers.push(*trigger);
            places.push(place);
        }
    }
    (AhoCorasick::builder().ascii_case_insensitive(true).build(triggers).ok(), places)
});

/// The compiled patterns; each is compiled when a text first contains one of its triggers.
static REGEXES: [OnceLock<Option<Compiled>>; PATTERNS.len()] = [const { OnceLock::new() }; PATTERNS.len()];

struct Compiled {
    regex: Regex,
    /// The numbers of the groups that hold the secret.
    secrets: Vec<usize>,
}

impl Compiled {
    fn new(pattern: &Pattern) -> Option<Self> {
        let regex = Regex::new(pattern.regex).ok()?;
        let is_secret = |name: Option<&str>| name.is_some_and(|name| name.starts_with('s'));
        let groups = regex.group_info().pattern_names(PatternID::ZERO).enumerate();
        let secrets = groups.filter(|(_, name)| is_secret(*name)).map(|(group, _)| group).collect();
        Some(Self { regex, secrets })
    }

    fn secret(&self, captures: &Captures) -> Range<usize> {
        let named = self.secrets.iter().find_map(|group| captures.get_group(*group));
        named.or_else(|| captures.get_group(0)).map_or(0..0, |secret| secret.range())
    }
}

/// Builds the search for triggers in advance.
pub(super) fn prepare() {
    LazyLock::force(&TRIGGERS);
}

/// Adds the ranges of the text that look like secrets.
pub(super) fn find(text: &str, found: &mut Vec<Range<usize>>) {
    let (Some(finder), places) = &*TRIGGERS else { return };
    let mut wanted = 0_u32;
    for trigger in finder.find_overlapping_iter(text) {
        wanted |= 1 << places[trigger.pattern().as_usize()];
    }
    while wanted != 0 {
        let place = wanted.trailing_zeros() as usize;
        wanted &= wanted - 1;
        find_each(text, place, found);
    }
}

fn find_each(text: &str, place: usize, found: &mut Vec<Range<usize>>) {
    let pattern = &PATTERNS[place];
    let Some(compiled) = REGEXES[place].get_or_init(|| Compiled::new(pattern)) else { return };
    // A limit on text that is searched a second time. A text that exceeds it was made to do so, and is redacted.
    let mut again = 8 * text.len();
    let mut from = 0;
    let mut captures = compiled.regex.create_captures();
    loop {
        compiled.regex.search_captures(&Input::new(text).span(from..text.len()), &mut captures);
        let Some(whole) = captures.get_match() else { break };
        let secret = compiled.secret(&captures);
        again = again.saturating_sub(secret.len());
        if again == 0 || (pattern.check)(text, &captures, &secret) {
            from = whole.end().max(from + 1);
            found.push(secret);
        } else {
            // A match may contain another: `token: "password=…"`.
            from = secret.start.max(from + 1);
        }
        if from >= text.len() {
            break;
        }
        from = text.ceil_char_boundary(from);
    }
}

fn has_digit_and_capital(text: &str, _: &Captures, secret: &Range<usize>) -> bool {
    let secret = &text[secret.clone()];
    names::has_digit(secret) && names::is_random(secret.rsplit('-').next().unwrap_or(secret))
        || secret.bytes().any(|byte| byte.is_ascii_uppercase()) && names::has_digit(secret)
}

fn has_digit_or_capital(text: &str, _: &Captures, secret: &Range<usize>) -> bool {
    text[secret.clone()].bytes().any(|byte| byte.is_ascii_digit() || byte.is_ascii_uppercase())
}

fn is_scheme(word: &str) -> bool {
    let schemes = ["bearer", "basic", "token", "digest", "negotiate", "apikey", "required"];
    schemes.iter().any(|scheme| word.eq_ignore_ascii_case(scheme))
}

/// Returns true for a call or a path rather than a value: `authorization: Some(…)`.
fn is_code(text: &str, secret: &Range<usize>) -> bool {
    ["(", "[", "::", "<"].iter().any(|code| text[secret.end..].starts_with(code))
        || text[secret.clone()].contains("::")
}

fn is_assigned_secret(text: &str, captures: &Captures, secret: &Range<usize>) -> bool {
    let Some(name) = captures.get_group_by_name("name") else { return false };
    let between = &text[name.end..secret.start];
    names::is_secret(&Assigned {
        name: &text[name.range()],
        value: &text[secret.clone()],
        is_quoted: captures.get_group_by_name("s_word").is_none(),
        is_tight: between == "=",
        before: name.start.checked_sub(1).map(|place| text.as_bytes()[place]),
        after: &text[secret.end..],
    })
}

#[cfg(test)]
pub(super) fn count() -> usize {
    PATTERNS.len()
}

#[cfg(test)]
pub(super) fn compiles(place: usize) -> bool {
    Compiled::new(&PATTERNS[place]).is_some()
}
