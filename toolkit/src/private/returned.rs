//! The check of a return type that holds another type, such as `Option<Vec<Row>>`: if `Row` is the fault, it is the error, and not the type
//! around it.
//!
//! The expansion writes `Returns::<Option<Vec<Row>>>::FIT.or(Held::<Row>::JSON)`. Each constant is inherent if the type has the trait, and
//! that of another trait, with another marker, if it has not. The marker decides where the compiler reports.

#![expect(
    clippy::unused_self,
    clippy::extra_unused_type_parameters,
    reason = "the type of a marker decides, and the expansion names the same types for each"
)]

use super::{Output, PhantomData};
use toolkit_core::error::{IntoToolError, ToolError};
use toolkit_core::output::{IntoToolOutput, JsonOutput, ToolOutput};

/// A return type, without the error of a `Result`.
pub struct Returns<R>(PhantomData<R>);

impl<R: IntoToolOutput> Returns<R> {
    /// The type can be returned.
    pub const FIT: Fit = Fit;
}

/// Used for all other return types.
pub trait ReturnsElse {
    /// The type cannot be returned.
    const FIT: Unfit = Unfit;
}

impl<R> ReturnsElse for Returns<R> {}

/// A type within a return type.
pub struct Held<L>(PhantomData<L>);

impl<L: JsonOutput> Held<L> {
    /// The type can be written as JSON.
    pub const JSON: UnfitAround = UnfitAround;
}

impl<L: IntoToolOutput> Held<L> {
    /// The type can be returned by itself.
    pub const OUTPUT: UnfitAround = UnfitAround;
}

/// Used for all other types.
pub trait HeldElse {
    /// The type cannot be written as JSON.
    const JSON: UnfitJson = UnfitJson;
    /// The type cannot be returned by itself.
    const OUTPUT: UnfitOutput = UnfitOutput;
}

impl<L> HeldElse for Held<L> {}

/// Marks a return type without a fault.
#[derive(Clone, Copy)]
pub struct Fit;

/// Marks a return type with a fault.
#[derive(Clone, Copy)]
pub struct Unfit;

/// Marks a return type with a fault that is not in the type within it.
#[derive(Clone, Copy)]
pub struct UnfitAround;

/// Marks a return type that holds a type that cannot be written as JSON.
#[derive(Clone, Copy)]
pub struct UnfitJson;

/// Marks a return type that holds a type that cannot be returned.
#[derive(Clone, Copy)]
pub struct UnfitOutput;

impl Fit {
    /// Returns the marker of the return type.
    pub const fn or<M: Copy>(self, _: M) -> Self {
        self
    }

    /// Names the type to be checked.
    pub const fn value<R: IntoToolOutput, L>(self) -> PhantomData<R> {
        PhantomData
    }

    /// Returns the output.
    pub const fn finish<R>(self, output: Output<R>) -> Output<R> {
        output
    }
}

impl Unfit {
    /// Returns the marker that tells where the fault is.
    pub const fn or<M: Copy>(self, marker: M) -> M {
        marker
    }
}

// Written out: the compiler would show the whole call of a macro beside each error.

impl UnfitAround {
    /// Reports the fault. `()` stands for the type with the fault, so that there is no second error.
    pub const fn value<R: IntoToolOutput, L>(self) -> PhantomData<()> {
        PhantomData
    }

    /// Returns the output that the expansion expects; it never compiles that far.
    pub const fn finish<R, S>(self, _: Output<S>) -> Output<R> {
        unfit()
    }
}

impl UnfitJson {
    /// Reports the fault. `()` stands for the type with the fault, so that there is no second error.
    pub const fn value<R, L: JsonOutput>(self) -> PhantomData<()> {
        PhantomData
    }

    /// Returns the output that the expansion expects; it never compiles that far.
    pub const fn finish<R, S>(self, _: Output<S>) -> Output<R> {
        unfit()
    }
}

impl UnfitOutput {
    /// Reports the fault. `()` stands for the type with the fault, so that there is no second error.
    pub const fn value<R, L: IntoToolOutput>(self) -> PhantomData<()> {
        PhantomData
    }

    /// Returns the output that the expansion expects; it never compiles that far.
    pub const fn finish<R, S>(self, _: Output<S>) -> Output<R> {
        unfit()
    }
}

const fn unfit<R>() -> Output<R> {
    Output { convert: never, schema: None, text_says_more: false }
}

fn never<R>(_: R) -> Result<ToolOutput, ToolError> {
    unreachable!("a type that cannot be returned does not compile")
}

/// Returns the output of a type that is checked already.
pub const fn output_of<R: IntoToolOutput>(_: PhantomData<R>) -> Output<R> {
    super::output::<R>()
}

/// Returns the output of a `Result` whose value is checked already.
pub const fn fallible_of<E: IntoToolError, T: IntoToolOutput>(_: PhantomData<T>) -> Output<Result<T, E>> {
    super::fallible::<T, E>()
}
