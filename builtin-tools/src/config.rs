//! Configuration of the builtin tools: the sections `tools.exec`, `tools.web.network`, `tools.web.search`, `tools.web.fetch`,
//! `tools.browser` and `tools.message`.

use toolkit::config::{ConfigGate, ConfigSection, Secret};

/// Settings of shell commands.
#[toolkit::args]
#[serde(rename_all = "camelCase")]
pub struct ExecSettings {
    /// The commands that need a person's approval. `true` is `on-miss`, `false` is `off`.
    #[arg(default = ExecAskSetting::Word(ExecAsk::OnMiss))]
    pub ask: ExecAskSetting,
    /// The decision for a command that is not known to be read-only. The stricter of this and `permission.exec` applies.
    #[arg(default = ExecSecurity::Ask)]
    pub security: ExecSecurity,
    /// The default timeout of a command, in seconds, from 1 to 86400 (a day). A command started in the background has none.
    #[arg(default = 120, range(1..=86_400))]
    pub timeout_sec: u64,
    /// The maximum timeout that a call can request, in seconds, from 1 to 86400 (a day).
    #[arg(default = 3600, range(1..=86_400))]
    pub max_timeout_sec: u64,
    /// The time after which a running command moves to the background, in milliseconds, from 10 to 3600000 (an hour).
    /// Unset: only if the call requests it.
    #[arg(range(10..=3_600_000))]
    pub background_ms: Option<u64>,
    /// The maximum number of background commands of one session at a time, from 1 to 1000.
    #[arg(default = 64, range(1..=1_000))]
    pub max_background: usize,
    /// Programs, by name, that run without approval as filters of their input: no argument may be a path or the name of an existing
    /// file, and the only doubt about the command may be that it is not known to be read-only. Commands known to use the network, to
    /// change a repository or files, to run code or to be destructive need approval all the same, such as `git add .`, `git push` and
    /// `npm publish`.
    #[arg(default)]
    pub safe_bins: Vec<String>,
    /// Directories searched for programs before those of `PATH`: absolute, starting with `~`, or relative to the workspace.
    #[arg(default)]
    pub path_prepend: Vec<String>,
    /// Names of further environment variables of the host that commands inherit, including secrets. Never inherited: variables that make
    /// a shell or the dynamic loader run or load code, and those that must be a number or an absolute path and are not.
    #[arg(default)]
    pub inherit_env: Vec<String>,
    /// Settings of `apply_patch`.
    pub apply_patch: Option<ApplyPatchSettings>,
    /// If true, commands run in a sandbox of the operating system where available. `false` means `sandbox: "off"`.
    #[arg(default = true)]
    pub enable_sandbox: bool,
    /// The behaviour if the sandbox, or a part of it, is unavailable.
    #[arg(default = ExecSandbox::Auto)]
    pub sandbox: ExecSandbox,
    /// The files that a sandboxed command can write.
    #[arg(default = ExecSandboxMode::WorkspaceWrite)]
    pub sandbox_mode: ExecSandboxMode,
    /// The network access of a sandboxed command.
    #[arg(default = ExecNetwork::Off)]
    pub network: ExecNetwork,
    /// The working directory of commands: absolute, starting with `~`, or relative to the workspace. Default: the workspace.
    pub default_working_directory: Option<String>,
    /// Further directories that commands and file tools may use like the workspace: absolute or starting with `~`.
    #[arg(default)]
    pub allowed_directories: Vec<String>,
    /// If true, destructive commands need approval even if `security: "auto"` would run them. With `false` they are treated like
    /// other commands; forbidden commands are still denied.
    #[arg(default = true)]
    pub confirm_dangerous_commands: bool,
    /// The maximum number of processes and threads of a command and its descendants, at least 16. Default: 256 for each processor, at
    /// least 4096. A command that exceeds it is killed.
    #[arg(range(16..=4_194_304))]
    pub max_processes: Option<u32>,
    /// The maximum memory of a command and its descendants, in MiB, at least 16. Default: three quarters of the machine's memory. A
    /// command that exceeds it is killed.
    #[arg(range(16..=67_108_864))]
    pub max_memory_mb: Option<u64>,
    /// The maximum size of each file that a command writes to, in MiB. Default: 16384. A program that writes beyond it is ended.
    #[arg(range(1..=67_108_864))]
    pub max_file_mb: Option<u64>,
    /// Simple commands, as typed, with `*` for any text, that run without approval although they may be destructive. Other parts of
    /// the command line are judged separately.
    #[arg(default)]
    pub dangerous_command_whitelist: Vec<String>,
}

impl ExecSettings {
    /// Returns the setting for the commands that need approval.
    pub fn asked(&self) -> ExecAsk {
        match self.ask {
            ExecAskSetting::Word(word) => word,
            ExecAskSetting::Switch(true) => ExecAsk::OnMiss,
            ExecAskSetting::Switch(false) => ExecAsk::Off,
        }
    }
}

/// The commands that need approval, as written in the configuration.
#[toolkit::args]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[serde(untagged)]
pub enum ExecAskSetting {
    /// One of the named values.
    Word(ExecAsk),
    /// A switch: `true` is `on-miss`, `false` is `off`.
    Switch(bool),
}

/// The commands that need a person's approval.
#[toolkit::args]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum ExecAsk {
    /// Never ask: a command that needs approval is denied.
    Off,
    /// Commands that no rule allows.
    OnMiss,
    /// All commands.
    Always,
}

/// The decision for a command that is not known to be read-only.
#[toolkit::args]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum ExecSecurity {
    /// Run it without approval if a working sandbox contains it, else ask.
    Auto,
    /// Ask for approval.
    Ask,
    /// Deny it.
    Deny,
}

/// The behaviour if the sandbox, or a part of it, is unavailable.
#[toolkit::args]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum ExecSandbox {
    /// Run commands with the available parts of the sandbox, with approval as without a sandbox.
    Auto,
    /// Run no commands.
    Required,
    /// Never use a sandbox.
    Off,
}

/// The files that a sandboxed command can write.
#[toolkit::args]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum ExecSandboxMode {
    /// Only a private `/tmp` of the session.
    ReadOnly,
    /// Also the workspace and `allowedDirectories`, except protected paths.
    WorkspaceWrite,
    /// Everything that the user can write, except protected paths.
    Full,
}

/// The network access of a sandboxed command.
#[toolkit::args]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum ExecNetwork {
    /// Allowed.
    On,
    /// Blocked, unless a person approved a command that is known to use the network.
    Off,
}

/// Settings of `apply_patch`.
#[toolkit::args]
#[serde(rename_all = "camelCase")]
pub struct ApplyPatchSettings {
    /// The models that get the tool: `model` or `provider/model`, with `*` for any text. Default: all.
    pub allow_models: Option<Vec<String>>,
}

/// Network settings of all web tools.
#[toolkit::args]
#[serde(rename_all = "camelCase")]
pub struct WebNetworkSettings {
    /// Non-public IP ranges that web tools may connect to, such as `10.1.0.0/16` or `fd12::/16`: a company's network, or the range of
    /// a resolver that returns synthetic addresses (198.18.0.0/15). Cloud metadata services stay blocked.
    #[arg(default)]
    pub allowed_ranges: Vec<String>,
    /// The proxy for connections: `off`, `environment` for the one named by `https_proxy` and similar variables, or
    /// `http://proxy.example:3128`. The target's address is checked in any case.
    #[arg(default = "off", pattern = "^(off|environment|http://.+)$")]
    pub proxy: String,
    /// The `User-Agent` header of web tools. Default: `toolkit/<version>` and `web_fetch`.
    #[arg(length(1..=200), pattern = "^[ -~]+$")]
    pub user_agent: Option<String>,
}

/// Settings of `web_search`.
#[toolkit::args]
#[serde(rename_all = "camelCase")]
pub struct WebSearchSettings {
    /// The search provider. Default: the one whose key is in the environment, `BRAVE_API_KEY` or `PERPLEXITY_API_KEY`.
    pub provider: Option<WebSearchProvider>,
    /// How long results are cached, in minutes, up to 10080 (a week); 0 disables the cache.
    #[arg(default = 15, range(..=10_080))]
    pub cache_minutes: u64,
    /// The timeout of a request, in seconds, from 1 to 600.
    #[arg(default = 10, range(1..=600))]
    pub timeout_seconds: u64,
    /// The provider's URL, `https://…` or `http://…`, also on a private network. Default: the provider's public URL; required for
    /// `searxng`.
    #[arg(pattern = "^https?://")]
    pub base_url: Option<String>,
    /// The provider's API key. Default: the one in the environment; `searxng` needs none.
    pub api_key: Option<Secret>,
    /// Price of a search, in the currency of `models.<name>.price`, for the meter of the host.
    #[arg(range(0.0..))]
    pub price: Option<f64>,
}

/// A search provider.
#[toolkit::args]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum WebSearchProvider {
    /// The Brave Search API.
    Brave,
    /// The Perplexity API.
    Perplexity,
    /// A `searxng` server.
    Searxng,
}

/// Settings of `web_fetch`.
#[toolkit::args]
#[serde(rename_all = "camelCase")]
pub struct WebFetchSettings {
    /// The only domains that may be fetched. Default: all except the blocked ones. "example.com" matches the domain and its subdomains,
    /// "=example.com" the domain alone, "*.example.com" the subdomains alone; a port may follow: "example.com:8443".
    pub allowed_domains: Option<Vec<String>>,
    /// Domains that are never fetched, in the same syntax. The lists of several configuration sources are combined.
    #[arg(default)]
    pub blocked_domains: Vec<String>,
    /// How long a page is cached, in minutes, up to 10080 (a week); 0 disables the cache.
    #[arg(default = 15, range(..=10_080))]
    pub cache_minutes: u64,
    /// The timeout for a page, in seconds, from 1 to 600.
    #[arg(default = 30, range(1..=600))]
    pub timeout_seconds: u64,
    /// The maximum size of a page after decompression, in bytes, from 1024 to 104857600 (100 MiB).
    #[arg(default = 10_485_760, range(1024..=104_857_600))]
    pub max_bytes: usize,
    /// If true, pages that a site's `robots.txt` excludes are not fetched.
    #[arg(default = false)]
    pub respect_robots: bool,
}

/// How the browser runs, and where it may go.
#[toolkit::args]
#[serde(rename_all = "camelCase")]
pub struct BrowserSettings {
    /// The program, Chromium or a browser made from it: its path, absolute or from `~` on. Without it, one is looked for in the
    /// directories of `PATH`.
    #[arg(length(1..))]
    pub executable: Option<String>,
    /// The debugging URL of a browser that runs already, as `http://127.0.0.1:9222` or `ws://127.0.0.1:9222/…`; it is used instead of a
    /// program. A person is asked before each connection to it. Pages are in a context of their own, whose traffic goes through the proxy of
    /// this process, so the browser must be able to reach 127.0.0.1 of this machine.
    #[arg(length(1..=2000))]
    pub debugging_url: Option<String>,
    /// True lets the pages of the browser of `debuggingUrl` reach the network without the proxy, for a browser on another machine. Then only the
    /// addresses that calls name, and those that tabs show, are checked.
    #[arg(default = false)]
    pub debugging_without_proxy: bool,
    /// The only domains that anything of a page may come from. Without it, those of `tools.web.fetch.allowedDomains`, where it has some.
    /// They are written as there.
    pub allowed_domains: Option<Vec<String>>,
    /// Domains that nothing of a page comes from, beside those of `tools.web.fetch.blockedDomains`. What several sources say counts
    /// together.
    #[arg(default)]
    pub blocked_domains: Vec<String>,
    /// After how many seconds without a call the browser is closed, from 1 to 86400 (a day).
    #[arg(default = 900, range(1..=86_400))]
    pub idle_seconds: u64,
    /// How long an action waits for what it acts on, in seconds, from 1 to 120, unless its call says otherwise.
    #[arg(default = 10, range(1..=120))]
    pub timeout_seconds: u64,
    /// How long a page may take to load, in seconds, from 1 to 600. What has come by then is used.
    #[arg(default = 30, range(1..=600))]
    pub load_seconds: u64,
    /// The width of a page in pixels, from 320 to 3840.
    #[arg(default = 1280, range(320..=3840))]
    pub viewport_width: u32,
    /// The height of a page in pixels, from 200 to 2160.
    #[arg(default = 800, range(200..=2160))]
    pub viewport_height: u32,
    /// How dialogs of a page that ask something are answered, unless a call says otherwise. Every dialog is reported.
    #[arg(default = BrowserDialogs::Dismiss)]
    pub dialogs: BrowserDialogs,
    /// The directory for downloads, absolute, from `~` on, or relative to the workspace. A file is written there by the rules of the tool
    /// `write`.
    #[arg(default = "downloads", length(1..))]
    pub download_directory: String,
}

/// How dialogs that ask something are answered.
#[toolkit::args]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum BrowserDialogs {
    /// With "OK".
    Accept,
    /// With "Cancel".
    Dismiss,
}

/// An endpoint with the HTTP API of OpenAI.
#[toolkit::args]
#[derive(Debug, Clone)]
#[serde(rename_all = "camelCase")]
pub struct MediaProvider {
    /// Name in approval prompts, permission rules and errors. Default: the host of `baseUrl`.
    #[arg(length(1..=100))]
    pub name: Option<String>,
    /// Base URL with the version of the API. It may be on a private network.
    #[arg(default = "https://api.openai.com/v1", pattern = "^https?://[^?#]+$")]
    pub base_url: String,
    /// API key, sent as a bearer token.
    pub api_key: Option<Secret>,
    /// Model, by the name that the endpoint uses.
    #[arg(length(1..=200))]
    pub model: Option<String>,
    /// Price of its requests, in the currency of `models.<name>.price`.
    pub price: Option<MediaPrice>,
}

/// Price of the requests to an endpoint. What it does not charge for is left out.
#[toolkit::args]
#[derive(Debug, Clone, Copy, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct MediaPrice {
    /// Price of a million tokens of requests.
    #[arg(range(0.0..))]
    pub input: Option<f64>,
    /// Price of a million tokens of answers.
    #[arg(range(0.0..))]
    pub output: Option<f64>,
    /// Price of a picture.
    #[arg(range(0.0..))]
    pub image: Option<f64>,
    /// Price of a million characters of spoken text.
    #[arg(range(0.0..))]
    pub characters: Option<f64>,
    /// Price of a minute of transcribed speech.
    #[arg(range(0.0..))]
    pub minute: Option<f64>,
}

/// Pictures and speech without a given file: they are kept in the directory `media` of the data directory, so that hosts can send them.
#[toolkit::args]
#[serde(rename_all = "camelCase")]
pub struct MediaSettings {
    /// Number of days after which a file is removed, from 1 to 365.
    #[arg(default = 7, range(1..=365))]
    pub keep_days: u64,
    /// Maximum size of all files together in bytes, at least 1 MiB. The oldest are removed first.
    #[arg(default = 1_073_741_824, range(1_048_576..))]
    pub max_total_bytes: u64,
}

/// Settings of `image`.
#[toolkit::args]
#[serde(rename_all = "camelCase")]
pub struct ImageSettings {
    /// Endpoints that make and change pictures. If one refuses a request, the next is used.
    #[arg(default)]
    pub providers: Vec<MediaProvider>,
    /// Endpoints whose models describe pictures. If one refuses a request, the next is used. Each needs a `model`.
    #[arg(default)]
    pub vision: Vec<MediaProvider>,
    /// Maximum duration of a request in seconds, from 1 to 600.
    #[arg(default = 300, range(1..=600))]
    pub timeout_seconds: u64,
}

/// Settings of `tts`.
#[toolkit::args]
#[serde(rename_all = "camelCase")]
pub struct TtsSettings {
    /// Endpoints that speak. If one refuses a request, the next is used. Default: none; the program `espeak-ng` speaks.
    #[arg(default)]
    pub providers: Vec<MediaProvider>,
    /// Default voice: for `espeak-ng` such as `en`, `de` or `en-us+f3`, for an endpoint such as `alloy`.
    #[arg(pattern = "^[A-Za-z][A-Za-z0-9_+-]{0,63}$")]
    pub voice: Option<String>,
    /// Maximum duration of a request in seconds, from 1 to 600.
    #[arg(default = 120, range(1..=600))]
    pub timeout_seconds: u64,
}

/// Settings of `transcribe`.
#[toolkit::args]
#[serde(rename_all = "camelCase")]
pub struct TranscribeSettings {
    /// Endpoints that transcribe speech. If one refuses a request, the next is used.
    #[arg(default)]
    pub providers: Vec<MediaProvider>,
    /// Maximum duration of a request in seconds, from 1 to 600.
    #[arg(default = 300, range(1..=600))]
    pub timeout_seconds: u64,
}

/// Settings of `message`.
#[toolkit::args]
#[serde(rename_all = "camelCase")]
pub struct MessageSettings {
    /// Enables the tool.
    #[arg(default = true)]
    pub enabled: bool,
}

const ASKED: Option<(&str, &str)> = Some(("security", "ask"));

toolkit::config_section!(ConfigSection::at::<ExecSettings>("tools.exec").tool("exec").gates(&[
    ConfigGate::Models { tool: "apply_patch", key: "applyPatch.allowModels" },
    ConfigGate::Directories { key: "allowedDirectories" },
    // The values are not ordered by strictness: each allows commands that the other restricts.
    ConfigGate::Order { key: "ask", ranks: &[&["on-miss", "true"], &["always", "off", "false"]], and: None },
    ConfigGate::Order { key: "security", ranks: &[&["auto"], &["ask"], &["deny"]], and: None },
    // With `security: "auto"`, sandboxed commands need less approval: a restricting layer must not remove the approvals.
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
toolkit::config_section!(ConfigSection::at::<MediaSettings>("tools.media"));
toolkit::config_section!(ConfigSection::at::<ImageSettings>("tools.image").tool("image"));
toolkit::config_section!(ConfigSection::at::<TtsSettings>("tools.tts").tool("tts"));
toolkit::config_section!(ConfigSection::at::<TranscribeSettings>("tools.transcribe").tool("transcribe"));
toolkit::config_section!(
    ConfigSection::at::<BrowserSettings>("tools.browser")
        .tool("browser")
        .gates(&[ConfigGate::Narrows { key: "blockedDomains" }, ConfigGate::Programs { key: "executable" }])
);
toolkit::config_section!(
    ConfigSection::at::<MessageSettings>("tools.message")
        .tool("message")
        .gates(&[ConfigGate::Enabled { tool: "message", key: "enabled" }])
);
