//! Tools from `macro_rules!`, with names, types, defaults and docs from its arguments.
use toolkit::prelude::*;

macro_rules! getter {
    ($(#[$meta:meta])* $visibility:vis $name:ident($parameter:ident: $type:ty = $default:expr) -> $output:ty $body:block) => {
        $(#[$meta])*
        #[tool(group = "made")]
        $visibility async fn $name(
            #[doc = concat!("The ", stringify!($parameter), ".")]
            #[arg(default = $default)]
            $parameter: $type,
            #[arg(default = 2, range(1..=9))] times: usize,
            ctx: &ToolContext,
            base: Option<&str>,
        ) -> $output {
            let _ = (ctx, times, base);
            $body
        }
    };
}

getter! {
    /// Gets a word.
    pub get_word(word: String = "w".to_owned()) -> String { word }
}

getter! {
    /// Gets a number.
    get_number(number: u8 = 7) -> String { number.to_string() }
}

macro_rules! plain {
    ($($name:ident: $description:literal,)*) => {
        $(
            #[tool(description = $description)]
            fn $name(text: &str) -> String {
                text.to_owned()
            }
        )*
    };
}

plain! {
    first: "The first.",
    second: "The second.",
}

fn main() {
    assert_eq!(ui_tests::text("get_word", "{}"), "w");
    assert_eq!(ui_tests::text("get_number", r#"{"number": 5}"#), "5");
    assert!(ui_tests::call("get_number", r#"{"times": 10}"#).is_error());
    assert_eq!(ui_tests::tool("second").description(), "The second.");
    assert_eq!(ui_tests::text("first", r#"{"text": "t"}"#), "t");
    drop(get_word(String::new(), 1, &ToolContext::detached(toolkit::Caller::new()), None));
}
