//! `/metrics`, for the owner: no name of a person is in a label.

use std::fmt::{Display, Write as _};

use serde_json::Value;
use toolkit_serve::axum::Router;
use toolkit_serve::axum::extract::State;
use toolkit_serve::axum::http::HeaderValue;
use toolkit_serve::axum::http::header::CONTENT_TYPE;
use toolkit_serve::axum::response::{IntoResponse as _, Response};
use toolkit_serve::axum::routing::get;
use toolkit_serve::{Problem, Query};
use toolkit_web::{Access, Web};

use super::caller::Caller;
use super::state::HttpState;
use crate::Clients;
use crate::measured::Measured;
use crate::store::{BudgetFilter, BudgetKind, Counts};

/// The content type of the text format.
const TEXT: &str = "text/plain; version=0.0.4; charset=utf-8";

#[derive(Clone)]
struct Metrics {
    state: HttpState,
    clients: Clients,
    web: Web,
    measured: Measured,
}

pub(super) fn routes(state: HttpState, clients: Clients, web: Web, measured: Measured) -> Router {
    Router::new().route("/metrics", get(show)).with_state(Metrics { state, clients, web, measured })
}

async fn show(State(metrics): State<Metrics>, caller: Caller, query: Query) -> Result<Response, Problem> {
    query.finish()?;
    caller.check_manager()?;
    let mut text = Text(metrics.measured.counts().text("toolkit", |_| true));
    let counts = metrics.state.store().counts(None).await?;
    of_store(&mut text, &counts);
    of_usage(&mut text, &metrics.state).await?;
    let problems = metrics.state.problems().await?.len();
    let (links, sockets) = metrics.clients.counts();
    let wrong_tokens = metrics.state.people().wrong_tokens();
    text.gauge("toolkit_gateway_problems", "Faults that the status tells.", problems);
    text.gauge("toolkit_gateway_clients", "Clients with tools.", links);
    text.gauge("toolkit_gateway_sockets", "WebSockets of known people.", sockets);
    text.counter(
        "toolkit_gateway_wrong_tokens_total",
        "Requests with a wrong token since the start.",
        wrong_tokens,
    );
    text.gauge(
        "toolkit_gateway_start_time_seconds",
        "When the gateway began, in seconds since 1970.",
        metrics.state.started_at().0 / 1_000,
    );
    // The calls over HTTP alone, of the owner: what is stored for clients.
    let access = Access::new("metrics", toolkit::Caller::new()).as_owner(true);
    text.0.push_str(&metrics.web.metrics(&access).await?);
    Ok(([(CONTENT_TYPE, HeaderValue::from_static(TEXT))], text.0).into_response())
}

fn of_store(text: &mut Text, counts: &Counts) {
    text.gauge("toolkit_gateway_sessions", "Sessions that are not archived.", counts.sessions);
    text.head("toolkit_gateway_runs", "gauge", "Runs in flight, by state.");
    text.value("toolkit_gateway_runs{state=\"running\"}", counts.running);
    text.value("toolkit_gateway_runs{state=\"waiting\"}", counts.waiting);
    text.gauge("toolkit_gateway_queued_messages", "Messages that wait for a run.", counts.queued);
    text.head("toolkit_gateway_deliveries", "gauge", "Deliveries in the outbox, by state.");
    if let Ok(Value::Object(by_state)) = serde_json::to_value(counts.outbox) {
        for (state, count) in by_state {
            text.value(&format!("toolkit_gateway_deliveries{{state=\"{state}\"}}"), count);
        }
    }
}

/// The use of the month, which begins anew with each month as a counter does after a start.
async fn of_usage(text: &mut Text, state: &HttpState) -> Result<(), Problem> {
    let filter = BudgetFilter { kind: Some(BudgetKind::Everything), limit: 1, ..BudgetFilter::default() };
    let everything = state.store().account_budgets(filter).await?;
    let (tokens, cost, runs) =
        everything.first().map_or((0, 0.0, 0), |all| (all.month.tokens, all.month.cost, all.month.runs));
    text.counter("toolkit_gateway_tokens_total", "Tokens that models used in this month.", tokens);
    text.counter("toolkit_gateway_cost_total", "The cost of models in this month.", cost);
    text.counter("toolkit_gateway_runs_total", "Runs that began in this month.", runs);
    Ok(())
}

/// The text format of Prometheus.
struct Text(String);

impl Text {
    fn head(&mut self, name: &str, kind: &str, help: &str) {
        let _ = writeln!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}");
    }

    fn value(&mut self, name: &str, value: impl Display) {
        let _ = writeln!(self.0, "{name} {value}");
    }

    fn gauge(&mut self, name: &str, help: &str, value: impl Display) {
        self.head(name, "gauge", help);
        self.value(name, value);
    }

    fn counter(&mut self, name: &str, help: &str, value: impl Display) {
        self.head(name, "counter", help);
        self.value(name, value);
    }
}
