//! What a configuration decides, put where it counts.

use super::Builder;
use crate::config::{Configuration, LoopGuardSettings};
use crate::loop_guard::LoopGuard;
use crate::permission::Permissions;
use crate::policy::{Both, ToolPolicy};
use std::sync::Arc;

/// What the configuration says of tools, of permissions, of directories, of the order of plugins and of repeated calls. What a program
/// says besides holds too: a policy of its own stays, and both have to let a tool through; what its rules deny stays denied.
pub(super) fn configure(builder: &mut Builder) {
    let settings = &mut builder.settings;
    let configuration = settings.configuration.clone();
    if !configuration.is_loaded() {
        return;
    }
    let configured = policy(&configuration);
    settings.policy = Some(match settings.policy.take() {
        None => Arc::new(configured),
        Some(own) => Arc::new(Both(own, Arc::new(configured))),
    });
    settings.further_dirs.extend(configuration.further_directories());
    settings.permissions = permissions(&configuration, std::mem::take(&mut settings.permissions));
    let guard = settings.hooks.loop_guard;
    settings.hooks.loop_guard = loop_guard(&configuration.loop_guard(), guard);
    builder.prefer.extend(configuration.prefer());
}

fn policy(configuration: &Configuration) -> ToolPolicy {
    let (settings, restrictions) = configuration.policy();
    let policy = ToolPolicy::new(settings);
    restrictions.into_iter().fold(policy, |policy, (file, settings)| policy.narrowed_by(file, settings))
}

fn permissions(configuration: &Configuration, own: Permissions) -> Permissions {
    let (sources, restrictions) = configuration.permissions();
    let mut permissions = own.followed_by(sources);
    for (_, settings) in restrictions {
        permissions = permissions.narrowed_by(settings);
    }
    for (tool, runs) in configuration.auto_executes() {
        permissions = permissions.auto_execute(tool, runs);
    }
    permissions
}

fn loop_guard(settings: &LoopGuardSettings, guard: LoopGuard) -> LoopGuard {
    let guard = settings.tell.map_or(guard, |count| guard.tell(count));
    let guard = settings.ask.map_or(guard, |count| guard.ask(count));
    settings.block.map_or(guard, |count| guard.block(count))
}
