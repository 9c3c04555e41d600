//! The JSON Schema features that each dialect accepts.

/// The JSON Schema features that a dialect accepts.
#[derive(Debug)]
pub(in crate::dialect) struct Profile {
    pub(in crate::dialect) writing: Writing,
    /// Keywords of one type that are written unchanged.
    pub(in crate::dialect) keeps: &'static [&'static str],
    /// The supported formats of strings; all if `None`.
    pub(in crate::dialect) formats: Option<&'static [&'static str]>,
    /// True if every object must be closed and require all its properties.
    pub(in crate::dialect) is_strict: bool,
    /// Keywords that are not accepted at the root, which must be an object.
    pub(in crate::dialect) not_at_root: &'static [&'static str],
    /// Returns true if a property name is accepted.
    pub(in crate::dialect) takes_name: fn(&str) -> bool,
}

/// The way in which a schema is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::dialect) enum Writing {
    /// The schema is unchanged if its root is one object; else as `Whole`.
    AsItIs,
    /// In JSON Schema without references.
    Whole {
        /// True if only keywords that grammars support are written.
        for_grammars: bool,
    },
    /// In a few keywords.
    Flat {
        /// True if an enum can have `null` and booleans among its values.
        has_any_enum: bool,
        /// True if lists can have a schema for each position.
        has_places: bool,
    },
}

impl Profile {
    /// JSON Schema without references: the base of the other profiles.
    pub(in crate::dialect) const WHOLE: Self = Self {
        writing: Writing::Whole { for_grammars: false },
        keeps: &[],
        formats: None,
        is_strict: false,
        not_at_root: &[],
        takes_name: |_| true,
    };

    /// Returns the profile of schemas shown to people, which supports everything.
    pub(super) fn for_people() -> &'static Self {
        &PEOPLE
    }
}

static PEOPLE: Profile = Profile::WHOLE;
