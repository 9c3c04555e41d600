//! Applies a configuration to a builder.

use super::Builder;
use crate::config::{ConfigProblem, Configuration, LoopGuardSettings};
use crate::discovery::{Discovery, search_tool};
use crate::link::Links;
use crate::loop_guard::LoopGuard;
use crate::permission::Permissions;
use crate::policy::{Both, PolicySettings, ToolPolicy};
use crate::rules::Rules;
use std::sync::Arc;

/// Returns the rules of the program together with those of its configuration: tools, permissions, directories and repeated calls. Settings of
/// the program stay in effect: a tool exists only if both the program's own policy and the configured one admit it, and the rules of the program
/// that deny stay in effect.
pub(super) fn configured(mut rules: Rules, links: &Links) -> Rules {
    let configuration = rules.configuration.clone();
    for file in configuration.own_files() {
        rules.own_dirs.protect(file.clone());
    }
    rules.own_dirs.protect_programs(configuration.programs());
    rules.own_dirs.protect_secrets(configuration.secret_files().iter().cloned());
    if let Some(directory) =
        configuration.data_dir().and_then(|directory| std::path::absolute(directory).ok())
    {
        rules.own_dirs.keep(directory);
    }
    if configuration.is_loaded() {
        let configured = policy(&configuration, links);
        rules.policy = Some(match rules.policy.take() {
            None => Arc::new(configured),
            Some(own) => Arc::new(Both(own, Arc::new(configured))),
        });
        rules.further_dirs.extend(configuration.further_directories());
        rules.permissions = permissions(&configuration, std::mem::take(&mut rules.permissions));
        rules.loop_guard = loop_guard(&configuration.loop_guard(), rules.loop_guard);
    }
    let without_any = || Arc::new(ToolPolicy::linked_by(links, PolicySettings::default())) as _;
    rules.policy.get_or_insert_with(without_any);
    rules
}

fn policy(configuration: &Configuration, links: &Links) -> ToolPolicy {
    let (settings, restrictions) = configuration.policy();
    let policy = ToolPolicy::linked_by(links, settings);
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

/// Returns the settings for showing only some tools; adds the search tool to the builder's tools.
pub(super) fn discover(builder: &mut Builder, problems: &mut Vec<String>) -> Option<Discovery> {
    let discovery = Discovery::configured(builder.discovery.take(), &builder.rules.configuration)?;
    problems.extend(discovery.problems());
    match search_tool(&discovery) {
        Ok(tool) => builder.tools.push(tool),
        Err(error) => problems.push(error.to_string()),
    }
    Some(discovery)
}

fn loop_guard(settings: &LoopGuardSettings, guard: LoopGuard) -> LoopGuard {
    let guard = settings.tell.map_or(guard, |count| guard.tell(count));
    let guard = settings.ask.map_or(guard, |count| guard.ask(count));
    settings.block.map_or(guard, |count| guard.block(count))
}

/// Returns the problems with the limits of the loop guard: the model must be told first, then a person asked, then the
/// call blocked.
pub(super) fn loop_guard_problems(configuration: &Configuration, guard: LoopGuard) -> Vec<String> {
    let said = configuration.loop_guard();
    let limits = [
        ("tell", guard.tell, said.tell.is_some()),
        ("ask", guard.ask, said.ask.is_some()),
        ("block", guard.block, said.block.is_some()),
    ];
    // A limit of 0 is disabled.
    let limits: Vec<_> = limits.into_iter().filter(|(_, limit, _)| *limit > 0).collect();
    let pairs = limits.windows(2).filter(|pair| pair[0].1 > pair[1].1);
    pairs
        .map(|pair| {
            let [(first, sooner, first_is_said), (second, later, second_is_said)] = [pair[0], pair[1]];
            let whose = |is_said| if is_said { "" } else { " without being configured" };
            let message = format!(
                "`{first}` is {sooner}{} and `{second}` is {later}{}, but a model is told first, then a person is asked, then \
                 the call is blocked; let `{first}` be at most {later}, or `{second}` at least {sooner}",
                whose(first_is_said || !second_is_said),
                whose(second_is_said || !first_is_said),
            );
            let key = if first_is_said || !second_is_said { first } else { second };
            let pointer = format!("/loopGuard/{key}");
            let is_said = first_is_said || second_is_said;
            let origin = configuration.origins().find(&pointer).filter(|_| is_said).cloned();
            ConfigProblem::new(origin, pointer, message).to_string()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::LoadOptions;

    #[test]
    fn limits_that_stand_in_another_order_are_refused_with_their_place() {
        let default = LoopGuard::new();
        for (values, guard, expected) in [
            (&[][..], default, None),
            (&[], default.tell(5).ask(5).block(5), None),
            (&[], default.tell(9).ask(0).block(0), None),
            (
                &[],
                default.tell(9).ask(0).block(8),
                Some(
                    "loopGuard.tell: `tell` is 9 and `block` is 8, but a model is told first, then a person is asked, then \
                     the call is blocked; let `tell` be at most 8, or `block` at least 9",
                ),
            ),
            (&["tell=3", "ask=3", "block=3"], default, None),
            (
                &["tell=4", "ask=3"],
                default,
                Some("--set loopGuard.tell: loopGuard.tell: `tell` is 4 and `ask` is 3, but a model"),
            ),
            (
                &["tell=6"],
                default,
                Some(
                    "--set loopGuard.tell: loopGuard.tell: `tell` is 6 and `ask` is 5 without being configured, but a model",
                ),
            ),
            (
                &["block=4"],
                default,
                Some(
                    "--set loopGuard.block: loopGuard.block: `ask` is 5 without being configured and `block` is 4, but a model",
                ),
            ),
            (&["tell=6", "ask=7"], default, None),
        ] {
            let options = values
                .iter()
                .fold(LoadOptions::new(), |options, value| options.set(format!("loopGuard.{value}")));
            let configuration = Configuration::load(options).unwrap();
            let problems =
                loop_guard_problems(&configuration, loop_guard(&configuration.loop_guard(), guard));
            assert_eq!(problems.len(), usize::from(expected.is_some()), "{values:?}: {problems:?}");
            if let (Some(expected), [problem]) = (expected, problems.as_slice()) {
                assert!(problem.starts_with(expected), "{values:?}: {problem}");
            }
        }
        assert_eq!(loop_guard_problems(&Configuration::default(), default.tell(9).block(4)).len(), 2);
    }

    #[test]
    fn a_toolkit_with_such_limits_is_not_built() {
        let configuration = Configuration::load(LoadOptions::new().set("loopGuard={tell: 9}")).unwrap();
        let error = crate::Toolkit::empty().configuration(configuration).build().unwrap_err();
        assert!(error.problems[0].contains("`tell` is 9 and `ask` is 5"), "{error}");
    }
}
