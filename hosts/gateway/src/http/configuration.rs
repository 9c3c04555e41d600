//! `/v1/configuration`: the configuration as it was loaded, for the owner. Secrets are left out.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::sync::Arc;

use serde_json::{Map, Value, json};
use toolkit::config::{ConfigOrigin, ConfigOrigins, ConfigSource, Configuration};
use toolkit::permission::PermissionSettings;
use toolkit_host::Host;
use toolkit_serve::axum::extract::State;
use toolkit_serve::axum::routing::get;
use toolkit_serve::axum::{Json, Router};
use toolkit_serve::{Problem, Query};

use super::caller::Caller;

/// Returns the route of the configuration, for [`service_with`](super::service_with).
pub fn configuration(host: Arc<Host>) -> Router {
    Router::new().route("/v1/configuration", get(show)).with_state(host)
}

async fn show(State(host): State<Arc<Host>>, caller: Caller, query: Query) -> Result<Json<Value>, Problem> {
    caller.check_manager()?;
    query.finish()?;
    let configuration = host.configuration();
    let mut values = Vec::new();
    add(&configuration.document(), configuration.origins(), "", &mut values);
    let restrictions = configuration.restrictions().into_iter().map(|restriction| {
        let mut values = Vec::new();
        add(&restriction.document, &restriction.origins, "", &mut values);
        json!({ "file": restriction.file, "values": values })
    });
    Ok(Json(json!({
        "sources": sources(&configuration),
        "values": values,
        "permissions": configuration.permissions().0.iter().map(permission).collect::<Vec<_>>(),
        "restrictions": restrictions.collect::<Vec<_>>(),
        "diagnostics": host.toolkit().diagnostics(),
    })))
}

/// Adds the values below a pointer that have no others within, each with its origin.
fn add(value: &Value, origins: &ConfigOrigins, pointer: &str, values: &mut Vec<Value>) {
    match value {
        Value::Object(members) if !members.is_empty() => {
            for (name, member) in members {
                let name = name.replace('~', "~0").replace('/', "~1");
                add(member, origins, &format!("{pointer}/{name}"), values);
            }
        }
        Value::Object(_) if pointer.is_empty() => {}
        _ => {
            let origin = origins.find(pointer);
            values.push(json!({
                "pointer": pointer,
                "value": value,
                "source": origin.map(|origin| kind(&origin.source)),
                "place": origin.map(place),
            }));
        }
    }
}

fn kind(source: &ConfigSource) -> &'static str {
    match source {
        ConfigSource::File(_) => "file",
        ConfigSource::Environment(_) => "environment",
        ConfigSource::Flag(_) => "flag",
        _ => "program",
    }
}

fn name(source: &ConfigSource) -> String {
    match source {
        ConfigSource::File(path) => path.display().to_string(),
        ConfigSource::Environment(name) => format!("${name}"),
        // Its text may have a value that is a secret.
        ConfigSource::Flag(flag) => flag.split('=').next().unwrap_or_default().to_owned(),
        _ => "the program".to_owned(),
    }
}

fn place(origin: &ConfigOrigin) -> String {
    let mut place = name(&origin.source);
    for number in [origin.line, origin.column].into_iter().flatten() {
        let _ = write!(place, ":{number}");
    }
    place
}

/// The sources that give a value, each once.
fn sources(configuration: &Configuration) -> Vec<Value> {
    let origins = configuration.origins().iter();
    let all: BTreeSet<(&str, String)> =
        origins.map(|(_, origin)| (kind(&origin.source), name(&origin.source))).collect();
    all.into_iter().map(|(kind, name)| json!({ "kind": kind, "name": name })).collect()
}

/// The rules of one source, which are not merged with those of others.
fn permission(settings: &PermissionSettings) -> Value {
    let mut shown = Map::new();
    if !settings.everybody.is_empty() {
        shown.insert("everybody".to_owned(), json!(settings.everybody));
    }
    for (key, all) in [("agents", &settings.agents), ("channels", &settings.channels)] {
        if !all.is_empty() {
            shown.insert(key.to_owned(), json!(all));
        }
    }
    for (key, all) in [("groups", &settings.groups), ("senders", &settings.senders)] {
        if !all.is_empty() {
            shown.insert(key.to_owned(), json!(all));
        }
    }
    shown.into()
}
