//! Tools that are called like functions, types and macros of the standard library and of the expansion.
#![allow(non_snake_case)]
use toolkit::prelude::*;

macro_rules! tools {
    ($($name:ident $called:literal)*) => {
        $(
            /// A tool with a name that means something elsewhere.
            #[tool(name = $called)]
            fn $name(value: u8) -> &'static str {
                assert_eq!(value, 1);
                stringify!($name)
            }
        )*

        const ALL: &[(&str, &str)] = &[$((stringify!($name), $called)),*];
    };
}

tools! {
    drop "drop"
    vec "vec"
    format "format"
    panic "panic"
    assert "assert"
    line "line"
    concat "concat"
    module_path "module_path"
    context "context"
    arguments "arguments"
    value_0 "value_0"
    arg "arg"
    args "args"
    output "output"
    tool "tool"
    toolkit "toolkit"
    core "core"
    std "std"
    inventory "inventory"
    default "default"
    call "call"
    run "run"
    def "def"
    main_ "main"
    boxed "boxed"
    r#type "type"
    r#match "match"
    union "union"
    auto "auto"
    Some "some"
    Ok "ok"
    String "string"
    Box "box"
}

fn main() {
    for (name, called) in ALL {
        assert_eq!(&ui_tests::text(called, r#"{"value": 1}"#), name);
    }
}
