//! Which skills a caller may use.

use super::{Inner, Origins};
use crate::linked::LinkedSkills;
use crate::permission::{Decision, PermissionRequest};
use crate::skills::{DIRECTORY, SkillPlace, SkillSource, SkillSources};
use crate::tool::context::ToolContext;
use crate::tool::prepare::Preparation;
use std::path::PathBuf;
use toolkit_core::caller::Caller;

/// The kind of permission for using a skill.
const KIND: &str = "skill";

/// Returns the linked skills that are available in a toolkit. Plugins that are blocked or optional are left out.
pub(super) fn linked(origins: &Origins) -> Vec<(&'static LinkedSkills, Option<&'static str>)> {
    let mut skills: Vec<&'static LinkedSkills> = inventory::iter::<LinkedSkills>().collect();
    skills.sort_by_key(|skills| (!origins.is_core_crate(skills.crate_name()), skills.module, skills.texts));
    let counts = |skills: &'static LinkedSkills| match origins.plugin_of_crate(skills.crate_name()) {
        Some(plugin) if plugin.blocked || plugin.optional => None,
        plugin => Some((skills, plugin.and_then(|plugin| plugin.channel))),
    };
    skills.into_iter().filter_map(counts).collect()
}

impl SkillSources {
    /// Returns the sources of one caller. Blocks to resolve the real path of the workspace.
    fn of(toolkit: &Inner, caller: &Caller) -> Self {
        let configuration = &toolkit.rules.get().configuration;
        let mut all = Self::default();
        let workspace = caller.workspace_dir();
        let directory = workspace.join(DIRECTORY);
        let is_trusted = configuration.trusts_workspace(workspace);
        if is_trusted {
            let (owner, place) = ("the workspace".to_owned(), SkillPlace::Directory(directory.clone()));
            // A workspace that was trusted without skills has no trusted skills.
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
    /// Returns the sources of the caller's skills. Blocks briefly.
    pub fn skill_sources(&self) -> SkillSources {
        SkillSources::of(&self.scope().toolkit, self.caller())
    }

    /// Returns the decision about the use of a skill, by its name: the decision of the rules of the kind `skill`.
    /// Without a rule, it is allowed.
    pub fn may_use_skill(&self, name: &str) -> Decision {
        decide(&self.scope().toolkit, self.caller(), name)
    }
}

impl Preparation {
    /// Returns the sources of a caller's skills. Blocks briefly.
    pub fn skill_sources(&self, caller: &Caller) -> SkillSources {
        self.toolkit().map_or_else(SkillSources::default, |toolkit| SkillSources::of(toolkit, caller))
    }

    /// Returns the decision about a caller's use of a skill, as [`ToolContext::may_use_skill`] does.
    pub fn may_use_skill(&self, caller: &Caller, name: &str) -> Decision {
        self.toolkit().map_or(Decision::Allow, |toolkit| decide(toolkit, caller, name))
    }
}

fn decide(toolkit: &Inner, caller: &Caller, name: &str) -> Decision {
    let patterns = [name.to_owned()];
    let request = PermissionRequest::new(KIND, &patterns);
    toolkit.rules.get().permissions.decide_or(caller, &request, Decision::Allow).decision
}
