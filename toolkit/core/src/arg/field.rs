//! Functions with which `#[toolkit::args]` reads, writes and describes a field whose type may lack a trait: they compile with
//! any type, so that the one error for such a type is that of [`ArgField`](super::ArgField).

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::{DeserializeOwned, Error as _};
use serde::ser::Error as _;
use serde::{Deserializer, Serialize, Serializer};
use std::marker::PhantomData;

/// The type of a field: see [`FieldType`] and [`OtherType`].
pub struct FieldOf<T>(PhantomData<T>);

impl<T> FieldOf<T> {
    /// Its only value.
    pub const NEW: Self = Self(PhantomData);
}

/// The functions used if the type has the traits.
pub trait FieldType<T> {
    /// Reads a value.
    ///
    /// # Errors
    ///
    /// When the value is no `T`.
    fn read<'de, D: Deserializer<'de>>(&self, from: D) -> Result<T, D::Error>;

    /// Writes a value.
    ///
    /// # Errors
    ///
    /// When the serialiser fails.
    fn write<S: Serializer>(&self, value: &T, to: S) -> Result<S::Ok, S::Error>;

    /// Returns the schema of the type.
    fn schema(&self, generator: &mut SchemaGenerator) -> Schema;

    /// Returns the schema of the type itself, never a reference to it.
    fn schema_itself(&self, generator: &mut SchemaGenerator) -> Schema;
}

impl<T: DeserializeOwned + Serialize + JsonSchema> FieldType<T> for FieldOf<T> {
    fn read<'de, D: Deserializer<'de>>(&self, from: D) -> Result<T, D::Error> {
        T::deserialize(from)
    }

    fn write<S: Serializer>(&self, value: &T, to: S) -> Result<S::Ok, S::Error> {
        value.serialize(to)
    }

    fn schema(&self, generator: &mut SchemaGenerator) -> Schema {
        super::schema_of::<T>(generator)
    }

    fn schema_itself(&self, generator: &mut SchemaGenerator) -> Schema {
        T::json_schema(generator)
    }
}

/// The functions used if the type lacks a trait, which is an error elsewhere: they are never called.
pub trait OtherType<T> {
    /// Fails.
    ///
    /// # Errors
    ///
    /// Always.
    fn read<'de, D: Deserializer<'de>>(&self, _: D) -> Result<T, D::Error> {
        Err(D::Error::custom("the type is not read from JSON"))
    }

    /// Fails.
    ///
    /// # Errors
    ///
    /// Always.
    fn write<S: Serializer>(&self, _: &T, _: S) -> Result<S::Ok, S::Error> {
        Err(S::Error::custom("the type is not written as JSON"))
    }

    /// Returns a schema that allows everything.
    fn schema(&self, _: &mut SchemaGenerator) -> Schema {
        Schema::default()
    }

    /// Same as [`schema`](Self::schema).
    fn schema_itself(&self, _: &mut SchemaGenerator) -> Schema {
        Schema::default()
    }
}

impl<T> OtherType<T> for &FieldOf<T> {}
