//! Proof that the compile-fail cases are effective: a named case violates each check, and with that check switched off
//! the case reports something else.

use crate::check::{Check, tests::found};
use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use quote::quote;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// A use of a macro in a case.
enum Use {
    Tool { attribute: TokenStream, item: TokenStream },
    Args { attribute: TokenStream, item: TokenStream },
    Link { list: TokenStream },
    Plugin { fields: TokenStream },
    Factory { attribute: TokenStream, item: TokenStream },
    Service { attribute: TokenStream, item: TokenStream },
    Tools { attribute: TokenStream, item: TokenStream },
}

impl Use {
    /// Expands an item with the attribute of this path.
    fn of(path: &str, attribute: TokenStream, item: TokenStream) -> Option<Self> {
        Some(match path {
            "tool" | "toolkit::tool" => Self::Tool { attribute, item },
            "toolkit::args" => Self::Args { attribute, item },
            "toolkit::tool_factory" => Self::Factory { attribute, item },
            "toolkit::service" => Self::Service { attribute, item },
            "toolkit::tools" => Self::Tools { attribute, item },
            _ => return None,
        })
    }
}

/// The errors that a case reports, and the code it expands to.
#[derive(PartialEq)]
struct Report {
    found: Vec<(Check, String)>,
    code: String,
}

#[test]
fn every_check_is_broken_by_a_case_that_needs_it() {
    let cases = cases();
    let reports: Vec<Report> = cases.values().map(|uses| report(uses, None)).collect();
    let mut missing = Vec::new();
    for check in Check::ALL {
        // Patterns are checked with this feature alone.
        if *check == Check::Regex && !cfg!(feature = "patterns") {
            continue;
        }
        let bites = cases.values().zip(&reports).any(|(uses, report_with)| {
            let without = report(uses, Some(*check));
            if check.is_left_to_the_compiler() {
                report_with.found.is_empty() && without.code != report_with.code
            } else {
                report_with.found.iter().any(|(found, _)| found == check)
                    && without.found != report_with.found
            }
        });
        if !bites {
            missing.push(check);
        }
    }
    assert!(missing.is_empty(), "no case in ui-tests/fail needs these checks: {missing:?}");
}

#[test]
fn every_message_is_short_and_plain() {
    for (path, uses) in cases() {
        for (check, message) in report(&uses, None).found {
            let headline = message.lines().next().unwrap_or_default();
            let place = format!("{} {check:?}: {message}", path.display());
            assert!(headline.chars().count() <= 100, "{place}");
            assert!(headline.starts_with(|first: char| first.is_lowercase() || first == '`'), "{place}");
            for line in message.lines() {
                assert!(!line.ends_with('.') && !line.ends_with(char::is_whitespace), "{place}");
            }
        }
    }
}

/// Checks that the macros return code or an error for any input, and never panic.
#[test]
fn nothing_panics() {
    let items = [
        "",
        "fn",
        "fn read",
        "fn read()",
        "async fn read(path) {}",
        "fn read(&self, ...) -> impl Fn(&str) {}",
        "fn read(#[arg(range(5..=-170141183460469231731687303715884105727), length(0..0))] x: Vec<[&'a u8; 3]>) {}",
        "fn read(#[arg(range(-170141183460469231731687303715884105728..))] x: i64) {}",
        "fn read(#[arg(range(..-170141183460469231731687303715884105727))] x: i64) {}",
        "fn read(#[arg(default = '\u{0}', length(99999999999999999999..))] x: char) {}",
        "fn read(#[arg(default = -(-(5)))] x: Option<Option<u8>>) {}",
        "fn read(#[arg(default = 1e999, range(0.0..1e999))] x: f64) {}",
        "fn read(#[arg] #[args] #[arg(())] mut self: &mut Self, _: (), ..: u8) {}",
        "fn r#type(r#fn: u8, r#async: Option<&[[u8; 2]]>) -> ! { loop {} }",
        "pub(crate) const unsafe extern fn f<T>() where T: {}",
        "struct S<'a, T>(#[arg(default = 1)] &'a T);",
        "enum E { A(#[arg(range(1..))] u8), B { #[arg(length(..))] b: () }, C = 5 }",
        "union U { a: u8 }",
        "fn read(a: &&Option<State<()>>, b: State<&State<Arc<()>>>, c: &dyn A, d: Arc<>, e: Box<Box<Caller>>) {}",
        "fn read(#[doc = include_str!()] #[arg(range(min = 1, 5), length(equal = ), default: 5)] a: std::time::Duration) {}",
        "#[doc = concat!(1)] fn read(#[arg(range(..=99999999999999999999999999999999999999))] a: f32) {}",
        "x-y, core z, ::a, \"\", core = , -",
        "id = , \"a\", a(), b",
        "impl A { #[tool] fn a(self: Self, _: Self, #[arg(x)] b: u8) -> Self {} #[tool] #[tool] const X: u8 = 1; }",
        "impl<T> B<T> for [T; 2] { #[tool(name = 1)] async fn a(&'a mut self, (b, c): (u8, u8)); }",
        "\"text\"",
        "; ; ;",
    ];
    let attributes = [
        "",
        "name",
        "name = \"\"",
        "name = é",
        "\"\"",
        ",",
        ",,",
        "crate",
        "crate = ::",
        "a::b(c)",
        "truncate(,)",
        "x = {",
        "name: ",
        "!",
        "!name",
        "id = \"a\", 5",
        "__method = 5",
        "range(min = , max)",
        "min, max = 5, params(a)",
        "5",
    ];
    for item in items {
        for attribute in attributes {
            let (Ok(item), Ok(attribute)) = (item.parse::<TokenStream>(), attribute.parse::<TokenStream>())
            else {
                continue;
            };
            report(&[Use::Tool { attribute: attribute.clone(), item: item.clone() }], None);
            report(&[Use::Factory { attribute: attribute.clone(), item: item.clone() }], None);
            report(&[Use::Service { attribute: attribute.clone(), item: item.clone() }], None);
            report(&[Use::Tools { attribute: attribute.clone(), item: item.clone() }], None);
            report(&[Use::Args { attribute, item: item.clone() }], None);
            report(&[Use::Plugin { fields: item.clone() }], None);
            report(&[Use::Link { list: item }], None);
        }
    }
}

fn report(uses: &[Use], disabled: Option<Check>) -> Report {
    let mut code = String::new();
    let found = found(disabled, || {
        for one in uses {
            let expansion = match one {
                Use::Tool { attribute, item } => crate::tool::expand(attribute.clone(), item),
                Use::Args { attribute, item } => crate::args::expand(attribute.clone(), item),
                Use::Link { list } => crate::link::expand(quote!([::toolkit] #list)),
                Use::Plugin { fields } => crate::plugin::expand(quote!([::toolkit] #fields)),
                Use::Factory { attribute, item } => crate::provider::factory(attribute.clone(), item),
                Use::Service { attribute, item } => crate::provider::service(attribute.clone(), item),
                Use::Tools { attribute, item } => crate::methods::expand(attribute.clone(), item),
            };
            code.push_str(&expansion.to_string());
        }
    });
    Report { found, code }
}

/// All cases that must not compile, by file.
fn cases() -> BTreeMap<PathBuf, Vec<Use>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../ui-tests/fail");
    let mut cases = BTreeMap::new();
    for folder in entries(&root) {
        for file in
            entries(&folder).into_iter().filter(|file| file.extension().is_some_and(|found| found == "rs"))
        {
            let source = fs::read_to_string(&file).expect("a case can be read");
            let tokens: TokenStream =
                source.parse().unwrap_or_else(|error| panic!("{}: {error}", file.display()));
            let mut uses = Vec::new();
            collect(tokens, &mut uses);
            // The mistakes of a host are in its own code.
            assert!(!uses.is_empty() || folder.ends_with("host"), "{} uses no macro", file.display());
            cases.insert(file, uses);
        }
    }
    cases
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    entries.map(|entry| entry.expect("a folder can be listed").path()).collect()
}

/// Finds the macros' uses token by token, since some cases are no Rust at all.
fn collect(tokens: TokenStream, uses: &mut Vec<Use>) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let mut before = TokenStream::new();
    let mut place = 0;
    while place < tokens.len() {
        let rest = &tokens[place..];
        if let Some(attribute) = attribute(rest) {
            let item: TokenStream = before.clone().into_iter().chain(item(&rest[2..])).collect();
            let (path, content) = attribute;
            if let Some(one) = Use::of(&path, content, item) {
                uses.push(one);
                place += 2 + length(&rest[2..]);
                before = TokenStream::new();
                continue;
            }
            before.extend(rest[..2].iter().cloned());
            place += 2;
            continue;
        }
        before = TokenStream::new();
        if let Some(list) = call_of("link", rest) {
            uses.push(Use::Link { list });
        } else if let Some(fields) = call_of("plugin", rest) {
            uses.push(Use::Plugin { fields });
        } else if let TokenTree::Group(group) = &rest[0] {
            collect(group.stream(), uses);
        }
        place += 1;
    }
}

/// The path and the content of an attribute at the beginning.
fn attribute(tokens: &[TokenTree]) -> Option<(String, TokenStream)> {
    let [TokenTree::Punct(hash), TokenTree::Group(group), ..] = tokens else { return None };
    if hash.as_char() != '#' || group.delimiter() != Delimiter::Bracket {
        return None;
    }
    let mut path = String::new();
    let mut content = TokenStream::new();
    for token in group.stream() {
        match token {
            TokenTree::Group(group) => content = group.stream(),
            other => path.push_str(&other.to_string()),
        }
    }
    Some((path, content))
}

/// The item at the beginning: up to its braces or its semicolon.
fn item(tokens: &[TokenTree]) -> impl Iterator<Item = TokenTree> {
    tokens[..length(tokens)].iter().cloned()
}

fn length(tokens: &[TokenTree]) -> usize {
    let ends = |token: &TokenTree| match token {
        TokenTree::Group(group) => group.delimiter() == Delimiter::Brace,
        TokenTree::Punct(punct) => punct.as_char() == ';',
        _ => false,
    };
    tokens.iter().position(ends).map_or(tokens.len(), |end| end + 1)
}

/// The content of a `toolkit::name!(…)` at the beginning.
fn call_of(macro_name: &str, tokens: &[TokenTree]) -> Option<TokenStream> {
    match tokens {
        [TokenTree::Ident(name), TokenTree::Punct(bang), TokenTree::Group(Group { .. }), ..]
            if name == macro_name && bang.as_char() == '!' =>
        {
            let TokenTree::Group(group) = &tokens[2] else { return None };
            Some(group.stream())
        }
        _ => None,
    }
}
