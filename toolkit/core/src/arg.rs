//! Types of arguments: the one bound that `#[tool]` puts on a parameter's type, and the bounds behind `range`, `length`
//! and `pattern`.

mod field;

pub use field::{FieldOf, FieldType, OtherType};

use crate::arguments::with_duration_parts;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};
use std::hash::BuildHasher;
use std::path::PathBuf;

pub(crate) fn schema_of<T: JsonSchema + ?Sized>(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<T>()
}

/// A type that a tool's parameter can have.
///
/// Every type with serde's `Deserialize` and schemars' `JsonSchema` is one; `#[toolkit::args]` derives both.
/// It must own what it holds: for text a tool takes `String` or `&str`, for a path `PathBuf` or `&Path`,
/// for a list `Vec<T>` or `&[T]`.
///
/// For these types, what the schema allows also decodes: `bool`, `char`, `String`, `PathBuf`, all integers up to
/// 64 bits (`5.0` is 5), `f64`, `Duration`, `Option`, `Vec`, arrays, sets, tuples and string-keyed maps of such types, and
/// structs and enums of such fields with `#[toolkit::args]`. The table of types is at
/// `#[tool]`.
///
/// A struct accepts only its own fields. A map, alone or flattened into a struct, accepts every name, also if it is the
/// type of all the arguments of a tool.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a tool's argument",
    label = "put `#[toolkit::args]` on a type of your own",
    note = "an argument is read from JSON: on a type of your own, put `#[toolkit::args]`, also on the types within it",
    note = "a type of `chrono`, `uuid` or `url` needs the cargo feature of that name of `toolkit`",
    note = "a type of another crate goes into a newtype with `#[serde(try_from = \"String\", into = \"String\")]` and both conversions",
    note = "to get a service instead of an argument, take `State<T>`"
)]
pub trait ToolArg: Sized {
    /// Returns the schema of the type.
    fn schema(generator: &mut SchemaGenerator) -> Schema;

    /// Decodes a value that the schema allows.
    ///
    /// # Errors
    ///
    /// When the type's own `Deserialize` fails.
    fn decode(value: Value) -> serde_json::Result<Self>;
}

#[diagnostic::do_not_recommend]
impl<T: DeserializeOwned + JsonSchema> ToolArg for T {
    fn schema(generator: &mut SchemaGenerator) -> Schema {
        schema_of::<T>(generator)
    }

    fn decode(value: Value) -> serde_json::Result<Self> {
        T::deserialize(with_duration_parts(Self::schema, value))
    }
}

/// A type that the field of a type with `#[toolkit::args]` can have: both are read and written by the same traits.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a field of a type with `#[toolkit::args]`",
    label = "put `#[toolkit::args]` on this type",
    note = "a field is read from JSON: on a type of your own, put `#[toolkit::args]`, also on the types within it",
    note = "a type of `chrono`, `uuid` or `url` needs the cargo feature of that name of `toolkit`",
    note = "a type of another crate goes into a newtype with `#[serde(try_from = \"String\", into = \"String\")]` and both conversions",
    note = "to leave the field out of the arguments, put `#[serde(skip)]` on it"
)]
pub trait ArgField {}

#[diagnostic::do_not_recommend]
impl<T: DeserializeOwned + Serialize + JsonSchema> ArgField for T {}

/// Marks a type with `#[toolkit::args]`, so that a tool can return it as it is.
pub trait ArgsType {
    /// The form of its values in JSON, as far as its attributes tell.
    const SHAPE: ArgsShape;
}

/// The form of a type's values in JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArgsShape {
    /// An object: a struct with named fields.
    Fields,
    /// A list: a struct with several fields without names.
    Tuple,
    /// `null`: a struct without fields.
    Unit,
    /// One of these strings: an enum without fields.
    Names(&'static [&'static str]),
    /// Known only when the type is read.
    Other,
}

/// A number that `#[arg(range(..))]` can bound.
///
/// On a newtype of your own whose schema is a number, implement it (it has no items).
#[diagnostic::on_unimplemented(
    message = "`range` needs a number, and `{Self}` is not one",
    label = "not a number",
    note = "a `Duration` has no range: check it in the function",
    note = "strings, lists and maps are bounded with `length(..)`; a newtype of a number can implement `toolkit::descriptor::RangeArg`"
)]
pub trait RangeArg {}

/// A type with a length that `#[arg(length(..))]` can bound: characters of a string, items of a list, entries of a map.
#[diagnostic::on_unimplemented(
    message = "`length` needs a string, a list or a map, and `{Self}` is not one",
    label = "has no length",
    note = "numbers are bounded with `range(..)`; a newtype of a string or a list can implement `toolkit::descriptor::LengthArg`"
)]
pub trait LengthArg {}

/// A string that `#[arg(pattern = "…")]` can check.
#[diagnostic::on_unimplemented(
    message = "`pattern` needs a string, and `{Self}` is not one",
    label = "not a string",
    note = "for each item of a list, take a list of a newtype: `#[toolkit::args] struct Name(#[arg(pattern = \"^[a-z]+$\")] String);`",
    note = "a newtype of a string can implement `toolkit::descriptor::PatternArg`"
)]
pub trait PatternArg {}

macro_rules! mark {
    ($trait:ident: $($type:ty),* $(,)?) => { $(#[diagnostic::do_not_recommend] impl $trait for $type {})* };
}

mark!(RangeArg: u8, u16, u32, u64, usize, i8, i16, i32, i64, isize, f32, f64);
mark!(RangeArg: std::num::NonZeroU8, std::num::NonZeroU16, std::num::NonZeroU32, std::num::NonZeroU64);
mark!(RangeArg: std::num::NonZeroUsize, std::num::NonZeroI32, std::num::NonZeroI64);
mark!(LengthArg: String, Box<str>, Cow<'static, str>, PathBuf);
mark!(PatternArg: String, Box<str>, Cow<'static, str>, PathBuf);
#[diagnostic::do_not_recommend]
impl<T> LengthArg for Vec<T> {}
#[diagnostic::do_not_recommend]
impl<T> LengthArg for Box<[T]> {}
#[diagnostic::do_not_recommend]
impl<T> LengthArg for VecDeque<T> {}
#[diagnostic::do_not_recommend]
impl<T> LengthArg for BTreeSet<T> {}
#[diagnostic::do_not_recommend]
impl<T, S: BuildHasher> LengthArg for HashSet<T, S> {}
#[diagnostic::do_not_recommend]
impl<K, V> LengthArg for BTreeMap<K, V> {}
#[diagnostic::do_not_recommend]
impl<K, V, S: BuildHasher> LengthArg for HashMap<K, V, S> {}
