//! Tools that are private, in modules, in functions and in blocks.
use toolkit::prelude::*;

mod outer {
    mod inner {
        use toolkit::prelude::*;

        /// A type that only this module sees.
        #[toolkit::args]
        pub(super) struct Secret {
            pub(super) word: String,
        }

        /// In a module.
        #[tool]
        async fn in_module(secret: Secret) -> String {
            secret.word
        }

        /// For the parent.
        #[tool]
        pub(super) async fn for_parent(secret: Secret) -> String {
            in_module(secret).await
        }

        /// By a path.
        #[tool]
        pub(in crate::outer) fn by_path() {}
    }

    /// Uses both.
    #[toolkit::tool]
    fn both() -> &'static str {
        drop(inner::for_parent(inner::Secret { word: String::new() }));
        inner::by_path();
        "both"
    }
}

fn register() {
    /// In a function.
    #[tool]
    fn in_function(number: u8) -> String {
        number.to_string()
    }

    {
        /// In a block.
        #[tool]
        async fn in_block() {}

        drop(in_block());
    }
    assert_eq!(in_function(5), "5");
}

fn main() {
    register();
    assert_eq!(ui_tests::text("in_module", r#"{"secret": {"word": "w"}}"#), "w");
    assert_eq!(ui_tests::text("in_function", r#"{"number": 7}"#), "7");
    assert_eq!(ui_tests::text("both", "{}"), "both");
    for name in ["in_block", "for_parent", "by_path"] {
        ui_tests::tool(name);
    }
}
