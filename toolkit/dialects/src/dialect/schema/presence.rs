//! Conditions about the presence of a property, which a strict object cannot tell from `null`.

/// Keywords that depend on the presence of a property, whatever its value.
pub(super) const MIND_PRESENCE: [&str; 6] =
    ["maxProperties", "propertyNames", "dependentRequired", "dependentSchemas", "not", "if"];

/// The key for the properties that depend on which of the combined objects a value is: because the objects have different
/// schemas for the property, or one of them has a condition about its presence.
pub(super) const OF_SOME: &str = "\u{0}of some";
