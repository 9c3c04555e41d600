//! The form that all attributes share: `key`, `key = value`, `key(list)`, each at most once, each known.

mod foreign;
mod tables;
mod translated;
mod written;

pub(crate) use foreign::is_described;
pub(crate) use tables::{ARG, METHOD, TOOL};
pub(crate) use translated::unknown_attribute;
pub(crate) use written::{arg_without_list, as_list, as_range, listed, sentence, shown};

use crate::check::{Check, Errors};
use darling::ast::NestedMeta;
use proc_macro2::{Ident, Span, TokenStream};
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::parse::{ParseStream, Parser as _};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{Expr, ExprLit, ExprPath, ExprUnary, FieldValue, Lit, LitStr, Member, Meta, Path, Token, UnOp};

/// A key and its form.
pub(crate) struct Key {
    pub(crate) name: &'static str,
    pub(crate) form: Form,
    /// A legal use, for the error text.
    pub(crate) example: &'static str,
}

/// The forms that a key can have.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// `key`, or `key = true`.
    Flag,
    /// `key = value`.
    Value,
    /// `key(…)`.
    List,
    /// `key(…)`, or `key = value`.
    ListOrValue,
    /// `key`, or `key = value`.
    FlagOrValue,
}

/// A key with its value, as written.
pub(crate) struct Entry {
    pub(crate) key: &'static str,
    /// A legal use.
    example: &'static str,
    pub(crate) span: Span,
    pub(crate) given: Given,
}

/// The value of a key.
pub(crate) enum Given {
    Flag,
    Value(Expr),
    List(TokenStream),
}

/// Reads an attribute's content against the keys it may have.
pub(crate) fn parse(
    tokens: TokenStream,
    attribute: &str,
    keys: &'static [Key],
    errors: &mut Errors,
) -> Vec<Entry> {
    let metas = match NestedMeta::parse_meta_list(tokens.clone()) {
        Ok(metas) => metas,
        Err(error) => {
            written::report(tokens, error, attribute, keys, errors);
            return Vec::new();
        }
    };
    let mut written = Vec::new();
    for meta in metas {
        let (path, given) = match meta {
            NestedMeta::Meta(Meta::Path(path)) => (path, Given::Flag),
            NestedMeta::Meta(Meta::NameValue(meta)) => {
                (meta.path, Given::Value(without_group(&meta.value).clone()))
            }
            NestedMeta::Meta(Meta::List(meta)) => (meta.path, Given::List(meta.tokens)),
            NestedMeta::NameValueInvalidExpr(meta) => {
                let name = name_of(&meta.path);
                let example =
                    keys.iter().find(|key| key.name == name).map_or(keys[0].example, |key| key.example);
                errors.push(Check::Syntax, &meta.path, format!("`{name}` needs a value; write `{example}`"));
                continue;
            }
            NestedMeta::Lit(literal) => {
                errors.push(Check::StrayLiteral, &literal, written::stray(&literal, attribute, keys));
                continue;
            }
        };
        written.push((path, given));
    }
    check(written, attribute, keys, errors)
}

/// Reads `key: value, …` against the keys there may be.
pub(crate) fn parse_fields(
    tokens: TokenStream,
    what: &str,
    keys: &'static [Key],
    errors: &mut Errors,
) -> Vec<Entry> {
    let fields = |input: ParseStream<'_>| Punctuated::<FieldValue, Token![,]>::parse_terminated(input);
    let fields = match fields.parse2(tokens.clone()) {
        Ok(fields) => fields,
        Err(error) => {
            written::report(tokens, error, what, keys, errors);
            return Vec::new();
        }
    };
    let written = fields.into_iter().map(|field| {
        let path = match field.member {
            Member::Named(ident) => Path::from(ident),
            Member::Unnamed(index) => Path::from(Ident::new(&format!("_{}", index.index), index.span)),
        };
        (path, Given::Value(without_group(&field.expr).clone()))
    });
    check(written.collect(), what, keys, errors)
}

/// The entries that are known, in their form, and there once.
fn check(
    written: Vec<(Path, Given)>,
    attribute: &str,
    keys: &'static [Key],
    errors: &mut Errors,
) -> Vec<Entry> {
    let mut entries: Vec<Entry> = Vec::new();
    let mut advised: Vec<Option<&str>> = Vec::new();
    for (path, given) in written {
        let name = name_of(&path);
        let Some(key) = keys.iter().find(|key| key.name == name) else {
            if attribute.ends_with('!') && written::is_alone(&path, &given) {
                let first = keys[0].example;
                errors.push(Check::StrayLiteral, &path, format!("a value without a key; write `{first}`"));
                continue;
            }
            let advice = foreign::advice(attribute, &name);
            // One misunderstanding may take several keys, as `min` and `max`.
            if advice.is_none() || !advised.contains(&advice) {
                errors.push(Check::UnknownKey, &path, unknown(&name, attribute, keys, advice));
            }
            advised.push(advice);
            continue;
        };
        if !fits(key.form, &given) {
            let right = written::rewritten(key, &given);
            errors.push(
                Check::WrongForm,
                &path,
                written::sentence(&format!("`{name}` is not written like this"), &format!("write `{right}`")),
            );
            continue;
        }
        if entries.iter().any(|entry| entry.key == key.name) {
            errors.push(Check::DuplicateKey, &path, format!("`{name}` is given twice; keep one"));
            continue;
        }
        entries.push(Entry { key: key.name, example: key.example, span: path.span(), given });
    }
    entries
}

/// Returns a value without the invisible group around an expression that a `macro_rules!` passes on. A group stays where an
/// operator beside it would take the expression apart.
pub(crate) fn without_group(value: &Expr) -> &Expr {
    let Expr::Group(group) = value else { return value };
    match without_group(&group.expr) {
        Expr::Binary(_) | Expr::Assign(_) | Expr::Cast(_) | Expr::Range(_) | Expr::Closure(_) => value,
        inner => inner,
    }
}

fn fits(form: Form, given: &Given) -> bool {
    match given {
        Given::Flag => matches!(form, Form::Flag | Form::FlagOrValue),
        Given::Value(_) => form != Form::List,
        Given::List(_) => matches!(form, Form::List | Form::ListOrValue),
    }
}

fn name_of(path: &Path) -> String {
    match path.get_ident() {
        Some(ident) => ident.unraw().to_string(),
        None => path.to_token_stream().to_string().replace(' ', ""),
    }
}

fn unknown(name: &str, attribute: &str, keys: &[Key], advice: Option<&str>) -> String {
    if let Some(advice) = advice {
        return written::sentence(&format!("unknown key `{name}`"), advice);
    }
    // Keys of the expansion itself are not shown.
    let keys = || keys.iter().filter(|key| !key.name.starts_with("__"));
    match nearest(name, keys().map(|key| key.name)) {
        Some(near) => format!("unknown key `{name}`; did you mean `{near}`?"),
        None => {
            let all: Vec<&str> = keys().map(|key| key.name).collect();
            format!("unknown key `{name}`\n`{attribute}` takes: {}", all.join(", "))
        }
    }
}

/// The candidate that `name` was probably meant to be.
pub(crate) fn nearest<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let limit = (name.chars().count() / 3).max(1);
    candidates
        .map(|candidate| (strsim::damerau_levenshtein(name, candidate), candidate))
        .filter(|(distance, candidate)| {
            *distance <= limit
                || name.len() >= 3 && (candidate.starts_with(name) || name.starts_with(candidate))
        })
        .min()
        .map(|(_, candidate)| candidate)
}

impl Entry {
    /// `key` or `key = true`; `key = false`.
    pub(crate) fn flag(&self, errors: &mut Errors) -> Option<bool> {
        match &self.given {
            Given::Value(Expr::Lit(ExprLit { lit: Lit::Bool(value), .. })) => Some(value.value),
            Given::Value(other) => {
                let message = format!("`{}` takes `true` or `false`", self.key);
                errors.push(Check::WrongValue, other, message);
                None
            }
            _ => Some(true),
        }
    }

    /// A string literal, or any other expression that is no literal.
    pub(crate) fn text(&self, errors: &mut Errors) -> Option<Text> {
        let Given::Value(value) = &self.given else { return None };
        let text = Text::of(value);
        if text.is_none() {
            self.wrong(value, "a string", errors);
        }
        if text.is_some() && written::is_made_at_run_time(value) {
            let message = format!(
                "`{}` is a text that is known when the crate is compiled\nwrite a literal, `concat!(..)`, `include_str!(..)` or the name of a constant",
                self.key
            );
            errors.push(Check::WrongValue, value, message);
            return None;
        }
        text
    }

    /// The same, with something in it.
    pub(crate) fn filled_text(&self, errors: &mut Errors) -> Option<Text> {
        let text = self.text(errors)?;
        if text.literal().is_some_and(|text| text.trim().is_empty()) {
            errors.push(
                Check::EmptyText,
                &text,
                format!("`{}` is empty; say something or leave it out", self.key),
            );
        }
        Some(text)
    }

    /// Returns a string literal, or a list of them.
    pub(crate) fn texts(&self, errors: &mut Errors) -> Vec<LitStr> {
        let Given::Value(value) = &self.given else { return Vec::new() };
        let items: Vec<&Expr> = match value {
            Expr::Array(array) => array.elems.iter().map(without_group).collect(),
            other => vec![other],
        };
        if items.is_empty() {
            errors.push(Check::EmptyText, value, format!("`{}` is an empty list; leave it out", self.key));
        }
        let mut texts = Vec::new();
        for item in items {
            match item {
                Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => texts.push(text.clone()),
                other => self.wrong(other, "a string, or a list of strings", errors),
            }
        }
        texts
    }

    /// A string literal.
    pub(crate) fn literal(&self, errors: &mut Errors) -> Option<LitStr> {
        let Given::Value(value) = &self.given else { return None };
        match Text::of(value) {
            Some(Text::Literal(literal)) => Some(literal),
            Some(Text::Expression(other)) => {
                self.wrong(&other, "a string literal", errors);
                None
            }
            None => {
                self.wrong(value, "a string", errors);
                None
            }
        }
    }

    /// A whole number above zero. `without` names the limit that counts if the key is left out.
    pub(crate) fn limit(&self, without: &str, errors: &mut Errors) -> Option<u64> {
        let Given::Value(value) = &self.given else { return None };
        if let Expr::Lit(ExprLit { lit: Lit::Int(number), .. }) = value {
            match number.base10_parse::<u64>() {
                Ok(0) => {
                    errors.push(
                        Check::ZeroLimit,
                        value,
                        format!("`{}` must be at least 1; leave it out for {without}", self.key),
                    );
                    return None;
                }
                Ok(number) => return Some(number),
                Err(_) => {
                    errors.push(Check::WrongValue, value, format!("`{}` is at most {}", self.key, u64::MAX));
                    return None;
                }
            }
        }
        self.wrong(value, "a whole number above zero", errors);
        None
    }

    /// A path.
    pub(crate) fn path(&self, errors: &mut Errors) -> Option<ExprPath> {
        match &self.given {
            Given::Value(Expr::Path(path)) => Some(path.clone()),
            Given::Value(other) => {
                self.wrong(other, "a path", errors);
                None
            }
            _ => None,
        }
    }

    /// The path of the `toolkit` crate, which must mean the same everywhere.
    pub(crate) fn crate_path(&self, errors: &mut Errors) -> Option<ExprPath> {
        let path = match &self.given {
            Given::Value(Expr::Lit(ExprLit { lit: Lit::Str(text), .. })) => match text.parse::<ExprPath>() {
                Ok(path) => path,
                Err(_) => {
                    self.wrong(text, "a path", errors);
                    return None;
                }
            },
            _ => self.path(errors)?,
        };
        let is_absolute = path.path.leading_colon.is_some()
            || path
                .path
                .segments
                .first()
                .is_some_and(|first| first.ident == "crate" || first.ident == "$crate");
        if !is_absolute {
            let text = path.to_token_stream().to_string().replace(' ', "");
            errors.push(
                Check::CratePath,
                &path,
                format!("this path depends on where it stands; write `crate = ::{text}`"),
            );
            return None;
        }
        Some(path)
    }

    pub(crate) fn wrong(&self, value: &impl ToTokens, wanted: &str, errors: &mut Errors) {
        errors.push(
            Check::WrongValue,
            value,
            format!("`{}` takes {wanted}; write `{}`", self.key, self.example),
        );
    }
}

/// A string in an attribute.
#[derive(Clone)]
pub(crate) enum Text {
    Literal(LitStr),
    /// A constant, checked by the compiler.
    Expression(Expr),
}

impl Text {
    fn of(value: &Expr) -> Option<Self> {
        match value {
            Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Some(Self::Literal(text.clone())),
            Expr::Lit(_)
            | Expr::Array(_)
            | Expr::Tuple(_)
            | Expr::Closure(_)
            | Expr::Unary(ExprUnary { op: UnOp::Neg(_), .. }) => None,
            other => Some(Self::Expression(other.clone())),
        }
    }

    pub(crate) fn literal(&self) -> Option<String> {
        match self {
            Self::Literal(text) => Some(text.value()),
            Self::Expression(_) => None,
        }
    }
}

impl ToTokens for Text {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        match self {
            Self::Literal(text) => text.to_tokens(tokens),
            Self::Expression(value) => value.to_tokens(tokens),
        }
    }
}
