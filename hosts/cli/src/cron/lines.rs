//! Jobs and their runs as lines of text.

use serde_json::Value;
use toolkit::text::escape_line;
use toolkit_gateway::{Moment, Zone};

/// The most characters of a prompt or a result in a line.
const MAX_SHOWN: usize = 100;

/// A job in two lines: when it is due, and its work.
pub(super) fn job(job: &Value) -> String {
    let zone = job["timezone"].as_str().and_then(|name| name.parse().ok()).unwrap_or_else(Zone::utc);
    let when = if let Some(expression) = job["schedule"].as_str() {
        format!("{} ({})", escape_line(expression), zone.name())
    } else if let Some(interval) = job["every"].as_str() {
        format!("every {}", escape_line(interval))
    } else {
        "once".to_owned()
    };
    let next = if let Some(reason) = job["paused"].as_str() {
        format!("paused: {}", cut(reason))
    } else if job["enabled"] == false {
        "paused".to_owned()
    } else {
        time(&job["nextAt"], &zone).map_or_else(|| "not due again".to_owned(), |next| format!("next {next}"))
    };
    let running = if job["running"] == true { "  (running)" } else { "" };
    let work = match job["tool"].as_str() {
        Some(tool) => format!("{} {}", escape_line(tool), cut(&job["arguments"].to_string())),
        None => format!("“{}”", cut(job["prompt"].as_str().unwrap_or_default())),
    };
    format!("{}  {when}  {next}{running}\n      {work}  in {}\n", word(job, "id"), word(job, "sessionKey"))
}

/// A run of a job.
pub(super) fn run(run: &Value) -> String {
    let at = time(&run["at"], &Zone::utc()).unwrap_or_default();
    let manual = if run["manual"] == true { "  (beside the schedule)" } else { "" };
    let missed = match run["missed"].as_u64().unwrap_or_default() {
        0 => String::new(),
        missed => format!("  ({missed} missed)"),
    };
    let detail = ["reason", "result"].into_iter().find_map(|key| run[key].as_str());
    let detail = detail.map_or_else(String::new, |text| format!("  {}", cut(text)));
    format!("{at}  {}{manual}{missed}{detail}\n", word(run, "state"))
}

fn word(value: &Value, key: &str) -> String {
    escape_line(value[key].as_str().unwrap_or_default()).into_owned()
}

fn time(at: &Value, zone: &Zone) -> Option<String> {
    zone.show(Moment(at.as_i64()?))
}

/// The beginning of a text, in one line.
fn cut(text: &str) -> String {
    let mut cut: String = text.chars().take(MAX_SHOWN).collect();
    if cut.len() < text.len() {
        cut.push('…');
    }
    escape_line(&cut).into_owned()
}
