//! Values in `#[arg(..)]` that use another parameter of the function, or another field of the type: they are computed without
//! the call.

use crate::check::{Check, Errors};
use crate::fragments::flat;
use crate::keys::{Entry, Given, shown};
use proc_macro2::{Delimiter, Span, TokenStream, TokenTree};
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::{FnArg, Pat, Signature};

/// The names around an argument, with its own.
pub(crate) struct Around {
    names: Vec<String>,
    /// The name of the argument itself, if it has one.
    pub(crate) own: Option<String>,
    /// The way to make the argument optional.
    optional: &'static str,
}

impl Around {
    /// The parameters of a function.
    pub(crate) fn parameters(signature: &Signature) -> Self {
        let mut names = Vec::new();
        for input in &signature.inputs {
            match input {
                FnArg::Typed(typed) => add_names(&typed.pat, &mut names),
                // A `self` in a default is reported on its own.
                FnArg::Receiver(_) => {}
            }
        }
        Self { names, own: None, optional: "take an `Option`" }
    }

    /// The fields of a struct or a variant.
    pub(crate) fn fields(names: Vec<String>, own: Option<String>) -> Self {
        Self { names, own, optional: "make the field an `Option`" }
    }

    /// Reports a value that uses one of the names. Returns true if it does.
    pub(super) fn refuses(&self, entry: &Entry, errors: &mut Errors) -> bool {
        let tokens = match &entry.given {
            Given::Flag => return false,
            Given::Value(value) => value.to_token_stream(),
            Given::List(list) => list.clone(),
        };
        let Some((name, span)) = self.named(&tokens) else { return false };
        let fault = |what: &str| format!("{what} cannot use `{name}`, which is known in the call only\n");
        let message = match entry.key {
            "default" => {
                let fault = fault("a default");
                match (&self.own, shown(&tokens)) {
                    (Some(own), Some(value)) if *own != name => {
                        format!(
                            "{fault}{}, and write `{own}.unwrap_or({value})` in the function",
                            self.optional
                        )
                    }
                    _ => format!("{fault}{}, and compute the value in the function", self.optional),
                }
            }
            "example" => format!("{}write a value", fault("an example")),
            key @ ("range" | "length") => {
                let what = format!("the ends of a {key}");
                format!("{}check it in the function, and return a `ToolError`", fault(&what))
            }
            _ => return false,
        };
        errors.push_span(Check::DefaultName, span, message);
        true
    }

    /// Returns the first of the names that an expression uses as a variable, as far as its tokens tell.
    fn named(&self, tokens: &TokenStream) -> Option<(String, Span)> {
        let tokens: Vec<TokenTree> = flat(tokens).into_iter().collect();
        let is = |place: Option<usize>, punct: char| {
            let token = place.and_then(|place| tokens.get(place));
            matches!(token, Some(TokenTree::Punct(found)) if found.as_char() == punct)
        };
        // A closure has parameters of its own.
        if (0..tokens.len()).any(|place| is(Some(place), '|')) {
            return None;
        }
        tokens.iter().enumerate().find_map(|(place, token)| {
            let (before, next) = (place.checked_sub(1), Some(place + 1));
            match token {
                TokenTree::Ident(ident) => {
                    let is_member = is(before, '.') && !is(place.checked_sub(2), '.');
                    let is_called = matches!(tokens.get(place + 1), Some(TokenTree::Group(_)));
                    let is_other = is_member
                        || is_called
                        || [':', '\''].into_iter().any(|punct| is(before, punct))
                        || [':', '!'].into_iter().any(|punct| is(next, punct));
                    let name = ident.unraw().to_string();
                    (!is_other && self.names.contains(&name)).then(|| (name, ident.span()))
                }
                // A block may have variables of its own.
                TokenTree::Group(group) if group.delimiter() != Delimiter::Brace => {
                    self.named(&group.stream()).or_else(|| {
                        let format = group.stream().into_iter().next().filter(|_| is(before, '!'))?;
                        self.captured(&format)
                    })
                }
                _ => None,
            }
        })
    }

    /// Returns the name that a format string captures.
    fn captured(&self, format: &TokenTree) -> Option<(String, Span)> {
        let TokenTree::Literal(literal) = format else { return None };
        let text = literal.to_string();
        let captures = |name: &&String| {
            [format!("{{{name}}}"), format!("{{{name}:")].iter().any(|capture| text.contains(capture))
        };
        self.names.iter().find(captures).map(|name| (name.clone(), literal.span()))
    }
}

/// Adds the variables of a pattern, apart from names in capitals, which are constants.
fn add_names(pattern: &Pat, names: &mut Vec<String>) {
    match pattern {
        Pat::Ident(pattern) => names.push(pattern.ident.unraw().to_string()),
        Pat::TupleStruct(pattern) => pattern.elems.iter().for_each(|pattern| add_names(pattern, names)),
        Pat::Tuple(pattern) => pattern.elems.iter().for_each(|pattern| add_names(pattern, names)),
        _ => {}
    }
    names.retain(|name| name.chars().any(char::is_lowercase));
}

#[cfg(test)]
mod tests {
    use super::*;
    use syn::parse_quote;

    #[test]
    fn variables_in_an_expression() {
        let around = Around::parameters(&parse_quote!(fn read(start: u32, State(db): State<Db>, LIMIT: u8)));
        for (value, named) in [
            ("start", Some("start")),
            ("start + 1", Some("start")),
            ("5 + (start)", Some("start")),
            ("1..start", Some("start")),
            ("db.limit", Some("db")),
            ("[start, 5]", Some("start")),
            ("Some(start)", Some("start")),
            ("format!(\"{start}.txt\")", Some("start")),
            ("LIMIT", None),
            ("start()", None),
            ("start::LIMIT", None),
            ("limits.start", None),
            ("limits::start", None),
            ("start!()", None),
            ("{ let start = 5; start }", None),
            ("Limits { start: 5 }", None),
            ("(|start| start)(5)", None),
            ("\"{start}\"", None),
        ] {
            let found = around.named(&value.parse().unwrap());
            assert_eq!(found.map(|(name, _)| name).as_deref(), named, "{value}");
        }
    }
}
