//! Tools and names for the tests.

use crate::linked::PolicyData;
use crate::policy::data::Registered;
use crate::policy::subject::Subject;
use crate::policy::{PolicySettings, ToolPolicy};
use std::borrow::Cow;
use std::sync::LazyLock;
use toolkit_core::caller::Caller;

/// A tool with the properties that a policy uses.
#[derive(Debug, Clone, Default)]
pub(super) struct Thing {
    pub(super) name: String,
    pub(super) aliases: Vec<String>,
    pub(super) groups: Vec<String>,
    pub(super) plugin: Option<String>,
    pub(super) channel: Option<String>,
    pub(super) is_optional: bool,
    pub(super) is_off: bool,
}

impl Thing {
    /// A core tool.
    pub(super) fn core(name: &str) -> Self {
        Self { name: name.to_owned(), ..Self::default() }
    }

    pub(super) fn of(plugin: &str, name: &str) -> Self {
        Self { plugin: Some(plugin.to_owned()), ..Self::core(name) }
    }

    pub(super) fn group(mut self, group: &str) -> Self {
        self.groups.push(group.to_owned());
        self
    }

    pub(super) fn alias(mut self, alias: &str) -> Self {
        self.aliases.push(alias.to_owned());
        self
    }

    pub(super) fn optional(self) -> Self {
        Self { is_optional: true, ..self }
    }

    pub(super) fn off(self) -> Self {
        Self { is_off: true, ..self }
    }

    pub(super) fn channel(self, channel: &str) -> Self {
        Self { channel: Some(channel.to_owned()), ..self }
    }
}

impl Subject for Thing {
    fn name(&self) -> &str {
        &self.name
    }

    fn aliases(&self) -> impl Iterator<Item = &str> {
        self.aliases.iter().map(String::as_str)
    }

    fn groups(&self) -> impl Iterator<Item = &str> {
        self.groups.iter().map(String::as_str)
    }

    fn plugin_id(&self) -> Option<Cow<'_, str>> {
        self.plugin.as_deref().map(Cow::Borrowed)
    }

    fn remote_name(&self) -> Option<&str> {
        None
    }

    fn remote_group(&self) -> Option<&'static str> {
        None
    }

    fn is_core(&self) -> bool {
        self.plugin.is_none()
    }

    fn channel(&self) -> Option<&str> {
        self.channel.as_deref()
    }

    fn is_optional(&self) -> bool {
        self.is_optional
    }

    fn is_enabled(&self) -> bool {
        !self.is_off
    }
}

/// The policy data of core crates in these tests.
pub(super) const DATA: PolicyData = PolicyData {
    module: "fixture",
    groups: &[("fs", &["read", "write"]), ("runtime", &["exec", "process"]), ("Web", &["web_search"])],
    profiles: &[
        ("minimal", Some(&["status"])),
        ("coding", Some(&["group:fs", "group:runtime"])),
        ("wild", Some(&["re*", "acme", "group:w*", "group:plugins"])),
        ("full", None),
    ],
    aliases: &[("bash", "exec"), ("sh", "exec"), ("search", "web_search")],
    planned: &[],
    names: &["Later"],
};

pub(super) fn policy(settings: PolicySettings) -> ToolPolicy {
    static REGISTERED: LazyLock<Registered> = LazyLock::new(|| {
        let mut registered = Registered::default();
        registered.add(&DATA);
        registered
    });
    ToolPolicy::with(settings, REGISTERED.clone())
}

/// Returns one tool of each kind.
pub(super) fn things() -> Vec<Thing> {
    vec![
        Thing::core("exec").group("runtime").alias("run"),
        Thing::core("read").group("fs"),
        Thing::core("status"),
        Thing::core("extra").optional(),
        // Named like a tool that is not compiled in, and like an alias.
        Thing::of("acme", "write").group("mine"),
        Thing::of("acme", "bash"),
        // In built-in groups, by its author's claim.
        Thing::of("acme", "acme_files").group("fs").group("mine"),
        Thing::of("acme", "acme_web").group("web").optional(),
        // With an alias that is another tool's name.
        Thing::of("beta", "beta_a").alias("read").alias("also"),
        Thing::of("read", "odd"),
        Thing::of("beta", "beta_off").off(),
        Thing::of("beta", "beta_chat").channel("telegram").group("plugins"),
    ]
}

/// Returns the names of the tools that exist.
pub(super) fn existing(policy: &ToolPolicy, caller: &Caller, things: &[Thing]) -> Vec<String> {
    policy.admitted_of(caller, things).into_iter().map(|place| things[place].name.clone()).collect()
}
