//! The builtin tools, one cargo feature a group.
//!
//! A host brings them in by naming this crate:
//!
//! ```
//! # fn main() {
//! toolkit::link!(core: builtin_tools);
//! # }
//! ```
//!
//! | feature | tools |
//! |---|---|
//! | `automation` | [`cron`](automation::cron()), hidden where the host has no [`JobService`](automation::JobService), [`gateway`](automation::gateway()), hidden without a [`GatewayService`](automation::GatewayService) |
//! | `canvas` | [`canvas`](canvas::canvas()) |
//! | `fs` | [`read`](fs::read), [`write`](fs::write), [`edit`](fs::edit()), [`apply_patch`](fs::apply_patch()), [`glob`](fs::glob()), [`grep`](fs::grep()), [`skill`](fs::skill()) |
//! | `media` | [`image`](media::image()), [`tts`](media::tts()), [`transcribe`](media::transcribe()) |
//! | `messaging` | [`message`](messaging::message()), hidden where the host has no [`MessageService`](messaging::MessageService) |
//! | `runtime` | [`exec`](runtime::exec()), [`process`](runtime::process()) |
//! | `browser` | [`browser`](browser::browser()) |
//! | `nodes` | [`nodes`](nodes::nodes()), hidden where the host has no [`NodeService`](nodes::NodeService) |
//! | `sessions` | [`sessions_list`](sessions::sessions_list), [`sessions_history`](sessions::sessions_history), [`sessions_send`](sessions::sessions_send), [`sessions_spawn`](sessions::sessions_spawn), [`session_status`](sessions::session_status), [`agents_list`](sessions::agents_list), hidden where the host has no [`SessionService`](sessions::SessionService) |
//! | `web` | [`web_fetch`](web::web_fetch()), [`web_search`](web::web_search()) |
//!
//! The configuration of the tools is in [`config`], whichever of them are enabled. With any features, this crate also registers names that
//! lists of a configuration can use:
//!
//! | | |
//! |---|---|
//! | `group:fs` | `read`, `write`, `edit`, `apply_patch`, `glob`, `grep`, `skill` |
//! | `group:runtime` | `exec`, `process` |
//! | `group:web` | `web_search`, `web_fetch` |
//! | `group:ui` | `browser`, `canvas` |
//! | `group:media` | `image`, `tts`, `transcribe` |
//! | `group:sessions` | `sessions_list`, `sessions_history`, `sessions_send`, `sessions_spawn`, `session_status`, `agents_list` |
//! | `group:messaging` | `message` |
//! | `group:automation` | `cron`, `gateway` |
//! | `group:nodes` | `nodes` |
//! | profile `minimal` | `session_status` |
//! | profile `coding` | `group:fs`, `group:runtime`, `group:sessions` |
//! | profile `messaging` | `group:messaging`, `sessions_list`, `sessions_history`, `session_status` |
//! | profile `full` | every tool that is not optional |
//! | `bash`, `shell` | other names of `exec` |
//! | `apply-patch` | another name of `apply_patch` |
//!
//! # Reserved names
//!
//! Where this crate is core, as above, no plugin, server or client can have a tool of one of these names, nor an alias; and no
//! plugin can have one as its id. That holds for tools that are switched off too: `agents_list`, `apply_patch`, `bash`, `browser`, `canvas`, `cron`,
//! `edit`, `exec`, `gateway`, `glob`, `grep`, `image`, `message`, `nodes`, `process`, `read`, `session_status`, `sessions_history`, `sessions_list`, `sessions_send`,
//! `sessions_spawn`, `shell`, `skill`, `transcribe`, `tts`, `web_fetch`, `web_search`, `write`, and for a planned tool: `delegate`.
//! A program that links a plugin with a tool or an id of the name of a planned tool does not
//! start, and says so: what a configuration says of the name must mean the same once the tool is there.

#[cfg(feature = "automation")]
pub mod automation;
#[cfg(feature = "browser")]
pub mod browser;
#[cfg(feature = "canvas")]
pub mod canvas;
pub mod config;
#[cfg(feature = "fs")]
pub mod fs;
#[cfg(feature = "media")]
pub mod media;
#[cfg(feature = "messaging")]
pub mod messaging;
#[cfg(feature = "nodes")]
pub mod nodes;
#[cfg(feature = "runtime")]
pub mod runtime;
#[cfg(feature = "sessions")]
pub mod sessions;
#[cfg(any(feature = "browser", feature = "nodes", feature = "sessions", feature = "web"))]
pub mod untrusted;
#[cfg(feature = "web")]
pub mod web;

#[cfg(any(feature = "media", feature = "web"))]
mod clients;
#[cfg(any(feature = "canvas", feature = "fs", feature = "media"))]
mod files;
#[cfg(any(feature = "browser", feature = "media", feature = "web"))]
mod network;
#[cfg(any(feature = "canvas", feature = "fs", feature = "media"))]
mod picture;
mod policy;
#[cfg(any(feature = "media", feature = "web"))]
mod program;
#[cfg(any(feature = "browser", feature = "runtime"))]
mod scratch;
mod steps;
#[cfg(any(
    feature = "automation",
    feature = "browser",
    feature = "canvas",
    feature = "fs",
    feature = "media",
    feature = "messaging",
    feature = "nodes",
    feature = "runtime",
    feature = "sessions",
    feature = "web"
))]
mod titles;

pub use steps::step_types;

// Its clients have no provider of cryptography of their own, nor has then any other client of the program.
#[cfg(feature = "media")]
toolkit::at_start!(toolkit_http::install_provider);
