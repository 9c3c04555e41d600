//! The origins of deliveries: each names what prepares them, so that it prepares them once.

use super::clock::Moment;
use super::damage::Fault;
use super::ids::RunId;
use super::target::Target;

/// The origin of the parts: a run, a fire of a tool job, or a call of a tool.
pub(super) struct Origin(String);

impl Origin {
    pub(super) fn as_str(&self) -> &str {
        &self.0
    }

    pub(super) fn run(run: &RunId) -> Self {
        Self(format!("run/{run}"))
    }

    pub(super) fn fire(job: &str, at: i64, is_manual: bool) -> Self {
        Self(format!("fire/{job}/{at}{}", if is_manual { "/manual" } else { "" }))
    }

    /// The code of a stranger, by its digest.
    pub(super) fn code(digest: &str) -> Self {
        Self(format!("code/{digest}"))
    }

    /// The message to a sender who was let in.
    pub(super) fn welcome(channel: &str, sender: &str, at: Moment) -> Self {
        Self(format!("welcome/{}/{channel}/{sender}/{}", channel.len(), at.0))
    }

    /// A message of a channel to which the gateway itself answers.
    pub(super) fn reply(source: &str, external_id: &str) -> Self {
        Self(format!("reply/{}/{source}/{external_id}", source.len()))
    }

    /// A message by which a person tries a channel.
    pub(super) fn test() -> Result<Self, Fault> {
        Ok(Self(format!("test/{}", RunId::random()?)))
    }

    /// The parts that the tool `message`, or a tool of a platform, sends in a call, by its name.
    pub(super) fn message(call: &str) -> Self {
        Self(format!("message/{call}"))
    }

    /// A question that is shown in a conversation.
    pub(super) fn ask(id: &str, target: &Target) -> Self {
        let Target { channel, account, conversation } = target;
        Self(format!("ask/{id}/{}/{channel}/{}/{account}/{conversation}", channel.len(), account.len()))
    }

    pub(super) fn call(transcript: &str, answer: &str, call: &str) -> Self {
        // Each part keeps its length, so that no two triples share a text.
        Self(format!("call/{}/{transcript}/{}/{answer}/{call}", transcript.len(), answer.len()))
    }
}
