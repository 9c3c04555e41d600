//! `#[tool]`: parse, check, expand. Every step adds to one list of errors; only when it is empty at the end does the
//! function become a tool.

mod attribute;
mod expand;
mod item;
mod name;
mod parameter;
mod signature;
mod stub;

use crate::check::Errors;
use proc_macro2::TokenStream;
use quote::quote;

pub(crate) fn expand(attribute: TokenStream, item: &TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let Some(mut function) = item::parse(item, &mut errors) else {
        let errors = errors.into_tokens();
        return quote!(#errors #item);
    };
    let options = attribute::parse(attribute, &function, &mut errors);
    let flaws = signature::check(&function, &mut errors);
    let parameters = parameter::take(&mut function, &flaws, &mut errors);
    parameter::check_names(&parameters, &mut errors);
    // What is broken without an error here is one that rustc finds in the function itself.
    let is_broken = parameters.iter().any(|parameter| matches!(parameter, parameter::Parameter::Broken));
    if errors.is_empty() && !is_broken {
        return expand::tool(&function, &options, &parameters);
    }
    let toolkit = &options.toolkit;
    let errors = errors.into_tokens();
    let function_or_stub = stub::function(&function, &flaws);
    let assertions = expand::assertions(&function, toolkit, &parameters, &flaws);
    quote!(#errors #function_or_stub #assertions)
}
