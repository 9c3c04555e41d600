//! The configuration `plugins.memory`.

/// Settings of memory (`plugins.memory`).
#[toolkit::args]
#[derive(Debug, Clone)]
#[serde(rename_all = "camelCase")]
pub struct MemorySettings {
    /// The maximum number of notes of one agent.
    #[arg(default = 10_000, range(1..=1_000_000))]
    pub max_notes: u32,
    /// How long a call waits while another process writes, in milliseconds.
    #[arg(default = 5_000, range(0..=60_000))]
    pub wait_ms: u32,
}
