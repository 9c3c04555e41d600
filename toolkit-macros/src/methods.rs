//! `#[tools]`: the methods of a type become tools. Beside the `impl` block stands a function for each of them, which takes the
//! value as `State<T>` and calls the method; `#[tool]` on that function does the rest.

use crate::check::{Check, Errors};
use crate::dependency;
use crate::documentation::includes_nothing;
use crate::half_typed;
use crate::keys::{self, Form, Key};
use crate::methods_within::{is_tool, take_parameter_attributes};
use crate::tool::body;
use crate::type_form::respan;
use proc_macro2::{Group, Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{
    Attribute, FnArg, ImplItem, ImplItemFn, ItemImpl, Meta, Pat, Receiver, ReceiverKind, Signature, Type,
    parse_quote,
};

const KEYS: &[Key] = &[Key { name: "crate", form: Form::Value, example: "crate = ::toolkit" }];

pub(crate) fn expand(attribute: TokenStream, item: &TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let mut block = match syn::parse2::<ItemImpl>(item.clone()) {
        Ok(block) => block,
        Err(error) => {
            reject_item(item, error, &mut errors);
            let errors = errors.into_tokens();
            return quote!(#errors #item);
        }
    };
    let entries = keys::parse(attribute, "tools", KEYS, &mut errors);
    let toolkit = entries.first().and_then(|entry| entry.crate_path(&mut errors));
    let toolkit = toolkit.map_or_else(dependency::toolkit, |path| path.to_token_stream());
    check_block(&block, &mut errors);
    let ty = (*block.self_ty).clone();
    let mut functions = TokenStream::new();
    let mut is_empty = true;
    for item in &mut block.items {
        let ImplItem::Fn(method) = item else { continue };
        refuse_providers(method, &mut errors);
        let tools: Vec<Attribute> = method.attrs.extract_if(.., |attribute| is_tool(attribute)).collect();
        if tools.is_empty() {
            continue;
        }
        is_empty = false;
        functions.extend(function_of(method, &tools, &ty, &toolkit, &mut errors));
    }
    if is_empty && errors.is_empty() {
        let message = "no method here has `#[tool]`; put it on each method that becomes a tool";
        errors.push(Check::ToolsItem, &block.impl_token, message);
    }
    if errors.is_empty() {
        return quote!(#block #functions);
    }
    let errors = errors.into_tokens();
    quote!(#errors #block)
}

/// Reports methods that would make services or tools.
fn refuse_providers(method: &mut ImplItemFn, errors: &mut Errors) {
    method.attrs.retain(|attribute| {
        let name = attribute.path().segments.last().map(|segment| segment.ident.to_string());
        let name = name.filter(|name| name == "service" || name == "tool_factory");
        if let Some(name) = &name {
            let message =
                format!("`#[{name}]` goes on a function outside of the `impl` block, not on a method");
            errors.push(Check::ToolsItem, attribute, message);
        }
        name.is_none()
    });
}

fn reject_item(item: &TokenStream, error: syn::Error, errors: &mut Errors) {
    if half_typed::is_rejected(item.clone()) {
        // rustc's own error is sufficient.
        return;
    }
    match syn::parse2::<syn::Item>(item.clone()) {
        Ok(other) => {
            let message = match other {
                syn::Item::Struct(syn::ItemStruct { ident, .. })
                | syn::Item::Enum(syn::ItemEnum { ident, .. }) => {
                    format!("`#[tools]` goes on an `impl` block of methods\nput it on `impl {ident} {{ … }}`")
                }
                syn::Item::Fn(_) => {
                    "`#[tools]` goes on an `impl` block of methods; a function takes `#[tool]`".to_owned()
                }
                _ => "`#[tools]` goes on an `impl` block of methods".to_owned(),
            };
            errors.push(Check::ToolsItem, &first_token(item), message);
        }
        Err(_) => errors.push_syntax(error),
    }
}

/// Returns the first token of an item after its attributes, as the place of an error.
fn first_token(item: &TokenStream) -> TokenStream {
    let mut tokens = item.clone().into_iter();
    loop {
        match tokens.next() {
            Some(TokenTree::Punct(hash)) if hash.as_char() == '#' => drop(tokens.next()),
            other => return other.into_iter().collect(),
        }
    }
}

fn check_block(block: &ItemImpl, errors: &mut Errors) {
    if let Some((path, _)) = &block.trait_ {
        let message = "methods of a trait are no tools; put them in an `impl` block of the type's own";
        errors.push(Check::ToolsItem, path, message);
    }
    if !block.generics.params.is_empty() {
        let message = "a tool is one function for one schema, so its `impl` block is not generic\nwrite it for one type";
        errors.push(Check::ToolsItem, &block.generics, message);
    }
}

/// Returns the function that calls a method, and takes the attributes for parameters out of the method.
fn function_of(
    method: &mut ImplItemFn,
    tools: &[Attribute],
    ty: &Type,
    toolkit: &TokenStream,
    errors: &mut Errors,
) -> TokenStream {
    if body::check(&method.sig, &method.block, errors) {
        method.attrs.push(parse_quote!(#[allow(unused_variables)]));
        method.block = parse_quote!({ loop {} });
    }
    let mut signature = method.sig.clone();
    let mut state = None;
    let mut values = Vec::new();
    for input in &mut signature.inputs {
        match input {
            FnArg::Receiver(receiver) => {
                check_receiver(receiver, errors);
                let name = Ident::new("__toolkit_state", receiver.self_token.span());
                let span = receiver.span();
                let argument = quote_spanned!(span=> #name: #toolkit::__private::State<#ty>);
                match syn::parse2(argument) {
                    Ok(argument) => *input = argument,
                    Err(error) => errors.push_syntax(error),
                }
                state = Some(quote_spanned!(span=> &#name));
            }
            FnArg::Typed(typed) => values.push(match &*typed.pat {
                Pat::Ident(name) => name.ident.to_token_stream(),
                // `#[tool]` reports the pattern.
                other => quote_spanned!(other.span()=> ::core::unreachable!()),
            }),
        }
    }
    take_parameter_attributes(&mut method.sig);
    let name = &method.sig.ident;
    let arguments = state.into_iter().chain(values);
    let wait = method.sig.asyncness.map(|_| quote_spanned!(name.span()=> .await));
    let call = quote_spanned!(name.span()=> <#ty>::#name(#(#arguments),*)#wait);
    let signature = without_self(&signature, ty);
    let tools = tools.iter().map(|tool| naming_method(tool, &quote!(<#ty>::#name)));
    let documentation: Vec<Attribute> =
        method.attrs.iter().filter(|attribute| attribute.path().is_ident("doc")).cloned().collect();
    method.attrs.retain(|attribute| !includes_nothing(attribute));
    let conditions = method.attrs.iter().filter(|attribute| attribute.path().is_ident("cfg"));
    quote! {
        #(#conditions)*
        #[allow(deprecated, unreachable_code, unused_variables, clippy::needless_pass_by_value, clippy::unused_async)]
        const _: () = {
            #(#documentation)*
            #(#tools)*
            #signature { #call }
        };
    }
}

/// Returns the attribute of a tool with the method that its function calls, so that `tool_ref!` finds the tool by the method.
fn naming_method(tool: &Attribute, method: &TokenStream) -> TokenStream {
    let key = Ident::new(keys::METHOD, Span::call_site());
    match &tool.meta {
        Meta::Path(path) => quote!(#[#path(#key = #method)]),
        Meta::List(list) => {
            let (path, keys) = (&list.path, &list.tokens);
            quote!(#[#path(#key = #method, #keys)])
        }
        Meta::NameValue(_) => tool.to_token_stream(),
    }
}

fn check_receiver(receiver: &Receiver, errors: &mut Errors) {
    let is_shared = matches!(receiver.kind, ReceiverKind::Reference(_, _, None));
    if !is_shared {
        errors.push(
            Check::ToolsReceiver,
            receiver,
            "the method of a tool takes `&self`, since calls run at the same time\nkeep what changes behind a `Mutex`",
        );
    }
}

/// Replaces `Self` by the type, because a function outside of the `impl` block has none.
fn without_self(signature: &Signature, ty: &Type) -> TokenStream {
    replaced(signature.to_token_stream(), &ty.to_token_stream())
}

fn replaced(tokens: TokenStream, ty: &TokenStream) -> TokenStream {
    tokens
        .into_iter()
        .flat_map(|token| match token {
            // Errors belong to the place where it stands.
            TokenTree::Ident(ident) if ident == "Self" => respan(ty.clone(), ident.span()),
            TokenTree::Group(group) => {
                let mut inner = Group::new(group.delimiter(), replaced(group.stream(), ty));
                inner.set_span(group.span());
                TokenTree::Group(inner).into()
            }
            other => other.into(),
        })
        .collect()
}
