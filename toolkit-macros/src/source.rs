//! The source around a macro call. A macro gets its own tokens only, but some mistakes are mistakes of its place.

use proc_macro2::{Span, TokenStream};
use std::fs;

/// The source before a place, as far as it tells where the place is. Comments are left out, strings are empty, and each complete
/// group is its delimiters alone.
pub(crate) struct Around {
    /// The open groups: the delimiter, and the source before each, back to the previous item or statement.
    open: Vec<(char, String)>,
    /// The source after the innermost of them, back to the previous item or statement.
    before: String,
}

/// Returns the source around the beginning of a span; `None` where no file is known, as in an editor.
pub(crate) fn around(span: Span) -> Option<Around> {
    // Within a unit test there is no compiler that knows.
    if !proc_macro::is_available() {
        return None;
    }
    let span = span.unwrap();
    let text = fs::read_to_string(span.local_file()?).ok()?;
    Some(of(text.get(..place(&text, span.start())?)?))
}

/// Returns the derives above an attribute that are among the names. The compiler has expanded them before the attribute.
pub(crate) fn derived_above<'a>(attribute: Span, names: &[&'a str]) -> Vec<&'a str> {
    let before = || {
        let span = proc_macro::is_available().then(|| attribute.unwrap())?;
        let text = fs::read_to_string(span.local_file()?).ok()?;
        let end = place(&text, span.start())?;
        text.get(..end).map(str::to_owned)
    };
    before().map_or_else(Vec::new, |text| derives_at_the_end(&text, names))
}

/// Returns true if a name stands in the `#[derive(..)]` of a derive.
pub(crate) fn is_derived_beside(derive: Span, name: &str) -> bool {
    let list = || {
        let span = proc_macro::is_available().then(|| derive.unwrap())?;
        let text = fs::read_to_string(span.local_file()?).ok()?;
        let at = place(&text, span.start())?;
        let start = text.get(..at)?.rfind("#[derive(")?;
        let end = at + text.get(at..)?.find(']')?;
        text.get(start..end).map(str::to_owned)
    };
    list().is_some_and(|list| words(&list).any(|word| word == name))
}

fn derives_at_the_end<'a>(text: &str, names: &[&'a str]) -> Vec<&'a str> {
    let mut found = Vec::new();
    let mut rest = text.trim_end();
    loop {
        let line = rest.rsplit('\n').next().unwrap_or_default();
        if line.trim_start().starts_with("//") {
            rest = rest[..rest.len() - line.len()].trim_end();
        } else if rest.ends_with(']')
            && let Some(start) = rest.rfind("#[")
        {
            if rest[start..].starts_with("#[derive(") {
                found.extend(names.iter().filter(|name| words(&rest[start..]).any(|word| word == **name)));
            }
            rest = rest[..start].trim_end();
        } else {
            return found;
        }
    }
}

/// Returns `impl` or `trait`, if an attribute is on a member of such a block. An attribute without indentation is not.
pub(crate) fn member_of(attribute: Span) -> Option<&'static str> {
    let is_indented = proc_macro::is_available() && attribute.unwrap().start().column() > 1;
    is_indented.then(|| around(attribute))??.member_of()
}

/// Returns the place and the message for a call of a macro that makes items where no item can be: in an `impl` block, or where a
/// value is expected. The tokens are those between its delimiters.
pub(crate) fn misplaced_items(name: &str, tokens: &TokenStream) -> Option<(Span, String)> {
    let mut tokens = tokens.clone().into_iter();
    let first = tokens.next()?.span();
    let (around, delimiter) = around(first)?.around_call(name)?;
    // The macro that these tokens belong to decides where they stand.
    if around.is_in_macro() {
        return None;
    }
    let advice = format!("write `{name}!` outside of functions and `impl` blocks");
    if around.member_of().is_some() {
        return Some((first, format!("`{name}!` is no member of a type or a trait\n{advice}")));
    }
    let last = tokens.last().map_or(first, |token| token.span());
    let is_last = delimiter != '{' && around.is_in_code() && is_end_of_block(last);
    let message = format!("`{name}!` has no value\n{advice}, or as a statement that ends with `;`");
    (around.is_value() || is_last).then_some((first, message))
}

/// Returns true if the file of a span has a type of `std::sync`, imported or by its path, and none of that name of `tokio` or another crate, as
/// far as its text tells.
pub(crate) fn takes_from_std_sync(span: Span, name: &str) -> bool {
    let Some(text) = text_of(span) else { return false };
    let is_path = |module: &str| {
        text.match_indices(&format!("{module}::{name}")).any(|(start, path)| {
            let next = text[start + path.len()..].chars().next();
            !next.is_some_and(|next| next.is_alphanumeric() || next == '_')
        })
    };
    imports_from_std(span, name) || is_path("std::sync") && !is_path("tokio::sync")
}

/// Returns true if the file of a span has a struct of a name with `#[arg(..)]` on a field, but without `#[toolkit::args]`, as far as its text tells.
pub(crate) fn has_arg_without_args(span: Span, name: &str) -> bool {
    text_of(span).is_some_and(|text| is_arg_without_args(&text, name))
}

fn is_arg_without_args(text: &str, name: &str) -> bool {
    let declaration = format!("struct {name}");
    let is_whole = |after: &str| after.trim_start().starts_with('{');
    let Some((before, after)) = text.split_once(&declaration).filter(|(_, after)| is_whole(after)) else {
        return false;
    };
    let attributes = before.rsplit(['}', ';']).next().unwrap_or_default();
    let fields = after.split('}').next().unwrap_or_default();
    let has = |names: &[&str]| words(attributes).any(|word| names.contains(&word));
    // Other names of the attribute are errors of their own.
    let is_derived = has(&["Deserialize", "JsonSchema"])
        && !has(&["args", "tool_args", "ToolArgs", "ToolInput", "ToolParams"]);
    is_derived && fields.contains("#[arg(")
}

/// Returns true if the file of a span imports a name from the standard library, as far as its text tells.
pub(crate) fn imports_from_std(span: Span, name: &str) -> bool {
    text_of(span)
        .unwrap_or_default()
        .split(';')
        .any(|statement| statement.contains("use std::") && words(statement).any(|word| word == name))
}

/// Returns true if a name in the file of a span is that of the `toolkit` crate, as far as the text of the file tells.
pub(crate) fn takes_from_toolkit(span: Span, name: &str) -> bool {
    // Within a unit test there is no file, and the name is that of the crate.
    !proc_macro::is_available() || text_of(span).is_some_and(|text| imports_from_toolkit(&text, name))
}

fn imports_from_toolkit(text: &str, name: &str) -> bool {
    let mut is_imported = false;
    for statement in text.split(';') {
        let mut before = "";
        let is_declared = words(statement).any(|word| {
            let declares = ["type", "struct", "enum"].contains(&before) && word == name;
            before = word;
            declares
        });
        if is_declared {
            return false;
        }
        let Some(import) = import(statement) else { continue };
        let has = |wanted: &str| words(import).any(|word| word == wanted);
        let is_of_toolkit = import.trim_start_matches("::").starts_with("toolkit::");
        if !is_of_toolkit && has(name) {
            return false;
        }
        is_imported |= is_of_toolkit && (has(name) || has("prelude"));
    }
    is_imported
}

/// Returns what a statement imports, without comments and attributes before it.
fn import(statement: &str) -> Option<&str> {
    let (start, word) = statement.match_indices("use ").find(|(start, _)| {
        let line = statement[..*start].rsplit('\n').next().unwrap_or_default().trim_start();
        line.is_empty() || line.starts_with("pub")
    })?;
    Some(statement[start + word.len()..].trim_start())
}

pub(crate) fn text_of(span: Span) -> Option<String> {
    let file = proc_macro::is_available().then(|| span.unwrap().local_file())??;
    fs::read_to_string(file).ok()
}

pub(crate) fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty())
}

/// Returns true if a block ends just after the group that the span is the last token of.
fn is_end_of_block(last: Span) -> bool {
    let after = || {
        let span = last.unwrap();
        let text = fs::read_to_string(span.local_file()?).ok()?;
        Some(text.get(place(&text, span.end())?..)?.chars().filter(|c| !c.is_whitespace()).take(3).collect())
    };
    let after: String = after().unwrap_or_default();
    after.trim_start_matches(',').get(1..).is_some_and(|after| after.starts_with('}'))
}

/// Returns the offset of the beginning of a span.
fn place(text: &str, span: proc_macro::Span) -> Option<usize> {
    let lines: usize = text.split_inclusive('\n').take(span.line().checked_sub(1)?).map(str::len).sum();
    let columns = text.get(lines..)?.chars().take(span.column().checked_sub(1)?);
    Some(lines + columns.map(char::len_utf8).sum::<usize>())
}

impl Around {
    /// Returns the source before the innermost block.
    fn block(&self) -> &str {
        let mut open = self.open.iter().rev();
        open.find(|(delimiter, _)| *delimiter == '{').map_or("", |(_, before)| before)
    }

    /// Returns `impl` or `trait` for a place directly in such a block.
    fn member_of(&self) -> Option<&'static str> {
        let mut words =
            self.block().split_whitespace().map(|word| word.split('<').next().unwrap_or_default());
        let is_before = |word: &str| {
            word.starts_with('#')
                || ["", "pub", "pub()", "unsafe", "default", "const", "auto"].contains(&word)
        };
        let is_in_block = self.open.last().is_some_and(|(delimiter, _)| *delimiter == '{');
        let word = words.find(|word| !is_before(word)).filter(|_| is_in_block)?;
        ["impl", "trait"].into_iter().find(|block| *block == word)
    }

    /// Returns true for tokens that another macro gets or makes.
    fn is_in_macro(&self) -> bool {
        self.open
            .iter()
            .any(|(_, before)| before.contains("macro_rules!") || before.trim_end().ends_with('!'))
    }

    /// Returns true for an expression whose value something takes: an argument, or the right side of `=` or `=>`.
    fn is_value(&self) -> bool {
        let before = self.before.trim_end();
        let is_in_group = self.open.last().is_some_and(|(delimiter, _)| *delimiter != '{');
        is_in_group || ["=", "=>", "return", "&"].iter().any(|end| before.ends_with(end))
    }

    /// Returns true for a place in a block of statements, as far as the source before the block tells.
    fn is_in_code(&self) -> bool {
        let items = ["mod", "impl", "trait", "extern", "macro_rules!"];
        !self.block().is_empty() && !self.block().split_whitespace().any(|word| items.contains(&word))
    }

    /// Returns the source around the innermost call of a macro that the place is in, and the call's delimiter.
    fn around_call(mut self, name: &str) -> Option<(Self, char)> {
        let (delimiter, before) = self.open.pop()?;
        let path = before.trim_end().strip_suffix('!')?.trim_end().strip_suffix(name)?;
        let is_path = |c: char| c.is_alphanumeric() || matches!(c, ':' | '_' | '$');
        path.trim_end_matches(is_path).clone_into(&mut self.before);
        Some((self, delimiter))
    }

    /// Returns true if attributes stand before the place.
    pub(crate) fn has_attributes(&self) -> bool {
        self.before.contains(['#', '$'])
    }
}

/// Reads the source up to a place.
fn of(text: &str) -> Around {
    let mut open: Vec<(char, String)> = Vec::new();
    let mut before = String::new();
    let mut rest = text;
    while let Some(next) = rest.chars().next() {
        let skipped = comment(rest).or_else(|| literal(rest, &before));
        if let Some((length, is_literal)) = skipped {
            before.push_str(if is_literal { "\"\"" } else { " " });
            rest = rest.get(length..).unwrap_or_default();
            continue;
        }
        match next {
            '{' | '(' | '[' => open.push((next, std::mem::take(&mut before))),
            '}' | ')' | ']' => {
                let (delimiter, outside) = open.pop().unwrap_or_default();
                before = if next == '}' { String::new() } else { format!("{outside}{delimiter}{next}") };
            }
            ';' if open.last().is_none_or(|(delimiter, _)| *delimiter == '{') => before.clear(),
            other => before.push(other),
        }
        rest = &rest[next.len_utf8()..];
    }
    Around { open, before }
}

/// Returns the length of a comment at the beginning.
fn comment(text: &str) -> Option<(usize, bool)> {
    if text.starts_with("//") {
        return Some((text.find('\n').unwrap_or(text.len()), false));
    }
    let mut depth = 0;
    let mut length = 0;
    loop {
        let rest = text.get(length..)?;
        if rest.starts_with("/*") {
            depth += 1;
            length += 2;
        } else if depth == 0 {
            return None;
        } else if rest.starts_with("*/") {
            depth -= 1;
            length += 2;
            if depth == 0 {
                return Some((length, false));
            }
        } else {
            length += rest.chars().next().map_or(1, char::len_utf8);
        }
        if length >= text.len() {
            return Some((text.len(), false));
        }
    }
}

/// Returns the length of a string or a character at the beginning.
fn literal(text: &str, before: &str) -> Option<(usize, bool)> {
    let is_word = before.ends_with(|last: char| last.is_alphanumeric() || last == '_');
    if let (Some(raw), false) = (text.strip_prefix('r').or_else(|| text.strip_prefix("br")), is_word) {
        let hashes = raw.len() - raw.trim_start_matches('#').len();
        if raw[hashes..].starts_with('"') {
            let end = format!("\"{}", "#".repeat(hashes));
            let start = text.len() - raw.len() + hashes + 1;
            let length = text[start..].find(&end).map_or(text.len(), |place| start + place + end.len());
            return Some((length, true));
        }
    }
    if text.starts_with('"') {
        return Some((quoted(text, '"').unwrap_or(text.len()), true));
    }
    let inner = text.strip_prefix('\'')?;
    let mut characters = inner.chars();
    // Otherwise it is a lifetime.
    match (characters.next(), characters.next()) {
        (Some('\\'), _) | (Some(_), Some('\'')) => Some((quoted(text, '\'').unwrap_or(text.len()), true)),
        _ => None,
    }
}

/// Returns the length of a literal between quotes.
fn quoted(text: &str, quote: char) -> Option<usize> {
    let mut escaped = false;
    text.char_indices().skip(1).find_map(|(place, character)| {
        let is_end = character == quote && !escaped;
        escaped = character == '\\' && !escaped;
        is_end.then(|| place + quote.len_utf8())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_a_file_takes_from_the_toolkit() {
        for (text, is_imported) in [
            ("//! Tools.\n\nuse toolkit::prelude::*;", true),
            ("use toolkit::{\n    ToolError,\n    ToolResult,\n};", true),
            ("use std::fmt; fn a() { let b = 1; }\n    pub(crate) use ::toolkit::ToolResult; }", true),
            ("use toolkit::ToolError;", false),
            ("use toolkit::prelude::*; use crate::errors::ToolResult;", false),
            ("use toolkit::prelude::*; type ToolResult<T> = Result<T, ToolError>;", false),
            ("// use toolkit::prelude::*;", false),
            ("", false),
        ] {
            assert_eq!(imports_from_toolkit(text, "ToolResult"), is_imported, "{text}");
        }
    }

    #[test]
    fn structs_with_the_attribute_of_fields_alone() {
        let fields = "struct A {\n    /// B.\n    #[arg(range(1..))]\n    b: u8,\n}\n";
        for (before, lacks_args) in [
            ("use serde::Deserialize;\n\n#[derive(Deserialize, JsonSchema)]\n", true),
            ("#[derive(ToolArgs, JsonSchema)]\n", false),
            ("", false),
            ("#[toolkit::args]\n#[derive(Debug)]\n", false),
            ("#[args(allow_unknown_fields)]\npub ", false),
        ] {
            assert_eq!(is_arg_without_args(&format!("{before}{fields}"), "A"), lacks_args, "{before}");
        }
        assert!(!is_arg_without_args("struct A { b: u8 }", "A"));
    }

    #[test]
    fn members_of_blocks() {
        for (text, is_member) in [
            ("struct A; impl A {\n    ", true),
            ("#[cfg(unix)]\nunsafe impl<T> B<T> for A<T>\nwhere\n    T: C,\n{\n    /// Reads.\n    ", true),
            ("pub(crate) trait A {\n    fn a() {}\n    ", true),
            ("impl A { fn a() {\n    ", false),
            ("impl A {}\n    ", false),
            ("mod a {\n    // impl A {\n    ", false),
            ("mod a {\n    /* impl A { /* { */ */ const B: &str = \"impl A {\"; ", false),
            ("fn a() { let b = r#\"impl \"A { \"#; let c = '{'; let d = '\\''; ", false),
            ("impl A<'a> { const B: char = '}'; ", true),
            ("macro_rules! a { () => {\n    ", false),
            ("", false),
        ] {
            assert_eq!(of(text).member_of().is_some(), is_member, "{text}");
        }
    }

    #[test]
    fn macro_calls_that_are_values() {
        for (text, is_value) in [
            ("fn a() { let b = toolkit::link!(", true),
            ("fn a() { run(1, link! [", true),
            ("const A: [u8; 3] = ::toolkit::link!{", true),
            ("fn a() { match b { 1 => link!(", true),
            ("fn a() { link!(", false),
            ("fn a() { let b = 5; link!(", false),
            ("struct A; toolkit::link!(", false),
            ("#[cfg(a = \"b\")] toolkit::link!(", false),
            ("toolkit::link!(", false),
        ] {
            let (around, _) = of(text).around_call("link").unwrap();
            assert_eq!(around.is_value(), is_value, "{text}");
        }
    }

    #[test]
    fn blocks_of_statements() {
        assert!(of("fn a() { ").is_in_code());
        assert!(of("fn a() { if b { ").is_in_code());
        assert!(!of("mod a { ").is_in_code());
        assert!(!of("").is_in_code());
    }

    #[test]
    fn attributes_before_a_place() {
        assert!(of("struct B; #[derive(A)] ").has_attributes());
        assert!(!of("#[derive(A)] struct B; /// #[derive(A)]\n").has_attributes());
    }
}
