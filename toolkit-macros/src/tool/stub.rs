//! What stands in for a function that the macro rejects, so that one mistake stays one error: the function itself
//! wherever rustc takes it, else a stub of its name.

use super::item::Function;
use super::signature::Flaws;
use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::FnArg;
use syn::punctuated::Punctuated;

pub(super) fn function(function: &Function, flaws: &Flaws) -> TokenStream {
    let Function { attributes, visibility, signature, body } = function;
    if !flaws.needs_stub {
        return match body {
            Some(body) => quote!(#(#attributes)* #visibility #signature #body),
            None => quote!(#(#attributes)* #visibility #signature;),
        };
    }
    let mut signature = signature.clone();
    signature.constness = None;
    signature.abi = None;
    signature.variadic = None;
    let inputs: Punctuated<FnArg, syn::Token![,]> = signature
        .inputs
        .into_iter()
        .filter(|input| match input {
            FnArg::Receiver(_) => false,
            FnArg::Typed(typed) => crate::type_form::mentions_ident(&typed.ty.to_token_stream(), "Self").is_none(),
        })
        .collect();
    signature.inputs = inputs;
    if crate::type_form::mentions_ident(&signature.output.to_token_stream(), "Self").is_some() {
        signature.output = syn::ReturnType::Default;
    }
    quote! {
        #[allow(dead_code, unused_variables, clippy::all)]
        #visibility #signature {
            loop {}
        }
    }
}
