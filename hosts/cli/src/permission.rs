//! `permission`: lists and revokes approvals that were given permanently or for a session.

use crate::console::Console;
use crate::definitions::print_json;
use crate::exit::Stop;
use crate::format::Format;
use clap::{Arg, ArgAction, ArgGroup, ArgMatches, Command};
use serde_json::json;
use std::fmt::Write as _;
use std::time::{SystemTime, UNIX_EPOCH};
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

/// Runs the subcommand.
pub(crate) fn run(
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
            console.print(&format!("It will be asked again:\n{}", text(&revoked)))
        }
        (PermissionRequest::RevokeAll, _) => {
            let count = approvals.revoke_all().map_err(stopped)?;
            match format {
                Format::Json => print_json(&json!({ "workspaces": count }), console),
                Format::Text => console.print(&format!(
                    "Revoked everything ({count} files of workspaces and sessions); it will be asked again.\n"
                )),
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
        console.note("Nothing is allowed beyond what the configuration allows.");
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
        date(approval.approved_at),
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
    for directory in &approval.directories {
        let _ = write!(line, ", in {}", escape_line(directory));
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
        let _ = write!(line, ", until {}", date(end));
    }
    if approval.sandboxed {
        line.push_str(", in a sandbox");
    }
    line.push_str(")\n");
    line
}

/// The minute, in UTC.
fn date(time: SystemTime) -> String {
    let minutes = time.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs() / 60;
    let (days, minute) = (minutes / (24 * 60), minutes % (24 * 60));
    // Howard Hinnant's `civil_from_days`: years begin in March, so that leap days come last.
    let shifted = days + 719_468;
    let era = shifted / 146_097;
    let day_of_era = shifted % 146_097;
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02} {:02}:{:02} UTC", minute / 60, minute % 60)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn dates() {
        for (seconds, expected) in [
            (0, "1970-01-01 00:00 UTC"),
            (951_782_399, "2000-02-28 23:59 UTC"),
            (951_782_400, "2000-02-29 00:00 UTC"),
            (951_868_800, "2000-03-01 00:00 UTC"),
            (1_709_164_740, "2024-02-28 23:59 UTC"),
            (1_709_251_199, "2024-02-29 23:59 UTC"),
            (1_735_689_599, "2024-12-31 23:59 UTC"),
            (1_735_689_600, "2025-01-01 00:00 UTC"),
            (4_107_542_400, "2100-03-01 00:00 UTC"),
        ] {
            assert_eq!(date(UNIX_EPOCH + Duration::from_secs(seconds)), expected);
        }
    }
}
