//! `State<T>` for a value and for a trait object, by value and borrowed, beside a context at any place.
use std::sync::Arc;
use toolkit::prelude::*;

struct Counter(u32);

trait Store: Send + Sync {
    fn get(&self, key: &str) -> String;
}

struct Memory;

impl Store for Memory {
    fn get(&self, key: &str) -> String {
        format!("{key}!")
    }
}

/// Gets a value.
#[tool]
async fn get(store: State<dyn Store>, key: &str, ctx: &ToolContext, counter: State<Counter>) -> String {
    format!("{}{}{}", store.get(key), counter.0.0, ctx.tool_name())
}

/// Gets a value, borrowing its services.
#[tool]
async fn borrow(store: &State<dyn Store>, counter: &State<Counter>) -> String {
    format!("{}{}", store.get("b"), counter.0.0)
}

/// Gets a value on the blocking pool.
#[tool]
fn block(counter: &State<Counter>, key: String) -> String {
    format!("{key}{}", counter.0.0)
}

fn main() {
    let toolkit = Toolkit::builder()
        .without_asking_first()
        .service(Counter(5))
        .shared_service::<dyn Store>(Arc::new(Memory))
        .build()
        .unwrap();
    assert_eq!(ui_tests::call_in(&toolkit, "get", r#"{"key": "k"}"#).text(), "k!5get");
    assert_eq!(ui_tests::call_in(&toolkit, "borrow", "{}").text(), "b!5");
    assert_eq!(ui_tests::call_in(&toolkit, "block", r#"{"key": "k"}"#).text(), "k5");
    assert!(Toolkit::builder().build().is_err(), "nobody provides the services");
}
