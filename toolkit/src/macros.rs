//! The macros, with their docs: here the examples can use everything.

/// Turns a function into a tool.
pub use toolkit_macros::tool;

/// Makes a struct or enum of your own an argument type.
pub use toolkit_macros::args;

/// Names the crates that a host expects tools from.
#[macro_export]
macro_rules! link {
    ($($list:tt)*) => {
        $crate::__private::link_list! { [$crate] $($list)* }
    };
}

/// The [`Tool`](crate::Tool) of a function with `#[tool]`.
#[macro_export]
macro_rules! tool_ref {
    ($($path:tt)+) => {
        $crate::__private::tool_of(&$($path)+)
    };
}
