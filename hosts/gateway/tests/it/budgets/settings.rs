//! The section `budgets` of the configuration: what it takes, and what is wrong with it.
#![allow(clippy::unwrap_used)]

use serde_json::{Value, json};
use toolkit::config::{Configuration, LoadOptions};
use toolkit_gateway::{BudgetSettings, Gateway, GatewayOptions, PeriodLimits};
use toolkit_host::Host;

fn load(directory: &tempfile::TempDir, budgets: &Value) -> LoadOptions {
    let file = directory.path().join("toolkit.json5");
    std::fs::write(&file, json!({ "budgets": budgets }).to_string()).unwrap();
    LoadOptions::new().user_file(file).data_dir(directory.path().join("data"))
}

#[test]
fn nothing_is_limited_by_default() {
    let directory = tempfile::tempdir().unwrap();
    let configuration = Configuration::load(load(&directory, &json!({}))).unwrap();
    let budgets = BudgetSettings::of(&configuration).unwrap();
    assert_eq!(budgets, BudgetSettings::default());
    assert_eq!((budgets.everything, budgets.timezone.name()), (PeriodLimits::default(), "UTC"));
}

#[test]
fn a_wrong_value_is_an_error_with_its_path() {
    for (budgets, parts) in [
        (json!({ "timezone": "Europe/Berln" }), ["budgets", "`Europe/Berln` is not known"]),
        (json!({ "everything": { "day": { "tokens": -1 } } }), ["budgets.everything.day.tokens", "-1"]),
        (json!({ "everything": { "day": { "cost": -0.5 } } }), ["budgets.everything.day.cost", "0"]),
        (json!({ "everything": { "week": {} } }), ["budgets.everything", "week"]),
        (json!({ "eachJob": { "month": { "runs": 1.5 } } }), ["budgets.eachJob.month.runs", "1.5"]),
        (json!({ "people": { "ada": { "day": { "tokns": 5 } } } }), ["budgets.people.ada.day", "tokns"]),
    ] {
        let directory = tempfile::tempdir().unwrap();
        let error = Configuration::load(load(&directory, &budgets)).unwrap_err().to_string();
        for part in parts {
            assert!(error.contains(part), "{part}: {error}");
        }
    }
}

#[tokio::test]
async fn a_budget_that_would_limit_nothing_stops_the_start() {
    for (budgets, part) in [
        (
            json!({ "agents": { "mian": {} } }),
            "`budgets.agents.mian` is the budget of an agent that is not in",
        ),
        (
            json!({ "everything": { "day": { "tokens": "${env:TOOLKIT_TEST_NO_SUCH_LIMIT}" } } }),
            "TOOLKIT_TEST_NO_SUCH_LIMIT",
        ),
    ] {
        let directory = tempfile::tempdir().unwrap();
        let address: std::net::SocketAddr = "127.0.0.1:0".parse().unwrap();
        let started =
            Gateway::start(load(&directory, &budgets), Host::builder, GatewayOptions::new().address(address));
        let error = started.await.unwrap_err();
        assert!(error.is_of_configuration() && error.to_string().contains(part), "{error}");
        assert!(!directory.path().join("data/gateway.db").exists());
    }
}
