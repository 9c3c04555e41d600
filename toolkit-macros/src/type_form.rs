//! Properties of a type that its text shows: whether it is optional, borrowed, the context, or a service.

use crate::rules::Kind;
use proc_macro2::{Group, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote_spanned};
use syn::spanned::Spanned;
use syn::{GenericArgument, PathArguments, PathSegment, Type};

/// Returns a type without parentheses, and without the invisible group around a type that a `macro_rules!` passes on.
pub(crate) fn without_group(ty: &Type) -> &Type {
    match ty {
        Type::Group(group) => without_group(&group.elem),
        Type::Paren(paren) => without_group(&paren.elem),
        _ => ty,
    }
}

/// Removes these groups at every depth, so that `$t` is read like the type itself. Those around bounds stay: `&(dyn A + Send)`.
pub(crate) fn ungroup(ty: &mut Type) {
    let inner = without_group(ty);
    if !matches!(inner, Type::TraitObject(_) | Type::ImplTrait(_))
        && matches!(ty, Type::Group(_) | Type::Paren(_))
    {
        *ty = inner.clone();
    }
    match ty {
        Type::Reference(reference) => ungroup(&mut reference.elem),
        Type::Slice(slice) => ungroup(&mut slice.elem),
        Type::Array(array) => ungroup(&mut array.elem),
        Type::Tuple(tuple) => tuple.elems.iter_mut().for_each(ungroup),
        Type::Path(path) => {
            for segment in &mut path.path.segments {
                let PathArguments::AngleBracketed(arguments) = &mut segment.arguments else { continue };
                for argument in &mut arguments.args {
                    if let GenericArgument::Type(ty) = argument {
                        ungroup(ty);
                    }
                }
            }
        }
        _ => {}
    }
}

/// The last segment of a plain path type.
pub(crate) fn last_segment(ty: &Type) -> Option<&PathSegment> {
    match without_group(ty) {
        Type::Path(path) if path.qself.is_none() => path.path.segments.last(),
        _ => None,
    }
}

/// The `T` of `name<T>`.
pub(crate) fn only_argument<'a>(ty: &'a Type, name: &str) -> Option<&'a Type> {
    let segment = last_segment(ty).filter(|segment| segment.ident == name)?;
    let PathArguments::AngleBracketed(arguments) = &segment.arguments else { return None };
    match arguments.args.first() {
        Some(GenericArgument::Type(inner)) if arguments.args.len() == 1 => Some(inner),
        _ => None,
    }
}

/// Returns the `T` of `Option<T>`, if it is the standard one as far as the path shows.
pub(crate) fn option(ty: &Type) -> Option<&Type> {
    if let Type::Path(path) = without_group(ty) {
        let names: Vec<String> = path.path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        if !matches!(names.as_slice(), ["Option"] | ["std" | "core", "option", "Option"]) {
            return None;
        }
    }
    only_argument(ty, "Option")
}

/// The value that the expansion holds for a parameter, and its conversion to the parameter.
pub(crate) struct Held {
    /// The owned type.
    pub(crate) owned: TokenStream,
    pub(crate) borrow: Borrow,
    pub(crate) kind: Kind,
    /// The kind of a list's items.
    pub(crate) item: Kind,
}

/// The conversion of an owned value to the parameter.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Borrow {
    /// The owned value itself.
    Not,
    Str,
    Path,
    Slice,
}

/// Returns the kind of a type by its name.
pub(crate) fn kind(ty: &Type) -> Kind {
    last_segment(ty).map_or(Kind::Unknown, |segment| Kind::of(&segment.ident.to_string()))
}

/// Returns the owned form of a parameter's type (without `Option`), or `None` for an unknown kind of reference.
pub(crate) fn held(ty: &Type) -> Option<Held> {
    let Type::Reference(reference) = without_group(ty) else {
        return Some(Held {
            owned: ty.to_token_stream(),
            borrow: Borrow::Not,
            kind: kind(ty),
            item: item_kind(ty),
        });
    };
    // The expansion's own tokens have the span of the type, so that the compiler reports its errors there.
    let span = reference.elem.span();
    match without_group(&reference.elem) {
        Type::Slice(slice) if !matches!(without_group(&slice.elem), Type::Reference(_)) => {
            let item = &slice.elem;
            let owned = quote_spanned!(item.span()=> __toolkit::Vec<#item>);
            Some(Held { owned, borrow: Borrow::Slice, kind: Kind::List, item: kind(item) })
        }
        elem => match last_segment(elem)?.ident.to_string().as_str() {
            "str" => {
                let owned = quote_spanned!(span=> __toolkit::String);
                Some(Held { owned, borrow: Borrow::Str, kind: Kind::Text, item: Kind::Unknown })
            }
            "Path" => {
                let owned = quote_spanned!(span=> __toolkit::PathBuf);
                Some(Held { owned, borrow: Borrow::Path, kind: Kind::Text, item: Kind::Unknown })
            }
            _ => None,
        },
    }
}

/// Returns the kind of a `Vec`'s items.
pub(crate) fn item_kind(ty: &Type) -> Kind {
    only_argument(ty, "Vec").map_or(Kind::Unknown, kind)
}

/// Returns the same tokens with another span, at which the compiler reports their errors.
pub(crate) fn respan(tokens: TokenStream, span: Span) -> TokenStream {
    tokens
        .into_iter()
        .map(|mut token| {
            if let TokenTree::Group(group) = &token {
                let mut respanned = Group::new(group.delimiter(), respan(group.stream(), span));
                respanned.set_span(span);
                return TokenTree::Group(respanned);
            }
            token.set_span(token.span().located_at(span));
            token
        })
        .collect()
}

/// Returns true for a type with a name that is none of a known type.
pub(crate) fn is_unknown(ty: &Type) -> bool {
    last_segment(ty).is_some() && kind(ty) == Kind::Unknown
}

/// The place of a reference.
pub(crate) fn reference(tokens: &TokenStream) -> Option<Span> {
    tokens.clone().into_iter().find_map(|token| match token {
        TokenTree::Punct(punct) if punct.as_char() == '&' => Some(punct.span()),
        TokenTree::Group(group) => reference(&group.stream()),
        _ => None,
    })
}

/// The place of a reference that is not `&'static`.
pub(crate) fn borrow(tokens: &TokenStream) -> Option<Span> {
    let tokens: Vec<TokenTree> = tokens.clone().into_iter().collect();
    tokens.iter().enumerate().find_map(|(place, token)| match token {
        TokenTree::Punct(punct) if punct.as_char() == '&' => {
            let is_static = matches!(tokens.get(place + 1..place + 3),
                Some([TokenTree::Punct(quote), TokenTree::Ident(name)]) if quote.as_char() == '\'' && name == "static");
            (!is_static).then(|| punct.span())
        }
        TokenTree::Group(group) => borrow(&group.stream()),
        _ => None,
    })
}

/// The place of an identifier in a type.
pub(crate) fn mentions_ident(tokens: &TokenStream, name: &str) -> Option<Span> {
    find(
        tokens,
        &mut |token, after_quote| matches!(token, TokenTree::Ident(ident) if ident == name && !after_quote),
    )
}

/// The place of an `impl` in a type.
pub(crate) fn mentions_impl(tokens: &TokenStream) -> Option<Span> {
    mentions_ident(tokens, "impl")
}

/// Returns the span of an integer type that JSON numbers cannot represent.
pub(crate) fn wide_integer(tokens: &TokenStream) -> Option<Span> {
    ["u128", "i128", "NonZeroU128", "NonZeroI128"].iter().find_map(|name| mentions_ident(tokens, name))
}

/// The message for one.
pub(crate) const WIDE_INTEGER: &str =
    "a 128-bit integer does not fit into a JSON number; use an `i64`, a `u64` or a `String`";

fn find(tokens: &TokenStream, matches: &mut impl FnMut(&TokenTree, bool) -> bool) -> Option<Span> {
    let mut after_quote = false;
    for token in tokens.clone() {
        if matches(&token, after_quote) {
            return Some(token.span());
        }
        if let TokenTree::Group(group) = &token
            && let Some(span) = find(&group.stream(), matches)
        {
            return Some(span);
        }
        after_quote = matches!(&token, TokenTree::Punct(punct) if punct.as_char() == '\'');
    }
    None
}

/// The lifetimes that a type names, `'_` among them.
pub(crate) fn named_lifetimes(tokens: &TokenStream) -> Vec<(String, Span)> {
    let mut lifetimes = Vec::new();
    let mut after_quote = None;
    for token in tokens.clone() {
        match (&token, after_quote.take()) {
            (TokenTree::Ident(ident), Some(span)) => lifetimes.push((ident.to_string(), span)),
            (TokenTree::Punct(punct), _) if punct.as_char() == '\'' => after_quote = Some(punct.span()),
            (TokenTree::Group(group), _) => lifetimes.extend(named_lifetimes(&group.stream())),
            _ => {}
        }
    }
    lifetimes
}
