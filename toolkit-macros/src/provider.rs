//! `#[tool_factory]` and `#[service]`: functions that the runtime calls to create tools and services.

mod parameter;

use crate::check::{Check, Errors};
use crate::dependency;
use crate::keys::{self, Entry, Form, Key};
use crate::tool::expand::location;
use crate::tool::item::{self, Function};
use crate::tool::signature::{self, Flaws, Wording};
use crate::tool::stub;
use crate::type_form::{last_segment, only_argument};
use parameter::Parameter;
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{ExprPath, GenericArgument, LitStr, PathArguments, ReturnType, Type};

const CRATE: Key = Key { name: "crate", form: Form::Value, example: "crate = ::toolkit" };
const SECTION: Key = Key { name: "section", form: Form::Value, example: "section = \"db\"" };
const FACTORY_KEYS: &[Key] = &[CRATE, SECTION];
const SERVICE_KEYS: &[Key] =
    &[CRATE, Key { name: "close", form: Form::Value, example: "close = disconnect" }, SECTION];

const FACTORY: Wording = Wording {
    noun: "a tool factory",
    called_by: "the toolkit",
    one: "one function",
    no_lifetimes: "`&Caller` needs none",
    without_self: "make it a function and take `State<T>` for what it needs",
    without_impl: "write it outside",
    without_trait: "write it outside",
    many: "parameters",
    owned: "return a `Vec<Tool>`",
};

const SERVICE: Wording = Wording {
    noun: "a service's function",
    called_by: "the toolkit",
    one: "one function for one service",
    no_lifetimes: "`State<T>` and `Config<T>` need none",
    without_self: "make it a function and take `State<T>` for what it needs",
    without_impl: "write it outside",
    without_trait: "write it outside",
    many: "parameters",
    owned: "return an owned type",
};

pub(crate) fn factory(attribute: TokenStream, item: &TokenStream) -> TokenStream {
    expand(attribute, item, "tool_factory", FACTORY_KEYS, &FACTORY, |function, _, _| {
        Some(factory_of(function))
    })
}

pub(crate) fn service(attribute: TokenStream, item: &TokenStream) -> TokenStream {
    expand(attribute, item, "service", SERVICE_KEYS, &SERVICE, service_of)
}

/// The differences between factories and services.
struct Provider {
    /// Checks the type that the function returns.
    witness: TokenStream,
    /// Converts the returned value to the type `made`.
    convert: TokenStream,
    made: TokenStream,
    /// The descriptor without the fields that both have, and its record.
    def: TokenStream,
    fields: TokenStream,
    record: TokenStream,
}

fn expand(
    attribute: TokenStream,
    item: &TokenStream,
    name: &str,
    keys: &'static [Key],
    wording: &Wording,
    provider: impl FnOnce(&Function, Option<&ExprPath>, &mut Errors) -> Option<Provider>,
) -> TokenStream {
    let mut errors = Errors::default();
    let Some(function) = item::parse(item, name, &mut errors) else {
        let errors = errors.into_tokens();
        return quote!(#errors #item);
    };
    let entries = keys::parse(attribute, name, keys, &mut errors);
    let entry = |key: &str| entries.iter().find(|entry| entry.key == key);
    let toolkit = entry("crate").and_then(|entry| entry.crate_path(&mut errors));
    let close = entry("close").and_then(|entry| entry.path(&mut errors));
    let toolkit = toolkit.map_or_else(dependency::toolkit, |path| path.to_token_stream());
    let section = entry("section").and_then(|entry| section(entry, &mut errors));
    let mut flaws = signature::check(&function, wording, &mut errors);
    signature::check_place(&function, wording, &mut flaws, &mut errors);
    let parameters = parameter::read(&function, wording.noun, name == "tool_factory", &mut errors);
    let takes_config = parameters.iter().any(|parameter| matches!(parameter, Parameter::Config(..)));
    if let (Some(section), false) = (&section, takes_config) {
        let message =
            "`section` is that of a `Config<T>`, and this function takes none; take one, or leave it out";
        errors.push(Check::WrongValue, section, message);
    }
    let provider = if flaws.bad_return { None } else { provider(&function, close.as_ref(), &mut errors) };
    match provider {
        Some(provider) if errors.is_empty() => {
            with_record(&function, &toolkit, &parameters, &provider, section.as_ref())
        }
        _ => rejected(&function, &flaws, errors),
    }
}

/// The name of a section within that of the plugin: one key.
fn section(entry: &Entry, errors: &mut Errors) -> Option<LitStr> {
    let name = entry.literal(errors)?;
    let is_key = |name: &str| {
        name.starts_with(|first: char| first.is_ascii_alphabetic())
            && name.chars().all(|character| character.is_ascii_alphanumeric() || "_-".contains(character))
    };
    if !is_key(&name.value()) {
        entry.wrong(&name, "one key, of letters, digits, `_` and `-`", errors);
        return None;
    }
    Some(name)
}

fn rejected(function: &Function, flaws: &Flaws, errors: Errors) -> TokenStream {
    let errors = errors.into_tokens();
    let function = stub::function(function, flaws);
    quote!(#errors #function)
}

fn factory_of(function: &Function) -> Provider {
    let ident = &function.signature.ident;
    let ty = match &function.signature.output {
        ReturnType::Default => quote_spanned!(ident.span()=> ()),
        ReturnType::Type(_, ty) => ty.to_token_stream(),
    };
    Provider {
        witness: quote! {
            const __TOOLKIT_OUTPUT: __toolkit::Products<#ty> = __toolkit::products::<#ty>();
        },
        convert: quote!(__TOOLKIT_OUTPUT.convert),
        made: quote!(__toolkit::Vec<__toolkit::Tool>),
        def: quote!(FactoryDef),
        fields: TokenStream::new(),
        record: quote!(LinkedFactory),
    }
}

fn service_of(function: &Function, close: Option<&ExprPath>, errors: &mut Errors) -> Option<Provider> {
    let ident = &function.signature.ident;
    let nothing = "a service is what its function returns, and this one returns nothing";
    let output = match &function.signature.output {
        ReturnType::Type(_, ty) if !is_unit(ty) => &**ty,
        ReturnType::Type(_, ty) => {
            errors.push(Check::ServiceReturn, ty, nothing);
            return None;
        }
        ReturnType::Default => {
            errors.push(Check::ServiceReturn, ident, nothing);
            return None;
        }
    };
    let value = first_argument(output, "Result");
    if let Some(unit) = value.filter(|ty| is_unit(ty)) {
        errors.push(Check::ServiceReturn, unit, nothing);
        return None;
    }
    let ty = value.unwrap_or(output);
    if let Some((name, advice)) = wrapped(ty) {
        let message = format!("a service is not an `{name}`, but the value within\n{advice}");
        errors.push(Check::ServiceReturn, ty, message.replace("an `Box`", "a `Box`"));
        return None;
    }
    let (service, shared) = match only_argument(ty, "Arc") {
        Some(inner) => (inner, quote!(value)),
        None => (ty, quote!(__toolkit::Arc::new(value))),
    };
    let share = quote!((__TOOLKIT_SERVICE.share)(#shared));
    let span = output.span();
    let convert = if value.is_some() {
        let failed = quote_spanned!(span=> __toolkit::Returned::<#output>::ERRORS.error(error));
        quote! {
            |value: #output| {
                use __toolkit::ReturnedElse as _;
                match value {
                    __toolkit::Ok(value) => __toolkit::Ok(#share),
                    __toolkit::Err(error) => __toolkit::Err(#failed),
                }
            }
        }
    } else {
        quote!(|value: #output| __toolkit::Ok(#share))
    };
    let close = match close {
        None => quote!(__toolkit::None),
        Some(path) => quote_spanned! {path.span()=>
            __toolkit::Some(|service| __toolkit::closing::<#service, _>(service, &#path))
        },
    };
    Some(Provider {
        witness: quote! {
            const __TOOLKIT_SERVICE: __toolkit::ServiceOf<#service> = __toolkit::service_of::<#service>();
        },
        convert,
        made: quote!(__toolkit::AnyService),
        def: quote!(MakerDef),
        fields: quote!(service: __TOOLKIT_SERVICE.def, close: #close,),
        record: quote!(LinkedMaker),
    })
}

/// Returns the wrapper of a type that no tool takes as it is, with the way out.
fn wrapped(ty: &Type) -> Option<(&'static str, &'static str)> {
    if only_argument(ty, "Option").is_some() {
        return Some((
            "Option",
            "return it, or a `Result` of it: tools that take it are unavailable while it fails",
        ));
    }
    let is_dyn = matches!(only_argument(ty, "Box"), Some(Type::TraitObject(_)));
    is_dyn.then_some(("Box", "return an `Arc<dyn Trait>`, which tools take as `State<dyn Trait>`"))
}

fn is_unit(ty: &Type) -> bool {
    matches!(ty, Type::Tuple(tuple) if tuple.elems.is_empty())
}

/// The `T` of `Result<T, E>`, or of an alias for it.
fn first_argument<'a>(ty: &'a Type, name: &str) -> Option<&'a Type> {
    let segment = last_segment(ty).filter(|segment| segment.ident == name)?;
    let PathArguments::AngleBracketed(arguments) = &segment.arguments else { return None };
    arguments.args.iter().find_map(|argument| match argument {
        GenericArgument::Type(ty) => Some(ty),
        _ => None,
    })
}

/// The function as it was, and its record.
fn with_record(
    function: &Function,
    toolkit: &TokenStream,
    parameters: &[Parameter],
    provider: &Provider,
    section: Option<&LitStr>,
) -> TokenStream {
    let part = section.map(|section| quote!(.part(#section)));
    let Function { attributes, visibility, signature, body } = function;
    let ident = &signature.ident;
    let (name, span) = (ident.to_string(), ident.span());
    let cfgs = attributes.iter().filter(|attribute| attribute.path().is_ident("cfg"));
    let Provider { witness, convert, made, def, fields, record } = provider;
    let location = location(span);
    let making = Ident::new("making", Span::mixed_site());
    let (mut witnesses, mut takes) = (TokenStream::new(), TokenStream::new());
    let (mut passed, mut needs, mut sections) = (Vec::new(), Vec::new(), TokenStream::new());
    for (place, parameter) in parameters.iter().enumerate() {
        let value = Ident::new(&format!("value_{place}"), Span::mixed_site());
        let (service, borrowed) = match parameter {
            Parameter::Caller | Parameter::Broken => {
                passed.push(quote!(#making.caller()));
                continue;
            }
            Parameter::Service(ty, borrowed) => {
                let witness = format_ident!("__TOOLKIT_STATE_{place}");
                witnesses
                    .extend(quote!(static #witness: __toolkit::NeedOf<#ty> = __toolkit::need_of::<#ty>();));
                let service = quote!((#witness.get)(#making));
                needs.push(witness);
                (service, *borrowed)
            }
            Parameter::Config(ty, borrowed) => {
                let witness = format_ident!("__TOOLKIT_CONFIG_{place}");
                witnesses.extend(quote! {
                    const #witness: __toolkit::PluginConfigOf<#ty> =
                        __toolkit::plugin_config_of::<#ty>()#part;
                });
                sections.extend(quote! {
                    __toolkit::inventory::submit! {
                        #witness.section.for_crate(#location).of_function(#name, #location)
                    }
                });
                (quote!(#witness.get(#making)), *borrowed)
            }
        };
        takes.extend(quote!(let #value = #service?;));
        passed.push(if borrowed { quote!(&#value) } else { quote!(#value) });
    }
    let call = quote_spanned!(span=> #ident(#(#passed),*));
    let call = if signature.asyncness.is_some() { quote!(#call.await) } else { call };
    // At the function, where the compiler reports a future that is not `Send`.
    let future = quote_spanned!(span=> __toolkit::making(async move { #call }, #convert));
    quote! {
        #(#attributes)*
        #visibility #signature #body

        #(#cfgs)*
        #[doc(hidden)]
        #[allow(deprecated, unused, unused_qualifications, clippy::all, clippy::pedantic, clippy::nursery, clippy::restriction)]
        const _: () = {
            use #toolkit::__private as __toolkit;
            #witness
            #witnesses
            fn __toolkit_run<'a>(
                #making: &'a __toolkit::Making,
            ) -> __toolkit::Result<__toolkit::MakingFuture<'a, #made>, __toolkit::ToolError> {
                #takes
                __toolkit::Ok(#future)
            }
            static __TOOLKIT_DEF: __toolkit::#def = __toolkit::#def {
                name: #name,
                #fields
                needs: &[#(&#needs.def),*],
                run: __toolkit_run,
                location: #location,
            };
            __toolkit::inventory::submit! { __toolkit::#record(&__TOOLKIT_DEF) }
            #sections
        };
    }
}
