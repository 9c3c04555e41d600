//! The methods in an `impl` block: the attributes that make tools of them.

use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::{Attribute, FnArg, ImplItem, ItemImpl, Signature};

/// Returns an item that `#[tool]` rejects; if it is an `impl` block, without the attributes within, which would be reported too.
pub(crate) fn without_tools(item: &TokenStream) -> TokenStream {
    let Ok(mut block) = syn::parse2::<ItemImpl>(item.clone()) else { return item.clone() };
    for item in &mut block.items {
        if let ImplItem::Fn(method) = item {
            method.attrs.retain(|attribute| !is_tool(attribute));
            take_parameter_attributes(&mut method.sig);
        }
    }
    block.to_token_stream()
}

pub(crate) fn is_tool(attribute: &Attribute) -> bool {
    attribute.path().segments.last().is_some_and(|segment| segment.ident == "tool")
}

/// Removes the attributes that only `#[tool]` takes.
pub(crate) fn take_parameter_attributes(signature: &mut Signature) {
    for input in &mut signature.inputs {
        let attributes = match input {
            FnArg::Receiver(receiver) => &mut receiver.attrs,
            FnArg::Typed(typed) => &mut typed.attrs,
        };
        attributes
            .retain(|attribute| !["arg", "args", "doc"].iter().any(|name| attribute.path().is_ident(name)));
    }
}
