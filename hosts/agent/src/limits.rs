//! The limits of a run, and its clock.

use crate::result::{RunUsage, StopReason};
use crate::settings::ToolAgentSettings;
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::Instant;

/// The limits of a run. A run that reaches one ends, with a result for every call and the transcript kept.
///
/// Before the last turn, and after the last tool call, the model is told once that it is to give its final answer.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Limits {
    /// The most turns: requests that are answered, without those that shorten the conversation. 100 by default.
    pub max_turns: Option<u32>,
    /// The most tool calls, those of sub-agents included. 50 by default, as `toolAgent.maxToolCalls`.
    pub max_tool_calls: Option<u32>,
    /// The most time, without the time in which a person is asked. 5 minutes by default, as `toolAgent.timeoutMs`.
    pub timeout: Option<Duration>,
    /// The most tokens of requests and answers together, those of sub-agents included. A request of unknown usage counts with an
    /// estimate. None by default, as `toolAgent.maxTokens`.
    pub max_tokens: Option<u64>,
    /// The highest cost, that of sub-agents included, in the currency of the model's configured price. A request of unknown usage
    /// counts with an estimate. It has no effect without a price. None by default, as `toolAgent.maxCost`.
    pub max_cost: Option<f64>,
    /// How deep agents delegate: 0 forbids it. 2 by default.
    pub max_depth: u32,
    /// The most sub-agents that a run starts, those of sub-agents included. 32 by default, as `toolAgent.maxSubAgents`.
    pub max_sub_agents: Option<u32>,
    /// The most sub-agents that work at the same time, those of sub-agents included; the others wait. One that waits for sub-agents of
    /// its own does not count. 4 by default, as `toolAgent.maxParallelSubAgents`.
    pub max_parallel_sub_agents: Option<u32>,
}

impl Default for Limits {
    fn default() -> Self {
        Self::from(&ToolAgentSettings::default())
    }
}

impl From<&ToolAgentSettings> for Limits {
    fn from(settings: &ToolAgentSettings) -> Self {
        Self {
            max_turns: Some(100),
            max_tool_calls: Some(settings.max_tool_calls),
            timeout: Some(Duration::from_millis(settings.timeout_ms)),
            max_tokens: settings.max_tokens,
            max_cost: settings.max_cost,
            max_depth: 2,
            max_sub_agents: Some(settings.max_sub_agents),
            max_parallel_sub_agents: Some(settings.max_parallel_sub_agents),
        }
    }
}

macro_rules! setters {
    ($($(#[$doc:meta])* $field:ident: $type:ty;)*) => {
        $($(#[$doc])*
        #[must_use]
        pub fn $field(mut self, value: impl Into<Option<$type>>) -> Self {
            self.$field = value.into();
            self
        })*
    };
}

impl Limits {
    /// Returns the defaults.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns no limits at all, except that nothing is delegated.
    pub fn none() -> Self {
        Self {
            max_turns: None,
            max_tool_calls: None,
            timeout: None,
            max_tokens: None,
            max_cost: None,
            max_depth: 0,
            max_sub_agents: None,
            max_parallel_sub_agents: None,
        }
    }

    setters! {
        /// Sets the most turns.
        max_turns: u32;
        /// Sets the most tool calls.
        max_tool_calls: u32;
        /// Sets the most time.
        timeout: Duration;
        /// Sets the most tokens.
        max_tokens: u64;
        /// Sets the highest cost.
        max_cost: f64;
        /// Sets the most sub-agents that a run starts.
        max_sub_agents: u32;
        /// Sets the most sub-agents that work at the same time.
        max_parallel_sub_agents: u32;
    }

    /// Sets how deep agents delegate.
    #[must_use]
    pub fn max_depth(mut self, depth: u32) -> Self {
        self.max_depth = depth;
        self
    }

    /// Returns the limit of usage that is reached. Requests of unknown usage count with their estimate.
    pub(crate) fn exceeded(&self, usage: &RunUsage) -> Option<StopReason> {
        if self.max_tokens.is_some_and(|most| usage.counted_tokens() >= most) {
            return Some(StopReason::MaxTokens);
        }
        let is_too_much = self.max_cost.zip(usage.counted_cost()).is_some_and(|(most, cost)| cost >= most);
        is_too_much.then_some(StopReason::MaxCost)
    }
}

/// How many questions wait for a person, in a run and in all that it delegates.
#[derive(Debug, Clone)]
pub(crate) struct OpenQuestions(watch::Sender<usize>);

impl OpenQuestions {
    pub(crate) fn new() -> Self {
        Self(watch::Sender::new(0))
    }

    pub(crate) fn opened(&self) {
        self.0.send_modify(|count| *count += 1);
    }

    pub(crate) fn closed(&self, closed: usize) {
        self.0.send_modify(|count| *count = count.saturating_sub(closed));
    }
}

/// The clock of a run: it stands still while a person is asked.
#[derive(Debug)]
pub(crate) struct Clock {
    questions: OpenQuestions,
    started: Instant,
    left: Option<Duration>,
    /// The last look at it, and whether a question was open then.
    looked: Instant,
    was_paused: bool,
}

impl Clock {
    pub(crate) fn start(timeout: Option<Duration>, questions: OpenQuestions) -> Self {
        let now = Instant::now();
        Self { questions, started: now, left: timeout, looked: now, was_paused: false }
    }

    pub(crate) fn questions(&self) -> &OpenQuestions {
        &self.questions
    }

    /// How long the run takes so far, questions included, in whole milliseconds, as the account is written.
    pub(crate) fn elapsed(&self) -> Duration {
        let millis = self.started.elapsed().as_millis();
        Duration::from_millis(u64::try_from(millis).unwrap_or(u64::MAX))
    }

    /// How much time is left; `None` without a limit.
    pub(crate) fn left(&mut self) -> Option<Duration> {
        self.look();
        self.left
    }

    /// Counts the time since the last look. Returns true if the clock stands still now.
    fn look(&mut self) -> bool {
        let now = Instant::now();
        if let Some(left) = self.left.as_mut().filter(|_| !self.was_paused) {
            *left = left.saturating_sub(now - self.looked);
        }
        self.looked = now;
        self.was_paused = *self.questions.0.borrow() > 0;
        self.was_paused
    }

    /// Waits until no time is left. It can be dropped and called again.
    pub(crate) async fn run_out(&mut self) {
        let mut open = self.questions.0.subscribe();
        loop {
            open.mark_unchanged();
            let is_paused = self.look();
            let Some(left) = self.left else { return std::future::pending().await };
            if is_paused {
                // The sender is held by the clock itself.
                let _ = open.changed().await;
                continue;
            }
            if left.is_zero() {
                return;
            }
            match Instant::now().checked_add(left) {
                Some(at) => tokio::select! {
                    () = tokio::time::sleep_until(at) => {}
                    _ = open.changed() => {}
                },
                None => {
                    let _ = open.changed().await;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::time::{advance, timeout};
    use toolkit_models::{Price, Usage};

    #[tokio::test(start_paused = true)]
    async fn the_clock_stands_still_while_a_person_is_asked() {
        let questions = OpenQuestions::new();
        let mut clock = Clock::start(Some(Duration::from_secs(10)), questions.clone());
        assert!(timeout(Duration::from_secs(4), clock.run_out()).await.is_err());
        assert_eq!(clock.left(), Some(Duration::from_secs(6)));
        questions.opened();
        assert!(timeout(Duration::from_secs(100), clock.run_out()).await.is_err());
        questions.closed(1);
        assert!(timeout(Duration::from_secs(5), clock.run_out()).await.is_err());
        assert!(timeout(Duration::from_secs(2), clock.run_out()).await.is_ok());
        advance(Duration::from_secs(1)).await;
        assert_eq!(clock.left(), Some(Duration::ZERO));
    }

    #[tokio::test(start_paused = true)]
    async fn without_a_limit_it_never_runs_out() {
        let mut clock = Clock::start(None, OpenQuestions::new());
        assert!(timeout(Duration::from_hours(1), clock.run_out()).await.is_err());
        assert_eq!(clock.left(), None);
    }

    #[test]
    fn unknown_usage_counts_with_an_estimate() {
        let limits = Limits::none().max_tokens(100);
        let usage = |tokens| RunUsage::of_request(None, &Usage::new(tokens, 0), None);
        assert_eq!(limits.exceeded(&usage(99)), None);
        assert_eq!(limits.exceeded(&usage(100)), Some(StopReason::MaxTokens));
        let limits = Limits::none().max_cost(2.0);
        let price = Price::new(1_000_000.0, 0.0);
        let (of_one, none) = (Usage::new(1, 0), Usage::default());
        let unknown = RunUsage::of_request(None, &of_one, Some(&price));
        assert_eq!(limits.exceeded(&unknown), None);
        let reported = RunUsage::of_request(Some(&of_one), &none, Some(&price));
        assert_eq!(limits.exceeded(&(unknown + reported)), Some(StopReason::MaxCost));
    }
}
