//! Follows a configuration for the toolkits that were made from it.

use super::BootstrapError;
use crate::config::{ConfigError, Configuration, LoadOptions};
use crate::registry::{Reloaded, Toolkit};
use std::collections::BTreeMap;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::task::JoinHandle;
use tokio::time::{MissedTickBehavior, interval};

/// The time between two looks at the configuration.
const EVERY: Duration = Duration::from_secs(2);

/// The result of a look at the configuration for one toolkit.
type Outcome = Result<Option<Reloaded>, BootstrapError>;

/// Follows the sources of one configuration for all toolkits that were made from it: they are read once every two seconds, however many
/// toolkits there are. Cheap to clone.
#[derive(Clone)]
pub struct ConfigurationFollower(Arc<Shared>);

struct Shared {
    load: LoadOptions,
    following: Mutex<Following>,
}

#[derive(Default)]
struct Following {
    /// The number of the last toolkit.
    last: u64,
    toolkits: BTreeMap<u64, Followed>,
    /// The task that reads the sources, while there are toolkits.
    task: Option<JoinHandle<()>>,
}

struct Followed {
    toolkit: Toolkit,
    report: Arc<dyn Fn(Result<Reloaded, BootstrapError>) + Send + Sync>,
    /// The reason that was reported last, while the configuration cannot be used.
    told: Option<String>,
}

impl ConfigurationFollower {
    /// Creates a follower of these sources, which reads nothing before [`follow`](Self::follow).
    pub fn new(load: LoadOptions) -> Self {
        Self(Arc::new(Shared { load, following: Mutex::default() }))
    }

    /// Looks every two seconds whether the configuration of a toolkit has changed, and [reloads](Toolkit::reload) it then, until the returned
    /// value is dropped. The toolkit's configuration was loaded from the sources of this follower.
    ///
    /// `report` gets each reload, and each reason why a changed configuration cannot be used, once; the toolkit keeps the configuration
    /// that it has then. It must not block.
    ///
    /// # Panics
    ///
    /// Panics outside a tokio runtime.
    pub fn follow(
        &self,
        toolkit: &Toolkit,
        report: impl Fn(Result<Reloaded, BootstrapError>) + Send + Sync + 'static,
    ) -> FollowTask {
        let runtime = Handle::current();
        let followed = Followed { toolkit: toolkit.clone(), report: Arc::new(report), told: None };
        let mut following = self.0.following();
        following.last += 1;
        let number = following.last;
        following.toolkits.insert(number, followed);
        if following.task.as_ref().is_none_or(JoinHandle::is_finished) {
            following.task = Some(runtime.spawn(look_regularly(Arc::clone(&self.0))));
        }
        FollowTask { shared: Arc::clone(&self.0), number }
    }
}

impl fmt::Debug for ConfigurationFollower {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let toolkits = self.0.following().toolkits.len();
        f.debug_struct("ConfigurationFollower").field("toolkits", &toolkits).finish_non_exhaustive()
    }
}

async fn look_regularly(shared: Arc<Shared>) {
    let mut times = interval(EVERY);
    times.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        times.tick().await;
        let looking = Arc::clone(&shared);
        let Ok(outcomes) = tokio::task::spawn_blocking(move || looking.look()).await else { continue };
        for (number, outcome) in outcomes {
            shared.report(number, outcome);
        }
    }
}

impl Shared {
    fn following(&self) -> MutexGuard<'_, Following> {
        self.following.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Loads the configuration, and reloads each toolkit for which it has changed. Blocks.
    fn look(&self) -> Vec<(u64, Outcome)> {
        let toolkits: Vec<(u64, Toolkit)> = {
            let following = self.following();
            following.toolkits.iter().map(|(number, followed)| (*number, followed.toolkit.clone())).collect()
        };
        let loaded = Configuration::load(self.load.clone());
        // Code of the host that panics stops the reload of its own toolkit alone.
        let reload = |toolkit: &Toolkit| catch_unwind(AssertUnwindSafe(|| reload(toolkit, &loaded)));
        let outcomes = toolkits.into_iter().map(|(number, toolkit)| match reload(&toolkit) {
            Ok(outcome) => (number, outcome),
            Err(_) => {
                tracing::error!("the reload of a toolkit panicked; it keeps its configuration");
                (number, Ok(None))
            }
        });
        outcomes.collect()
    }

    /// Reports the result of a look, but for a reason that is known already.
    fn report(&self, number: u64, outcome: Outcome) {
        let why = outcome.as_ref().err().map(ToString::to_string);
        let report = {
            let mut following = self.following();
            let Some(followed) = following.toolkits.get_mut(&number) else { return };
            let is_known = why.is_some() && followed.told == why;
            followed.told = why;
            if is_known {
                return;
            }
            Arc::clone(&followed.report)
        };
        if let Some(outcome) = outcome.transpose()
            && catch_unwind(AssertUnwindSafe(|| report(outcome))).is_err()
        {
            tracing::error!("the report of a reload panicked");
        }
    }
}

/// Gives a toolkit the configuration that was loaded, if it has changed. Blocks.
fn reload(toolkit: &Toolkit, loaded: &Result<Configuration, ConfigError>) -> Outcome {
    let configuration = loaded.as_ref().map_err(Clone::clone)?;
    if configuration.changed_since(&toolkit.configuration()).is_empty() {
        return Ok(None);
    }
    Ok(Some(toolkit.reload(configuration.clone())?))
}

/// A guard that keeps the configuration followed for a toolkit until it is dropped: see [`ConfigurationFollower::follow`] and
/// [`Toolkit::follow_configuration`].
#[must_use = "the configuration is followed until it is dropped"]
pub struct FollowTask {
    shared: Arc<Shared>,
    number: u64,
}

impl Drop for FollowTask {
    fn drop(&mut self) {
        let mut following = self.shared.following();
        let ended = following.toolkits.remove(&self.number);
        if following.toolkits.is_empty()
            && let Some(task) = following.task.take()
        {
            task.abort();
        }
        drop(following);
        // It may be the end of the toolkit, whose parts run code of the host.
        drop(ended);
    }
}

impl fmt::Debug for FollowTask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FollowTask").field("number", &self.number).finish_non_exhaustive()
    }
}
