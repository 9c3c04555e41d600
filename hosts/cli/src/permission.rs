//! `permission`: lists and revokes approvals that were given permanently or for a session.

use crate::console::Console;
use crate::definitions::print_json;
use crate::exit::{Exit, Stop};
use crate::format::Format;
use crate::subcommand::{Context, Run};
use crate::utc::minute;
use clap::{Arg, ArgAction, ArgGroup, ArgMatches, Command};
use serde_json::json;
use std::fmt::Write as _;
use toolkit::{
    Toolkit,
    approval::{Access, Approval, ApprovalError},
    text::escape_line,
};

/// A parsed `permission` subcommand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum PermissionRequest {
    List,
    Revoke { id: String },
    RevokeAll,
}

/// The subcommand.
pub(crate) fn command() -> Command {
    Command::new("permission")
        .about("Lists and revokes stored approvals")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommand(
            Command::new("list")
                .about("Lists stored approvals, permanent or for a session, of all workspaces"),
        )
        .subcommand(
            Command::new("revoke")
                .about("Revokes an approval: its action will need approval again")
                .arg(Arg::new("id").value_name("ID").help("The id that `permission list` shows"))
                .arg(
                    Arg::new("all")
                        .long("all")
                        .action(ArgAction::SetTrue)
                        .help("All approvals of all workspaces, including unreadable files"),
                )
                .group(ArgGroup::new("what").args(["id", "all"]).required(true)),
        )
}

/// Returns the subcommand of `permission` in the matches.
pub(crate) fn request(matches: &ArgMatches) -> Result<PermissionRequest, Stop> {
    match matches.subcommand() {
        Some(("list", _)) => Ok(PermissionRequest::List),
        Some(("revoke", matches)) => Ok(match matches.get_one::<String>("id") {
            Some(id) => PermissionRequest::Revoke { id: id.clone() },
            None => PermissionRequest::RevokeAll,
        }),
        _ => Err(Stop::usage("a subcommand is missing; `permission --help` lists them")),
    }
}

impl Run for PermissionRequest {
    fn run(&self, context: &Context<'_>, console: &mut Console<'_>) -> Result<Exit, Stop> {
        run(self, context.host.toolkit(), context.format, console)?;
        Ok(Exit::Success)
    }
}

fn run(
    request: &PermissionRequest,
    toolkit: &Toolkit,
    format: Format,
    console: &mut Console<'_>,
) -> Result<(), Stop> {
    let approvals = toolkit.approvals();
    let stopped = |error: ApprovalError| match error {
        ApprovalError::Unknown { id } => {
            Stop::usage(format!("no approval has the id `{}`; `permission list` shows all", escape_line(&id)))
        }
        error => Stop::failed(escape_line(&error.to_string()).into_owned()),
    };
    match (request, format) {
        (PermissionRequest::List, _) => list(toolkit, format, console),
        (PermissionRequest::Revoke { id }, Format::Json) => {
            let revoked = approvals.revoke(id).map_err(stopped)?;
            print_json(&serde_json::to_value(revoked)?, console)
        }
        (PermissionRequest::Revoke { id }, Format::Text) => {
            let revoked = approvals.revoke(id).map_err(stopped)?;
            console.print(&format!("Revoked; it needs approval again:\n{}", text(&revoked)))
        }
        (PermissionRequest::RevokeAll, _) => {
            let count = approvals.revoke_all().map_err(stopped)?;
            match format {
                Format::Json => print_json(&json!({ "workspaces": count }), console),
                Format::Text => console
                    .print(&format!("Revoked all approvals ({count} files of workspaces and sessions).\n")),
            }
        }
    }
}

fn list(toolkit: &Toolkit, format: Format, console: &mut Console<'_>) -> Result<(), Stop> {
    let list = toolkit.approvals().list();
    for problem in &list.problems {
        console.note(&format!("warning: {}", escape_line(problem)));
    }
    if format == Format::Json {
        return print_json(&serde_json::to_value(&list.approvals)?, console);
    }
    if list.approvals.is_empty() {
        console.note("No approvals are stored.");
    }
    let mut shown = String::new();
    let mut workspace = None;
    for approval in &list.approvals {
        if workspace != Some(&approval.workspace) {
            let _ = writeln!(shown, "{}", escape_line(&approval.workspace));
            workspace = Some(&approval.workspace);
        }
        shown.push_str(&text(approval));
    }
    console.print(&shown)
}

/// Formats an approval as one line, indented by two spaces to align with the workspace's name.
fn text(approval: &Approval) -> String {
    let mut line = format!(
        "  {}  {}  {}: {}  (by {}",
        approval.id,
        minute(approval.approved_at),
        escape_line(&approval.kind),
        escape_line(&approval.pattern),
        escape_line(&approval.tool),
    );
    let of_caller = [
        ("agent", &approval.agent),
        ("channel", &approval.channel),
        ("conversation", &approval.conversation),
        ("sender", &approval.sender),
    ];
    for (label, value) in of_caller {
        if let Some(value) = value {
            let _ = write!(line, ", {label} {}", escape_line(value));
        }
    }
    for above in &approval.delegated_by {
        let agent = above.agent.as_deref().map_or("another caller".into(), escape_line);
        let _ = write!(line, ", for {agent}");
    }
    for directory in &approval.directories {
        let _ = write!(line, ", in {}", escape_line(directory));
    }
    for condition in &approval.conditions {
        let _ = write!(line, ", only while: {}", escape_line(condition));
    }
    match approval.access {
        Some(Access::Read) => line.push_str(", to read"),
        Some(_) => line.push_str(", to write"),
        None => {}
    }
    if let Some(session) = &approval.session {
        let _ = write!(line, ", in session {}", escape_line(session));
    }
    if let Some(end) = approval.expires_at {
        let _ = write!(line, ", until {}", minute(end));
    }
    if approval.sandboxed {
        line.push_str(", in a sandbox");
    }
    line.push_str(")\n");
    line
}
