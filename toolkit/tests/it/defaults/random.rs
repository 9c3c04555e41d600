//! Random defaults and examples of many types: each tool is listed and callable, or the toolkit does not start.

use super::types::*;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::any::Any;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Debug;
use std::path::PathBuf;
use std::time::Duration;
use toolkit::__private::{Arg, Input, Literal, Rule, Run, Shown, Take, ToolDef, arg};
use toolkit::output::IntoToolOutput as _;
use toolkit::prelude::*;

/// Random values per type.
const VALUES: u64 = 24;

thread_local! {
    /// The value that the default of the tool under test has, and its example.
    static CURRENT: RefCell<Option<Box<dyn Any>>> = const { RefCell::new(None) };
    static EXAMPLE: RefCell<Option<Value>> = const { RefCell::new(None) };
    /// The argument of the tool under test.
    static ARGUMENT: RefCell<Option<&'static (dyn Any + Send + Sync)>> = const { RefCell::new(None) };
    /// The argument that the last call got.
    static GOT: RefCell<Option<Box<dyn Any>>> = const { RefCell::new(None) };
}

/// A type of argument with random values.
trait Sample:
    Make + Clone + Debug + PartialEq + Serialize + DeserializeOwned + schemars::JsonSchema + 'static
{
}

impl<T> Sample for T where
    T: Make + Clone + Debug + PartialEq + Serialize + DeserializeOwned + schemars::JsonSchema + 'static
{
}

/// The present value of a type, as its default.
pub(super) fn current<T: Make + Clone + 'static>() -> T {
    let held = CURRENT.with_borrow(|current| current.as_ref()?.downcast_ref::<T>().cloned());
    held.unwrap_or_else(|| T::make(&mut Random(0), 3))
}

fn shown<T: Sample>() -> Option<Value> {
    serde_json::to_value(current::<T>()).ok()
}

/// Takes its argument and keeps it.
fn run<T: Sample>(
    _: &ToolContext,
    arguments: &mut toolkit::arguments::Arguments,
) -> Result<toolkit::ToolOutput, ToolError> {
    let argument = ARGUMENT.with_borrow(|argument| argument.unwrap().downcast_ref::<Arg<T>>().unwrap());
    let value = argument.take(arguments)?;
    GOT.set(Some(Box::new(value)));
    "done".into_tool_output()
}

/// A tool with one parameter of this type, its default and an example, and these rules.
fn tool<T: Sample>(rules: &'static [Rule]) -> Tool {
    let examples: &'static [Shown] = &[Shown::Computed(|| EXAMPLE.with_borrow(Clone::clone))];
    let argument: &'static Arg<T> = Box::leak(Box::new(
        arg::<T>("value", "")
            .default(current::<T>, Shown::Computed(shown::<T>))
            .rules(rules)
            .examples(examples),
    ));
    ARGUMENT.set(Some(argument));
    let parameters: &'static [_] = Box::leak(Box::new([&argument.def]));
    Tool::new(Box::leak(Box::new(ToolDef {
        name: "sample",
        description: "A sample.",
        read_only: true,
        input: Input::Parameters(parameters),
        // On this thread, which has the values.
        run: Run::Async(|context, arguments| {
            let done = run::<T>(context, arguments);
            Ok(Box::pin(async move { done }))
        }),
        ..ToolDef::BASE
    })))
}

/// Checks values of a type. `allows` states independently whether the rules allow a value.
async fn check<T: Sample>(rules: &'static [Rule], allows: fn(&T) -> bool) {
    let name = std::any::type_name::<T>();
    for seed in 0..VALUES {
        let mut random = Random(seed);
        let (value, example) = (T::make(&mut random, 5), T::make(&mut random, 5));
        CURRENT.set(Some(Box::new(value.clone())));
        EXAMPLE.set(serde_json::to_value(&example).ok());
        let built = Toolkit::empty().without_asking_first().tool(tool::<T>(rules)).build();
        let toolkit = match built {
            Ok(toolkit) => toolkit,
            Err(error) => {
                let told = error.to_string();
                assert!(!(allows(&value) && allows(&example)), "{name} {value:?} {example:?}: {told}");
                assert!(told.contains("the tool `sample`") && told.contains("`value`"), "{told}");
                continue;
            }
        };
        assert!(allows(&value) && allows(&example), "{name} {rules:?}: {value:?} or {example:?} is refused");
        let toolbox = toolkit.toolbox(&Caller::new()).await;
        let definitions = toolbox.definitions();
        assert_eq!(definitions.len(), 1, "{name} {value:?} is listed");
        let property = &definitions[0].input_schema["properties"]["value"];
        // An absent argument, the shown default, and the example. A `null` that means the same as an absent value is not shown.
        let default = property.get("default").map(|default| (json!({"value": default}), &value));
        let shown_example = property.get("examples").map(|shown| (json!({"value": shown[0]}), &example));
        assert!(default.is_some() || serde_json::to_value(&value).unwrap().is_null(), "{name} {value:?}");
        for (given, expected) in [(json!({}), &value)].into_iter().chain(default).chain(shown_example) {
            GOT.set(None);
            let result = toolbox.call(ToolCall::new("1", "sample", given.to_string())).await;
            let got = GOT.take();
            let got = got.as_ref().and_then(|got| got.downcast_ref::<T>());
            assert_eq!(got, Some(expected), "{name} {given}: {}", result.text());
        }
    }
    CURRENT.set(None);
}

macro_rules! all {
    ($($type:ty),* $(,)?) => { $(check::<$type>(&[], |_| true).await;)* };
}

#[tokio::test]
async fn every_value_of_a_type_can_be_its_default() {
    all!(bool, char, u8, u16, u32, u64, usize, i8, i16, i32, i64, isize, f32, f64, String, PathBuf, Duration);
    all!(std::net::IpAddr, std::num::NonZeroU8, (bool, Option<u8>), [Option<u8>; 2], [Duration; 2]);
    all!(Vec<u8>, Vec<Option<String>>, Vec<Duration>, BTreeSet<String>, BTreeMap<String, Option<u8>>);
    all!(HashMap<String, Vec<Plain>>, BTreeMap<String, Duration>, BTreeMap<u8, Plain>, Box<Plain>);
    all!(
        Plain, Renamed, Units, External, Internal, Adjacent, Untagged, Flat, FlatEnum, Tree, Deep, Container
    );
    all!(Vec<Plain>, Vec<Internal>, Vec<Option<Plain>>, (Plain, Renamed), Vec<Deep>, BTreeMap<String, Tree>);
    all!(Vec<External>, Vec<Adjacent>, Vec<Untagged>, Vec<FlatEnum>, Skipping, Vec<Skipping>, WithSecret);
}

#[tokio::test]
async fn rules_refuse_the_values_that_they_exclude() {
    check::<u8>(&[Rule::Minimum(Literal::Int(1))], |value| *value >= 1).await;
    check::<i64>(&[Rule::Maximum(Literal::Int(2))], |value| *value <= 2).await;
    check::<f64>(&[Rule::ExclusiveMaximum(Literal::Float(0.1))], |value| *value < 0.1).await;
    check::<String>(&[Rule::MinLength(1), Rule::MaxLength(2)], |value| {
        (1..=2).contains(&value.chars().count())
    })
    .await;
    check::<String>(&[Rule::Pattern("^[a-z]*$")], |value| {
        value.bytes().all(|byte| byte.is_ascii_lowercase())
    })
    .await;
    check::<Vec<Plain>>(&[Rule::MinLength(1)], |value| !value.is_empty()).await;
    check::<BTreeMap<String, Duration>>(&[Rule::MaxLength(1)], |value| value.len() <= 1).await;
}
