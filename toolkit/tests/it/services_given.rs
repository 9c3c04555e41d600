//! Services that the host provides in another form than a tool takes them.

use std::sync::{Arc, Mutex, RwLock};
use toolkit::prelude::*;

mod other {
    pub(super) struct Store;
}

struct Db;
struct Cache;
struct Store;

trait Clock: Send + Sync {}

struct Noon;

impl Clock for Noon {}

/// Takes services.
#[tool(read_only)]
fn take(
    db: &State<Db>,
    cache: &State<Mutex<Cache>>,
    store: &State<Store>,
    clock: &State<dyn Clock>,
    shared: &State<RwLock<u8>>,
) {
    let _ = (db, cache, store, clock, shared);
}

/// Returns the problems of a toolkit with this tool, without the name of the tool.
fn problems(change: impl FnOnce(toolkit::Builder) -> toolkit::Builder) -> Vec<String> {
    let error = change(Toolkit::empty().tool(tool_ref!(take))).build().expect_err("services are missing");
    let problems = error.problems.iter().map(|problem| problem.replace("it::services_given::", ""));
    problems.filter_map(|problem| problem.split_once(" takes ").map(|(_, rest)| rest.to_owned())).collect()
}

#[test]
fn a_service_in_another_form_is_named_with_its_place_and_the_way_out() {
    let given = problems(|builder| {
        builder
            .service(Mutex::new(Db))
            .service(Cache)
            .service(other::Store)
            .service(Noon)
            .service(Arc::new(RwLock::new(1_u8)))
    });
    let place = "`.service(..)` at toolkit/tests/it/services_given.rs:";
    for (start, end) in [
        (
            "`State<Db>`, but",
            "provides a `Mutex<Db>`: take `State<Mutex<Db>>`, or provide the value within it",
        ),
        ("`State<Mutex<Cache>>`, but", "`Cache`: provide a `Mutex<Cache>`, or take `State<Cache>`"),
        (
            "`State<Store>`, but",
            "these are two types, `other::Store` and `Store`: of two modules, or of two versions of a crate",
        ),
        (
            "`State<RwLock<u8>>`, but",
            "provides an `Arc<RwLock<u8>>`: write `.shared_service(..)` for a value in an `Arc`",
        ),
    ] {
        let told = given.iter().find(|problem| problem.starts_with(start));
        assert!(told.is_some_and(|told| told.contains(place) && told.ends_with(end)), "{start}: {given:#?}");
    }
    let clock = given.iter().find(|problem| problem.starts_with("`State<dyn Clock>`, which is not provided"));
    assert!(
        clock.is_some_and(|told| told.contains("`.shared_service::<dyn Clock>(Arc::new(value))`")),
        "{given:#?}"
    );
    assert_eq!(given.len(), 5, "{given:#?}");
}

#[test]
fn services_of_no_similar_name_are_not_named() {
    let missing = problems(|builder| builder.service(vec![Db]).service(1_u8));
    assert_eq!(missing.len(), 5, "{missing:#?}");
    assert!(
        missing.iter().filter(|told| told.contains("which is not provided")).count() >= 3,
        "{missing:#?}"
    );
}
