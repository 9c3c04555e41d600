//! `#[toolkit::args]`: derives the traits of an argument type through `toolkit`'s own re-exports, and converts
//! `#[arg(..)]` on fields to attributes of serde and schemars.

mod fields;
pub(crate) mod nested;
mod serde_keys;
mod shape;
mod unknown;

use crate::check::{self, Check, Errors};
use crate::checked_literals;
use crate::half_typed;
use crate::keys::{self, Form, Key};
use crate::rules::{Around, Default_, Kind, Literal, Rules, TypeForm};
use crate::source;
use crate::type_form::{item_kind, kind, mentions_ident, option, ungroup};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use std::collections::HashSet;
use syn::ext::IdentExt;
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{Attribute, Data, DeriveInput, Expr, ExprLit, Field, Lit, Meta, Path, Token, Type, parse_quote};

const KEYS: &[Key] = &[
    Key { name: "crate", form: Form::Value, example: "crate = ::toolkit" },
    Key { name: "allow_unknown_fields", form: Form::Flag, example: "allow_unknown_fields" },
];

pub(crate) fn expand(attribute: TokenStream, item: &TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let mut input = match syn::parse2::<DeriveInput>(item.clone()) {
        Ok(input) => input,
        Err(error) => {
            if is_other_item(item) {
                let what = item.clone().into_iter().next().map_or_else(Span::call_site, |token| token.span());
                errors.push_span(Check::ArgsItem, what, "`#[toolkit::args]` goes on a struct or an enum");
            } else if !half_typed::is_rejected(item.clone()) {
                errors.push_syntax(error);
            }
            let errors = errors.into_tokens();
            return quote!(#errors #item);
        }
    };
    let options = options(attribute, &mut errors);
    check_item(&input, &mut errors);
    let above = derives_above(&input, &mut errors);
    serde_keys::take_above(&mut input.attrs, &mut errors);
    serde_keys::take_derives(&mut input.attrs);
    let default = serde_keys::take_default(&mut input.attrs);
    if let Data::Union(_) = &input.data {
        // No derive accepts it.
        let errors = errors.into_tokens();
        return quote!(#errors #item);
    }
    let mut helpers = Helpers {
        toolkit: options.toolkit.clone(),
        generics: input.generics.type_params().map(|parameter| parameter.ident.to_string()).collect(),
        path: String::new(),
        functions: TokenStream::new(),
        checks: TokenStream::new(),
    };
    let form = nested::form(&input);
    helpers.path = nested::functions_path(&input);
    let default = default.map(|key| helpers.whole_default(&input, key));
    if let Data::Enum(data) = &mut input.data {
        for variant in &mut data.variants {
            serde_keys::take_arg(variant, &mut errors);
            serde_keys::of_variant(variant, &mut errors);
            serde_keys::of_tagged_variant(&input.attrs, variant, &mut errors);
        }
    }
    let (mut has_flatten, mut has_nested) = (false, false);
    let type_name = input.ident.clone();
    // Serde may give the fields other names.
    let is_renamed = input.attrs.iter().any(|attribute| mentions(attribute, "rename"));
    let has_lifetimes = input.generics.lifetimes().next().is_some();
    let has_unknown = fields_of(&mut input.data).iter().any(|(_, field)| unknown::has_unknown(field));
    let refuses_unknown = has_unknown && unknown::is_plain(&input.attrs);
    let all = names_of_fields(&mut input.data);
    let (mut names, mut aliases) = (Names::default(), Vec::new());
    for (place, (group, field)) in fields_of(&mut input.data).into_iter().enumerate() {
        ungroup(&mut field.ty);
        if refuses_unknown {
            unknown::refuse(field, &mut errors);
        }
        if let Some(ty) = fields::check(field, has_lifetimes, &mut errors) {
            field.ty = ty;
        }
        has_flatten |= field.attrs.iter().any(|attribute| mentions(attribute, "flatten"));
        let is_renamed = is_renamed || field.attrs.iter().any(|attribute| mentions(attribute, "rename"));
        let own = field.ident.clone().filter(|_| !is_renamed);
        let siblings = all.iter().filter(|(other, _)| *other == group).map(|(_, name)| name.clone());
        let around =
            Around::fields(siblings.collect(), field.ident.as_ref().map(|ident| ident.unraw().to_string()));
        let rules = rewrite(field, place, &around, &mut helpers, &mut errors);
        has_nested |=
            form.as_ref().is_some_and(|form| nested::rewrite(field, place, &type_name, form, &mut helpers));
        match (rules.rename, own) {
            (Some(rename), _) => names.add(group, &rename, rename.value(), &mut errors),
            (None, Some(ident)) => names.add(group, &ident, ident.unraw().to_string(), &mut errors),
            (None, None) => {}
        }
        aliases.extend(rules.aliases.into_iter().map(|alias| (group, alias)));
    }
    for (group, alias) in aliases {
        names.add(group, &alias, alias.value(), &mut errors);
    }
    let closed = !options.allow_unknown_fields
        && !has_flatten
        && !is_plain_enum(&input.data)
        && !is_tuple(&input.data)
        && !input
            .attrs
            .iter()
            .any(|attribute| mentions(attribute, "deny_unknown_fields") || mentions(attribute, "untagged"));
    has_nested &= errors.is_empty();
    let derives = derives(&input.attrs, &above, &options.toolkit, closed, has_nested);
    // The schema states this too: by default the arguments of a tool do not permit unknown keys.
    let is_named = matches!(&input.data, Data::Struct(data) if matches!(data.fields, syn::Fields::Named(_)));
    let open = (options.allow_unknown_fields && is_named)
        .then(|| quote!(#[schemars(extend("additionalProperties" = true))]));
    let rest = if errors.is_empty() {
        input.attrs.extend(default);
        additions(&input, &helpers)
    } else {
        leave_unread(&mut input.data, &options.toolkit);
        // Without it, a tool that returns the type would be a second error.
        marker(&input, &helpers.toolkit)
    };
    let errors = errors.into_tokens();
    quote! { #errors #derives #open #input #rest }
}

/// Reports derives above the attribute that it brings itself, and returns them. The compiler has expanded them already.
fn derives_above(input: &DeriveInput, errors: &mut Errors) -> Vec<&'static str> {
    let above = source::derived_above(Span::call_site(), &["Deserialize", "Serialize", "JsonSchema"]);
    if !above.is_empty() {
        let names: Vec<String> = above.iter().map(|name| format!("`{name}`")).collect();
        let (names, it) = (names.join(" and "), if above.len() == 1 { "it" } else { "them" });
        let message = format!(
            "`#[toolkit::args]` derives {names} itself\nremove {it} from the `#[derive(..)]` above; other derives belong below `#[toolkit::args]`"
        );
        errors.push_span(Check::ArgsItem, Span::call_site().resolved_at(input.ident.span()), message);
    }
    above
}

/// Takes off the fields of a type with an error what the derives would report as well.
fn leave_unread(data: &mut Data, toolkit: &TokenStream) {
    for (_, field) in fields_of(data) {
        // The functions of the expansion are not emitted, and serde reports a duplicate name as well.
        field.attrs.retain(|attribute| !mentions(attribute, "__toolkit_") && !mentions(attribute, "rename"));
        fields::leave_unread(field, toolkit);
    }
}

/// Returns the items beside the type: the functions that its derives call, checks, and the marker trait.
fn additions(input: &DeriveInput, helpers: &Helpers) -> TokenStream {
    let Helpers { toolkit, functions, checks, .. } = helpers;
    let marker = marker(input, toolkit);
    let type_name = &input.ident;
    let (impl_generics, type_generics, where_clause) = input.generics.split_for_impl();
    let functions = (!functions.is_empty()).then(|| {
        quote! {
            #[doc(hidden)]
            #[allow(unused_qualifications, clippy::all, clippy::pedantic)]
            impl #impl_generics #type_name #type_generics #where_clause { #functions }
        }
    });
    let checks = (!checks.is_empty()).then(|| {
        quote! {
            #[allow(unused, unused_qualifications, clippy::all, clippy::pedantic)]
            const _: () = { use #toolkit::__private as __toolkit; #checks };
        }
    });
    quote! { #functions #checks #marker }
}

/// Returns the implementation of the marker trait, which a tool that returns the type needs.
fn marker(input: &DeriveInput, toolkit: &TokenStream) -> TokenStream {
    let shape = shape::shape(input, &quote!(#toolkit::__private));
    let type_name = &input.ident;
    let (impl_generics, type_generics, where_clause) = input.generics.split_for_impl();
    quote! {
        #[doc(hidden)]
        #[allow(unused_qualifications)]
        impl #impl_generics #toolkit::__private::ArgsType for #type_name #type_generics #where_clause { #shape }
    }
}

struct Options {
    toolkit: TokenStream,
    allow_unknown_fields: bool,
}

struct Helpers {
    toolkit: TokenStream,
    /// The type parameters, of which a check outside the type knows nothing.
    generics: Vec<String>,
    /// The path of the type's functions.
    path: String,
    /// Functions that make defaults, and that read fields.
    functions: TokenStream,
    /// Checks that only the compiler can make.
    checks: TokenStream,
}

impl Helpers {
    /// Makes the compiler check a type, and report errors at the key that requires it.
    fn check(&mut self, check: Check, bound: &str, ty: &Type, span: Span) {
        if self.is_generic(ty) || check::is_disabled(check) {
            return;
        }
        let (bound, named) = (Ident::new(bound, span), Ident::new("__ToolkitChecked", span));
        // The type is named where it stands: an unknown one is an error there only.
        self.checks.extend(
            quote_spanned!(span=> const _: () = { type #named = #ty; __toolkit::#bound::<#named>() };),
        );
    }

    /// Returns the attribute for a field that is not read: a function of the type makes its value, so that a type without one is one error, there.
    fn skipped(&mut self, place: usize, ty: &Type) -> TokenStream {
        let function = format_ident!("__toolkit_skipped_{place}");
        let (path, span) = (format!("{}::{function}", self.path), ty.span());
        let toolkit = &self.toolkit;
        let value = quote_spanned!(span=> #toolkit::__private::skipped::<#ty>());
        self.functions.extend(quote!(fn #function() -> #ty { #value }));
        quote!(#[serde(default = #path)])
    }

    /// Returns the attribute for a type whose fields have the values of its `Default`: a function of the type makes it, so that a type without
    /// one is one error, at the key.
    fn whole_default(&mut self, input: &DeriveInput, key: Span) -> Attribute {
        let (name, (_, generics, _)) = (&input.ident, input.generics.split_for_impl());
        let toolkit = &self.toolkit;
        let value = quote_spanned!(key=> #toolkit::__private::own_default::<#name #generics>());
        self.functions.extend(quote!(fn __toolkit_default() -> Self { #value }));
        let path = format!("{}::__toolkit_default", self.path);
        parse_quote!(#[serde(default = #path)])
    }

    fn is_generic(&self, ty: &Type) -> bool {
        let tokens = ty.to_token_stream();
        self.generics.iter().any(|name| mentions_ident(&tokens, name).is_some())
    }

    /// Makes the compiler check literals, and the keys of maps.
    fn check_values(&mut self, ty: &Type, rules: &Rules) {
        if !self.is_generic(ty) {
            self.checks.extend(checked_literals::checks(ty, rules));
            self.checks.extend(checked_literals::key_checks(ty));
        }
    }
}

fn options(attribute: TokenStream, errors: &mut Errors) -> Options {
    let mut options = Options { toolkit: crate::dependency::toolkit(), allow_unknown_fields: false };
    for entry in keys::parse(attribute, "toolkit::args", KEYS, errors) {
        match entry.key {
            "crate" => {
                if let Some(path) = entry.crate_path(errors) {
                    options.toolkit = path.to_token_stream();
                }
            }
            _ => options.allow_unknown_fields = entry.flag(errors).unwrap_or(false),
        }
    }
    options
}

fn is_other_item(item: &TokenStream) -> bool {
    syn::parse2::<syn::Item>(item.clone()).is_ok()
}

fn check_item(input: &DeriveInput, errors: &mut Errors) {
    if let Data::Union(union) = &input.data {
        errors.push(Check::ArgsItem, &union.union_token, "`#[toolkit::args]` goes on a struct or an enum");
    }
    if let Some(lifetime) = input.generics.lifetimes().next() {
        let advice = match fields::owned_types(&input.data) {
            owned if owned.is_empty() => "use owned types such as `String`".to_owned(),
            owned => format!("write {}", owned.join(", ")),
        };
        let message = format!(
            "an argument type owns its content, so it has no lifetimes\nremove `{lifetime}`, and {advice}",
            lifetime = lifetime.lifetime
        );
        errors.push(Check::ArgsItem, lifetime, message);
    }
}

/// The fields, each with the number of the variant it belongs to.
fn fields_of(data: &mut Data) -> Vec<(usize, &mut Field)> {
    match data {
        Data::Struct(data) => data.fields.iter_mut().map(|field| (0, field)).collect(),
        Data::Enum(data) => {
            let variants = data.variants.iter_mut().enumerate();
            variants
                .flat_map(|(number, variant)| variant.fields.iter_mut().map(move |field| (number, field)))
                .collect()
        }
        Data::Union(_) => Vec::new(),
    }
}

/// The names of the fields, each with the number of the variant it belongs to.
fn names_of_fields(data: &mut Data) -> Vec<(usize, String)> {
    let named =
        |(group, field): (usize, &mut Field)| Some((group, field.ident.as_ref()?.unraw().to_string()));
    fields_of(data).into_iter().filter_map(named).collect()
}

/// The names that the fields of one struct or variant answer to.
#[derive(Default)]
struct Names(HashSet<(usize, String)>);

impl Names {
    fn add(&mut self, group: usize, name: &impl ToTokens, text: String, errors: &mut Errors) {
        if self.0.contains(&(group, text.clone())) {
            errors.push(
                Check::ArgumentTwice,
                name,
                format!("another field is named `{text}` already: take another name, or leave the alias out"),
            );
        }
        self.0.insert((group, text));
    }
}

fn is_plain_enum(data: &Data) -> bool {
    matches!(data, Data::Enum(data) if data.variants.iter().all(|variant| variant.fields.is_empty()))
}

fn is_tuple(data: &Data) -> bool {
    matches!(data, Data::Struct(data) if !matches!(data.fields, syn::Fields::Named(_)))
}

fn mentions(attribute: &Attribute, word: &str) -> bool {
    matches!(&attribute.meta, Meta::List(list) if list.tokens.to_string().contains(word))
}

/// The traits that an argument type needs, and their crates.
const DERIVES: [(&str, &str); 3] =
    [("Deserialize", "serde"), ("Serialize", "serde"), ("JsonSchema", "schemars")];

/// Returns the names of the traits that the type derives itself.
fn derived(attributes: &[Attribute]) -> Vec<String> {
    attributes
        .iter()
        .filter(|attribute| attribute.path().is_ident("derive"))
        .filter_map(|attribute| {
            attribute.parse_args_with(Punctuated::<Path, Token![,]>::parse_terminated).ok()
        })
        .flatten()
        .filter_map(|path| path.segments.last().map(|segment| segment.ident.to_string()))
        .collect()
}

/// The derives that the type does not have yet.
fn derives(
    attributes: &[Attribute],
    above: &[&str],
    toolkit: &TokenStream,
    closed: bool,
    has_nested: bool,
) -> TokenStream {
    let present = derived(attributes);
    let derives = DERIVES
        .iter()
        .filter(|(name, library)| {
            !(has_nested && *library == "serde"
                || above.contains(name)
                || present.iter().any(|present| present == name))
        })
        .map(|(name, library)| {
            let (name, library) = (format_ident!("{name}"), format_ident!("{library}"));
            quote!(#toolkit::__private::#library::#name)
        });
    let path = |library: &str| format!("{}::__private::{library}", toolkit.to_string().replace(' ', ""));
    let (serde, schemars) = (path("serde"), path("schemars"));
    let closed = closed.then(|| quote!(#[serde(deny_unknown_fields)]));
    let read_fields = has_nested.then(|| quote!(#[#toolkit::__private::read_fields([#toolkit])]));
    quote! {
        #[derive(#(#derives),*)]
        #[serde(crate = #serde)]
        #[schemars(crate = #schemars)]
        #closed
        #read_fields
    }
}

/// Converts the `#[arg(..)]` of a field to attributes of serde and schemars.
fn rewrite(
    field: &mut Field,
    place: usize,
    around: &Around,
    helpers: &mut Helpers,
    errors: &mut Errors,
) -> Rules {
    let mut tokens = TokenStream::new();
    field.attrs.retain(|attribute| {
        let is_conditional = attribute.path().is_ident("cfg_attr")
            && mentions_ident(&attribute.meta.to_token_stream(), "arg").is_some();
        if is_conditional {
            let message = "`#[arg]` cannot be conditional; write two types, each under its `#[cfg]`";
            errors.push(Check::ParameterCfg, attribute, message);
            return false;
        }
        if !attribute.path().is_ident("arg") {
            return true;
        }
        match &attribute.meta {
            Meta::List(list) if tokens.is_empty() => tokens = list.tokens.clone(),
            Meta::List(list) => {
                let more = &list.tokens;
                tokens.extend(quote!(, #more));
            }
            other => errors.push(Check::WrongForm, attribute, keys::arg_without_list(other)),
        }
        false
    });
    let mut rules = Rules::parse(tokens, around, errors);
    serde_keys::of_field(field, &mut rules, errors);
    if rules.default.is_none() && option(&field.ty).is_none() && !helpers.is_generic(&field.ty) {
        rules.default = serde_keys::take_default(&mut field.attrs).map(Default_::OfType);
    }
    let option = option(&field.ty);
    let is_option = option.is_some();
    let ty = option.unwrap_or(&field.ty).clone();
    let kind = kind(&ty);
    let written = ty.to_token_stream().to_string().replace(' ', "");
    if let (true, Some(Default_::OfType(span) | Default_::Value(_, span))) = (is_option, &rules.default) {
        errors.push_span(
            Check::DefaultOnOption,
            *span,
            "an `Option` is `None` when it is absent; take the plain type to give it a default",
        );
        return rules;
    }
    rules.check_values(TypeForm { name: &written, kind, item: item_kind(&ty) }, errors);
    let mut attributes = TokenStream::new();
    if rules.default.is_none() && serde_keys::is_skipped(field) {
        attributes.extend(helpers.skipped(place, &field.ty));
    }
    if let Some(rename) = &rules.rename {
        attributes.extend(quote!(#[serde(rename = #rename)]));
    }
    if !rules.aliases.is_empty() {
        let aliases = &rules.aliases;
        attributes.extend(quote!(#[schemars(extend("x-toolkit-aliases" = [#(#aliases),*]))]));
    }
    if rules.secret {
        attributes.extend(quote!(#[schemars(extend("x-toolkit-secret" = true))]));
    }
    attributes.extend(constraints(&rules, &ty, helpers));
    helpers.check_values(&ty, &rules);
    match &rules.default {
        None => {}
        Some(default) => {
            let (value, span) = match default {
                Default_::OfType(_) => {
                    let (toolkit, span) = (&helpers.toolkit, ty.span());
                    (quote_spanned!(span=> #toolkit::__private::own_default::<#ty>()), span)
                }
                Default_::Value(value, span) => (default_value(value, kind, &ty, &helpers.toolkit), *span),
            };
            let function = format_ident!("__toolkit_default_{place}");
            helpers.functions.extend(quote_spanned!(span=> fn #function() -> #ty { #value }));
            let path = format!("{}::{function}", helpers.path);
            attributes.extend(quote!(#[serde(default = #path)]));
        }
    }
    let attributes = syn::parse::Parser::parse2(Attribute::parse_outer, attributes);
    field.attrs.extend(attributes.expect("the attributes are written above"));
    rules
}

fn constraints(rules: &Rules, ty: &Type, helpers: &mut Helpers) -> TokenStream {
    let mut attributes = TokenStream::new();
    for constraint in &rules.constraints {
        attributes.extend(constraint.attributes(kind(ty), &helpers.toolkit));
        let (check, bound, span) = constraint.type_check();
        helpers.check(check, bound, ty, span);
    }
    if let Some(example) = &rules.example {
        attributes.extend(quote!(#[schemars(extend("examples" = [#example]))]));
    }
    attributes
}

/// A literal default as the field's type; any other expression must have it.
fn default_value(value: &Expr, kind: Kind, ty: &Type, toolkit: &TokenStream) -> TokenStream {
    match (kind, Literal::of(value)) {
        (Kind::Unknown | Kind::List, Some(literal)) => {
            let literal = literal.to_tokens();
            quote!({
                use #toolkit::__private as __toolkit;
                __toolkit::decoded::<#ty>(#literal)
            })
        }
        (Kind::Text, Some(_)) => quote_spanned!(value.span()=> <#ty>::from(#value)),
        (Kind::Float, Some(Literal::Int(_))) => quote_spanned!(value.span()=> (#value) as #ty),
        (Kind::Char, Some(Literal::Str(text)))
            if !matches!(value, Expr::Lit(ExprLit { lit: Lit::Char(_), .. })) =>
        {
            let character = text.chars().next().unwrap_or_default();
            quote!(#character)
        }
        _ => value.to_token_stream(),
    }
}
