//! Names whose values are secrets, and values that are not.

use serde_json::Value;

/// The meaning of a name, which determines how likely its value is a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Name {
    /// The value is chosen by a person: any text.
    Password,
    /// A key or a token of a service.
    Key,
    /// A word that also has other meanings, such as the tokens of a language or of a web page.
    Token,
}

/// Returns what the name says about its value.
pub(super) fn of(name: &str) -> Option<Name> {
    let plain: String = name
        .chars()
        .filter(char::is_ascii_alphanumeric)
        .map(|character| character.to_ascii_lowercase())
        .collect();
    let ends = |endings: &[&str]| endings.iter().any(|ending| plain.ends_with(ending));
    if ends(&["password", "passwd", "passphrase", "pwd"]) {
        return Some(Name::Password);
    }
    if ends(&[
        "apikey",
        "accesskey",
        "secretkey",
        "privatekey",
        "authkey",
        "signingkey",
        "encryptionkey",
        "accountkey",
        "secret",
        "accesstoken",
        "refreshtoken",
        "authtoken",
        "sessiontoken",
        "idtoken",
        "bearertoken",
        "apitoken",
        "bottoken",
        "credential",
        "credentials",
    ]) {
        return Some(Name::Key);
    }
    // Names of list positions, and terms of language models.
    let other =
        ["page", "next", "continuation", "cursor", "pad", "eos", "bos", "unk", "cancel", "cancellation"];
    let is_other =
        plain.strip_suffix("token").is_some_and(|before| other.iter().any(|word| before.ends_with(word)));
    (plain.ends_with("token") && !is_other).then_some(Name::Token)
}

/// Returns true if the value of a key in a JSON object is a secret.
pub(super) fn keeps_secret(name: &str, value: &Value) -> bool {
    let header = name.eq_ignore_ascii_case("authorization")
        || name.eq_ignore_ascii_case("proxy-authorization")
        || name.eq_ignore_ascii_case("cookie")
        || name.eq_ignore_ascii_case("set-cookie");
    let kind = if header { Some(Name::Password) } else { of(name) };
    match (kind, value) {
        (Some(Name::Token), Value::String(text)) => is_random(text) && !is_placeholder(text),
        (Some(_), Value::String(text)) => !text.is_empty() && !is_placeholder(text),
        (Some(Name::Password), Value::Number(_)) => true,
        _ => false,
    }
}

/// A value assigned to a name, with its context.
pub(super) struct Assigned<'a> {
    pub(super) name: &'a str,
    pub(super) value: &'a str,
    pub(super) is_quoted: bool,
    /// True if nothing is between name, `=` and value.
    pub(super) is_tight: bool,
    pub(super) before: Option<u8>,
    pub(super) after: &'a str,
}

/// Returns true if the value assigned to a name is a secret rather than code or prose.
pub(super) fn is_secret(assigned: &Assigned<'_>) -> bool {
    let Assigned { name, value, .. } = *assigned;
    let Some(kind) = of(name) else { return false };
    if value.len() < 4 || is_placeholder(value) {
        return false;
    }
    // A path, as in `PWD=/home/ada`, or the path of a file that holds a secret.
    if ["/", "~/", "./", "../"].iter().any(|start| value.starts_with(start)) && value.len() != 40 {
        return false;
    }
    if assigned.is_quoted { is_secret_text(kind, value) } else { is_secret_word(kind, assigned) }
}

fn is_secret_text(kind: Name, value: &str) -> bool {
    let has_space = value.contains(char::is_whitespace);
    let lower = value.to_ascii_lowercase();
    match kind {
        // A passphrase, but not text that asks for one.
        Name::Password => {
            !["password", "passphrase", "your ", "enter "].iter().any(|word| lower.contains(word))
        }
        Name::Key => !has_space && value.len() >= 8 && (!is_words(value) || value.len() >= 32),
        Name::Token => !has_space && is_random(value),
    }
}

fn is_secret_word(kind: Name, assigned: &Assigned<'_>) -> bool {
    let Assigned { name, value, after, .. } = *assigned;
    if ["(", "[", "::", "<", "!("].iter().any(|code| after.starts_with(code)) || is_path_of_names(value) {
        return false;
    }
    let is_variable = name.len() >= 3 && !name.contains(|character: char| character.is_ascii_lowercase());
    let is_query = matches!(assigned.before, Some(b'?' | b'&'));
    if assigned.is_tight && (is_variable || is_query) {
        return true;
    }
    let is_number = value.bytes().all(|byte| byte.is_ascii_digit());
    match kind {
        Name::Password => value.bytes().any(|byte| byte.is_ascii_digit() || b"!@#%^*+/~$".contains(&byte)),
        Name::Key => {
            !is_number && (is_random(value) || value.len() >= 8 && has_digit(value) && !is_words(value))
        }
        Name::Token => !is_number && has_digit(value) && is_random(value),
    }
}

/// Returns true for text that stands for a secret: `$PASSWORD`, `<token>`, `{{ key }}`, `****`, `string`.
pub(super) fn is_placeholder(value: &str) -> bool {
    let value = value.trim();
    let wrapped = [("<", ">"), ("{", "}"), ("[", "]"), ("%", "%"), ("(", ")"), ("__", "__")];
    let starts = ["$", "{{", "${", "#{", "...", "…", "process.env", "os.environ", "env.", "secrets."];
    let word = value.to_ascii_lowercase();
    let word = word.trim_matches(|character: char| matches!(character, '.' | ',' | ';' | ':' | '!' | '?'));
    starts.iter().any(|start| value.starts_with(start))
        && !(value.starts_with('$') && has_digit(value) && !value[1..].starts_with(|c: char| c.is_ascii_uppercase() || c == '{' || c == '('))
        || wrapped.iter().any(|(start, end)| value.len() > 2 && value.starts_with(start) && value.ends_with(end))
        || value.chars().all(|character| matches!(character, '*' | '.' | '•' | 'x' | 'X' | '-' | '_'))
        || matches!(
            word,
            "string" | "str" | "password" | "passwd" | "secret" | "token" | "none" | "null" | "nil" | "true" | "false"
                | "undefined" | "required" | "optional" | "redacted" | "bearer" | "basic" | "number" | "boolean"
                | "integer" | "text" | "bytes" | "option" | "default" | "hidden" | "missing" | "invalid" | "empty"
        )
        // The name of an environment variable.
        || (value.contains('_') && value.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_'))
}

/// Returns true for code such as `config.token`, `self.key`, `a->b`.
fn is_path_of_names(value: &str) -> bool {
    let is_name = |part: &str| {
        part.starts_with(|character: char| character.is_ascii_alphabetic() || character == '_')
            && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    };
    let value = value.trim_end_matches(['.', '!', '?', ':']);
    let parts = value.split('.').map(|part| part.trim_end_matches('?'));
    value.contains('.') && parts.clone().all(is_name) && parts.clone().any(|part| part.len() < 16)
}

/// Returns true for lower-case or capitalised words, with at most a number at the end of one.
fn is_words(value: &str) -> bool {
    let mut words = value.split(['_', '-', '.', ' ', '/']);
    words.all(|word| {
        let letters = word.trim_end_matches(|character: char| character.is_ascii_digit());
        word.len() - letters.len() <= 3
            && letters.bytes().all(|byte| byte.is_ascii_alphabetic())
            && letters.bytes().skip(1).filter(u8::is_ascii_uppercase).count() * 4 <= letters.len()
    })
}

/// Returns true if letters and digits are mixed as they are not in words.
pub(super) fn is_random(value: &str) -> bool {
    if value.len() < 8 || value.contains(char::is_whitespace) {
        return false;
    }
    let class = |byte: u8| match byte {
        b'0'..=b'9' => 1,
        b'a'..=b'z' | b'A'..=b'Z' => 2,
        _ => 0,
    };
    let pairs = value.as_bytes().windows(2);
    let changes = pairs.filter(|pair| class(pair[0]) + class(pair[1]) == 3).count();
    changes >= 2 || value.len() >= 20 && (has_digit(value) || !is_words(value))
}

pub(super) fn has_digit(value: &str) -> bool {
    value.bytes().any(|byte| byte.is_ascii_digit())
}
