//! How the calls of a conversation are approved.

use crate::agent::{Agent, Inner};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// How the calls of a conversation are approved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Mode {
    /// The person is asked, as configured.
    Ask,
    /// Only tools that read are there.
    ReadOnly,
    /// Questions to a person are answered with yes, because the configuration says so.
    Auto,
}

impl Mode {
    const ALL: [Self; 3] = [Self::Ask, Self::ReadOnly, Self::Auto];

    /// The mode that an agent begins in.
    pub(crate) fn of(agent: &Agent) -> Self {
        if agent.0.auto_confirm { Self::Auto } else { Self::Ask }
    }

    /// The modes of an agent: [`Auto`](Self::Auto) only if its configuration confirms automatically.
    pub(crate) fn offered(agent: &Agent) -> Vec<Self> {
        let may_confirm = agent.0.auto_confirm;
        Self::ALL.into_iter().filter(|mode| *mode != Self::Auto || may_confirm).collect()
    }

    /// The agent in this mode.
    pub(crate) async fn apply(self, agent: &Agent) -> Agent {
        let mut inner = Inner::clone(&agent.0);
        inner.auto_confirm = self == Self::Auto;
        if self == Self::ReadOnly {
            let toolbox = inner.toolkit.toolbox(&inner.caller).await;
            let only_reads = |tool: &&toolkit::Tool| {
                // Annotations of a remote tool are not trusted.
                tool.annotations().read_only_hint && !tool.source().is_remote()
            };
            let names = toolbox.tools().filter(only_reads).map(|tool| tool.name().to_owned());
            inner.within = Some(Arc::new(names.collect()));
        }
        Agent(Arc::new(inner))
    }
}
