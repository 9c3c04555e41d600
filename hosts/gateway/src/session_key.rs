//! Keys of sessions: which conversation a message belongs to.
//!
//! ```text
//! agent:<agent>:main                                                     the owner's
//! agent:<agent>:person:<name>                                            a named person's, on whatever platform they write
//! agent:<agent>:<channel>:<account>:<kind>:<peer>[:<thread>]             a peer's of a channel
//! agent:<agent>:sub:<id>                                                 a sub-agent's
//! agent:<agent>:cron:<job>                                               a scheduled job's
//! ```
//!
//! Each part is percent-encoded, so two different peers never share a key, whatever is in their ids. The form is known by the number of
//! parts, so a channel may have any name.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The longest part of a key, in bytes before its encoding.
pub const MAX_KEY_PART_BYTES: usize = 512;

/// The first part of each key.
const PREFIX: &str = "agent";

/// The key of a session, in its canonical form: equal keys are equal texts.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct SessionKey {
    text: String,
    agent: String,
    kind: SessionKind,
}

/// The kind of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SessionKind {
    /// The owner's.
    Main,
    /// A named person's, or that of one other person in a channel.
    Direct,
    /// A group's or a public channel's.
    Group,
    /// A sub-agent's.
    Sub,
    /// A scheduled job's.
    Cron,
    /// A webhook's.
    Hook,
}

impl SessionKind {
    /// Every kind.
    pub const ALL: [Self; 6] = [Self::Main, Self::Direct, Self::Group, Self::Sub, Self::Cron, Self::Hook];

    /// The name, as in `kinds` of `sessions_list`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Main => "main",
            Self::Direct => "direct",
            Self::Group => "group",
            Self::Sub => "sub",
            Self::Cron => "cron",
            Self::Hook => "hook",
        }
    }
}

/// The kind of a peer of a channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PeerKind {
    /// One person.
    Direct,
    /// A group of people.
    Group,
    /// A channel that many may read.
    Channel,
    /// A webhook.
    Hook,
}

impl PeerKind {
    fn name(self) -> &'static str {
        match self {
            Self::Direct => "direct",
            Self::Group => "group",
            Self::Channel => "channel",
            Self::Hook => "hook",
        }
    }

    fn named(name: &str) -> Option<Self> {
        [Self::Direct, Self::Group, Self::Channel, Self::Hook].into_iter().find(|kind| kind.name() == name)
    }

    fn of_session(self) -> SessionKind {
        match self {
            Self::Direct => SessionKind::Direct,
            Self::Group | Self::Channel => SessionKind::Group,
            Self::Hook => SessionKind::Hook,
        }
    }
}

/// A text that is no key of a session.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// It has another form.
    #[error(
        "`{0}` is no key of a session: it begins with `agent:<agent>:` and goes on with `main`, `person:<name>`, `sub:<id>`, `cron:<job>` or \
         `<channel>:<account>:<kind>:<peer>[:<thread>]`"
    )]
    Form(String),
    /// Its kind of peer is unknown.
    #[error("`{kind}` in `{key}` is no kind of peer: write `direct`, `group`, `channel` or `hook`")]
    Kind {
        /// The key.
        key: String,
        /// The kind in it.
        kind: String,
    },
    /// A part is not percent-encoded.
    #[error("the part `{part}` is not percent-encoded UTF-8: after each `%` stand two hexadecimal digits")]
    Encoding {
        /// The part.
        part: String,
    },
    /// The name of the agent or of the channel is empty.
    #[error("the {0} of a session is empty: name it")]
    Empty(&'static str),
    /// A part is too long.
    #[error("a part of the key has {length} bytes; the limit is {MAX_KEY_PART_BYTES}")]
    Long {
        /// Its length, in bytes.
        length: usize,
    },
}

impl SessionKey {
    /// The owner's session with an agent.
    pub fn main(agent: &str) -> Result<Self, KeyError> {
        Self::of(agent, SessionKind::Main, &["main"])
    }

    /// A named person's session with an agent.
    pub fn person(agent: &str, name: &str) -> Result<Self, KeyError> {
        not_empty("person", name)?;
        Self::of(agent, SessionKind::Direct, &["person", name])
    }

    /// A sub-agent's session.
    pub fn sub(agent: &str, id: &str) -> Result<Self, KeyError> {
        not_empty("id", id)?;
        Self::of(agent, SessionKind::Sub, &["sub", id])
    }

    /// A scheduled job's session.
    pub fn cron(agent: &str, job: &str) -> Result<Self, KeyError> {
        not_empty("job", job)?;
        Self::of(agent, SessionKind::Cron, &["cron", job])
    }

    /// The session of a peer of a channel, or of a thread with them. The peer's id may be any text, the empty one, too.
    pub fn peer(
        agent: &str,
        channel: &str,
        account: &str,
        kind: PeerKind,
        peer: &str,
        thread: Option<&str>,
    ) -> Result<Self, KeyError> {
        not_empty("channel", channel)?;
        let parts = [channel, account, kind.name(), peer].into_iter().chain(thread).collect::<Vec<_>>();
        Self::of(agent, kind.of_session(), &parts)
    }

    fn of(agent: &str, kind: SessionKind, parts: &[&str]) -> Result<Self, KeyError> {
        not_empty("agent", agent)?;
        let mut text = PREFIX.to_owned();
        for part in std::iter::once(&agent).chain(parts) {
            if part.len() > MAX_KEY_PART_BYTES {
                return Err(KeyError::Long { length: part.len() });
            }
            text.push(':');
            encode(part, &mut text);
        }
        Ok(Self { text, agent: agent.to_owned(), kind })
    }

    /// The canonical text.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The agent, decoded.
    pub fn agent(&self) -> &str {
        &self.agent
    }

    /// The kind of the session.
    pub fn kind(&self) -> SessionKind {
        self.kind
    }

    /// Returns true if it is a key of this peer, whatever the agent and the account.
    pub fn is_of(&self, short: &ShortKey) -> bool {
        // The parts are encoded, so the colons are those between them.
        let account = self.text.split(':').nth(3).and_then(|account| decode(account).ok());
        account.is_some_and(|account| short.complete(&self.agent, &account).is_ok_and(|key| key == *self))
    }
}

impl FromStr for SessionKey {
    type Err = KeyError;

    /// Reads a key; a needless escape and the case of its digits do not matter.
    fn from_str(text: &str) -> Result<Self, KeyError> {
        let parts = text.split(':').map(decode).collect::<Result<Vec<_>, _>>()?;
        let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
        match parts[..] {
            [PREFIX, agent, "main"] => Self::main(agent),
            [PREFIX, agent, "person", name] => Self::person(agent, name),
            [PREFIX, agent, "sub", id] => Self::sub(agent, id),
            [PREFIX, agent, "cron", job] => Self::cron(agent, job),
            [PREFIX, agent, channel, account, kind, peer, ref rest @ ..] if rest.len() <= 1 => {
                let known = PeerKind::named(kind)
                    .ok_or_else(|| KeyError::Kind { key: text.to_owned(), kind: kind.to_owned() })?;
                Self::peer(agent, channel, account, known, peer, rest.first().copied())
            }
            _ => Err(KeyError::Form(text.to_owned())),
        }
    }
}

impl fmt::Display for SessionKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl TryFrom<String> for SessionKey {
    type Error = KeyError;

    fn try_from(text: String) -> Result<Self, KeyError> {
        text.parse()
    }
}

impl From<SessionKey> for String {
    fn from(key: SessionKey) -> Self {
        key.text
    }
}

/// The short form of a key, `telegram:user:123456`: it names no agent and no account. Where a channel has one account, and the agent is
/// known, they complete it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShortKey {
    /// The channel.
    pub channel: String,
    /// The kind of the peer; `user` means `direct`.
    pub kind: PeerKind,
    /// The peer.
    pub peer: String,
    /// The thread, if there is one.
    pub thread: Option<String>,
}

impl ShortKey {
    /// Completes the key.
    pub fn complete(&self, agent: &str, account: &str) -> Result<SessionKey, KeyError> {
        SessionKey::peer(agent, &self.channel, account, self.kind, &self.peer, self.thread.as_deref())
    }

    /// A pattern of the keys of this peer: `*` stands for any agent, and for any account.
    pub(crate) fn pattern(&self) -> String {
        let mut text = format!("{PREFIX}:*:");
        encode(&self.channel, &mut text);
        text.push_str(":*");
        for part in [self.kind.name(), &self.peer].into_iter().chain(self.thread.as_deref()) {
            text.push(':');
            encode(part, &mut text);
        }
        text
    }
}

impl FromStr for ShortKey {
    type Err = KeyError;

    fn from_str(text: &str) -> Result<Self, KeyError> {
        let mut parts = text.split(':').map(decode).collect::<Result<Vec<_>, _>>()?;
        if !(3..=4).contains(&parts.len()) || parts[0] == PREFIX {
            return Err(KeyError::Form(text.to_owned()));
        }
        let thread = (parts.len() == 4).then(|| parts.remove(3));
        let peer = parts.remove(2);
        let kind = if parts[1] == "user" { "direct" } else { &parts[1] };
        let kind = PeerKind::named(kind)
            .ok_or_else(|| KeyError::Kind { key: text.to_owned(), kind: kind.to_owned() })?;
        let channel = parts.remove(0);
        not_empty("channel", &channel)?;
        Ok(Self { channel, kind, peer, thread })
    }
}

fn not_empty(name: &'static str, part: &str) -> Result<(), KeyError> {
    if part.is_empty() { Err(KeyError::Empty(name)) } else { Ok(()) }
}

fn encode(part: &str, text: &mut String) {
    for byte in part.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~@+".contains(&byte) {
            text.push(char::from(byte));
        } else {
            text.push('%');
            text.push_str(&data_encoding::HEXUPPER.encode(&[byte]));
        }
    }
}

fn decode(part: &str) -> Result<String, KeyError> {
    let wrong = || KeyError::Encoding { part: part.to_owned() };
    let mut bytes = Vec::with_capacity(part.len());
    let mut rest = part.as_bytes();
    while let [first, after @ ..] = rest {
        if *first == b'%' {
            let digits = after.get(..2).ok_or_else(wrong)?;
            let decoded = data_encoding::HEXUPPER_PERMISSIVE.decode(digits).map_err(|_| wrong())?;
            bytes.extend(decoded);
            rest = &after[2..];
        } else {
            bytes.push(*first);
            rest = after;
        }
    }
    String::from_utf8(bytes).map_err(|_| wrong())
}

#[cfg(test)]
mod tests;
