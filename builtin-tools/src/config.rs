//! What can be configured of the builtin tools: the sections `tools.exec`, `tools.web.search`, `tools.web.fetch` and
//! `tools.message`.

use toolkit::{ConfigGate, ConfigSection, Secret};

/// How commands run.
#[toolkit::args]
#[serde(rename_all = "camelCase")]
pub struct ExecSettings {
    /// Which commands a person is asked about.
    #[arg(default = ExecAsk::OnMiss)]
    pub ask: ExecAsk,
    /// What happens to a command that is not proved to only read.
    #[arg(default = ExecSecurity::Auto)]
    pub security: ExecSecurity,
    /// How long a command may run, in seconds, from 1 to 86400 (a day).
    #[arg(default = 120, range(1..=86_400))]
    pub timeout_sec: u64,
    /// After how long a command that still runs goes to the background, in milliseconds, from 10 to 3600000 (an hour).
    /// Without it, none does unless it was asked to.
    #[arg(range(10..=3_600_000))]
    pub background_ms: Option<u64>,
    /// Programs, by name, that run without asking when they only filter their input.
    #[arg(default)]
    pub safe_bins: Vec<String>,
    /// Directories that are looked for programs before those of `PATH`.
    #[arg(default)]
    pub path_prepend: Vec<String>,
    /// How patches are applied.
    pub apply_patch: Option<ApplyPatchSettings>,
    /// Whether commands run in a sandbox of the operating system, where there is one.
    #[arg(default = true)]
    pub enable_sandbox: bool,
    /// The directory that commands run in. Without one, the workspace.
    pub default_working_directory: Option<String>,
    /// Directories beside the workspace that commands and the file tools may use as they may use the workspace, absolute
    /// or from `~` on.
    #[arg(default)]
    pub allowed_directories: Vec<String>,
    /// Whether a person is asked about a command that may destroy something. What is not asked then is denied where it
    /// is forbidden.
    #[arg(default = true)]
    pub confirm_dangerous_commands: bool,
    /// Commands, as they are typed, with `*` for any text, about which nobody is asked although they may destroy something.
    #[arg(default)]
    pub dangerous_command_whitelist: Vec<String>,
}

/// Which commands a person is asked about.
#[toolkit::args]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum ExecAsk {
    /// None: one that would be asked about is denied.
    Off,
    /// Those that nothing allows.
    OnMiss,
    /// All.
    Always,
}

/// What happens to a command that is not proved to only read.
#[toolkit::args]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum ExecSecurity {
    /// Its class decides.
    Auto,
    /// A person is asked.
    Ask,
    /// It is denied.
    Deny,
}

/// How patches are applied.
#[toolkit::args]
#[serde(rename_all = "camelCase")]
pub struct ApplyPatchSettings {
    /// The models that get the tool: a model, `provider/model`, or one of them with `*`. Without it all do.
    pub allow_models: Option<Vec<String>>,
}

/// How the web is searched.
#[toolkit::args]
#[serde(rename_all = "camelCase")]
pub struct WebSearchSettings {
    /// Who searches. Without one, nobody does.
    pub provider: Option<WebSearchProvider>,
    /// How long an answer is kept, in minutes, up to 10080 (a week); 0 keeps none.
    #[arg(default = 15, range(..=10_080))]
    pub cache_minutes: u64,
    /// How long an answer may take, in seconds, from 1 to 600.
    #[arg(default = 10, range(1..=600))]
    pub timeout_seconds: u64,
    /// The address of the provider, `https://…` or `http://…`. Without one, its usual one; `searxng` has none.
    #[arg(pattern = "^https?://")]
    pub base_url: Option<String>,
    /// The key to the provider.
    pub api_key: Option<Secret>,
}

/// Who searches the web.
#[toolkit::args]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum WebSearchProvider {
    /// The Brave Search API.
    Brave,
    /// The Perplexity API.
    Perplexity,
    /// A server of `searxng`.
    Searxng,
}

/// How pages are fetched from the web.
#[toolkit::args]
#[serde(rename_all = "camelCase")]
pub struct WebFetchSettings {
    /// The only domains that are fetched from, with all that is below them. Without it all are, but the blocked ones.
    pub allowed_domains: Option<Vec<String>>,
    /// Domains that are never fetched from, with all that is below them.
    #[arg(default)]
    pub blocked_domains: Vec<String>,
    /// How long a page is kept, in minutes, up to 10080 (a week); 0 keeps none.
    #[arg(default = 15, range(..=10_080))]
    pub cache_minutes: u64,
    /// How long a page may take, in seconds, from 1 to 600.
    #[arg(default = 30, range(1..=600))]
    pub timeout_seconds: u64,
}

/// How messages are sent.
#[toolkit::args]
#[serde(rename_all = "camelCase")]
pub struct MessageSettings {
    /// Whether there is the tool.
    #[arg(default = true)]
    pub enabled: bool,
}

toolkit::config_section!(ConfigSection::at::<ExecSettings>("tools.exec").tool("exec").gates(&[
    ConfigGate::Models { tool: "apply_patch", key: "applyPatch.allowModels" },
    ConfigGate::Directories { key: "allowedDirectories" },
]));
toolkit::config_section!(ConfigSection::at::<WebSearchSettings>("tools.web.search").tool("web_search"));
toolkit::config_section!(ConfigSection::at::<WebFetchSettings>("tools.web.fetch").tool("web_fetch"));
toolkit::config_section!(
    ConfigSection::at::<MessageSettings>("tools.message")
        .tool("message")
        .gates(&[ConfigGate::Enabled { tool: "message", key: "enabled" }])
);
