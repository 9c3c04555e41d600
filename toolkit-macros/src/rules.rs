//! The keys of `#[arg(..)]`. A key that constrains the value is a [`Constraint`] in a module of its own.

mod around;
mod literal;
mod range;
mod regex;

pub(crate) use around::Around;
pub(crate) use literal::{Kind, Literal};

use crate::check::{Check, Errors};
use crate::keys::{self, Entry, Given, as_list, listed};
use proc_macro2::{Delimiter, Span, TokenStream, TokenTree};
use quote::ToTokens;
use syn::spanned::Spanned;
use syn::{Expr, LitStr};

/// The keys that constrain the value, each with the function that reads it, in the order of the keywords in a schema.
const CONSTRAINTS: &[(&str, ReadConstraint)] =
    &[("range", range::range), ("length", range::length), ("pattern", regex::pattern)];

/// Reads the key of a constraint, or reports what is wrong with it.
type ReadConstraint = fn(&Entry, &mut Errors) -> Option<Box<dyn Constraint>>;

/// A constraint of a value, which the schema states.
pub(crate) trait Constraint {
    /// Returns the keywords of JSON Schema that it may write. Two constraints of one argument cannot write the same: in a schema, the later
    /// would replace the earlier.
    fn keywords(&self) -> &'static [&'static str];

    /// Returns the check of the type, the function in `toolkit::__private` that makes it, and the place of its error.
    fn type_check(&self) -> (Check, &'static str, Span);

    /// Returns the rules of a parameter: expressions of the type `__toolkit::Rule`.
    fn rules(&self, kind: Kind) -> Vec<TokenStream>;

    /// Returns the same for a field of `#[toolkit::args]`: attributes of schemars.
    fn attributes(&self, kind: Kind, toolkit: &TokenStream) -> TokenStream;

    /// Returns the place and the reason why no value of the type can have the constraint, if that is known.
    fn type_fault(&self, form: TypeForm<'_>) -> Option<(TokenStream, String)>;

    /// Returns the reason why a default or an example violates the constraint, if it does. `key` is `default` or `example`.
    fn fault(&self, key: &str, value: &Literal) -> Option<String>;
}

/// The rules in `#[arg(..)]` of one parameter.
#[derive(Default)]
pub(crate) struct Rules {
    pub(crate) default: Option<Default_>,
    pub(crate) rename: Option<LitStr>,
    /// In the order of [`CONSTRAINTS`].
    pub(crate) constraints: Vec<Box<dyn Constraint>>,
    pub(crate) example: Option<Expr>,
    pub(crate) aliases: Vec<LitStr>,
    pub(crate) secret: bool,
}

/// A default.
pub(crate) enum Default_ {
    /// `default`: that of the type.
    OfType(Span),
    /// `default = value`.
    Value(Box<Expr>, Span),
}

impl Rules {
    /// Reads the content of one or several `#[arg(..)]` of one parameter.
    pub(crate) fn parse(tokens: TokenStream, around: &Around, errors: &mut Errors) -> Self {
        let mut rules = Self::default();
        let mut constraints = Vec::new();
        for entry in keys::parse(tokens, "arg", keys::ARG, errors) {
            if is_refused(&entry, errors) || around.refuses(&entry, errors) {
                continue;
            }
            match CONSTRAINTS.iter().enumerate().find(|(_, (key, _))| *key == entry.key) {
                Some((place, (_, read))) => {
                    constraints.extend(read(&entry, errors).map(|constraint| (place, constraint)));
                }
                None => rules.take(entry, errors),
            }
        }
        constraints.sort_by_key(|(place, _)| *place);
        // No test covers the call: no two of today's constraints write the same keyword. The function has one.
        refuse_shared_keywords(&constraints, errors);
        rules.constraints = constraints.into_iter().map(|(_, constraint)| constraint).collect();
        rules
    }

    fn take(&mut self, entry: Entry, errors: &mut Errors) {
        match entry.key {
            "default" => {
                self.default = Some(match entry.given {
                    Given::Value(value) => Default_::Value(Box::new(value), entry.span),
                    _ => Default_::OfType(entry.span),
                });
            }
            "rename" => {
                self.rename = entry.literal(errors).filter(|name| argument_name("rename", name, errors));
            }
            "example" => {
                if let Given::Value(value) = entry.given {
                    self.example = Some(value);
                }
            }
            "alias" => {
                self.aliases = entry.texts(errors);
                self.aliases.retain(|alias| argument_name("alias", alias, errors));
            }
            "secret" => self.secret = entry.flag(errors).unwrap_or(false),
            other => unreachable!("the key {other} is not in the table"),
        }
    }

    /// Checks a literal default and example against the type, as far as it is known, and the rules. A literal of a
    /// wrong type is dropped, so that the compiler does not report it again.
    pub(crate) fn check_values(&mut self, form: TypeForm<'_>, errors: &mut Errors) {
        for (place, fault) in self.constraints.iter().filter_map(|constraint| constraint.type_fault(form)) {
            errors.push(Check::RangeForm, &place, fault);
        }
        if let Some(Default_::Value(value, _)) = &self.default
            && !self.check_value("default", value, form, errors)
        {
            self.default = None;
        }
        if let Some(example) = &self.example
            && !self.check_value("example", example, form, errors)
        {
            self.example = None;
        }
    }

    /// Returns true if the value has the right type.
    fn check_value(&self, key: &str, value: &Expr, form: TypeForm<'_>, errors: &mut Errors) -> bool {
        let Some(literal) = Literal::of(value) else { return true };
        if let Some(mut fault) = form.fault(key, &literal) {
            if let ("default", Kind::Integer { .. } | Kind::Float, Literal::Str(text)) =
                (key, form.kind, &literal)
                && syn::parse_str::<syn::Path>(text).is_ok()
            {
                // Another library takes the name of a function in quotes.
                fault = format!("{fault}\nto call a function, write `default = {text}()`");
            }
            errors.push(Check::DefaultType, value, fault);
            return false;
        }
        for fault in self.constraints.iter().filter_map(|constraint| constraint.fault(key, &literal)) {
            errors.push(Check::DefaultRule, value, fault);
        }
        true
    }
}

/// Reports an example that shows nothing, and a default that cannot be computed where it is needed: before the function runs, without its
/// values.
fn is_refused(entry: &Entry, errors: &mut Errors) -> bool {
    let Given::Value(value) = &entry.given else { return false };
    let is_none = |value: &Expr| matches!(value, Expr::Path(path) if path.path.is_ident("null") || path.path.is_ident("None"));
    if entry.key == "example" && is_none(value) {
        let message =
            "an example shows a value; of an `Option`, write the value within it, as in `example = 3`";
        errors.push(Check::DefaultType, value, message);
        return true;
    }
    if entry.key != "default" {
        return false;
    }
    let tokens = value.to_token_stream();
    let (span, message) = if let Some(span) = awaited(&tokens) {
        (span, "a default cannot wait\ntake an `Option`, and compute the value in the function")
    } else if let Some(span) = mentions_self(&tokens) {
        (span, "a default cannot use `self`\ntake an `Option`, and compute the value in the function")
    } else if is_none(value) {
        (value.span(), "an argument that may be absent is an `Option`\ntake `Option<T>`, without a default")
    } else {
        return false;
    };
    errors.push_span(Check::DefaultName, span, message);
    true
}

/// The place of an `.await`.
fn awaited(tokens: &TokenStream) -> Option<Span> {
    let tokens: Vec<TokenTree> = tokens.clone().into_iter().collect();
    tokens.iter().enumerate().find_map(|(place, token)| match token {
        TokenTree::Ident(word) if word == "await" && place > 0 => {
            matches!(&tokens[place - 1], TokenTree::Punct(dot) if dot.as_char() == '.').then(|| word.span())
        }
        // A closure or a block may be async itself.
        TokenTree::Group(group) if group.delimiter() != Delimiter::Brace => awaited(&group.stream()),
        _ => None,
    })
}

fn mentions_self(tokens: &TokenStream) -> Option<Span> {
    tokens.clone().into_iter().find_map(|token| match token {
        TokenTree::Ident(word) if word == "self" => Some(word.span()),
        TokenTree::Group(group) if group.delimiter() != Delimiter::Brace => mentions_self(&group.stream()),
        _ => None,
    })
}

/// Properties of an argument's type that its text shows.
#[derive(Clone, Copy)]
pub(crate) struct TypeForm<'a> {
    /// The type as written.
    pub(crate) name: &'a str,
    pub(crate) kind: Kind,
    /// The kind of a list's items.
    pub(crate) item: Kind,
}

impl TypeForm<'_> {
    fn fault(self, key: &str, literal: &Literal) -> Option<String> {
        let name = self.name;
        if self.kind.takes(literal) {
            if let Some(nearest) = self.kind.nearest(literal, name) {
                return Some(format!(
                    "this {key} has more digits than `{name}` holds; the nearest is {nearest}"
                ));
            }
            let Literal::List(items) = literal else { return None };
            let wrong = items.iter().find(|item| !self.item.takes(item))?;
            if let (Kind::Integer { least, greatest }, Literal::Int(item)) = (self.item, wrong) {
                return Some(format!(
                    "the item {item} of this {key} does not fit into `{name}`, which takes {least} to {greatest}"
                ));
            }
            return Some(format!("an item of this {key} is {}, which `{name}` does not take", wrong.kind()));
        }
        Some(match (self.kind, literal) {
            (Kind::Integer { least, greatest }, Literal::Int(_)) => {
                format!("this {key} does not fit into `{name}`, which takes {least} to {greatest}")
            }
            (Kind::Char, Literal::Str(_)) => {
                format!("this {key} must be one character, since the type is `{name}`")
            }
            (Kind::Integer { .. } | Kind::Float, Literal::Str(_)) if key == "default" => format!(
                "this {key} is {}, which `{name}` does not take\nwrite a number, or take `Option<{name}>` without a default where no number is meant",
                literal.kind()
            ),
            _ => format!("this {key} is {}, which `{name}` does not take", literal.kind()),
        })
    }
}

/// Reports constraints that write the same keyword. Each is given with its place in [`CONSTRAINTS`].
fn refuse_shared_keywords(constraints: &[(usize, Box<dyn Constraint>)], errors: &mut Errors) {
    for (number, (place, later)) in constraints.iter().enumerate() {
        let shared = constraints[..number].iter().find_map(|(place, earlier)| {
            let keyword = earlier.keywords().iter().find(|keyword| later.keywords().contains(keyword))?;
            Some((place, keyword))
        });
        if let Some((earlier, keyword)) = shared {
            let (earlier, later_key) = (CONSTRAINTS[*earlier].0, CONSTRAINTS[*place].0);
            let message = format!(
                "`{earlier}` and `{later_key}` both set `{keyword}` of the schema\nremove one of them, or write both rules into one"
            );
            errors.push_span(Check::Contradiction, later.type_check().2, message);
        }
    }
}

/// Returns true if every provider accepts the name as a property: letters, digits, `_`, `-` and `.`, at most 64.
fn argument_name(key: &str, name: &LitStr, errors: &mut Errors) -> bool {
    let text = name.value();
    let legal = (1..=64).contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.'));
    if !legal {
        errors.push(
            Check::ArgumentName,
            name,
            match text.len() {
                0 => "an empty name for an argument; leave `rename` or `alias` out".to_owned(),
                1..=64 if key == "alias" && listed(&text).is_some() => {
                    let list = as_list(listed(&text).unwrap_or_default());
                    format!("`{text}` cannot name an argument\nwrite `alias = [{list}]` for several names")
                }
                1..=64 => format!(
                    "`{text}` cannot name an argument\nuse letters, digits, `_`, `-` and `.`, 64 at most"
                ),
                length => format!("this name of an argument has {length} bytes, and 64 is the most"),
            },
        );
    }
    legal
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Writes(&'static [&'static str]);

    impl Constraint for Writes {
        fn keywords(&self) -> &'static [&'static str] {
            self.0
        }

        fn type_check(&self) -> (Check, &'static str, Span) {
            (Check::RangeType, "ranged", Span::call_site())
        }

        fn rules(&self, _: Kind) -> Vec<TokenStream> {
            Vec::new()
        }

        fn attributes(&self, _: Kind, _: &TokenStream) -> TokenStream {
            TokenStream::new()
        }

        fn type_fault(&self, _: TypeForm<'_>) -> Option<(TokenStream, String)> {
            None
        }

        fn fault(&self, _: &str, _: &Literal) -> Option<String> {
            None
        }
    }

    #[test]
    fn constraints_that_write_the_same_keyword_are_refused() {
        let found = |one: &'static [&'static str], other: &'static [&'static str]| {
            let mut errors = Errors::default();
            refuse_shared_keywords(&[(0, Box::new(Writes(one))), (2, Box::new(Writes(other)))], &mut errors);
            errors.into_tokens().to_string()
        };
        assert_eq!(found(&["minimum", "maximum"], &["pattern"]), "");
        let message = "`range` and `pattern` both set `maximum` of the schema";
        let refused = found(&["minimum", "maximum"], &["pattern", "maximum"]);
        assert!(refused.contains(message), "{refused}");
    }
}
