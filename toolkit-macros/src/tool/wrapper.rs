//! The context, services and configurations in a wrapper that they do not need, and arguments that are probably meant as one of them.

use crate::check::{Check, Errors};
use crate::fragments::flat;
use crate::rules::Kind;
use crate::type_form::{kind, last_segment, only_argument, option, without_group};
use proc_macro2::{Ident, Span};
use quote::ToTokens;
use syn::{GenericArgument, PathArguments, Type};

/// Wrappers that the context, a service or a configuration does without.
const WRAPPERS: [&str; 6] = ["Arc", "Rc", "Box", "Mutex", "RwLock", "Cow"];

/// Reports a parameter that wraps what needs no wrapper. Returns true if it did.
pub(super) fn refuse(ty: &Type, errors: &mut Errors) -> bool {
    if let Type::Reference(reference) = ty
        && let Some(token) = &reference.mutability
        && let Some(service) = only_argument(&reference.elem, "State")
    {
        let message = format!(
            "a service is shared; take `State<{}>`, and keep what changes behind a `Mutex`",
            shown(service)
        );
        errors.push(Check::MutableReference, token, message);
        return true;
    }
    if let Some((wrapper, types)) = has_several(ty) {
        let all: Vec<String> = types.iter().map(|ty| format!("`{wrapper}<{}>`", shown(ty))).collect();
        let message = format!("`{wrapper}` has one type\ntake a parameter for each: {}", all.join(", "));
        errors.push(Check::Wrapper, ty, message);
        return true;
    }
    let Some(message) = context_fault(ty).or_else(|| provided_fault(ty, true)) else { return false };
    errors.push(Check::Wrapper, ty, message);
    true
}

/// Same as [`refuse`] and [`refuse_within`], for the function of a factory or a service, which has no context.
pub(crate) fn refuse_of_provider(ty: &Type, errors: &mut Errors) -> bool {
    if let Some(message) = provided_fault(ty, false) {
        errors.push(Check::Wrapper, ty, message);
        return true;
    }
    let inside = without_reference(ty);
    ["State", "Config"]
        .iter()
        .any(|wrapper| only_argument(inside, wrapper).is_some_and(|ty| refuse_within(wrapper, ty, errors)))
}

/// Returns the types of a `State<A, B>` or `Config<A, B>`.
pub(super) fn has_several(ty: &Type) -> Option<(&'static str, Vec<&Type>)> {
    let segment = last_segment(without_reference(ty))?;
    let wrapper = ["State", "Config"].into_iter().find(|name| segment.ident == name)?;
    let PathArguments::AngleBracketed(arguments) = &segment.arguments else { return None };
    let types = arguments.args.iter().filter_map(|argument| match argument {
        GenericArgument::Type(ty) => Some(ty),
        _ => None,
    });
    let types: Vec<&Type> = types.collect();
    (types.len() > 1).then_some((wrapper, types))
}

fn context_fault(ty: &Type) -> Option<String> {
    if is_named(inner(ty)?, "ToolContext") {
        return Some("the context is there in every call; take `&ToolContext`".to_owned());
    }
    if let Type::Reference(reference) = ty
        && is_named(&reference.elem, "Caller")
    {
        return Some(
            "the context knows the caller; take `ctx: &ToolContext` and call `ctx.caller()`".to_owned(),
        );
    }
    None
}

/// Returns the fault of a service or a configuration in a wrapper.
fn provided_fault(ty: &Type, has_context: bool) -> Option<String> {
    if let Some((wrapper, provided)) = within_value(without_reference(ty)) {
        let what = if wrapper == "State" { "service" } else { "configuration" };
        return Some(format!("a {what} is a parameter of its own; take `{}`", shown(provided)));
    }
    let is_optional = option(without_reference(ty)).is_some();
    let inside = without_reference(inner(ty)?);
    if let Some(service) =
        only_argument(inside, "State").filter(|_| !std::ptr::eq(inside, without_reference(ty)))
    {
        let service = shown(without_reference(service));
        return Some(if is_optional && has_context {
            format!(
                "a service is always there; take `State<{service}>`\nor call `ctx.service::<{service}>()`, which returns an `Option`"
            )
        } else if is_optional {
            format!("a service is always there; take `State<{service}>`")
        } else {
            format!("`State` shares the service already; take `State<{service}>`")
        });
    }
    if let Some(config) =
        only_argument(inside, "Config").filter(|_| !std::ptr::eq(inside, without_reference(ty)))
    {
        let config = shown(without_reference(config));
        return Some(if is_optional {
            format!(
                "a configuration is always there; take `Config<{config}>`\nin the struct, give each field a `default`, or make it an `Option`"
            )
        } else {
            format!("`Config` shares the configuration already; take `Config<{config}>`")
        });
    }
    None
}

/// Returns a `State<T>` or `Config<T>` within a list, a map or a tuple.
fn within_value(ty: &Type) -> Option<(&'static str, &Type)> {
    let types: Vec<&Type> = match without_group(ty) {
        Type::Tuple(tuple) => tuple.elems.iter().collect(),
        Type::Slice(slice) => vec![&slice.elem],
        Type::Array(array) => vec![&array.elem],
        other => {
            let segment = last_segment(other)?;
            let PathArguments::AngleBracketed(arguments) = &segment.arguments else { return None };
            if !["Vec", "HashMap", "BTreeMap", "HashSet", "BTreeSet"].iter().any(|name| segment.ident == name)
            {
                return None;
            }
            let types = arguments.args.iter().filter_map(|argument| match argument {
                GenericArgument::Type(ty) => Some(ty),
                _ => None,
            });
            types.collect()
        }
    };
    types.into_iter().find_map(|ty| {
        let name = ["State", "Config"].into_iter().find(|name| only_argument(ty, name).is_some());
        name.map(|name| (name, without_group(ty))).or_else(|| within_value(ty))
    })
}

/// Reports what stands in `State<..>` or `Config<..>` and needs no wrapper. Returns true if it did.
pub(super) fn refuse_within(wrapper: &str, ty: &Type, errors: &mut Errors) -> bool {
    let (what, provide) = match wrapper {
        "Config" => ("configuration", ""),
        _ => ("service", "\nprovide an `Arc` with `Builder::shared_service`"),
    };
    let message = match without_group(ty) {
        Type::Reference(reference) => {
            format!("`{wrapper}` owns the {what}; take `{wrapper}<{}>`", shown(&reference.elem))
        }
        ty => match only_argument(ty, "Arc") {
            Some(inner) => {
                format!("`{wrapper}` shares the {what} already; take `{wrapper}<{}>`{provide}", shown(inner))
            }
            None if only_argument(ty, wrapper).is_some() => {
                let inner = only_argument(ty, wrapper).map(shown).unwrap_or_default();
                format!("`{wrapper}` twice; take `{wrapper}<{inner}>`")
            }
            None if wrapper == "State" && only_argument(ty, "Config").is_some() => {
                format!("a configuration is no service; take `{}`", shown(ty))
            }
            None if is_named(ty, "ToolContext") => {
                "the context is no service; take `&ToolContext`".to_owned()
            }
            None if wrapper == "Config" && kind(ty) != Kind::Unknown => {
                "a section of the configuration is an object; take a struct with `#[toolkit::args]`"
                    .to_owned()
            }
            None => return false,
        },
    };
    errors.push(Check::Wrapper, ty, message);
    true
}

/// Returns the type within all wrappers, `Option` among them, and within references.
fn inner(ty: &Type) -> Option<&Type> {
    let ty = without_reference(ty);
    let wrapped = option(ty).or_else(|| WRAPPERS.iter().find_map(|name| only_argument(ty, name)));
    match wrapped {
        Some(wrapped) => inner(wrapped),
        None => Some(ty),
    }
}

fn without_reference(ty: &Type) -> &Type {
    match without_group(ty) {
        Type::Reference(reference) => without_reference(&reference.elem),
        other => other,
    }
}

fn is_named(ty: &Type, name: &str) -> bool {
    last_segment(ty).is_some_and(|segment| segment.ident == name)
}

/// Returns the module of the runtime that describes a parameter whose type's name makes a mistake probable: the compiler decides
/// whether it is an argument, and the module has the message if it is not.
pub(super) fn suspicion(ty: &Type) -> Option<Ident> {
    let segment = last_segment(ty)?;
    let is_generic = matches!(&segment.arguments, PathArguments::AngleBracketed(arguments)
        if arguments.args.iter().any(|argument| matches!(argument, GenericArgument::Type(_))));
    let module = match (segment.ident.to_string().as_str(), is_generic) {
        ("Arc" | "Rc" | "Mutex" | "RwLock" | "RefCell", true) => "shared",
        ("Json", true) => "json",
        ("Parameters", true) => "parameters",
        ("Caller", false) => "caller",
        (name, false) if is_context(name) => "context",
        _ => return None,
    };
    Some(Ident::new(module, Span::call_site()))
}

/// Returns the way out for a reference that is no argument, of any name.
pub(super) fn instead_of_reference(elem: &Type) -> String {
    const OF_STD: [&str; 8] =
        ["HashMap", "BTreeMap", "HashSet", "BTreeSet", "IndexMap", "Map", "Value", "Duration"];
    let segment = match without_group(elem) {
        Type::Slice(_) => return "take `&[String]` for a list of strings".to_owned(),
        Type::TraitObject(_) => return "take `State<dyn Trait>` for a service".to_owned(),
        ty => last_segment(ty),
    };
    let Some(segment) = segment else { return "take the type by value".to_owned() };
    if let Some(inner) = ["Arc", "Rc", "Box"].iter().find_map(|name| only_argument(elem, name)) {
        return instead_of_reference(inner);
    }
    if let Some(inner) = only_argument(elem, "Json") {
        return format!("take `{}` by value\n`Json` is for what a tool returns", shown(inner));
    }
    let name = segment.ident.to_string();
    match name.as_str() {
        "State" | "Config" if segment.arguments.is_none() => {
            return format!("name what it holds: `{name}<T>`");
        }
        "String" => return "take `&str`".to_owned(),
        "PathBuf" => return "take `&Path`".to_owned(),
        "Vec" => return "take `&[T]`".to_owned(),
        _ if kind(elem) != Kind::Unknown || OF_STD.contains(&name.as_str()) => {
            return format!("take `{name}` by value");
        }
        _ => {}
    }
    // Only the compiler knows whether it is an argument, a service, or an alias of the context.
    let shown = shown(elem);
    let (context, service) = ("`&ToolContext`, by this name", format!("`State<{shown}>`"));
    if is_context(&name) {
        format!(
            "the context is {context}\nfor a service, take {service}; for an argument, `{shown}` by value"
        )
    } else {
        format!(
            "for a service, take {service}\nfor an argument, take `{shown}` by value; the context is {context}"
        )
    }
}

/// Returns true for a name that a context of a call has in other crates.
fn is_context(name: &str) -> bool {
    ["Context", "Ctx", "Cx"].iter().any(|end| name.ends_with(end))
}

/// Returns a type as a person writes it.
fn shown(ty: &Type) -> String {
    let text = flat(&ty.to_token_stream()).to_string();
    let text = text
        .replace(" < ", "<")
        .replace(" >", ">")
        .replace(" :: ", "::")
        .replace(" ,", ",")
        .replace("& ", "&");
    if text.chars().count() > 30 { "T".to_owned() } else { text }
}
