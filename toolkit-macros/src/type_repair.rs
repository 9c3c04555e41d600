//! Types that rustc rejects as well: how they differ from valid ones, and what the expansion has in their place, so that one mistake
//! results in one error.

use crate::fragments::flat;
use crate::source;
use crate::type_form::{last_segment, named_lifetimes, without_group};
use proc_macro2::{Group, Ident, Punct, Spacing, Span, TokenStream, TokenTree};
use quote::ToTokens;
use syn::{GenericArgument, PathArguments, PathSegment, Type};

/// A type without a known size, where only a type with one can be.
pub(crate) struct Unsized<'a> {
    pub(crate) ty: &'a Type,
    /// The owned type to write instead; `None` for a trait object.
    pub(crate) owned: Option<String>,
    /// True if a reference to it is an argument.
    pub(crate) is_borrowed: bool,
}

impl Unsized<'_> {
    /// Returns the message, with what to write at the place of a parameter's type, or else within a type.
    pub(crate) fn message(&self, is_parameter: bool) -> String {
        let shown = shown(self.ty);
        match &self.owned {
            None if is_parameter => {
                "a trait object cannot be an argument; take `State<dyn Trait>` for a service".to_owned()
            }
            None => "a trait object cannot be read from JSON; use an enum, or a type with a name".to_owned(),
            Some(owned) if is_parameter && self.is_borrowed => {
                format!("`{shown}` has no known size; take `&{shown}` or `{owned}`")
            }
            Some(owned) => format!("`{shown}` has no known size; use `{owned}`"),
        }
    }

    /// Returns the message for a type that is returned.
    pub(crate) fn returned(&self) -> String {
        match &self.owned {
            Some(owned) => format!("`{}` has no known size; return `{owned}`", shown(self.ty)),
            None => "a trait object has no known size; return a type with a name".to_owned(),
        }
    }
}

/// Returns the first such type within a type.
pub(crate) fn misplaced_unsized(ty: &Type) -> Option<Unsized<'_>> {
    let ty = without_group(ty);
    let found =
        |owned: &str, is_borrowed: bool| Some(Unsized { ty, owned: Some(owned.to_owned()), is_borrowed });
    match ty {
        Type::Slice(slice) => return found(&format!("Vec<{}>", shown(&slice.elem)), true),
        Type::TraitObject(_) => return Some(Unsized { ty, owned: None, is_borrowed: false }),
        Type::Array(array) => return misplaced_unsized(&array.elem),
        Type::Tuple(tuple) => return tuple.elems.iter().find_map(misplaced_unsized),
        _ => {}
    }
    let segment = last_segment(ty)?;
    match (&segment.arguments, segment.ident.to_string().as_str()) {
        (PathArguments::None, "str") => found("String", true),
        (PathArguments::None, "Path") if is_of_std(ty, segment) => found("PathBuf", true),
        (PathArguments::None, "OsStr" | "CStr") if is_of_std(ty, segment) => found("String", false),
        (PathArguments::AngleBracketed(_), name) if minimum(name).is_some() && !is_pointer(name) => {
            arguments(segment).into_iter().find_map(misplaced_unsized)
        }
        _ => None,
    }
}

/// Returns true for a type of the standard library, by its path or the imports of its file: others may have the same name.
fn is_of_std(ty: &Type, segment: &PathSegment) -> bool {
    let Type::Path(path) = ty else { return false };
    match path.path.segments.first() {
        Some(first) if path.path.segments.len() > 1 => first.ident == "std" || first.ident == "path",
        _ => source::imports_from_std(segment.ident.span(), &segment.ident.to_string()),
    }
}

/// Returns true for the types that can hold one without a known size.
fn is_pointer(name: &str) -> bool {
    ["Box", "Arc", "Rc", "Cow", "State"].contains(&name)
}

/// Returns the number of types that a well-known generic type needs.
fn minimum(name: &str) -> Option<usize> {
    Some(match name {
        "Vec" | "VecDeque" | "Option" | "Box" | "Arc" | "Rc" | "Cow" | "Mutex" | "RwLock" | "RefCell"
        | "Cell" | "HashSet" | "BTreeSet" | "State" | "Config" | "Json" => 1,
        "HashMap" | "BTreeMap" | "Result" => 2,
        _ => return None,
    })
}

/// Returns the types that a path has as parameters.
pub(crate) fn arguments(segment: &PathSegment) -> Vec<&Type> {
    let PathArguments::AngleBracketed(arguments) = &segment.arguments else { return Vec::new() };
    let types = arguments.args.iter().filter_map(|argument| match argument {
        GenericArgument::Type(ty) => Some(ty),
        _ => None,
    });
    types.collect()
}

/// Returns true if a well-known generic type within a type lacks its parameters, as far as its name tells.
pub(crate) fn lacks_arguments(ty: &Type) -> bool {
    match without_group(ty) {
        Type::Reference(reference) => lacks_arguments(&reference.elem),
        Type::Slice(slice) => lacks_arguments(&slice.elem),
        Type::Array(array) => lacks_arguments(&array.elem),
        Type::Tuple(tuple) => tuple.elems.iter().any(lacks_arguments),
        ty => last_segment(ty).is_some_and(|segment| {
            let types = arguments(segment);
            minimum(&segment.ident.to_string()).is_some_and(|minimum| types.len() < minimum)
                || types.into_iter().any(lacks_arguments)
        }),
    }
}

/// Returns the number of lifetimes in a type, as far as they are visible.
pub(crate) fn lifetimes(tokens: &TokenStream) -> usize {
    let mut previous_is_reference = false;
    let mut count = 0;
    for token in tokens.clone() {
        match &token {
            TokenTree::Punct(punct) if punct.as_char() == '&' => count += 1,
            // That of a reference is counted already.
            TokenTree::Punct(punct) if punct.as_char() == '\'' && !previous_is_reference => count += 1,
            TokenTree::Group(group) => count += lifetimes(&group.stream()),
            _ => {}
        }
        previous_is_reference = matches!(&token, TokenTree::Punct(punct) if punct.as_char() == '&');
    }
    count
}

/// Returns true if a type names a lifetime that is not declared.
pub(crate) fn has_undeclared(tokens: &TokenStream, declared: &[String]) -> bool {
    named_lifetimes(tokens)
        .iter()
        .any(|(name, _)| name != "static" && name != "_" && !declared.contains(name))
}

/// Returns a type in which each lifetime that is not declared is `'_`.
pub(crate) fn with_anonymous(tokens: TokenStream, declared: &[String]) -> TokenStream {
    replaced(tokens, &|name| (name != "static" && !declared.contains(name)).then_some("_"))
}

/// Returns a type in which each reference and each lifetime that is not declared is `'static`.
pub(crate) fn with_static(tokens: TokenStream, declared: &[String]) -> TokenStream {
    let named = replaced(tokens, &|name| (!declared.contains(name)).then_some("static"));
    with_lifetimes(named)
}

fn replaced(tokens: TokenStream, by: &impl Fn(&String) -> Option<&'static str>) -> TokenStream {
    let mut after_quote = false;
    tokens
        .into_iter()
        .map(|token| {
            let is_name = std::mem::replace(
                &mut after_quote,
                matches!(&token, TokenTree::Punct(punct) if punct.as_char() == '\''),
            );
            match token {
                TokenTree::Ident(name) if is_name => {
                    let other = by(&name.to_string()).map(|other| Ident::new(other, name.span()));
                    other.unwrap_or(name).into()
                }
                TokenTree::Group(group) => regrouped(&group, replaced(group.stream(), by)),
                other => other,
            }
        })
        .collect()
}

/// Adds `'static` to each reference without a lifetime.
fn with_lifetimes(tokens: TokenStream) -> TokenStream {
    let mut tokens = tokens.into_iter().peekable();
    let mut with = TokenStream::new();
    while let Some(token) = tokens.next() {
        let reference = match &token {
            TokenTree::Punct(punct) if punct.as_char() == '&' => Some(punct.span()),
            _ => None,
        };
        with.extend([match token {
            TokenTree::Group(group) => regrouped(&group, with_lifetimes(group.stream())),
            other => other,
        }]);
        let has_lifetime = matches!(tokens.peek(), Some(TokenTree::Punct(punct)) if punct.as_char() == '\'');
        if let (Some(span), false) = (reference, has_lifetime) {
            let mut quote = Punct::new('\'', Spacing::Joint);
            quote.set_span(span);
            with.extend([TokenTree::Punct(quote), Ident::new("static", span).into()]);
        }
    }
    with
}

fn regrouped(group: &Group, content: TokenStream) -> TokenTree {
    let mut regrouped = Group::new(group.delimiter(), content);
    regrouped.set_span(group.span());
    regrouped.into()
}

/// Returns the type in place of one that cannot be a parameter's.
pub(crate) fn any() -> Type {
    let span = Span::call_site();
    syn::parse_quote_spanned!(span=> impl ::core::marker::Sized)
}

/// Returns a type as a person writes it.
pub(crate) fn shown(ty: &Type) -> String {
    let text = flat(&ty.to_token_stream()).to_string();
    text.replace(" < ", "<").replace(" >", ">").replace(" :: ", "::").replace(" ,", ",").replace("& ", "&")
}

#[cfg(test)]
mod tests {
    use super::*;
    use syn::parse_quote;

    #[test]
    fn types_without_a_known_size() {
        let cases: [(Type, Option<&str>); 9] = [
            (parse_quote!(str), Some("String")),
            (parse_quote!([Vec<u8>]), Some("Vec<Vec<u8>>")),
            (parse_quote!(std::path::Path), Some("PathBuf")),
            (parse_quote!(Option<str>), Some("String")),
            (parse_quote!(HashMap<str, u8>), Some("String")),
            (parse_quote!(Box<str>), None),
            (parse_quote!(&str), None),
            (parse_quote!(Path), None),
            (parse_quote!(Path<str>), None),
        ];
        for (ty, owned) in cases {
            let found = misplaced_unsized(&ty).and_then(|found| found.owned);
            assert_eq!(found.as_deref(), owned, "{}", ty.to_token_stream());
        }
    }

    #[test]
    fn types_that_lack_parameters() {
        let lacking: [Type; 5] = [
            parse_quote!(Vec),
            parse_quote!(&Vec),
            parse_quote!(Option<HashMap<String>>),
            parse_quote!(Result<String>),
            parse_quote!([State]),
        ];
        assert!(lacking.iter().all(lacks_arguments));
        let whole: [Type; 3] = [parse_quote!(Vec<u8>), parse_quote!(Mode), parse_quote!(HashMap<u8, u8, S>)];
        assert!(!whole.iter().any(lacks_arguments));
    }

    #[test]
    fn lifetimes_are_replaced() {
        let tokens: TokenStream = "Vec<(&'a str, &[&str], Page<'_>)>".parse().unwrap();
        assert_eq!(lifetimes(&tokens), 4);
        let shown = |tokens: TokenStream| tokens.to_string().replace(' ', "");
        assert_eq!(shown(with_anonymous(tokens.clone(), &[])), "Vec<(&'_str,&[&str],Page<'_>)>");
        assert_eq!(shown(with_static(tokens, &[])), "Vec<(&'staticstr,&'static[&'staticstr],Page<'static>)>");
    }
}
