//! The code of a tool: the function as it was, then one anonymous constant with the static descriptor.

use super::attribute::Options;
use super::item::Function;
use super::parameter::{Argument, Parameter, Service};
use super::provided;
use super::returned::{checked_output, output_witness};
use super::signature::Flaws;
use crate::check::{Check, is_disabled};
use crate::checked_literals;
use crate::documentation::{self, includes_nothing, is_doc, is_missing_file};
use crate::keys::Text;
use crate::rules::{Default_, Literal};
use crate::type_form::{Borrow, respan};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Attribute, Expr, Type};

/// The function and its registration.
pub(super) fn tool(function: &Function, options: &Options, parameters: &[Parameter]) -> TokenStream {
    let Function { attributes, visibility, signature, body } = function;
    let ident = &signature.ident;
    let span = ident.span();
    let toolkit = &options.toolkit;
    let docs = docs(options, parameters);
    let (doc_attributes, other_attributes): (Vec<&Attribute>, Vec<&Attribute>) = attributes
        .iter()
        .filter(|attribute| !includes_nothing(attribute))
        .partition(|attribute| is_doc(attribute));
    let cfgs = attributes.iter().filter(|attribute| attribute.path().is_ident("cfg"));

    let Options { name, description, fields, assertions, .. } = options;
    let witnesses = witnesses(function, parameters, &[]);
    let input = input(parameters);
    let services = numbered(parameters, "STATE", |parameter| matches!(parameter, Parameter::Service(_)));
    let section = numbered(parameters, "CONFIG", |parameter| matches!(parameter, Parameter::Config(_)));
    let section = section
        .first()
        .map(|config| quote!(__toolkit::inventory::submit! { #config.section.for_tool(#name) }));
    let run = run(function, parameters);
    let location = location(span);
    let output = checked_output(function);
    let called = options.method.as_ref().map_or_else(|| ident.to_token_stream(), ToTokens::to_token_stream);
    quote! {
        #(#doc_attributes)*
        #docs
        #(#other_attributes)*
        #visibility #signature #body

        #(#cfgs)*
        #[doc(hidden)]
        #[allow(deprecated, unused, unused_qualifications, clippy::all, clippy::pedantic, clippy::nursery, clippy::restriction)]
        const _: () = {
            use #toolkit::__private as __toolkit;
            #assertions
            #witnesses
            #run
            static __TOOLKIT_DEF: __toolkit::ToolDef = __toolkit::ToolDef {
                name: #name,
                description: #description,
                #fields
                input: #input,
                services: &[#(&#services.def),*],
                output_schema: #output.schema,
                text_says_more: #output.text_says_more,
                run: __TOOLKIT_RUN,
                function: __toolkit::Some(__toolkit::function_id(&#called)),
                location: #location,
                ..__toolkit::ToolDef::BASE
            };
            __toolkit::inventory::submit! { __toolkit::Linked(&__TOOLKIT_DEF) }
            #section
        };
    }
}

/// Returns the location of a span, in the crate in which the macro is expanded.
pub(crate) fn location(span: Span) -> TokenStream {
    let line = quote_spanned!(span=> ::core::line!());
    let column = quote_spanned!(span=> ::core::column!());
    quote! {
        __toolkit::Location {
            module: ::core::module_path!(),
            package: __toolkit::or_empty(::core::option_env!("CARGO_PKG_NAME")),
            version: __toolkit::or_empty(::core::option_env!("CARGO_PKG_VERSION")),
            file: ::core::file!(),
            line: #line,
            column: #column,
        }
    }
}

/// Returns the assertions that the compiler can check for a function that the macro rejects.
pub(super) fn assertions(
    function: &Function,
    toolkit: &TokenStream,
    parameters: &[Parameter],
    flaws: &Flaws,
) -> TokenStream {
    // Anonymous constants are not allowed in an `impl`.
    if flaws.associated {
        return TokenStream::new();
    }
    let without: &[&str] = if flaws.bad_return { &["output"] } else { &[] };
    let witnesses = witnesses(function, parameters, without);
    quote! {
        #[allow(deprecated, unused, unused_qualifications, clippy::all, clippy::pedantic)]
        const _: () = {
            use #toolkit::__private as __toolkit;
            #witnesses
        };
    }
}

/// Returns one static per parameter, and a constant or a function for the return type. Each type is named once, so that an
/// invalid type is one error, at the type.
fn witnesses(function: &Function, parameters: &[Parameter], without: &[&str]) -> TokenStream {
    let mut witnesses: TokenStream =
        parameters.iter().enumerate().map(|(place, parameter)| witness(place, parameter)).collect();
    if !without.contains(&"output") {
        witnesses.extend(output_witness(function));
    }
    witnesses
}

fn witness(place: usize, parameter: &Parameter) -> TokenStream {
    match parameter {
        Parameter::Context | Parameter::Broken => TokenStream::new(),
        Parameter::Service(Service { ty, .. }) => {
            let name = numbered_ident("STATE", place);
            if provided::is_beside(ty) {
                return quote! {
                    static #name: __toolkit::StateOf<#ty> = {
                        use __toolkit::NoService as _;
                        __toolkit::CheckedElsewhere::<#ty>::STATE
                    };
                };
            }
            quote!(static #name: __toolkit::StateOf<#ty> = __toolkit::state_of::<#ty>();)
        }
        Parameter::Config(Service { ty, .. }) => {
            let name = numbered_ident("CONFIG", place);
            quote!(const #name: __toolkit::ConfigOf<#ty> = __toolkit::config_of::<#ty>();)
        }
        Parameter::Whole(ty) => {
            let name = numbered_ident("ARG", place);
            let check = whole_check(ty);
            quote!(static #name: __toolkit::Arg<#ty> = __toolkit::arg::<#ty>("", ""); #check)
        }
        Parameter::Argument(argument) => argument_witness(&numbered_ident("ARG", place), argument),
    }
}

/// The check that the type of all arguments is an object, as far as its attributes tell.
fn whole_check(ty: &Type) -> TokenStream {
    if is_disabled(Check::WholeShape) {
        return TokenStream::new();
    }
    let span = ty.span();
    let shape = respan(quote!(__toolkit::ShapeOf::<#ty>::SHAPE), span);
    let call = quote_spanned!(span=> __toolkit::check_whole(#shape));
    quote!(const _: () = { use __toolkit::OtherShape as _; #call };)
}

fn argument_witness(static_name: &Ident, argument: &Argument) -> TokenStream {
    let Argument { name, description, is_option, held, rules, .. } = argument;
    let owned = &held.owned;
    let mut checks = TokenStream::new();
    let mut constraints: Vec<TokenStream> = Vec::new();
    for constraint in &rules.constraints {
        constraints.extend(constraint.rules(held.kind));
        let (check, bound, span) = constraint.type_check();
        checks.extend(assert_bound(check, bound, owned, span));
    }
    checks.extend(checked_literals::checks(&argument.ty, rules));
    checks.extend(checked_literals::key_checks(&argument.ty));
    let mut steps = TokenStream::new();
    if let Some(default) = &rules.default {
        steps.extend(default_step(default, argument));
    }
    if !constraints.is_empty() {
        steps.extend(quote!(.rules(&[#(#constraints),*])));
    }
    if let Some(example) = &rules.example {
        let example = match Literal::of(example) {
            Some(literal) => {
                let literal = literal.to_tokens();
                quote!(__toolkit::Shown::Literal(#literal))
            }
            None => {
                quote_spanned!(example.span()=> __toolkit::Shown::Computed(|| __toolkit::to_value(&(#example))))
            }
        };
        steps.extend(quote!(.examples(&[#example])));
    }
    if !rules.aliases.is_empty() {
        let aliases = &rules.aliases;
        steps.extend(quote!(.aliases(&[#(#aliases),*])));
    }
    if rules.secret {
        steps.extend(quote!(.secret()));
    }
    let make = argument.make();
    let taken = if *is_option { quote!(__toolkit::Option<#owned>) } else { owned.clone() };
    quote! {
        static #static_name: __toolkit::Arg<#taken> = __toolkit::#make::<#owned>(#name, #description) #steps;
        #checks
    }
}

/// Asserts a bound on the type, reported at the key that requires it.
fn assert_bound(check: Check, bound: &str, ty: &TokenStream, span: Span) -> TokenStream {
    if is_disabled(check) {
        return TokenStream::new();
    }
    let (bound, named) = (Ident::new(bound, span), Ident::new("__ToolkitChecked", span));
    // The type is named where it stands: an unknown one is an error there only.
    quote_spanned!(span=> const _: () = { type #named = #ty; __toolkit::#bound::<#named>() };)
}

fn default_step(default: &Default_, argument: &Argument) -> TokenStream {
    let held = &argument.held;
    let owned = &held.owned;
    let value = match default {
        Default_::OfType(_) => {
            let span = argument.ty.span();
            return computed(owned, &quote_spanned!(span=> __toolkit::own_default::<#owned>()));
        }
        Default_::Value(value, _) => value,
    };
    let Some(literal) = Literal::of(value) else {
        let (span, ty) = (value.span(), &argument.ty);
        return match held.borrow {
            Borrow::Not => computed(owned, &value.to_token_stream()),
            Borrow::Slice => {
                computed(owned, &quote_spanned!(span=> { let value: #ty = #value; value.to_vec() }))
            }
            Borrow::Str | Borrow::Path => {
                computed(owned, &quote_spanned!(span=> { let value: #ty = #value; <#owned>::from(value) }))
            }
        };
    };
    let literal = literal.to_tokens();
    quote!(.default_literal(#literal))
}

/// A default that is computed at each call, and shown if its type serialises.
fn computed(owned: &TokenStream, value: &TokenStream) -> TokenStream {
    quote! {
        .default(|| #value, __toolkit::Shown::Computed(|| {
            use __toolkit::{Computed as _, Unshown as _};
            (&__toolkit::Probe::<#owned>::of(|| #value)).value(|| #value)
        }))
    }
}

fn numbered_ident(what: &str, place: usize) -> Ident {
    format_ident!("__TOOLKIT_{what}_{place}")
}

fn numbered(parameters: &[Parameter], what: &str, choose: impl Fn(&Parameter) -> bool) -> Vec<Ident> {
    let chosen = parameters.iter().enumerate().filter(|(_, parameter)| choose(parameter));
    chosen.map(|(place, _)| numbered_ident(what, place)).collect()
}

fn input(parameters: &[Parameter]) -> TokenStream {
    if let Some(whole) =
        numbered(parameters, "ARG", |parameter| matches!(parameter, Parameter::Whole(_))).first()
    {
        return quote!(__toolkit::Input::Whole(&#whole.def));
    }
    let arguments = numbered(parameters, "ARG", |parameter| matches!(parameter, Parameter::Argument(_)));
    quote!(__toolkit::Input::Parameters(&[#(&#arguments.def),*]))
}

/// The function that takes the arguments apart and calls the function.
fn run(function: &Function, parameters: &[Parameter]) -> TokenStream {
    let ident = &function.signature.ident;
    // These names are the macro's own: a function of the same name is still the function.
    let local = |name: &str| Ident::new(name, Span::mixed_site());
    let (context, arguments) = (local("context"), local("arguments"));
    let mut takes = TokenStream::new();
    let mut pairs: Vec<(Ident, Ident)> = Vec::new();
    let mut passed: Vec<TokenStream> = Vec::new();
    let mut borrows = false;
    for (place, parameter) in parameters.iter().enumerate() {
        let value = local(&format!("value_{place}"));
        match parameter {
            Parameter::Context | Parameter::Broken => passed.push(quote!(#context)),
            Parameter::Service(service) => {
                let state = numbered_ident("STATE", place);
                takes.extend(quote!(let #value = (#state.get)(#context)?;));
                borrows |= service.borrowed;
                passed.push(if service.borrowed { quote!(&#value) } else { quote!(#value) });
            }
            Parameter::Config(config) => {
                let witness = numbered_ident("CONFIG", place);
                takes.extend(quote!(let #value = (#witness.get)(#context)?;));
                borrows |= config.borrowed;
                passed.push(if config.borrowed { quote!(&#value) } else { quote!(#value) });
            }
            Parameter::Whole(_) => {
                let arg = numbered_ident("ARG", place);
                takes.extend(quote!(let #value = #arg.take_all(#arguments)?;));
                passed.push(quote!(#value));
            }
            Parameter::Argument(argument) => {
                pairs.push((value.clone(), numbered_ident("ARG", place)));
                borrows |= argument.held.borrow != Borrow::Not;
                passed.push(match (argument.held.borrow, argument.is_option) {
                    (Borrow::Not, _) => quote!(#value),
                    (_, true) => quote!(#value.as_deref()),
                    (_, false) => quote!(&#value),
                });
            }
        }
    }
    if !pairs.is_empty() {
        let (values, statics) = (
            nested(pairs.iter().map(|(value, _)| quote!(#value))),
            nested(pairs.iter().map(|(_, arg)| quote!(&#arg))),
        );
        takes.extend(quote!(let #values = __toolkit::Take::take(&#statics, #arguments)?;));
    }
    let call = quote_spanned!(ident.span()=> #ident(#(#passed),*));
    let output = checked_output(function);
    // Named functions: a closure would result in two, itself and the conversion to a function pointer.
    if function.signature.asyncness.is_none() {
        return quote! {
            fn __toolkit_run(
                #context: &__toolkit::ToolContext,
                #arguments: &mut __toolkit::Arguments,
            ) -> __toolkit::Result<__toolkit::ToolOutput, __toolkit::ToolError> {
                #takes
                (#output.convert)(#call)
            }
            const __TOOLKIT_RUN: __toolkit::Run = __toolkit::Run::Blocking(__toolkit_run);
        };
    }
    // Values that the function borrows must live in a future around it.
    let future = if borrows { quote_spanned!(ident.span()=> async move { #call.await }) } else { call };
    let boxed = boxed(&future, parameters, ident.span());
    quote! {
        fn __toolkit_run<'a>(
            #context: &'a __toolkit::ToolContext,
            #arguments: &mut __toolkit::Arguments,
        ) -> __toolkit::Result<__toolkit::BoxFuture<'a>, __toolkit::ToolError> {
            #takes
            __toolkit::Ok(__toolkit::call(#boxed, #output.convert))
        }
        const __TOOLKIT_RUN: __toolkit::Run = __toolkit::Run::Async(__toolkit_run);
    }
}

/// Returns the boxed future. With an invalid service it need not be `Send`: one mistake is one error.
fn boxed(future: &TokenStream, parameters: &[Parameter], span: Span) -> TokenStream {
    let services = parameters.iter().filter_map(|parameter| match parameter {
        Parameter::Service(service) | Parameter::Config(service) => Some(&service.ty),
        _ => None,
    });
    let all = services.fold(quote!(()), |others, ty| quote!((__toolkit::PhantomData<#ty>, #others)));
    if all.to_string() == "()" {
        return quote_spanned!(span=> __toolkit::Box::pin(#future));
    }
    quote_spanned! {span=> {
        use __toolkit::{Sendable as _, Unsendable as _};
        (&__toolkit::Gate::<#all>::OPEN).boxed(#future)
    }}
}

/// Returns a tuple, nested if it is longer than the eight elements that the runtime's trait supports.
fn nested(items: impl Iterator<Item = TokenStream>) -> TokenStream {
    let mut items: Vec<TokenStream> = items.collect();
    while items.len() > 8 {
        items = items.chunks(8).map(|chunk| quote!((#(#chunk,)*))).collect();
    }
    quote!((#(#items,)*))
}

/// Returns the docs that rustdoc shows in addition to the function's own.
fn docs(options: &Options, parameters: &[Parameter]) -> TokenStream {
    let description = options.undocumented.then(|| match &options.written {
        Text::Literal(text) => quote!(#[doc = #text]),
        Text::Expression(value) if is_missing_file(value) => TokenStream::new(),
        Text::Expression(Expr::Macro(value)) => quote!(#[doc = #value]),
        Text::Expression(value) => {
            // rustdoc takes the value of no constant.
            let text = format!("Described by `{}`.", value.to_token_stream().to_string().replace(' ', ""));
            quote!(#[doc = #text])
        }
    });
    let arguments: Vec<(String, String)> = parameters
        .iter()
        .filter_map(|parameter| match parameter {
            Parameter::Argument(argument) => {
                Some((argument.name.value(), argument.description.literal().unwrap_or_default()))
            }
            _ => None,
        })
        .collect();
    let section =
        documentation::arguments_section(arguments.iter().map(|(name, text)| (name.as_str(), text.as_str())))
            .map(|section| quote!(#[doc = #section]));
    quote!(#description #section)
}
