//! Validates values by a schema: a validator of this crate for the keywords that types and most people write, and `jsonschema`, if the
//! feature `json-schema` is on, for the others.

mod build;
#[cfg(feature = "json-schema")]
mod full;
mod number;
#[cfg(feature = "runtime")]
mod pattern;
#[cfg(not(feature = "runtime"))]
#[path = "validator/no_pattern.rs"]
mod pattern;
mod run;
#[cfg(all(test, feature = "json-schema"))]
mod tests;

use build::Document;
use serde_json::Value;
use std::borrow::Cow;

/// A compiled schema. It accesses nothing outside its document.
pub struct Validator(Engine);

enum Engine {
    Own(Document),
    #[cfg(feature = "json-schema")]
    Full(full::Full),
}

impl Validator {
    /// Compiles a schema of draft 2020-12, or of the draft that it names.
    ///
    /// # Errors
    ///
    /// The reason why the schema is not valid; or, without the feature `json-schema`, the keyword that needs the feature.
    pub fn new(schema: &Value) -> Result<Self, String> {
        #[cfg(all(test, feature = "json-schema"))]
        if tests::prefers_full() {
            return Ok(Self(Engine::Full(full::Full::new(schema)?)));
        }
        match Document::new(schema) {
            Ok(document) => Ok(Self(Engine::Own(document))),
            #[cfg(feature = "json-schema")]
            Err(_) => Ok(Self(Engine::Full(full::Full::new(schema)?))),
            #[cfg(not(feature = "json-schema"))]
            Err(uncovered) => Err(uncovered.to_string()),
        }
    }

    /// Compiles a schema that [`Plain`](super::plain::Plain) covers completely, which always compiles. Any other allows nothing.
    pub(super) fn of_plain(schema: &Value) -> Self {
        Self::new(schema).unwrap_or_else(|_| Self(Engine::Own(Document::never())))
    }

    /// Returns true if it is the validator of this crate.
    #[cfg(test)]
    pub(super) fn is_own(&self) -> bool {
        match &self.0 {
            Engine::Own(_) => true,
            #[cfg(feature = "json-schema")]
            Engine::Full(_) => false,
        }
    }

    /// Returns true if the schema allows the value.
    pub fn is_valid(&self, value: &Value) -> bool {
        match &self.0 {
            Engine::Own(document) => document.is_valid(value),
            #[cfg(feature = "json-schema")]
            Engine::Full(full) => full.is_valid(value),
        }
    }

    /// Returns all violations; none if the schema allows the value.
    pub(crate) fn violations<'v>(&self, value: &'v Value) -> Vec<Violation<'v>> {
        match &self.0 {
            Engine::Own(document) => document.violations(value),
            #[cfg(feature = "json-schema")]
            Engine::Full(full) => full.violations(value),
        }
    }
}

/// Returns the part of a schema that only the feature `json-schema` can check, if there is one.
pub(crate) fn uncovered(schema: &Value) -> Option<String> {
    Document::new(schema).err().map(|uncovered| uncovered.to_string())
}

/// A keyword that a value violates.
#[derive(Debug, Clone)]
pub(crate) struct Violation<'v> {
    pub(crate) kind: Kind<'v>,
    pub(crate) instance: Cow<'v, Value>,
    /// The pointer to the instance within the value.
    pub(crate) instance_path: String,
    /// The pointer to the keyword within the schema, with references followed.
    pub(crate) schema_path: String,
}

/// The keyword of a violation, with what its explanation needs.
#[derive(Debug, Clone)]
pub(crate) enum Kind<'v> {
    Type,
    Enum {
        options: Vec<Value>,
    },
    Required {
        property: String,
    },
    AdditionalProperties {
        unexpected: Vec<String>,
    },
    UnevaluatedProperties {
        unexpected: Vec<String>,
    },
    PropertyNames {
        error: Box<Violation<'static>>,
    },
    /// Each option's violations.
    AnyOf {
        context: Vec<Vec<Violation<'v>>>,
    },
    /// Each option's violations.
    OneOfNotValid {
        context: Vec<Vec<Violation<'v>>>,
    },
    OneOfMultipleValid,
    FalseSchema,
    /// A keyword that is explained by the schema around it.
    Other(Cow<'static, str>),
}

impl Kind<'_> {
    /// Returns the name of the keyword.
    pub(crate) fn keyword(&self) -> &str {
        match self {
            Self::Type => "type",
            Self::Enum { .. } => "enum",
            Self::Required { .. } => "required",
            Self::AdditionalProperties { .. } => "additionalProperties",
            Self::UnevaluatedProperties { .. } => "unevaluatedProperties",
            Self::PropertyNames { .. } => "propertyNames",
            Self::AnyOf { .. } => "anyOf",
            Self::OneOfNotValid { .. } | Self::OneOfMultipleValid => "oneOf",
            Self::FalseSchema => "falseSchema",
            Self::Other(keyword) => keyword,
        }
    }
}

impl Violation<'_> {
    fn into_owned(self) -> Violation<'static> {
        let owned = |context: Vec<Vec<Violation<'_>>>| {
            context.into_iter().map(|each| each.into_iter().map(Violation::into_owned).collect()).collect()
        };
        let kind = match self.kind {
            Kind::Type => Kind::Type,
            Kind::Enum { options } => Kind::Enum { options },
            Kind::Required { property } => Kind::Required { property },
            Kind::AdditionalProperties { unexpected } => Kind::AdditionalProperties { unexpected },
            Kind::UnevaluatedProperties { unexpected } => Kind::UnevaluatedProperties { unexpected },
            Kind::PropertyNames { error } => Kind::PropertyNames { error },
            Kind::AnyOf { context } => Kind::AnyOf { context: owned(context) },
            Kind::OneOfNotValid { context } => Kind::OneOfNotValid { context: owned(context) },
            Kind::OneOfMultipleValid => Kind::OneOfMultipleValid,
            Kind::FalseSchema => Kind::FalseSchema,
            Kind::Other(keyword) => Kind::Other(keyword),
        };
        Violation {
            kind,
            instance: Cow::Owned(self.instance.into_owned()),
            instance_path: self.instance_path,
            schema_path: self.schema_path,
        }
    }
}
