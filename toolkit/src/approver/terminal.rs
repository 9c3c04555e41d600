//! Asking on the terminal.

mod device;
mod paint;
mod reply;

use super::{Answering, Approver};
use crate::ask::{Answer, DeniedBy, Elicitation, PendingAsk, Question};
use device::{Device, Typed};
use paint::Paint;
use reply::{EXPECTED, Field, Reply, choices, read_permission};
use serde_json::{Map, Value};
use std::collections::BTreeSet;
use std::io;
use std::path::PathBuf;
use tokio::sync::Mutex;

/// Asks on the terminal that the process belongs to: `/dev/tty`, not standard input and output, so that arguments and
/// data which are piped through the process cannot answer, and questions do not get into its output.
///
/// Without a terminal, as under a service manager or in continuous integration, it denies and says so. So it does where
/// there is no `/dev/tty`, as on Windows.
///
/// What will be done is shown in full, up to the limits of [`escape_block`](crate::escape_block) for each part; where
/// something is left out it says so. Allowing it takes exactly `y`, or where the question offers it `s` for the session or
/// `a` for always; the question shows what these remember. `n` denies, and `?` explains the answers and asks again. Any other
/// text denies too, and the model reads it.
///
/// Changes of files are coloured where the terminal has colours: not where `NO_COLOR` is set, or `TERM` is `dumb` or not set.
/// After the process was stopped and continued (Ctrl-Z and `fg`), the question is shown again.
///
/// One question is shown at a time in a process, the others queue. What was typed before a question appeared does not
/// answer it. No thread waits: the terminal is looked at every 30 ms while a question stands there. It needs a tokio
/// runtime with its timer.
#[derive(Debug, Clone)]
pub struct TerminalApprover {
    device: PathBuf,
    paint: Paint,
}

/// The terminal belongs to the process, so its lock does: held from showing a question to the end of its answer. It
/// holds the terminals on which a line may have been begun for a question that was withdrawn.
static TERMINAL: Mutex<BTreeSet<PathBuf>> = Mutex::const_new(BTreeSet::new());

impl TerminalApprover {
    /// Asks on the terminal that the process belongs to.
    pub fn new() -> Self {
        Self::on("/dev/tty")
    }

    /// Asks on another terminal, by its device.
    pub fn on(device: impl Into<PathBuf>) -> Self {
        Self { device: device.into(), paint: Paint::of_environment() }
    }

    /// Shows questions with colours or without, whatever the environment says.
    #[must_use]
    pub fn colours(self, has_colours: bool) -> Self {
        Self { paint: if has_colours { Paint::Colours } else { Paint::Plain }, ..self }
    }

    /// Returns true while a question of this process stands on a terminal. Whoever writes to the terminal meanwhile disturbs the
    /// person who answers.
    pub fn is_asking() -> bool {
        TERMINAL.try_lock().is_err()
    }

    async fn answer(&self, pending: &PendingAsk) -> Answer {
        let mut stale = TERMINAL.lock().await;
        let device = match Device::open(&self.device) {
            Ok(device) => device,
            Err(error) => {
                let reason = format!(
                    "there is no terminal ({}: {error}); run it in one{}",
                    self.device.display(),
                    pending
                        .question()
                        .setting()
                        .map(|setting| format!(", or allow it with {setting}"))
                        .unwrap_or_default()
                );
                return Answer::denied_by(DeniedBy::NobodyThere, reason);
            }
        };
        // Taken back at the end, which a withdrawn question does not reach.
        let was_stale = !stale.insert(self.device.clone());
        let mut talk = Talk { device, paint: self.paint, was_stale, shown: String::new() };
        let answer = talk.answer(pending).await;
        stale.remove(&self.device);
        answer.unwrap_or_else(|error| {
            Answer::denied_by(DeniedBy::NobodyThere, format!("the terminal went away: {error}"))
        })
    }
}

impl Default for TerminalApprover {
    fn default() -> Self {
        Self::new()
    }
}

impl Approver for TerminalApprover {
    fn ask<'a>(&'a self, ask: &'a PendingAsk) -> Answering<'a> {
        Box::pin(async move { Some(self.answer(ask).await) })
    }
}

struct Talk {
    device: Device,
    paint: Paint,
    was_stale: bool,
    /// The question as it stands on the terminal.
    shown: String,
}

impl Talk {
    async fn answer(&mut self, pending: &PendingAsk) -> io::Result<Answer> {
        // A whole line that was typed too early is gone with this, and with it what had been begun.
        if self.device.discard_typed()? {
            self.was_stale = false;
        }
        self.shown = self.paint.lines(&pending.to_prompt());
        self.device.write(&format!("\n{}", self.shown)).await?;
        match pending.question() {
            Question::Approve(_) => self.permission(pending).await,
            Question::Elicit(elicitation) => self.values(elicitation).await,
        }
    }

    async fn permission(&mut self, pending: &PendingAsk) -> io::Result<Answer> {
        loop {
            let Some(line) = self.line(&choices(pending)).await? else { return Ok(Answer::Cancelled) };
            match read_permission(&line, pending.scopes()) {
                Reply::Answer(answer) => return Ok(answer),
                Reply::Empty => self.device.write(EXPECTED).await?,
                Reply::Help => self.device.write(&self.paint.lines(&pending.to_help())).await?,
                Reply::NotOffered => {
                    self.device.write("It cannot be allowed for that long here.\n").await?;
                }
            }
        }
    }

    async fn values(&mut self, elicitation: &Elicitation) -> io::Result<Answer> {
        self.device.write("Leave empty what is optional; Ctrl-D declines.\n").await?;
        let mut values = Map::new();
        for field in Field::all(&elicitation.schema) {
            loop {
                let Some(line) = self.line(&field.prompt()).await? else { return Ok(Answer::Declined) };
                match field.read(&line) {
                    Ok(Some(value)) => values.insert(field.name.to_owned(), value),
                    Ok(None) => None,
                    Err(problem) => {
                        self.device.write(&format!("  {problem}\n")).await?;
                        continue;
                    }
                };
                break;
            }
        }
        if values.is_empty() && self.line("Press Enter to answer so: ").await?.is_none() {
            return Ok(Answer::Declined);
        }
        Ok(Answer::value(Value::Object(values)))
    }

    /// What is typed after a prompt; `None` for the end of input.
    async fn line(&mut self, prompt: &str) -> io::Result<Option<String>> {
        loop {
            self.device.write(prompt).await?;
            let line = match self.device.read_line().await? {
                Typed::Line(line) => Some(line),
                Typed::End => None,
                // Something else may have been on the screen meanwhile.
                Typed::Resumed => {
                    self.device.write(&format!("\n{}", self.shown)).await?;
                    continue;
                }
            };
            if !std::mem::take(&mut self.was_stale) {
                return Ok(line);
            }
            self.device
                .write("The last question was withdrawn while you may have been typing. Once more:\n")
                .await?;
        }
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests;
