//! `toolkit::link!`: mentions crates, so that they are linked, and notes their order.

use crate::check::{Check, Errors};
use crate::source;
use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream};
use syn::spanned::Spanned;
use syn::{Attribute, Ident, LitStr, Token, bracketed};

struct List {
    toolkit: TokenStream,
    entries: Vec<Entry>,
}

struct Entry {
    attributes: Vec<Attribute>,
    core: Option<Ident>,
    dependency: Ident,
    own_name: Option<Ident>,
}

impl Parse for List {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let toolkit;
        bracketed!(toolkit in input);
        let toolkit = toolkit.parse()?;
        let mut entries = Vec::new();
        while !input.is_empty() {
            let entry: Entry = input.parse()?;
            if !input.is_empty() && input.parse::<Option<Token![,]>>()?.is_none() {
                return Err(not_separated(input, &entry));
            }
            entries.push(entry);
        }
        Ok(Self { toolkit, entries })
    }
}

/// Returns the error for an entry that no comma follows.
fn not_separated(input: ParseStream<'_>, entry: &Entry) -> syn::Error {
    let name = &entry.dependency;
    let next = input.fork().call(Ident::parse_any).ok();
    let is_keyword = ["use", "pub", "extern", "crate", "mod"].iter().any(|keyword| name == keyword);
    let (span, message) = match next {
        Some(_) if is_keyword => {
            let name = last_name(input);
            let message = format!("`link!` takes the names of crates alone; write `{name}`");
            (entry.dependency.span(), message)
        }
        Some(next) => (next.span(), format!("`link!` takes a list; write a comma before `{next}`")),
        None if input.peek(Token![;]) => {
            (input.span(), "`link!` takes a list; write a comma for the `;`".to_owned())
        }
        None => {
            let core = if input.peek(Token![=]) || input.peek(Token![:]) { "core: " } else { "" };
            let message = format!("`link!` takes the names of crates alone; write `{core}{name}`");
            (input.span(), message)
        }
    };
    syn::Error::new(span, message)
}

/// Returns the last of the names that follow one another.
fn last_name(input: ParseStream<'_>) -> String {
    let fork = input.fork();
    let mut last = String::new();
    while let Ok(name) = fork.call(Ident::parse_any) {
        last = name.to_string();
    }
    last
}

impl Parse for Entry {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let attributes = input.call(Attribute::parse_outer)?;
        if input.peek(Token![::]) {
            let colons: Token![::] = input.parse()?;
            let name = crate_name(input, None)?;
            let message = format!("`link!` takes the names of crates, without paths; write `{name}`");
            return Err(syn::Error::new_spanned(colons, message));
        }
        let mut dependency = crate_name(input, None)?;
        let mut core = None;
        let has_colon = input.peek(Token![:]) && !input.peek(Token![::]);
        if dependency == "core" && !has_colon {
            return Err(core_alone(input, &dependency));
        }
        if has_colon {
            let colon: Token![:] = input.parse()?;
            core = Some(dependency);
            dependency = crate_name(input, Some(colon.span()))?;
        }
        if input.peek(Token![-]) {
            return Err(hyphenated(input, &dependency));
        }
        if input.peek(Token![::]) {
            let message = format!("`link!` takes the names of crates, without paths; write `{dependency}`");
            return Err(input.error(message));
        }
        let own_name = match input.parse::<Option<Token![as]>>()? {
            Some(token) => Some(crate_name(input, Some(token.span()))?),
            None => None,
        };
        Ok(Self { attributes, core, dependency, own_name })
    }
}

/// Returns the error for `core` without a colon: as a crate it has no tools.
fn core_alone(input: ParseStream<'_>, core: &Ident) -> syn::Error {
    let span = if input.is_empty() || input.peek(Token![,]) { core.span() } else { input.span() };
    // The name after whatever stands there in place of a colon.
    let name = || -> syn::Result<Ident> {
        if is_grouped(input) {
            let group: proc_macro2::Group = input.parse()?;
            return syn::parse::Parser::parse2(
                |inner: ParseStream<'_>| {
                    let name = inner.call(Ident::parse_any)?;
                    let _: TokenStream = inner.parse()?;
                    Ok(name)
                },
                group.stream(),
            );
        }
        while !input.is_empty() && !input.peek(Ident::peek_any) {
            let _: proc_macro2::TokenTree = input.parse()?;
        }
        input.call(Ident::parse_any)
    };
    let name = name().map_or_else(|_| "builtin_tools".to_owned(), |name| name.to_string());
    syn::Error::new(span, format!("`core` needs a colon and a crate; write `core: {name}`"))
}

/// The name of a crate, after a token at `after`.
fn crate_name(input: ParseStream<'_>, after: Option<Span>) -> syn::Result<Ident> {
    let span = after.filter(|_| input.is_empty()).unwrap_or_else(|| input.span());
    if let Some(name) = input.fork().parse::<LitStr>().ok().filter(|name| !name.value().is_empty()) {
        let name = name.value().replace('-', "_");
        return Err(syn::Error::new(
            span,
            format!("`link!` takes names of crates without quotes; write `{name}`"),
        ));
    }
    match input.call(Ident::parse_any) {
        Ok(ident) if ["crate", "self", "super", "Self"].iter().any(|name| ident == name) => {
            Err(syn::Error::new(
                ident.span(),
                "`link!` takes names of other crates; the tools of this one exist without it",
            ))
        }
        Ok(ident) if ident != "_" => Ok(ident),
        _ if is_grouped(input) => Err(syn::Error::new(
            span,
            "`link!` takes the names of crates without brackets; write `link!(core: builtin_tools, my_plugin)`",
        )),
        _ => Err(syn::Error::new(
            span,
            "expected the name of a crate; write `link!(core: builtin_tools, my_plugin)`",
        )),
    }
}

fn is_grouped(input: ParseStream<'_>) -> bool {
    input.peek(syn::token::Paren) || input.peek(syn::token::Bracket) || input.peek(syn::token::Brace)
}

/// Returns the error for the name of a package that has hyphens.
fn hyphenated(input: ParseStream<'_>, first: &Ident) -> syn::Error {
    let mut name = first.to_string();
    let mut written = first.to_token_stream();
    while let Ok(hyphen) = input.parse::<Token![-]>() {
        let Ok(part) = input.call(Ident::parse_any) else { break };
        name = format!("{name}_{part}");
        written.extend(quote!(#hyphen #part));
    }
    let message = format!("the name of a crate has `_` where the package has `-`; write `{name}`");
    syn::Error::new_spanned(written, message)
}

pub(crate) fn expand(input: TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    // The first group is the path of the `toolkit` crate.
    let list: TokenStream = input.clone().into_iter().skip(1).collect();
    if let Some((span, message)) = source::misplaced_items("link", &list) {
        errors.push_span(Check::Link, span, message);
        return errors.into_tokens();
    }
    let list: List = match syn::parse2(input) {
        Ok(list) => list,
        Err(error) => {
            for error in error {
                errors.push_span(Check::Link, error.span(), &error);
            }
            return errors.into_tokens();
        }
    };
    let toolkit = &list.toolkit;
    let mut items = TokenStream::new();
    let mut seen: Vec<String> = Vec::new();
    for (order, entry) in (0_u32..).zip(&list.entries) {
        let Entry { attributes, core, dependency, own_name } = entry;
        if let Some(core) = core.as_ref().filter(|core| *core != "core") {
            let message = if entry.dependency == "core" {
                format!("`core:` stands before the crate; write `core: {core}`")
            } else {
                format!("unknown mark `{core}:`; only `core:` can stand before a crate")
            };
            errors.push(Check::Link, core, message);
        }
        let name = own_name.as_ref().unwrap_or(dependency).unraw().to_string();
        // A crate may appear twice under different `cfg`s.
        if attributes.is_empty() && seen.contains(&name) {
            errors.push(Check::Link, dependency, format!("the crate `{name}` is listed twice; keep one"));
        }
        seen.push(name.clone());
        let is_core = core.is_some();
        let span: Span = dependency.span();
        items.extend(quote_spanned! {span=>
            #(#attributes)*
            use ::#dependency as _;
        });
        // Written with the entry's span, for its line.
        let line = quote_spanned!(span=> ::core::line!());
        items.extend(quote! {
            #(#attributes)*
            const _: () = {
                #toolkit::__private::inventory::submit! {
                    #toolkit::__private::Link {
                        crate_name: #name,
                        core: #is_core,
                        order: #order,
                        module: ::core::module_path!(),
                        file: ::core::file!(),
                        line: #line,
                    }
                }
            };
        });
    }
    let errors = errors.into_tokens();
    quote!(#errors #items)
}
