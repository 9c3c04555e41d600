//! Skills: where a caller's come from. What is in them, a tool reads.

mod files;

pub use files::{SkillFile, SkillFiles};

use crate::caller::Caller;
use crate::context::ToolContext;
use crate::error::{ToolError, ToolErrorKind};
use crate::guard::guard;
use crate::off_runtime::off_runtime;
use crate::permission::{Decision, PermissionRequest};
use crate::prepare::Preparation;
use crate::registry::{Inner, Origins};
use std::path::PathBuf;

/// The directory in a workspace, and in the user's directory for configuration, that holds skills.
pub(crate) const DIRECTORY: &str = "skills";
/// The kind of permission to use a skill.
const KIND: &str = "skill";

/// What a crate brings of skills. Made by [`skills!`](crate::skills).
#[derive(Debug, Clone, Copy)]
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
    /// The crate that registers them.
    pub(crate) fn crate_name(&self) -> &'static str {
        self.module.split("::").next().unwrap_or(self.module)
    }
}

/// Where the skills of a caller come from, those that count first before others.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SkillSources {
    /// The workspace's where it is trusted, the user's, then those of crates by name.
    pub sources: Vec<SkillSource>,
    /// The directory of a workspace that is not trusted, whether or not it is there. Its skills do not count.
    pub untrusted: Option<PathBuf>,
}

/// Where skills come from.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SkillSource {
    /// Whose they are, in words: `the workspace`, `the user`, `the plugin acme`.
    pub owner: String,
    /// Where they are.
    pub place: SkillPlace,
    /// What they have to be together to count, as [`SkillFiles::sha256`]: what the user saw when they trusted them. `None` where
    /// whatever is there counts.
    pub trusted: Option<String>,
}

/// Where skills are.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum SkillPlace {
    /// In the directories of this directory, which need not be there.
    Directory(PathBuf),
    /// In the program: each a whole `SKILL.md`.
    Texts(&'static [&'static str]),
}

/// Of the linked crates, those whose skills count in a toolkit. No plugin that is blocked, or there for those alone who name
/// it, brings any.
pub(crate) fn linked(origins: &Origins) -> Vec<(&'static LinkedSkills, Option<&'static str>)> {
    let mut skills: Vec<&'static LinkedSkills> = inventory::iter::<LinkedSkills>().collect();
    skills.sort_by_key(|skills| (!origins.is_core_crate(skills.crate_name()), skills.module, skills.texts));
    let counts = |skills: &'static LinkedSkills| match origins.plugin_of_crate(skills.crate_name()) {
        Some(plugin) if plugin.blocked || plugin.optional => None,
        plugin => Some((skills, plugin.and_then(|plugin| plugin.channel))),
    };
    skills.into_iter().filter_map(counts).collect()
}

impl SkillSources {
    /// Those of one caller. Blocks, to find out where the workspace really is.
    fn of(toolkit: &Inner, caller: &Caller) -> Self {
        let configuration = &toolkit.settings.configuration;
        let mut all = Self::default();
        let workspace = caller.workspace_dir();
        let directory = workspace.join(DIRECTORY);
        let is_trusted = configuration.trusts_workspace(workspace);
        if is_trusted {
            let (owner, place) = ("the workspace".to_owned(), SkillPlace::Directory(directory.clone()));
            // Those that were trusted when there were none are no skills.
            let trusted = Some(configuration.trusted_skills(workspace).unwrap_or_default());
            all.sources.push(SkillSource { owner, place, trusted });
        }
        let mut add = |owner: String, place| all.sources.push(SkillSource { owner, place, trusted: None });
        if let Some(user) = configuration.user_dir() {
            add("the user".to_owned(), SkillPlace::Directory(user.join(DIRECTORY)));
        }
        for (skills, channel) in &toolkit.skills {
            if channel.is_some() && caller.channel.as_deref() != *channel {
                continue;
            }
            let owner = match toolkit.origins.plugin_of_crate(skills.crate_name()) {
                Some(plugin) => format!("the plugin {}", plugin.id),
                None => format!("the crate {}", skills.crate_name()),
            };
            if !skills.texts.is_empty() {
                add(owner.clone(), SkillPlace::Texts(skills.texts));
            }
            for directory in skills.directories {
                add(owner.clone(), SkillPlace::Directory(PathBuf::from(directory)));
            }
        }
        all.untrusted = (!is_trusted).then_some(directory);
        all
    }
}

impl ToolContext {
    /// Where the skills of the caller come from. Blocks, for a moment.
    pub fn skill_sources(&self) -> SkillSources {
        SkillSources::of(&self.scope().toolkit, self.caller())
    }

    /// Whether the caller may use a skill, by its name: what the rules say of the kind `skill`. Where they say nothing, it
    /// may.
    pub fn may_use_skill(&self, name: &str) -> Decision {
        decide(&self.scope().toolkit, self.caller(), name)
    }
}

impl Preparation {
    /// Where the skills of a caller come from. Blocks, for a moment.
    pub fn skill_sources(&self, caller: &Caller) -> SkillSources {
        self.toolkit().map_or_else(SkillSources::default, |toolkit| SkillSources::of(toolkit, caller))
    }

    /// Whether a caller may use a skill, as [`ToolContext::may_use_skill`].
    pub fn may_use_skill(&self, caller: &Caller, name: &str) -> Decision {
        self.toolkit().map_or(Decision::Allow, |toolkit| decide(toolkit, caller, name))
    }

    /// Runs what blocks, such as reading files, where that is allowed, and waits for it.
    ///
    /// # Errors
    ///
    /// `Panicked` when it panicked, `Interrupted` when the host is shutting down.
    pub async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, ToolError> {
        let name = self.name().to_owned();
        let done = off_runtime(move || guard(&name, work)).await;
        done.unwrap_or_else(|| Err(ToolError::new(ToolErrorKind::Interrupted, "the host is shutting down")))
    }
}

fn decide(toolkit: &Inner, caller: &Caller, name: &str) -> Decision {
    let patterns = [name.to_owned()];
    let request = PermissionRequest::new(KIND, &patterns);
    toolkit.settings.permissions.decide_or(caller, &request, Decision::Allow).decision
}
