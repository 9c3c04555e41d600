//! The arguments of a call: from JSON text to values that match the schema.

mod explain;
mod known;
mod repair;
mod schema_facts;
mod shape;
mod shown;
mod shown_values;
mod text;
mod variant;

pub use crate::invalid_arguments::{InvalidArguments, Problem};
pub use crate::unique_json::parse_unique;
pub use repair::Repairing;
pub use repair::{Repair, RepairKind};
pub(crate) use shape::with_duration_parts;
pub use shown::{KEPT_SECRET, is_secret};
pub(crate) use shown_values::rewrite_shown_values;

use crate::call_arguments::CallArguments;
use crate::error::ToolError;
use crate::schema::Compiled;
use serde_json::{Map, Value};
use std::mem;

/// Up to this many arguments, comparing each name is faster than hashing.
const FEW: usize = 16;

/// Arguments that match their tool's schema, taken out one by one by the tool's function.
#[derive(Debug, Default)]
pub struct Arguments(Map<String, Value>);

impl Arguments {
    #[doc(hidden)]
    pub fn take(&mut self, name: &str) -> Option<Value> {
        // Both ways find the same argument: no test can tell which one is taken.
        if self.0.len() > FEW {
            return self.0.get_mut(name).map(mem::take);
        }
        self.0.iter_mut().find(|(known, _)| *known == name).map(|(_, value)| mem::take(value))
    }

    #[doc(hidden)]
    pub fn take_all(&mut self) -> Value {
        Value::Object(mem::take(&mut self.0))
    }

    /// Adds arguments that were bound beforehand.
    #[doc(hidden)]
    pub fn extend(&mut self, bound: &Map<String, Value>) {
        self.0.extend(bound.iter().map(|(name, value)| (name.clone(), value.clone())));
    }

    /// Returns the members of an object; empty for any other value.
    #[doc(hidden)]
    pub fn from_object(value: Value) -> Self {
        match value {
            Value::Object(members) => Self(members),
            _ => Self::default(),
        }
    }

    #[doc(hidden)]
    pub fn members(&self) -> &Map<String, Value> {
        &self.0
    }

    #[doc(hidden)]
    pub fn missing(name: &str) -> ToolError {
        ToolError::of_arguments(InvalidArguments::of(vec![Problem::new(
            "",
            format!("`{name}` is required"),
            "nothing",
        )]))
    }
}

/// Returns the arguments for the function, if a quick check shows that they are valid and need no repair.
///
/// # Errors
///
/// The arguments, where only a closer look can say.
#[doc(hidden)]
pub fn certain(compiled: &Compiled, arguments: CallArguments) -> Result<Arguments, CallArguments> {
    let Some(plain) = &compiled.plain else { return Err(arguments) };
    let arguments = match arguments {
        CallArguments::Json(value) => value,
        CallArguments::Text(text) => match parse_unique(&text) {
            Some(value) => value,
            None => return Err(CallArguments::Text(text)),
        },
    };
    match arguments {
        // Only a fast path: `prepare` comes to the same arguments. No test can tell.
        Value::Object(members) if plain.certainly_takes(&members) => Ok(Arguments(members)),
        arguments => Err(CallArguments::Json(arguments)),
    }
}

/// Returns the validation errors of a document that a person wrote. Whole floats become integers where the schema requires
/// them; nothing else is repaired. There is at most one error more than is reported.
#[doc(hidden)]
pub fn check_document(compiled: &Compiled, document: &mut Value) -> Vec<Problem> {
    shape::whole_floats_to_integers(document, &compiled.schema);
    if compiled.validator().is_valid(document) { Vec::new() } else { explain::find(compiled, document) }
}

/// Returns the validation errors of structured output, at most one more than is reported.
#[doc(hidden)]
pub fn check_output(compiled: &Compiled, output: &Value) -> Vec<Problem> {
    if compiled.validator().is_valid(output) {
        Vec::new()
    } else {
        explain::find_in(compiled, output, "fields")
    }
}

/// Returns the arguments for the function, and the repairs made: aliases are replaced, then the schema is applied, and if the
/// arguments do not match, unambiguous repairs are made. In the end the arguments have to match the schema.
///
/// # Errors
///
/// Everything that is wrong with the text, or with the arguments once what can be repaired is.
#[doc(hidden)]
pub fn prepare(
    compiled: &Compiled,
    arguments: CallArguments,
    repairing: Repairing,
) -> Result<(Arguments, Vec<Repair>), InvalidArguments> {
    prepare_with(compiled, arguments, repairing, |_, _| Vec::new())
}

/// Prepares arguments as [`prepare`] does. If they are invalid, `further` finds errors beyond the schema, given the known ones.
#[doc(hidden)]
pub fn prepare_with(
    compiled: &Compiled,
    arguments: CallArguments,
    repairing: Repairing,
    further: impl FnOnce(&Value, &[Problem]) -> Vec<Problem>,
) -> Result<(Arguments, Vec<Repair>), InvalidArguments> {
    let mut repairs = Vec::new();
    let mut arguments = match arguments {
        CallArguments::Text(text) => text::read(&text, repairing, &mut repairs)?,
        CallArguments::Json(value) => value,
    };
    if let (Some(plain), Value::Object(members)) = (&compiled.plain, &mut arguments)
        && plain.certainly_takes(members)
    {
        return Ok((Arguments(mem::take(members)), repairs));
    }
    if arguments.is_null() {
        arguments = text::nothing("null", &mut repairs);
    }
    if let (Value::String(text), Repairing::On) = (&arguments, repairing)
        && let Some(decoded) = text::encoded(compiled, text, &mut repairs)?
    {
        arguments = decoded;
    }
    let mut problems = Vec::new();
    if compiled.has_aliases {
        shape::rename_aliases(&mut arguments, &compiled.annotated, &mut problems);
    }
    shape::whole_floats_to_integers(&mut arguments, &compiled.schema);
    if !compiled.validator().is_valid(&arguments) {
        shape::drop_optional_nulls(&mut arguments, &compiled.schema, &mut repairs);
        if repairing == Repairing::On {
            repair::mend(compiled, &mut arguments, &mut repairs);
            // For values that were strings until now.
            shape::whole_floats_to_integers(&mut arguments, &compiled.schema);
        }
        problems.extend(explain::find(compiled, &arguments));
    }
    problems.extend(
        compiled
            .bound
            .iter()
            .filter_map(|name| {
                let value = arguments.get(name)?;
                let known = problems.iter().any(|problem| problem.pointer == Problem::pointer_to(name));
                (!known).then(|| {
                    Problem::new(Problem::pointer_to(name), "no argument of this name", shown::short(value))
                })
            })
            .collect::<Vec<_>>(),
    );
    if !problems.is_empty() {
        problems.extend(further(&arguments, &problems));
    }
    match arguments {
        Value::Object(members) if problems.is_empty() => return Ok((Arguments(members), repairs)),
        // The schema's root is always an object, unless a tool's hand-written schema has another one.
        _ if problems.is_empty() => problems.push(Problem::new("", "an object", "another value")),
        _ => {}
    }
    Err(InvalidArguments::of(problems))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Returns `inner`, wrapped in this many schemas of one part each.
    pub(super) fn nested(key: &str, depth: usize, inner: Value) -> Value {
        (0..depth).fold(inner, |inner, _| json!({ key: [inner] }))
    }

    #[test]
    fn arguments_are_an_object_whatever_the_schema_says() {
        let compiled = Compiled::new("test", json!({})).unwrap();
        for given in [json!(5), json!(true), json!([])] {
            let problems = prepare(&compiled, given.into(), Repairing::On).unwrap_err().problems;
            let told: Vec<String> = problems.iter().map(Problem::to_string).collect();
            assert_eq!(told, ["the arguments: expected an object, got another value"]);
        }
    }

    #[test]
    fn arguments_are_found_by_name_however_many_there_are() {
        for count in [1, FEW, FEW + 1] {
            let members = (0..count).map(|n| (format!("a{n}"), json!(n))).collect();
            let mut arguments = Arguments(members);
            for n in (0..count).rev() {
                assert_eq!(arguments.take(&format!("a{n}")), Some(json!(n)), "of {count}");
            }
            assert_eq!(arguments.take("b"), None, "of {count}");
        }
    }
}
