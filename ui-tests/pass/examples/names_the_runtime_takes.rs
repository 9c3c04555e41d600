//! The macro and the runtime agree on what a name may be: what the macro takes as a literal here, the runtime takes.
use toolkit::prelude::*;

macro_rules! named {
    ($($function:ident $name:literal)*) => {
        $(
            /// Has a name.
            #[tool(name = $name, group = $name, permission = $name)]
            fn $function() {}

            const _: () = assert!(toolkit::text::is_valid_name($name));
        )*
        const NAMES: &[&str] = &[$($name),*];
    };
}

named! {
    one "a"
    two "read_file"
    three "a1"
    four "a_"
    five "a__b"
    six "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijkl"
}

fn main() {
    assert_eq!(Toolkit::builder().build().unwrap().tools().len(), NAMES.len());
}
