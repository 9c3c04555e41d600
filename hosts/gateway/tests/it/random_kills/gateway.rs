//! The process that is killed: a gateway with all its parts, tools with a ledger, a channel whose platform is a file, and one on Telegram.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::SetOnce;
use toolkit::config::LoadOptions;
use toolkit::prelude::*;
use toolkit_gateway::{Gateway, GatewayOptions, JobChange, JobFilter, JobId, Schedule, Store};
use toolkit_host::Host;

use super::Place;
use super::platform::{self, Platform};
use super::telegram;

/// Time between two looks at the files.
const PAUSE: Duration = Duration::from_millis(10);

/// The ledger of the tools.
struct Effects {
    place: Place,
    store: SetOnce<Store>,
}

/// Does something that must not be done twice.
#[tool(auto_execute)]
async fn kill_effect(effects: State<Effects>, id: String) -> String {
    effects.place.note("effects", &id);
    tokio::time::sleep(PAUSE).await;
    format!("did {id}")
}

/// Does the work of a fire, which must not be done twice.
#[tool(auto_execute)]
async fn kill_tick(effects: State<Effects>, ctx: &ToolContext) -> String {
    let store = effects.store.wait().await;
    let job = JobId::new(ctx.call_id().strip_prefix("job-").unwrap());
    let at = store.job(&job, None).await.unwrap().unwrap().in_flight.unwrap();
    let fire = format!("{job}/{}", at.0);
    effects.place.note("ticks", &fire);
    tokio::time::sleep(PAUSE).await;
    format!("ticked {fire}")
}

/// Works until everything is done, once that is asked for.
pub(super) async fn work(place: &Place) {
    let effects = Arc::new(Effects { place: place.clone(), store: SetOnce::new() });
    let load = LoadOptions::new()
        .user_file(place.file("user/toolkit.json5"))
        .workspace(place.file("work"))
        .data_dir(place.data());
    let service = Arc::clone(&effects);
    // The tools of other tests lack their services.
    let host = |load| {
        Host::builder(load).with_toolkit(|toolkit| toolkit.leave_out_incomplete().shared_service(service))
    };
    let options = GatewayOptions::new()
        .address(std::net::SocketAddr::from(([127, 0, 0, 1], 0)))
        .channel(Platform(place.clone()));
    let gateway = Gateway::start(load, host, options).await.unwrap();
    let store = gateway.state().store().clone();
    let _ = effects.store.set(store.clone());
    place.note("ready", &std::process::id().to_string());
    let sessions = gateway.state().sessions().clone();
    // The offset of Telegram at which all is read.
    let offset = loop {
        platform::receive(place, &sessions).await;
        if let Some(offset) = place.lines("drain").pop() {
            break offset;
        }
        tokio::time::sleep(PAUSE).await;
    };
    platform::receive(place, &sessions).await;
    while store.offset(telegram::SOURCE.to_owned()).await.unwrap().as_ref() != Some(&offset) {
        tokio::time::sleep(PAUSE).await;
    }
    stop_jobs(&store).await;
    while !is_done(&store).await {
        tokio::time::sleep(PAUSE).await;
    }
    gateway.stop(Duration::from_mins(1)).await.unwrap();
}

/// Pauses the jobs that would go on for ever.
async fn stop_jobs(store: &Store) {
    for job in store.jobs(JobFilter::default()).await.unwrap() {
        if !matches!(job.schedule, Schedule::At { .. }) {
            let change = JobChange { enabled: Some(false), ..JobChange::default() };
            store.update_job(&job.id, job.person, change).await.unwrap();
        }
    }
}

async fn is_done(store: &Store) -> bool {
    let jobs = store.jobs(JobFilter::default()).await.unwrap();
    // One state of the store: a run that ends between two looks would be in neither, nor would what it sends.
    let counts = store.counts(None).await.unwrap();
    jobs.iter().all(|job| job.in_flight.is_none() && (job.next_at.is_none() || !job.is_enabled))
        && counts.running + counts.waiting + counts.queued == 0
        && counts.outbox.prepared + counts.outbox.sending == 0
}
