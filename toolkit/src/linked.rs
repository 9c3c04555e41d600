//! Records that crates register beside their tools: names for policies, keys of permission rules, and skills. They are constants; the
//! runtime reads them.

use std::sync::Once;

/// The policy data that a crate registers with [`policy_data!`](crate::policy_data).
#[derive(Debug, Clone, Copy)]
pub struct PolicyData {
    /// The module that registers the data; its first segment is the crate.
    pub module: &'static str,
    /// Groups with the names of their tools, in addition to tools that name the group themselves.
    pub groups: &'static [(&'static str, &'static [&'static str])],
    /// Profiles with their entries; `None` for every tool.
    pub profiles: &'static [(&'static str, Option<&'static [&'static str]>)],
    /// Aliases for lists, each with the tool that it means.
    pub aliases: &'static [(&'static str, &'static str)],
    /// Further names that are accepted in lists, although no tool of that name may exist.
    pub names: &'static [&'static str],
    /// Names of planned tools, which no plugin, server or client may use.
    pub planned: &'static [&'static str],
}

inventory::collect!(PolicyData);

impl PolicyData {
    /// Returns the crate that registers the data.
    pub(crate) fn crate_name(&self) -> &'static str {
        self.module.split("::").next().unwrap_or(self.module)
    }
}

/// Names that are keys of permission rules, in addition to those of existing tools: kinds that a tool of this crate
/// asks under without stating them, and tools that a factory creates.
pub struct LinkedKeys(pub &'static [&'static str]);

inventory::collect!(LinkedKeys);

/// Registers further keys of `permission`: kinds that a tool asks under in addition to the one that it states, and
/// tools that are created while the program runs. An unknown key is an error.
///
/// ```
/// toolkit::permission_keys!["deploy", "release"];
/// ```
#[macro_export]
macro_rules! permission_keys {
    ($($key:literal),+ $(,)?) => {
        $crate::__private::inventory::submit! { $crate::__private::LinkedKeys(&[$($key),+]) }
    };
}

/// The task of a crate before any tool runs, such as a choice for the whole process. Created by
/// [`at_start!`](macro@crate::at_start).
#[doc(hidden)]
#[derive(Debug, Clone, Copy)]
pub struct AtStart(pub fn());

inventory::collect!(AtStart);

/// Runs a function in each program that this crate is linked into, before a toolkit is built.
#[doc(hidden)]
#[macro_export]
macro_rules! at_start {
    ($function:path) => {
        $crate::__private::inventory::submit! { $crate::__private::AtStart($function) }
    };
}

/// Does once what linked crates have to do before any tool runs.
pub(crate) fn start() {
    static STARTED: Once = Once::new();
    STARTED.call_once(|| inventory::iter::<AtStart>().for_each(|AtStart(function)| function()));
}

/// The skills of a crate. Created by [`skills!`](macro@crate::skills).
#[derive(Debug, Clone, Copy)]
#[doc(hidden)]
pub struct LinkedSkills {
    /// The module that registers them; its first segment is the crate.
    pub module: &'static str,
    /// Each a whole `SKILL.md`.
    pub texts: &'static [&'static str],
    /// Directories of skills.
    pub directories: &'static [&'static str],
}

inventory::collect!(LinkedSkills);

impl LinkedSkills {
    /// Returns the crate that registers them.
    pub(crate) fn crate_name(&self) -> &'static str {
        self.module.split("::").next().unwrap_or(self.module)
    }
}
