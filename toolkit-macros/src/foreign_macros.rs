//! Macros under names that other frameworks have: each is a compile error that says what to write, and otherwise does what the right one does, so
//! that nothing that follows from it is a second error.

use crate::check::{Check, Errors};
use crate::source;
use crate::{args, dependency, methods};
use proc_macro2::{Span, TokenStream};
use quote::quote;
use syn::{DeriveInput, ItemImpl};

/// An attribute of the name of that of another framework on the `impl` block of tools.
pub(crate) fn router(name: &str, item: &TokenStream) -> TokenStream {
    let is_of_trait = syn::parse2::<ItemImpl>(item.clone()).is_ok_and(|block| block.trait_.is_some());
    if is_of_trait {
        let message = format!(
            "there is no `#[{name}]`, and no trait to implement; remove this block\na program serves its tools by `toolkit_mcp::serve_stdio(toolkit, caller).await?`"
        );
        return error(&message, item);
    }
    let message = format!(
        "there is no `#[{name}]`; write `#[toolkit::tools]` on the `impl` block\nand `#[tool]` on each method that is a tool"
    );
    let error = error(&message, item);
    let block = methods::expand(TokenStream::new(), item);
    quote!(#error #block)
}

/// An attribute of a library above `#[toolkit::args]`, or on a type without it.
pub(crate) fn above(name: &str, item: &TokenStream) -> TokenStream {
    let attributes = syn::parse2::<DeriveInput>(item.clone()).map(|input| input.attrs).unwrap_or_default();
    let has_args = attributes
        .iter()
        .any(|attribute| attribute.path().segments.last().is_some_and(|segment| segment.ident == "args"));
    let message = if has_args {
        format!("put `#[{name}(..)]` below `#[toolkit::args]`, which brings its derives")
    } else {
        format!(
            "`#[{name}(..)]` stands below `#[toolkit::args]`, or below a derive of {name}\nput one of them above it: `#[toolkit::args]` brings the derives"
        )
    };
    let error = error(&message, item);
    quote!(#error #item)
}

/// An attribute of another name on a type of arguments.
pub(crate) fn arguments(name: &str, item: &TokenStream) -> TokenStream {
    let error = error(&format!("there is no `#[{name}]`; write `#[toolkit::args]`"), item);
    let item = args::expand(TokenStream::new(), item);
    quote!(#error #item)
}

/// A derive on a type of arguments.
pub(crate) fn derived(name: &str, item: TokenStream) -> TokenStream {
    let message = format!(
        "`{name}` cannot be derived; write `#[toolkit::args]` above the type\nit brings the derives that arguments need"
    );
    let error = error(&message, &item);
    let Ok(input) = syn::parse2::<DeriveInput>(item) else { return error };
    // With these it is an argument already.
    let is_read = ["Deserialize", "JsonSchema"]
        .iter()
        .all(|derive| source::is_derived_beside(Span::call_site(), derive));
    if is_read {
        return error;
    }
    let (toolkit, ident) = (dependency::toolkit(), &input.ident);
    let (impl_generics, type_generics, where_clause) = input.generics.split_for_impl();
    quote! {
        #error
        #[doc(hidden)]
        #[allow(unused_qualifications)]
        impl #impl_generics #toolkit::__private::ToolArg for #ident #type_generics #where_clause {
            fn schema(_: &mut #toolkit::__private::schemars::SchemaGenerator) -> #toolkit::__private::schemars::Schema {
                ::core::unreachable!()
            }

            fn decode(_: #toolkit::__private::JsonValue) -> ::core::result::Result<Self, #toolkit::__private::JsonError> {
                ::core::unreachable!()
            }
        }
    }
}

fn error(message: &str, item: &TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    // As if the author's own tokens were the fault, or the compiler adds a note about macros.
    let place = item.clone().into_iter().next().map_or_else(Span::call_site, |token| token.span());
    errors.push_span(Check::OtherMacro, Span::call_site().resolved_at(place), message);
    errors.into_tokens()
}
