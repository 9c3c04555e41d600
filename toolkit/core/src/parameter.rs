//! A tool's parameters as the macro describes them: name, description, schema, rules and default.

mod close;
mod covered;
mod input;
mod root;
mod rules;
mod sound;

pub use covered::missing_feature;
pub use input::{compose, of_input};
pub use root::root_fault;
pub use rules::Rule;
pub use sound::is_certainly_valid;

use crate::arg::ToolArg;
use crate::arguments::{Arguments, InvalidArguments, KEPT_SECRET, Problem};
use crate::error::ToolError;
use crate::schema::{SchemaFn, holds_secret};
use serde_json::Value;

/// The static description of one parameter: a part of a `ToolDef`.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct ParameterDef {
    /// The name that the model uses.
    pub name: &'static str,
    /// The description for the model; empty if the code has none.
    pub description: &'static str,
    /// Creates the schema of its type.
    pub schema: SchemaFn,
    /// True if the argument may be absent.
    pub optional: bool,
    /// The value of an absent argument, as the schema shows it.
    pub default: Option<Shown>,
    /// Further rules that the schema states.
    pub rules: &'static [Rule],
    /// Example values.
    pub examples: &'static [Shown],
    /// Other names that are accepted, never advertised.
    pub aliases: &'static [&'static str],
    /// True if its value is redacted from history, logs and events.
    pub secret: bool,
    /// Returns an error if a value does not decode to the type.
    #[doc(hidden)]
    pub check: fn(Value) -> serde_json::Result<()>,
}

/// The arguments of a tool.
#[derive(Debug, Clone, Copy)]
pub enum Input {
    /// Separate parameters.
    Parameters(&'static [&'static ParameterDef]),
    /// One struct.
    Whole(&'static ParameterDef),
}

/// A JSON value as a constant.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Literal {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A whole number.
    Int(i128),
    /// Any other number.
    Float(f64),
    /// Text.
    Str(&'static str),
    /// A list.
    List(&'static [Literal]),
}

impl Literal {
    /// Returns the JSON value.
    pub fn to_value(self) -> Value {
        match self {
            Self::Null => Value::Null,
            Self::Bool(value) => value.into(),
            Self::Int(value) => u64::try_from(value)
                .map(Value::from)
                .or_else(|_| i64::try_from(value).map(Value::from))
                .unwrap_or(Value::Null),
            Self::Float(value) => value.into(),
            Self::Str(value) => value.into(),
            Self::List(items) => items.iter().map(|item| item.to_value()).collect(),
        }
    }
}

/// A value that a schema shows, as a default or an example.
#[derive(Debug, Clone, Copy)]
pub enum Shown {
    /// Written as a literal.
    Literal(Literal),
    /// Computed at run time; `None` if the type does not serialise.
    Computed(fn() -> Option<Value>),
}

impl ParameterDef {
    const fn of<T: ToolArg>(name: &'static str, description: &'static str) -> Self {
        Self {
            name,
            description,
            schema: T::schema,
            optional: false,
            default: None,
            rules: &[],
            examples: &[],
            aliases: &[],
            secret: false,
            check: check::<T>,
        }
    }

    /// Returns the problem with a default, if any: a default written as JSON may not decode, and any default may
    /// violate a rule.
    #[doc(hidden)]
    pub fn default_fault(&self) -> Option<String> {
        match self.default {
            Some(Shown::Literal(literal)) => {
                let told = |error: serde_json::Error| {
                    if self.secret { "its type refuses it".to_owned() } else { error.to_string() }
                };
                let fault = (self.check)(literal.to_value()).err().map(told);
                if fault.is_some() || self.rules.is_empty() {
                    return fault;
                }
                rules::rules_fault(self.rules, &literal.to_value(), self.secret)
            }
            // A computed default is computed only if a rule may refuse it.
            Some(Shown::Computed(compute)) if !self.rules.is_empty() => {
                rules::rules_fault(self.rules, &compute()?, self.secret)
            }
            _ => None,
        }
    }

    /// Returns the problem with a value that the schema allows, if the type refuses it.
    #[doc(hidden)]
    pub fn undecodable(&self, value: &Value) -> Option<Problem> {
        if self.optional && value.is_null() {
            return None;
        }
        let error = (self.check)(value.clone()).err()?;
        Some(self.problem(self.name, &error))
    }

    /// Creates the error for a value that the schema allows and the type refuses. `name` is empty for all arguments.
    fn refuse(&self, name: &str, error: &serde_json::Error) -> ToolError {
        ToolError::of_arguments(InvalidArguments::of(vec![self.problem(name, error)]))
    }

    fn problem(&self, name: &str, error: &serde_json::Error) -> Problem {
        let pointer =
            if name.is_empty() { String::new() } else { format!("/{}", crate::pointer::escape(name)) };
        // A type's message may repeat the value.
        let actual = if self.secret || holds_secret(self.schema) {
            KEPT_SECRET.to_owned()
        } else {
            Problem::undecoded(error)
        };
        // The expected format is added later, when the schema is available.
        Problem::new(pointer, Problem::DECODES, actual)
    }
}

impl Shown {
    /// Returns the value, if it can be shown.
    pub fn to_value(self) -> Option<Value> {
        match self {
            Self::Literal(literal) => Some(literal.to_value()),
            Self::Computed(compute) => compute(),
        }
    }
}

/// A parameter with its type: the expansion of `#[tool]` reads an argument with it.
#[derive(Debug)]
pub struct Arg<T> {
    /// The description without the type.
    pub def: ParameterDef,
    decode: fn(Value) -> serde_json::Result<T>,
    absent: Absent<T>,
}

/// The meaning of an absent argument.
#[derive(Debug)]
enum Absent<T> {
    /// An error.
    Missing,
    /// This value.
    Value(fn() -> T),
    /// The value that this JSON decodes to.
    Literal(Literal),
}

impl<T> Clone for Absent<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Absent<T> {}

/// Creates a required parameter.
pub const fn arg<T: ToolArg>(name: &'static str, description: &'static str) -> Arg<T> {
    Arg { def: ParameterDef::of::<T>(name, description), decode: T::decode, absent: Absent::Missing }
}

/// Creates a parameter that is `None` if the argument is absent.
pub const fn optional<T: ToolArg>(name: &'static str, description: &'static str) -> Arg<Option<T>> {
    let mut def = ParameterDef::of::<T>(name, description);
    def.optional = true;
    Arg { def, decode: decode_some::<T>, absent: Absent::Value(none::<T>) }
}

fn decode_some<T: ToolArg>(value: Value) -> serde_json::Result<Option<T>> {
    T::decode(value).map(Some)
}

fn none<T>() -> Option<T> {
    None
}

fn check<T: ToolArg>(value: Value) -> serde_json::Result<()> {
    T::decode(value).map(drop)
}

impl<T> Arg<T> {
    /// Makes the parameter optional, with this value if it is absent.
    #[must_use]
    pub const fn default(mut self, default: fn() -> T, shown: Shown) -> Self {
        self.def.optional = true;
        self.def.default = Some(shown);
        self.absent = Absent::Value(default);
        self
    }

    /// Makes the parameter optional, with the value that this JSON decodes to, such as `"fast"` for an enum. At
    /// start-up it is checked that the JSON decodes.
    #[must_use]
    pub const fn default_literal(mut self, literal: Literal) -> Self {
        self.def.optional = true;
        self.def.default = Some(Shown::Literal(literal));
        self.absent = Absent::Literal(literal);
        self
    }

    /// Sets further rules.
    #[must_use]
    pub const fn rules(mut self, rules: &'static [Rule]) -> Self {
        self.def.rules = rules;
        self
    }

    /// Sets example values.
    #[must_use]
    pub const fn examples(mut self, examples: &'static [Shown]) -> Self {
        self.def.examples = examples;
        self
    }

    /// Sets other accepted names.
    #[must_use]
    pub const fn aliases(mut self, aliases: &'static [&'static str]) -> Self {
        self.def.aliases = aliases;
        self
    }

    /// Redacts its value from history, logs and events.
    #[must_use]
    pub const fn secret(mut self) -> Self {
        self.def.secret = true;
        self
    }

    /// Takes all arguments as one value.
    ///
    /// # Errors
    ///
    /// Returns an error if the arguments do not decode.
    pub fn take_all(&self, arguments: &mut Arguments) -> Result<T, ToolError> {
        let value = arguments.take_all();
        (self.decode)(value).map_err(|error| self.def.refuse("", &error))
    }

    /// Takes the argument, or the value for an absent one.
    #[inline(never)]
    fn take_one(&self, arguments: &mut Arguments) -> Result<T, ToolError> {
        let value = match (arguments.take(self.def.name), self.absent) {
            (Some(value), _) => value,
            (None, Absent::Value(default)) => return Ok(default()),
            (None, Absent::Literal(literal)) => literal.to_value(),
            (None, Absent::Missing) => return Err(Arguments::missing(self.def.name)),
        };
        (self.decode)(value).map_err(|error| self.def.refuse(self.def.name, &error))
    }
}

/// Takes several arguments at once. The generated code depends on their types only, so tools with the same list of
/// types share it.
pub trait Take {
    /// The values, as a tuple.
    type Values;

    /// Takes the arguments.
    ///
    /// # Errors
    ///
    /// Returns an error if an argument without a default is absent, or if an argument does not decode.
    fn take(&self, arguments: &mut Arguments) -> Result<Self::Values, ToolError>;
}

impl<T> Take for &'static Arg<T> {
    type Values = T;

    fn take(&self, arguments: &mut Arguments) -> Result<T, ToolError> {
        self.take_one(arguments)
    }
}

/// Returns the value, or `None` after adding the error to `refused`.
fn noted<T>(taken: Result<T, ToolError>, refused: &mut Option<ToolError>) -> Option<T> {
    let error = match taken {
        Ok(value) => return Some(value),
        Err(error) => error,
    };
    *refused = Some(together(refused.take(), error));
    None
}

/// Returns an error with the problems of both. Not generic, so that the crates that define tools do not compile it.
fn together(first: Option<ToolError>, error: ToolError) -> ToolError {
    match (first, error.problems()) {
        (None, _) => error,
        (Some(first), None) => first,
        (Some(first), Some(more)) => {
            let problems = first.problems().into_iter().chain([more]).flat_map(|all| all.problems.clone());
            ToolError::of_arguments(InvalidArguments::of(problems.collect()))
        }
    }
}

macro_rules! take_tuples {
    ($($name:ident)*) => {
        impl<$($name: Take),*> Take for ($($name,)*) {
            type Values = ($($name::Values,)*);

            #[inline(never)]
            #[allow(
                non_snake_case,
                clippy::unused_unit,
                irrefutable_let_patterns,
                unused_mut,
                unused_variables,
                reason = "one macro for all lengths"
            )]
            fn take(&self, arguments: &mut Arguments) -> Result<Self::Values, ToolError> {
                let ($($name,)*) = self;
                // All arguments are taken before an error is returned, so that every argument that does not decode is
                // reported.
                let mut refused = None;
                $(let $name = noted($name.take(arguments), &mut refused);)*
                let ($(Some($name),)*) = ($($name,)*) else {
                    return Err(refused.unwrap_or_else(|| ToolError::failed("an argument is missing")));
                };
                Ok(($($name,)*))
            }
        }
    };
}

take_tuples!();
take_tuples!(A);
take_tuples!(A B);
take_tuples!(A B C);
take_tuples!(A B C D);
take_tuples!(A B C D E);
take_tuples!(A B C D E F);
take_tuples!(A B C D E F G);
take_tuples!(A B C D E F G H);
