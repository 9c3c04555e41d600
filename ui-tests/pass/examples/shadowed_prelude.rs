//! Nothing that the expansion uses comes from the prelude of where it stands.
#![allow(dead_code, non_camel_case_types)]
use ::toolkit::tool;

pub struct Some;
pub struct None;
pub struct Ok;
pub struct Err;
pub struct Result;
pub struct Box;
pub struct String;
pub struct Vec;
pub struct Default;
pub struct From;
pub struct Into;
pub struct Send;
pub struct Sync;
pub struct Clone;
pub struct Drop;
pub struct Fn;
pub struct Iterator;
pub struct usize_;
pub mod core {}
pub mod std {}
pub mod toolkit {}
pub mod alloc {}

macro_rules! panic {
    ($($tokens:tt)*) => {};
}
macro_rules! line {
    ($($tokens:tt)*) => {};
}

type Text = ::std::string::String;
type Words = ::std::vec::Vec<Text>;

/// Everything at once.
#[tool(title = "Everything", timeout = "1s", truncate(max_lines = 5), destructive, permission = "edit")]
async fn everything(
    #[arg(default = 5, range(1..=9), example = 6)] number: u8,
    #[arg(default = 1)] weight: f64,
    #[arg(default)] words: Words,
    #[arg(default = "x", length(1..), pattern = "^x$")] text: &str,
    path: ::core::option::Option<&::std::path::Path>,
) -> ::core::result::Result<Text, ::std::io::Error> {
    ::core::result::Result::Ok(::std::format!("{number}{weight}{words:?}{text}{path:?}"))
}

/// A plain one.
#[tool]
fn plain() {}

/// The derives of `#[toolkit::args]` come from schemars, which takes `Some` and `None` from where they stand.
mod arguments {
    pub struct Ok;
    pub struct Err;
    pub struct Result;
    pub struct Box;
    pub struct String;
    pub struct Vec;
    pub mod core {}
    pub mod std {}
    pub mod toolkit {}

    #[::toolkit::args]
    pub struct Arguments {
        #[arg(default = 5, range(1..=9))]
        pub number: u8,
        #[arg(default = "x", length(1..=5), pattern = "^x$")]
        pub text: ::std::string::String,
        #[arg(default = ["a"])]
        pub words: ::std::vec::Vec<::std::string::String>,
    }
}

/// Takes a struct.
#[tool]
fn taken(#[args] arguments: arguments::Arguments) -> Text {
    ::std::format!("{}{}{:?}", arguments.number, arguments.text, arguments.words)
}

panic!();
line!();

fn main() {
    ::std::assert_eq!(ui_tests::text("everything", "{}"), r#"51[]xNone"#);
    ::std::assert_eq!(ui_tests::text("taken", "{}"), r#"5x["a"]"#);
    plain();
}
