//! Constants and types that an attribute names. A wrong one is one error, which says what is right.

/// A constant, as a method of which its type is checked.
pub struct Constant<T>(pub T);

impl Constant<&'static str> {
    /// Returns the text.
    pub const fn text(self) -> &'static str {
        self.0
    }
}

impl Constant<&&'static str> {
    /// Returns the text.
    pub const fn text(self) -> &'static str {
        self.0
    }
}

/// Used for all other types: never called. The results have the type that the expansion expects, so that nothing that follows is an
/// error as well.
pub trait OtherConstant<T>: Sized {
    /// Never called.
    fn text(self) -> &'static str
    where
        T: IsText,
    {
        ""
    }

    /// Never called.
    fn whole(self) -> i64
    where
        T: IsWholeNumber,
    {
        0
    }

    /// Never called.
    fn number(self) -> f64
    where
        T: IsNumber,
    {
        0.0
    }
}

impl<T> OtherConstant<T> for Constant<T> {}

/// Implemented for no type: that of a text has a method of its own.
#[diagnostic::on_unimplemented(
    message = "a text of an attribute is a `&'static str`, and `{Self}` is none",
    label = "not a `&'static str`",
    note = "write a literal, `concat!(..)`, `include_str!(..)`, or the name of a `const` of the type `&str`"
)]
pub trait IsText {}

/// Implemented for no type: whole numbers have a method of their own.
#[diagnostic::on_unimplemented(
    message = "the ends of this range are whole numbers, and `{Self}` is none",
    label = "not a whole number",
    note = "write a literal, or the name of a `const` of an integer type"
)]
pub trait IsWholeNumber {}

/// Implemented for no type: numbers have a method of their own.
#[diagnostic::on_unimplemented(
    message = "the ends of a range are numbers, and `{Self}` is none",
    label = "not a number",
    note = "write a literal, or the name of a `const` of a numeric type"
)]
pub trait IsNumber {}

macro_rules! numbers {
    ($($method:ident: $($ty:ty)*;)*) => { $($(
        impl Constant<$ty> {
            /// Returns the number.
            pub const fn $method(self) -> $ty {
                self.0
            }
        }
    )*)* };
}

numbers! {
    whole: u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize;
    number: u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize f32 f64;
}

/// A type with a default of its own.
#[diagnostic::on_unimplemented(
    message = "a default without a value needs a type with `Default`, and `{Self}` is none",
    label = "not `Default`",
    note = "put `#[derive(Default)]` on the type, or write the value, as in `#[arg(default = 10)]`"
)]
pub trait OwnDefault {
    /// Returns the default.
    fn own_default() -> Self;
}

#[diagnostic::do_not_recommend]
impl<T: Default> OwnDefault for T {
    fn own_default() -> Self {
        Self::default()
    }
}

/// Stands for the value of a field that a type with an error has.
///
/// # Panics
///
/// Always. No type with an error compiles.
#[must_use]
pub fn unread<T>() -> T {
    unreachable!("a type with an error does not compile")
}

/// Returns the default of a type.
pub fn own_default<T: OwnDefault>() -> T {
    T::own_default()
}
