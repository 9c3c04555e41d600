//! `skill`: instructions for a kind of task, which are loaded when they are needed.

mod details;
mod front_matter;
mod library;
#[cfg(test)]
mod tests;

use super::leave::may_tell;
use crate::titles;
pub use details::SkillDetails;
use library::{Library, Skill};
use std::fmt::Write as _;
use toolkit::prelude::*;
use toolkit::{
    Ask,
    descriptor::Preparation,
    output::Detailed,
    permission::Decision,
    registry::Level,
    text::{escape_line, nearest},
};

/// Maximum length of the description of one skill, in characters.
const MAX_OF_ONE: usize = 500;
/// Maximum length of the descriptions of all skills, in bytes.
const MAX_OF_ALL: usize = 16 * 1024;
/// Maximum number of listed files of a skill.
const MAX_FILES: usize = 10;

/// Adds the available skills to the tool's description, and leaves the tool out if there is none.
async fn permitted(caller: &Caller, tool: &mut Preparation) -> Result<(), ToolError> {
    let found = tool.blocking({
        let sources = tool.skill_sources(caller);
        move || Library::load(&sources)
    });
    let mut library = found.await?;
    for fault in &library.faults {
        tool.diagnose(Level::Warning, fault.as_str());
    }
    if let Some(note) = &library.untrusted {
        tool.diagnose(Level::Info, note.as_str());
    }
    library.skills.retain(|skill| tool.may_use_skill(caller, &skill.name) != Decision::Deny);
    if library.skills.is_empty() {
        tool.hide(format!("there are no skills{}", why(&library)));
        return Ok(());
    }
    let mut description = format!("{}\n\nAvailable skills:", tool.description());
    for skill in &library.skills {
        let said: String = skill.description.chars().take(MAX_OF_ONE).collect();
        let more = if said.len() < skill.description.len() { "…" } else { "" };
        let line = format!("\n- {}: {said}{more}", skill.name);
        if description.len() + line.len() > MAX_OF_ALL {
            let _ = write!(description, "\n- {}", skill.name);
        } else {
            description.push_str(&line);
        }
    }
    tool.describe(description);
    tool.allow_only("skill", library.skills.iter().map(|skill| skill.name.as_str()))
}

/// Loads a skill: instructions for a kind of task, and the files that help with it. Load a skill before you begin a task that
/// matches its description.
///
/// # Errors
///
/// If the skill does not exist or is not allowed.
#[tool(name = "skill", group = ["fs", "coding"], title = "Load a skill", read_only, asks, prepare = permitted)]
pub async fn skill(
    ctx: &ToolContext,
    /// The skill's name.
    #[arg(length(1..=64))]
    skill: &str,
) -> Result<Detailed<SkillDetails>, ToolError> {
    titles::begin(ctx, "Load the skill", skill);
    let wanted = skill.trim().to_owned();
    let calling = ctx.clone();
    let mut library = ctx.blocking(move |_| Ok(Library::load(&calling.skill_sources()))).await?;
    library.skills.retain(|skill| ctx.may_use_skill(&skill.name) != Decision::Deny);
    let Some(at) = library.skills.iter().position(|skill| skill.name == wanted) else {
        return Err(no_skill(&wanted, &library));
    };
    let found = library.skills.swap_remove(at);
    if ctx.may_use_skill(&found.name) == Decision::Ask {
        let title = format!("load the skill {} of {}", found.name, found.owner);
        ctx.ask(Ask::new("skill", title).with_pattern(&found.name).before_acting()).await?;
    }
    let shown = ctx.clone();
    ctx.blocking(move |_| {
        let workspace = shown.workspace();
        let base = found.base.as_deref().map(|base| workspace.shown(base));
        let is_asked =
            found.base.as_deref().is_some_and(|base| !may_tell(&workspace, &base.join("SKILL.md")));
        let (files, more) = found.files(MAX_FILES);
        Ok(output(&found, base, files, more, is_asked))
    })
    .await
}

/// Formats the skill; `is_asked` is true if reading its files needs approval.
fn output(
    found: &Skill,
    base: Option<String>,
    files: Vec<String>,
    more: usize,
    is_asked: bool,
) -> Detailed<SkillDetails> {
    let Skill { name, owner, description, body, .. } = found;
    let mut text = format!("Skill {name}, of {owner}.\n");
    if let Some(base) = &base {
        let _ = writeln!(text, "Base directory, which paths in the skill belong to: {base}");
    }
    if !files.is_empty() {
        text.push_str("Files in it:\n");
        for file in &files {
            let _ = writeln!(text, "- {file}");
        }
        if more > 0 {
            let _ = writeln!(text, "- and {more} more");
        }
        if is_asked {
            text.push_str("Reading them needs approval: they are outside the workspace, or protected.\n");
        }
    }
    let _ = write!(text, "\n{body}");
    let output = ToolOutput::text(text)
        .with_title(format!("Loaded the skill {name}"))
        .with_metadata("name", name.as_str())
        .with_metadata("baseDirectory", base.clone());
    let details = SkillDetails {
        name: name.clone(),
        description: description.clone(),
        owner: owner.clone(),
        base_directory: base,
        files,
    };
    Detailed::new(output, details)
}

/// Returns the possible reason that a skill is missing.
fn why(library: &Library) -> String {
    match (library.faults.len(), library.untrusted.iter().chain(&library.faults).next()) {
        (_, None) => String::new(),
        (0 | 1, Some(first)) => format!(" ({first})"),
        (several, Some(first)) => format!(" ({first}; {several} things are wrong with skills)"),
    }
}

fn no_skill(wanted: &str, library: &Library) -> ToolError {
    let names: Vec<&str> = library.skills.iter().map(|skill| skill.name.as_str()).collect();
    let near = nearest(wanted, names.iter().copied());
    let quoted = |names: &[&str]| names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>();
    let hint = match (near.as_slice(), names.as_slice()) {
        (_, []) => "there are none".to_owned(),
        ([], names) => format!("there are {}", quoted(&names[..names.len().min(20)]).join(", ")),
        (near, _) => format!("did you mean {}?", quoted(near).join(" or ")),
    };
    ToolError::not_found(format!("there is no skill `{}`; {hint}{}", escape_line(wanted), why(library)))
}
