//! Instructions that stand in files: the user's own `AGENTS.md`, and that of a workspace that the user trusts.

use std::path::Path;
use toolkit::config::{Configuration, Instructions};

/// The instructions for agents in a workspace: the user's own first, if they are for this agent. Those of the workspace count only if the user
/// trusts them, as they are, with the configuration of the workspace. Blocks.
pub(crate) fn instructions_of(configuration: &Configuration, workspace: &Path, of_user: bool) -> Vec<String> {
    let own = configuration.user_dir().filter(|_| of_user).and_then(Instructions::read);
    let own = own.map(|own| format!("Instructions of the user for all workspaces:\n\n{}", text(&own)));
    let its = Instructions::read(workspace).filter(|its| configuration.trusts_instructions(workspace, its));
    let its = its.map(|its| format!("Instructions of the workspace (AGENTS.md):\n\n{}", text(&its)));
    own.into_iter().chain(its).collect()
}

fn text(instructions: &Instructions) -> String {
    let rest = if instructions.is_cut { "\n[The rest is left out: the file is too long.]" } else { "" };
    format!("{}{rest}", instructions.text)
}
