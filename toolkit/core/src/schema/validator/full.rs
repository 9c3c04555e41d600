//! The validator of `jsonschema`, for schemas with other keywords or of other drafts.

use super::{Kind, Violation};
use jsonschema::error::ValidationErrorKind;
use jsonschema::{Draft, ValidationError};
use serde_json::Value;
use std::borrow::Cow;

pub(super) struct Full(jsonschema::Validator);

impl Full {
    pub(super) fn new(schema: &Value) -> Result<Self, String> {
        let options = jsonschema::options().offline();
        // A schema that names its draft is validated by that draft.
        let options = match schema.get("$schema") {
            Some(_) => options,
            None => options.with_draft(Draft::Draft202012),
        };
        options.build(schema).map(Self).map_err(|error| error.to_string())
    }

    pub(super) fn is_valid(&self, value: &Value) -> bool {
        self.0.is_valid(value)
    }

    pub(super) fn violations<'v>(&self, value: &'v Value) -> Vec<Violation<'v>> {
        self.0.iter_errors(value).map(|error| violation(&error)).collect()
    }
}

fn violation<'v>(error: &ValidationError<'_>) -> Violation<'v> {
    let context = |context: &[Vec<ValidationError<'static>>]| {
        context.iter().map(|errors| errors.iter().map(violation).collect()).collect()
    };
    let kind = match error.kind() {
        ValidationErrorKind::Type { .. } => Kind::Type,
        ValidationErrorKind::Enum { options } => {
            Kind::Enum { options: options.as_array().cloned().unwrap_or_default() }
        }
        ValidationErrorKind::Required { property } => {
            Kind::Required { property: property.as_str().unwrap_or_default().to_owned() }
        }
        ValidationErrorKind::AdditionalProperties { unexpected } => {
            Kind::AdditionalProperties { unexpected: unexpected.clone() }
        }
        ValidationErrorKind::UnevaluatedProperties { unexpected } => {
            Kind::UnevaluatedProperties { unexpected: unexpected.clone() }
        }
        ValidationErrorKind::PropertyNames { error } => {
            Kind::PropertyNames { error: Box::new(violation(error)) }
        }
        ValidationErrorKind::AnyOf { context: options } => Kind::AnyOf { context: context(options) },
        ValidationErrorKind::OneOfNotValid { context: options } => {
            Kind::OneOfNotValid { context: context(options) }
        }
        ValidationErrorKind::OneOfMultipleValid { .. } => Kind::OneOfMultipleValid,
        ValidationErrorKind::FalseSchema => Kind::FalseSchema,
        kind => Kind::Other(Cow::Owned(kind.keyword().to_owned())),
    };
    Violation {
        kind,
        instance: Cow::Owned(error.instance().clone().into_owned()),
        instance_path: error.instance_path().as_str().to_owned(),
        schema_path: error.schema_path().as_str().to_owned(),
    }
}
