//! Limits of clients and of their sockets.

use std::time::Duration;

/// Limits of clients and of their sockets.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ClientLimits {
    /// Time for the first frame, which says who the client is; 5 seconds by default.
    pub hello_within: Duration,
    /// The most sockets that have not said who they are; 32 by default.
    pub max_unknown: usize,
    /// The most clients of a person; 64 by default.
    pub max_clients: usize,
    /// The most sockets of a person; 128 by default.
    pub max_sockets: usize,
    /// The most tools of a client; 200 by default.
    pub max_tools: usize,
    /// The most bytes of a message that a client sends, fragments included; 4 MiB by default.
    pub max_message: usize,
    /// The most bytes of messages that wait until the client confirms them; 16 MiB by default.
    pub max_unsent: usize,
    /// The most frames of a client within ten seconds; 10,000 by default.
    pub max_frames: u32,
    /// Time between two pings; 30 seconds by default. A socket from which nothing came between three of them ends.
    pub ping_every: Duration,
    /// Time from the first to the last fragment of a message; 30 seconds by default.
    pub message_within: Duration,
    /// Time for a client to take a message; 30 seconds by default.
    pub write_within: Duration,
    /// Time for a client to list its tools; 30 seconds by default.
    pub start_within: Duration,
    /// Time limit of a call; one minute by default.
    pub call_within: Duration,
    /// Time limit of a call of a node; two minutes by default.
    pub node_call_within: Duration,
    /// Time for the result of a deferred call; a day by default.
    pub deferred_within: Duration,
    /// Time for a client to come back whose connection has dropped; one minute by default.
    pub resume_within: Duration,
}

impl Default for ClientLimits {
    fn default() -> Self {
        Self {
            hello_within: Duration::from_secs(5),
            max_unknown: 32,
            max_clients: 64,
            max_sockets: 128,
            max_tools: 200,
            max_message: 4 << 20,
            max_unsent: 16 << 20,
            max_frames: 10_000,
            ping_every: Duration::from_secs(30),
            message_within: Duration::from_secs(30),
            write_within: Duration::from_secs(30),
            start_within: Duration::from_secs(30),
            call_within: Duration::from_mins(1),
            node_call_within: Duration::from_mins(2),
            deferred_within: Duration::from_hours(24),
            resume_within: Duration::from_mins(1),
        }
    }
}
