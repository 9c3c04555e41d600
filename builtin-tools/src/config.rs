//! What can be configured of the builtin tools: the sections `tools.exec`, `tools.web.network`, `tools.web.search`,
//! `tools.web.fetch` and `tools.message`.

use toolkit::{ConfigGate, ConfigSection, Secret};

/// How commands run.
#[toolkit::args]
#[serde(rename_all = "camelCase")]
pub struct ExecSettings {
    /// Which commands a person is asked about. `true` is `on-miss`, `false` is `off`.
    #[arg(default = ExecAskSetting::Word(ExecAsk::OnMiss))]
    pub ask: ExecAskSetting,
    /// What happens to a command that is not proved to only read. Of this and `permission.exec` the stricter counts.
    #[arg(default = ExecSecurity::Ask)]
    pub security: ExecSecurity,
    /// How long a command may run unless its call says otherwise, in seconds, from 1 to 86400 (a day). One that was started in
    /// the background has no such bound.
    #[arg(default = 120, range(1..=86_400))]
    pub timeout_sec: u64,
    /// The longest that a call can say, in seconds, from 1 to 86400 (a day).
    #[arg(default = 3600, range(1..=86_400))]
    pub max_timeout_sec: u64,
    /// After how long a command that still runs goes to the background, in milliseconds, from 10 to 3600000 (an hour).
    /// Without it, none does unless it was asked to.
    #[arg(range(10..=3_600_000))]
    pub background_ms: Option<u64>,
    /// How many commands of one session may run in the background at once, from 1 to 1000.
    #[arg(default = 64, range(1..=1_000))]
    pub max_background: usize,
    /// Programs, by name, that run without asking when they only filter their input: no word of theirs is a path, or the name
    /// of something that is there, and nothing is known of the command but that it is not known to only read. What is known to speak
    /// with other machines, to change a repository or files, to run a text or to destroy something is asked about as without this:
    /// `git add .`, `git push` and `npm publish` among them.
    #[arg(default)]
    pub safe_bins: Vec<String>,
    /// Directories that are looked for programs before those of `PATH`, absolute, from `~` on, or relative to the workspace.
    #[arg(default)]
    pub path_prepend: Vec<String>,
    /// Variables of the host's environment, by name, that commands get beside the usual ones: secrets, too. Those that a shell or a
    /// loader would run or load something for never are, nor one that has to be a number, or an absolute path, and is none.
    #[arg(default)]
    pub inherit_env: Vec<String>,
    /// How patches are applied.
    pub apply_patch: Option<ApplyPatchSettings>,
    /// Whether commands run in a sandbox of the operating system, where there is one. `false` is `sandbox: "off"`.
    #[arg(default = true)]
    pub enable_sandbox: bool,
    /// What is done where the sandbox, or a part of it, cannot be had.
    #[arg(default = ExecSandbox::Auto)]
    pub sandbox: ExecSandbox,
    /// What a command can change within its sandbox.
    #[arg(default = ExecSandboxMode::WorkspaceWrite)]
    pub sandbox_mode: ExecSandboxMode,
    /// Whether a command reaches the network from its sandbox.
    #[arg(default = ExecNetwork::Off)]
    pub network: ExecNetwork,
    /// The directory that commands run in, absolute, from `~` on, or relative to the workspace. Without one, the workspace.
    pub default_working_directory: Option<String>,
    /// Directories beside the workspace that commands and the file tools may use as they may use the workspace, absolute
    /// or from `~` on.
    #[arg(default)]
    pub allowed_directories: Vec<String>,
    /// Whether a person is asked about a command that may destroy something, also where `security: "auto"` would let it run.
    /// With `false` it is a command like others; what is forbidden is denied all the same.
    #[arg(default = true)]
    pub confirm_dangerous_commands: bool,
    /// How many processes and threads a command may have at once, with all that it starts, from 16 on. Without it 256 for each processor,
    /// at least 4096. A command that has more is ended.
    #[arg(range(16..=4_194_304))]
    pub max_processes: Option<u32>,
    /// How much memory a command may use, with all that it starts, in MiB, from 16 on. Without it three quarters of what the machine has.
    /// A command that uses more is ended.
    #[arg(range(16..=67_108_864))]
    pub max_memory_mb: Option<u64>,
    /// Simple commands, as they are typed, with `*` for any text, about which nobody is asked although they may destroy
    /// something. What else stands around one of them is judged by itself.
    #[arg(default)]
    pub dangerous_command_whitelist: Vec<String>,
}

impl ExecSettings {
    /// Which commands a person is asked about.
    pub fn asked(&self) -> ExecAsk {
        match self.ask {
            ExecAskSetting::Word(word) => word,
            ExecAskSetting::Switch(true) => ExecAsk::OnMiss,
            ExecAskSetting::Switch(false) => ExecAsk::Off,
        }
    }
}

/// Which commands a person is asked about, as it is written.
#[toolkit::args]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[serde(untagged)]
pub enum ExecAskSetting {
    /// By a word.
    Word(ExecAsk),
    /// Whether anybody is asked.
    Switch(bool),
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
    /// It runs where a sandbox that works contains what it does; else a person is asked.
    Auto,
    /// A person is asked.
    Ask,
    /// It is denied.
    Deny,
}

/// What is done where the sandbox, or a part of it, cannot be had.
#[toolkit::args]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum ExecSandbox {
    /// Commands run with what there is of it, and are asked about as without.
    Auto,
    /// No command runs.
    Required,
    /// Commands run without any, in any case.
    Off,
}

/// What a command can change within its sandbox.
#[toolkit::args]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum ExecSandboxMode {
    /// Nothing but a `/tmp` of the session's own.
    ReadOnly,
    /// Also what is in the workspace and `allowedDirectories`, but for protected paths.
    WorkspaceWrite,
    /// All that the user may, but for protected paths.
    Full,
}

/// Whether a command reaches the network from its sandbox.
#[toolkit::args]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum ExecNetwork {
    /// It does.
    On,
    /// It does not, unless a person was asked about a command that is known to speak with other machines.
    Off,
}

/// How patches are applied.
#[toolkit::args]
#[serde(rename_all = "camelCase")]
pub struct ApplyPatchSettings {
    /// The models that get the tool: a model, `provider/model`, or one of them with `*`. Without it all do.
    pub allow_models: Option<Vec<String>>,
}

/// How all web tools reach the network.
#[toolkit::args]
#[serde(rename_all = "camelCase")]
pub struct WebNetworkSettings {
    /// Ranges of addresses that web tools may connect to although they are not public, as `10.1.0.0/16` or `fd12::/16`: a company's
    /// network, or the range of a resolver that answers with addresses of its own (198.18.0.0/15). Metadata services of clouds are
    /// refused all the same.
    #[arg(default)]
    pub allowed_ranges: Vec<String>,
    /// The proxy that connections go through: `off`, `environment` for the one that `https_proxy` and its like name, or
    /// `http://proxy.example:3128`. The target's address is checked in any case.
    #[arg(default = "off", pattern = "^(off|environment|http://.+)$")]
    pub proxy: String,
    /// How web tools name themselves to servers. Without it, as `toolkit/<version>` and `web_fetch`.
    #[arg(length(1..=200), pattern = "^[ -~]+$")]
    pub user_agent: Option<String>,
}

/// How the web is searched.
#[toolkit::args]
#[serde(rename_all = "camelCase")]
pub struct WebSearchSettings {
    /// Who searches. Without one, the provider whose key is in the environment: `BRAVE_API_KEY` or `PERPLEXITY_API_KEY`.
    pub provider: Option<WebSearchProvider>,
    /// How long an answer is kept, in minutes, up to 10080 (a week); 0 keeps none.
    #[arg(default = 15, range(..=10_080))]
    pub cache_minutes: u64,
    /// How long an answer may take, in seconds, from 1 to 600.
    #[arg(default = 10, range(1..=600))]
    pub timeout_seconds: u64,
    /// The address of the provider, `https://…` or `http://…`. Without one, its usual one; `searxng` has none. It may be on a private
    /// network.
    #[arg(pattern = "^https?://")]
    pub base_url: Option<String>,
    /// The key to the provider. Without one, that of the environment; `searxng` needs none.
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
    /// The only domains that are fetched from. Without it all are, but the blocked ones. "example.com" is the domain with all below it,
    /// "=example.com" it alone, "*.example.com" all below it; a port may follow: "example.com:8443".
    pub allowed_domains: Option<Vec<String>>,
    /// Domains that are never fetched from, written as those above. What several sources say counts together.
    #[arg(default)]
    pub blocked_domains: Vec<String>,
    /// How long a page is kept, in minutes, up to 10080 (a week); 0 keeps none.
    #[arg(default = 15, range(..=10_080))]
    pub cache_minutes: u64,
    /// How long a page may take, in seconds, from 1 to 600.
    #[arg(default = 30, range(1..=600))]
    pub timeout_seconds: u64,
    /// The most bytes of a page, after decompression, from 1024 to 104857600 (100 MiB).
    #[arg(default = 10_485_760, range(1024..=104_857_600))]
    pub max_bytes: usize,
    /// Whether pages that a site's `robots.txt` excludes are left alone.
    #[arg(default = false)]
    pub respect_robots: bool,
}

/// An endpoint that speaks as OpenAI's does.
#[toolkit::args]
#[derive(Debug, Clone)]
#[serde(rename_all = "camelCase")]
pub struct MediaProvider {
    /// Its name in questions and errors. Without one, its host.
    #[arg(length(1..=100))]
    pub name: Option<String>,
    /// Its address, with the version. It may be on a private network.
    #[arg(default = "https://api.openai.com/v1", pattern = "^https?://[^?#]+$")]
    pub base_url: String,
    /// The key that it wants.
    pub api_key: Option<Secret>,
    /// The model, as the endpoint names it.
    #[arg(length(1..=200))]
    pub model: Option<String>,
}

/// How pictures are made and looked at.
#[toolkit::args]
#[serde(rename_all = "camelCase")]
pub struct ImageSettings {
    /// The endpoints that make and change pictures, in order: the next is asked where one refuses a request.
    #[arg(default)]
    pub providers: Vec<MediaProvider>,
    /// The endpoints whose models look at pictures and describe them, in order. Each needs a `model`.
    #[arg(default)]
    pub vision: Vec<MediaProvider>,
    /// How long a request may take, in seconds, from 1 to 600.
    #[arg(default = 300, range(1..=600))]
    pub timeout_seconds: u64,
}

/// How texts are spoken.
#[toolkit::args]
#[serde(rename_all = "camelCase")]
pub struct TtsSettings {
    /// The endpoints that speak, in order: the next is asked where one refuses a request. Without any, the program `espeak-ng` speaks.
    #[arg(default)]
    pub providers: Vec<MediaProvider>,
    /// The voice where a call names none: of `espeak-ng` such as `en`, `de` or `en-us+f3`, of an endpoint such as `alloy`.
    #[arg(pattern = "^[A-Za-z][A-Za-z0-9_+-]{0,63}$")]
    pub voice: Option<String>,
    /// How long a request to an endpoint may take, in seconds, from 1 to 600.
    #[arg(default = 120, range(1..=600))]
    pub timeout_seconds: u64,
}

/// How speech is written down.
#[toolkit::args]
#[serde(rename_all = "camelCase")]
pub struct TranscribeSettings {
    /// The endpoints that write it down, in order: the next is asked where one refuses a request.
    #[arg(default)]
    pub providers: Vec<MediaProvider>,
    /// How long a request may take, in seconds, from 1 to 600.
    #[arg(default = 300, range(1..=600))]
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

const ASKED: Option<(&str, &str)> = Some(("security", "ask"));

toolkit::config_section!(ConfigSection::at::<ExecSettings>("tools.exec").tool("exec").gates(&[
    ConfigGate::Models { tool: "apply_patch", key: "applyPatch.allowModels" },
    ConfigGate::Directories { key: "allowedDirectories" },
    // One denies what the other asks about, and lets run what the other asks about: neither is the stricter.
    ConfigGate::Order { key: "ask", ranks: &[&["on-miss", "true"], &["always", "off", "false"]], and: None },
    ConfigGate::Order { key: "security", ranks: &[&["auto"], &["ask"], &["deny"]], and: None },
    // What is within a sandbox is asked about less, with `security: "auto"`: who takes something away must not take the questions.
    ConfigGate::Order { key: "sandbox", ranks: &[&["off"], &["auto"], &["required"]], and: ASKED },
    ConfigGate::Order { key: "enableSandbox", ranks: &[&["false"], &["true"]], and: ASKED },
    ConfigGate::Order {
        key: "sandboxMode",
        ranks: &[&["full"], &["workspace-write"], &["read-only"]],
        and: ASKED,
    },
    ConfigGate::Order { key: "network", ranks: &[&["on"], &["off"]], and: ASKED },
    ConfigGate::Order { key: "confirmDangerousCommands", ranks: &[&["false"], &["true"]], and: None },
    ConfigGate::AtMost { key: "timeoutSec" },
    ConfigGate::AtMost { key: "maxTimeoutSec" },
    ConfigGate::AtMost { key: "maxBackground" },
    ConfigGate::Asks { tool: "exec", key: "security" },
    ConfigGate::AsksAlways { tool: "process", about: "typing into a running command" },
]));
toolkit::config_section!(ConfigSection::at::<WebNetworkSettings>("tools.web.network"));
toolkit::config_section!(ConfigSection::at::<WebSearchSettings>("tools.web.search").tool("web_search"));
toolkit::config_section!(
    ConfigSection::at::<WebFetchSettings>("tools.web.fetch")
        .tool("web_fetch")
        .gates(&[ConfigGate::Narrows { key: "blockedDomains" }])
);
toolkit::config_section!(ConfigSection::at::<ImageSettings>("tools.image").tool("image"));
toolkit::config_section!(ConfigSection::at::<TtsSettings>("tools.tts").tool("tts"));
toolkit::config_section!(ConfigSection::at::<TranscribeSettings>("tools.transcribe").tool("transcribe"));
toolkit::config_section!(
    ConfigSection::at::<MessageSettings>("tools.message")
        .tool("message")
        .gates(&[ConfigGate::Enabled { tool: "message", key: "enabled" }])
);
