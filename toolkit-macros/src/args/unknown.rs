//! Attributes on the fields of an argument type that nothing gives a meaning.

use super::derived;
use crate::check::{Check, Errors};
use crate::keys::unknown_attribute;
use crate::source;
use proc_macro2::Span;
use syn::{Attribute, Field};

/// Derives that read no attribute, or only those in [`KNOWN`].
const DERIVES: [&str; 12] = [
    "Debug",
    "Clone",
    "Copy",
    "PartialEq",
    "Eq",
    "PartialOrd",
    "Ord",
    "Hash",
    "Default",
    "Deserialize",
    "Serialize",
    "JsonSchema",
];

/// Attributes of the language, of serde, and those that schemars reads.
const KNOWN: [&str; 20] = [
    "arg",
    "doc",
    "cfg",
    "cfg_attr",
    "allow",
    "expect",
    "warn",
    "deny",
    "forbid",
    "deprecated",
    "must_use",
    "non_exhaustive",
    "repr",
    "derive",
    "serde",
    "schemars",
    "validate",
    "garde",
    "default",
    "toolkit_read",
];

/// Reports and removes attributes of a field that the compiler would report without the way out. Any of them may belong to a derive
/// or a macro on the type, so the type must have none of those.
pub(super) fn refuse(field: &mut Field, errors: &mut Errors) {
    field.attrs.retain(|attribute| {
        let is_known = is_known_on_field(attribute);
        if !is_known {
            let rest = "it takes docs, `#[arg(..)]`, `#[serde(..)]` or `#[schemars(..)]`";
            let message = unknown_attribute(attribute, "a field", &["arg"], rest);
            errors.push(Check::ParameterAttribute, attribute, message);
        }
        is_known
    });
}

/// Returns true if a field has an attribute that may be unknown to all.
pub(super) fn has_unknown(field: &Field) -> bool {
    !field.attrs.iter().all(is_known_on_field)
}

/// Returns true if only the compiler and the derives of the expansion read the attributes of a type's fields.
pub(super) fn is_plain(attributes: &[Attribute]) -> bool {
    // Derives above the attribute have run, and are not among the attributes any more.
    let is_first = || source::around(Span::call_site()).is_some_and(|around| !around.has_attributes());
    attributes.iter().all(|attribute| is_known(attribute) && !attribute.path().is_ident("cfg_attr"))
        && derived(attributes).iter().all(|derive| DERIVES.contains(&derive.as_str()))
        && is_first()
}

/// A default is marked on a variant, not on a field.
fn is_known_on_field(attribute: &Attribute) -> bool {
    is_known(attribute) && !attribute.path().is_ident("default")
}

fn is_known(attribute: &Attribute) -> bool {
    attribute.path().segments.len() > 1 || KNOWN.iter().any(|known| attribute.path().is_ident(known))
}
