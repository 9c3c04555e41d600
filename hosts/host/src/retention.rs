//! The section `transcripts` of the configuration: how long conversations of agents are kept.

use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::task::JoinHandle;
use tokio::time::{Instant, MissedTickBehavior, interval_at};
use toolkit::Toolkit;
use toolkit::config::{ConfigSection, Configuration};
use toolkit_agent::{Retention, Transcripts};

/// The section.
const SECTION: &str = "transcripts";
const EVERY: Duration = Duration::from_hours(1);
/// The time before the first clean-up: a host that was restarted opens again what goes on.
const FIRST: Duration = Duration::from_mins(10);
const DAY: Duration = Duration::from_hours(24);

/// Conversations of agents, in the directory `agents` of the data directory. Without a limit, all are kept. One that is open, has a question that
/// nobody has answered, or a run that has not ended, is kept in any case.
#[toolkit::args]
#[serde(rename_all = "camelCase")]
#[expect(clippy::struct_field_names, reason = "each setting is a limit")]
struct TranscriptSettings {
    /// Number of days after which a conversation is removed, and an earlier segment of one that goes on, from 1 to 3650. They are counted from its
    /// last line to the newest line of all conversations.
    #[arg(range(1..=3_650))]
    max_days: Option<u64>,
    /// Maximum number of conversations, from 1 to 1000000. Those of sub-agents count as part of the one that delegated. The oldest are removed first.
    #[arg(range(1..=1_000_000))]
    max_count: Option<u64>,
    /// Maximum size of all conversations together in bytes, with the copies of changed files, at least 1 MiB. One that does not fit beside later ones
    /// is removed; the latest one is kept whatever its size.
    #[arg(range(1_048_576..))]
    max_bytes: Option<u64>,
    /// Maximum number of segments of a conversation, from 1 to 1000000: a new one begins after each summary. The oldest are removed first, and with
    /// them the text before the summary.
    #[arg(range(1..=1_000_000))]
    max_segments: Option<u64>,
}

toolkit::config_section!(ConfigSection::at::<TranscriptSettings>(SECTION));

/// A guard that keeps the hourly clean-up running until it is dropped.
#[derive(Debug)]
pub(crate) struct RetentionTask(JoinHandle<()>);

impl Drop for RetentionTask {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Returns true for the id of a transcript that is kept in any case.
pub(crate) type IsKept = Arc<dyn Fn(&str) -> bool + Send + Sync>;

/// Removes the conversations that are beyond the limits of the configuration, after some minutes and then every hour.
pub(crate) fn spawn_clean_up(toolkit: &Toolkit, transcripts: Transcripts, is_kept: IsKept) -> RetentionTask {
    RetentionTask(Handle::current().spawn(clean_up_hourly(toolkit.clone(), transcripts, is_kept)))
}

async fn clean_up_hourly(toolkit: Toolkit, transcripts: Transcripts, is_kept: IsKept) {
    let mut hours = interval_at(Instant::now() + FIRST, EVERY);
    hours.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        hours.tick().await;
        let Some(retention) = retention(&toolkit.configuration()) else { continue };
        let (transcripts, is_kept) = (transcripts.clone(), Arc::clone(&is_kept));
        let clean_up = move || transcripts.clean_up_except(&retention, |id| is_kept(id));
        let cleaned = tokio::task::spawn_blocking(clean_up).await;
        let Ok(cleaned) = cleaned else { continue };
        for (id, error) in &cleaned.failed {
            tracing::warn!(target: "toolkit", transcript = id, error, "a conversation cannot be removed");
        }
        tracing::debug!(target: "toolkit", ?cleaned, "cleaned up conversations");
    }
}

/// The limits of a configuration; `None` if they cannot be read, so that nothing is removed.
fn retention(configuration: &Configuration) -> Option<Retention> {
    let settings = configuration.section::<TranscriptSettings>(SECTION);
    let settings = settings.inspect_err(|error| {
        tracing::warn!(target: "toolkit", %error, "no conversation is removed: the limits cannot be read");
    });
    let TranscriptSettings { max_days, max_count, max_bytes, max_segments } = settings.ok()?;
    let count = |count: u64| usize::try_from(count).unwrap_or(usize::MAX);
    let days = |days: u64| DAY * u32::try_from(days).unwrap_or(u32::MAX);
    Some(
        Retention::new()
            .max_age(max_days.map(days))
            .max_count(max_count.map(count))
            .max_bytes(max_bytes)
            .max_segments(max_segments.map(count)),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use toolkit::config::LoadOptions;

    fn of(set: &[&str]) -> Retention {
        let load = set.iter().fold(LoadOptions::new(), |load, set| load.set(*set));
        retention(&Configuration::load(load).unwrap()).unwrap()
    }

    #[test]
    fn without_a_setting_everything_is_kept() {
        assert_eq!(of(&[]), Retention::new());
    }

    #[test]
    fn each_setting_is_a_limit() {
        let set = ["maxDays=30", "maxCount=100", "maxBytes=2000000", "maxSegments=3"];
        let set = set.map(|set| format!("transcripts.{set}"));
        let retention = of(&set.each_ref().map(String::as_str));
        let expected = Retention::new().max_age(DAY * 30).max_count(100).max_bytes(2_000_000).max_segments(3);
        assert_eq!(retention, expected);
        let none = LoadOptions::new().set("transcripts.maxDays=0");
        assert!(Configuration::load(none).unwrap_err().to_string().contains("maxDays"));
    }
}
