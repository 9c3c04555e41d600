//! The configuration: from files, the environment and the command line.
//!
//! ```text
//! sources (files, TOOLKIT_…, --set)      parse, file, words
//!   └─ each checked against the schema   schema: the core's keys and the sections of crates
//!        ├─ trusted: merged              merge; permissions are kept by source
//!        │    └─ secrets, checked again  resolve
//!        └─ not trusted: narrowed        narrow; a restriction of its own
//!             └─ Configuration           rules: what policy and permission make of it
//! ```

mod absent;
mod agents;
mod changes;
mod configuration;
mod core;
mod directories;
mod elsewhere;
mod entries;
mod error;
mod file;
mod instructions;
mod load;
mod merge;
mod names;
mod narrow;
mod options;
mod parse;
mod resolve;
mod restriction;
mod rules;
mod schema;
mod sections;
mod settle;
mod stricter;
mod trust;
mod variables;
mod words;

pub(crate) use self::absent::absent_sections;
pub use self::core::{AgentSettings, HistorySettings, LoopGuardSettings};
pub use crate::data_dir::DataDir;
pub use crate::section::{
    Config, ConfigEntries, ConfigGate, ConfigSection, ConfigVariant, Configured, Secret,
};
pub use configuration::{ConfigRestriction, Configuration, WorkspaceFile};
pub use error::{ConfigError, ConfigProblem};
pub use instructions::Instructions;
pub use narrow::IgnoredKey;
pub use options::{AsLoadOptions, LoadOptions};
pub(crate) use schema::linked_twice;
pub use toolkit_core::{ConfigOrigin, ConfigOrigins, ConfigSource};
pub use trust::{TrustStore, TrustedFile};
