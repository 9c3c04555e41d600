//! Replacement of a function that the macro rejects, so that one mistake results in one error: the function itself if
//! rustc accepts it, else a stub of its name.

use super::item::Function;
use super::signature::Flaws;
use crate::type_form::mentions_ident;
use crate::type_repair::with_static;
use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{FnArg, ReturnType, Token, Type, parse_quote};

pub(crate) fn function(function: &Function, flaws: &Flaws) -> TokenStream {
    let Function { attributes, visibility, signature, body } = function;
    let needs_stub = flaws.needs_stub || flaws.is_method && !is_member(function);
    if !needs_stub {
        return match body {
            Some(body) => quote!(#(#attributes)* #visibility #signature #body),
            None => quote!(#(#attributes)* #visibility #signature;),
        };
    }
    let mut signature = signature.clone();
    signature.constness = None;
    signature.abi = None;
    signature.variadic = None;
    let inputs: Punctuated<FnArg, Token![,]> = signature
        .inputs
        .into_iter()
        .filter_map(|input| match input {
            FnArg::Receiver(_) => None,
            FnArg::Typed(mut typed) => {
                if mentions_self(&typed.ty) {
                    *typed.ty = parse_quote!(impl ::core::marker::Sized);
                }
                Some(FnArg::Typed(typed))
            }
        })
        .collect();
    signature.inputs = inputs;
    if let (true, ReturnType::Type(_, ty)) = (flaws.bad_lifetimes, &mut signature.output)
        && let Ok(repaired) = syn::parse2(with_static(ty.to_token_stream(), &flaws.generics))
    {
        **ty = repaired;
    }
    if flaws.invalid_return || matches!(&signature.output, ReturnType::Type(_, ty) if mentions_self(ty)) {
        signature.output = parse_quote!(-> !);
    }
    quote! {
        #[allow(dead_code, unused_mut, unused_variables, clippy::all)]
        #visibility #signature {
            loop {}
        }
    }
}

fn mentions_self(ty: &Type) -> bool {
    mentions_ident(&ty.to_token_stream(), "Self").is_some()
}

/// Returns true if the function is probably a member of an `impl` or a `trait`, in which `self` and `Self` are valid
/// and callers need the function. A macro does not receive its context; members are indented.
fn is_member(function: &Function) -> bool {
    let Function { visibility, signature, .. } = function;
    column(quote!(#visibility #signature).span()).is_some_and(|column| column > 1)
}

fn column(span: Span) -> Option<usize> {
    // Within a unit test there is no compiler that knows.
    proc_macro::is_available().then(|| span.unwrap().start().column())
}
