//! `toolkit::plugin!`: the declaration of a crate as a plugin.

use crate::check::{Check, Errors};
use crate::keys::{self, Form, Key};
use crate::source;
use crate::tool::expand::location;
use crate::tool::name::check_id;
use proc_macro2::{Span, TokenStream, TokenTree};
use quote::quote;
use syn::LitStr;

const KEYS: &[Key] = &[
    Key { name: "id", form: Form::Value, example: "id: \"acme\"" },
    Key { name: "title", form: Form::Value, example: "title: \"Acme\"" },
    Key { name: "description", form: Form::Value, example: "description: \"Tools for Acme.\"" },
    Key { name: "optional", form: Form::Value, example: "optional: true" },
    Key { name: "channel", form: Form::Value, example: "channel: \"telegram\"" },
];

/// Words for tools of other sources in rules, which a plugin of that name would take over.
const WORDS_OF_RULES: [&str; 5] = ["core", "plugins", "mcp", "client", "runtime"];

/// Expects the path of the `toolkit` crate in brackets before the fields.
pub(crate) fn expand(input: TokenStream) -> TokenStream {
    let mut tokens = input.into_iter();
    let toolkit = match tokens.next() {
        Some(TokenTree::Group(group)) => group.stream(),
        _ => quote!(::toolkit),
    };
    let mut errors = Errors::default();
    let fields: TokenStream = tokens.collect();
    if let Some((span, message)) = source::misplaced_items("plugin", &fields) {
        errors.push_span(Check::Syntax, span, message);
        return errors.into_tokens();
    }
    let entries = keys::parse_fields(fields, "plugin!", KEYS, &mut errors);
    let mut fields = TokenStream::new();
    let mut span = Span::call_site();
    for entry in &entries {
        match entry.key {
            "id" => {
                let Some(id) = entry.literal(&mut errors) else { continue };
                check_id(Check::PluginId, "plugin", &id, &mut errors);
                check_is_free(&id, &mut errors);
                span = entry.span;
                fields.extend(quote!(id: #id,));
            }
            "channel" => {
                let Some(channel) = entry.literal(&mut errors) else { continue };
                check_id(Check::Channel, "channel", &channel, &mut errors);
                fields.extend(quote!(channel: __toolkit::Some(#channel),));
            }
            "optional" => {
                let Some(optional) = entry.flag(&mut errors) else { continue };
                fields.extend(quote!(optional: #optional,));
            }
            key => {
                let Some(text) = entry.filled_text(&mut errors) else { continue };
                let field = proc_macro2::Ident::new(key, Span::call_site());
                fields.extend(quote!(#field: __toolkit::Some(#text),));
            }
        }
    }
    if errors.is_empty() && !entries.iter().any(|entry| entry.key == "id") {
        errors.push_span(Check::PluginId, span, "a plugin needs an id; write `plugin! { id: \"acme\" }`");
    }
    if !errors.is_empty() {
        return errors.into_tokens();
    }
    let location = location(span);
    quote! {
        const _: () = {
            use #toolkit::__private as __toolkit;
            static __TOOLKIT_PLUGIN: __toolkit::PluginDef = __toolkit::PluginDef {
                #fields
                location: #location,
                ..__toolkit::PluginDef::BASE
            };
            __toolkit::inventory::submit! { __toolkit::LinkedPlugin(&__TOOLKIT_PLUGIN) }
        };
    }
}

fn check_is_free(id: &LitStr, errors: &mut Errors) {
    let word = id.value();
    if WORDS_OF_RULES.contains(&&*word) {
        let message = format!(
            "`{word}` means tools of other sources in rules and lists\ngive the plugin an id of its own, such as `acme_{word}`"
        );
        errors.push(Check::PluginId, id, message);
    }
}
