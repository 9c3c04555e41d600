//! An approver that asks on the terminal.

mod device;
mod paint;
mod reply;

use super::{Answering, Approver};
use device::{Device, Typed};
use paint::Paint;
use reply::{EXPECTED, Field, Reply, Seen, choices, confirmation, is_yes, read_permission, stops_pages};
use serde_json::{Map, Value};
use std::collections::BTreeSet;
use std::io;
use std::path::PathBuf;
use tokio::sync::Mutex;
use toolkit_core::ask::{Answer, DeniedBy, Elicitation, PendingAsk, Question};

/// Asks on the terminal of the process: `/dev/tty`, not standard input and output, so that piped arguments and data cannot
/// answer, and questions do not get into the output.
///
/// Without a terminal, as under a service manager or in continuous integration, it denies and says so. It does the same on
/// systems without `/dev/tty`, such as Windows.
///
/// The operation is shown in full, up to the limits of [`escape_block`](crate::text::escape_block) for each part; the prompt says
/// where something is left out, and then offers `v`, which shows the whole question, page by page: Enter shows the next page, and `q` stops.
/// Until all of it was viewed, the line before the answers says that it was not. Exactly `y` allows it once; `s` allows it for the session and `a` always, if the question offers
/// them. The question shows what `s` and `a` remember. `n` denies, and `?` explains the answers and asks again. Any other text
/// also denies, and the model gets the text.
///
/// A request for values asks for one field after the other, and then whether to send them, also if there is no field or no value: only
/// `y` or `yes` sends them, and any other line declines. The end of input (Ctrl-D, or a terminal that hangs up) cancels at each prompt,
/// also after a part of a line.
///
/// File changes are coloured, unless `NO_COLOR` is set, or `TERM` is `dumb` or not set. After the process was stopped and
/// continued (Ctrl-Z and `fg`), the question is shown again.
///
/// A process shows one question at a time; the others wait in a queue. Input typed before a question appeared does not answer
/// it. No thread is blocked: the terminal is polled every 30 ms while a question is shown. It needs a tokio runtime with its
/// timer.
#[derive(Debug, Clone)]
pub struct TerminalApprover {
    device: PathBuf,
    paint: Paint,
}

/// The lock of the process's terminal, held from showing a question to the end of its answer. It contains the terminals that may
/// have a partly typed line for a question that was withdrawn.
static TERMINAL: Mutex<BTreeSet<PathBuf>> = Mutex::const_new(BTreeSet::new());

impl TerminalApprover {
    /// Creates an approver for the terminal of the process.
    pub fn new() -> Self {
        Self::on("/dev/tty")
    }

    /// Creates an approver for another terminal, by its device.
    pub fn on(device: impl Into<PathBuf>) -> Self {
        Self { device: device.into(), paint: Paint::of_environment() }
    }

    /// Sets whether questions have colours, regardless of the environment.
    #[must_use]
    pub fn colours(self, has_colours: bool) -> Self {
        Self { paint: if has_colours { Paint::Colours } else { Paint::Plain }, ..self }
    }

    /// Returns true while this process shows a question on a terminal. Other output to the terminal would then disturb the
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
        // Removed again at the end of the answer, which a withdrawn question does not reach.
        let was_stale = !stale.insert(self.device.clone());
        let mut talk = Talk { device, paint: self.paint, was_stale, shown: String::new() };
        let answer = talk.answer(pending).await;
        stale.remove(&self.device);
        answer.unwrap_or_else(|error| {
            Answer::denied_by(DeniedBy::NobodyThere, format!("the terminal was closed: {error}"))
        })
    }
}

impl Default for TerminalApprover {
    fn default() -> Self {
        Self::new()
    }
}

#[diagnostic::do_not_recommend]
impl Approver for TerminalApprover {
    fn ask<'a>(&'a self, ask: &'a PendingAsk) -> Answering<'a> {
        Box::pin(async move { Some(self.answer(ask).await.into()) })
    }
}

/// The lines of one page: those of a small terminal, without the line that is typed on.
const LINES_OF_PAGE: usize = 22;

/// The end of viewing a whole question.
enum Viewed {
    /// All of it was shown.
    Whole,
    /// The person stopped before the end.
    InPart,
    /// The input ended.
    End,
}

struct Talk {
    device: Device,
    paint: Paint,
    was_stale: bool,
    /// The question as shown on the terminal.
    shown: String,
}

impl Talk {
    async fn answer(&mut self, pending: &PendingAsk) -> io::Result<Answer> {
        // A whole line that was typed too early is discarded here, including a part typed for an earlier question.
        if self.device.discard_typed()? {
            self.was_stale = false;
        }
        self.shown = self.paint.lines(&pending.to_prompt());
        self.device.write(&format!("\n{}", self.shown)).await?;
        match pending.question() {
            Question::Approve(_) => self.permission(pending).await,
            Question::Elicit(elicitation) => self.values(elicitation).await,
            _ => Ok(Answer::Cancelled),
        }
    }

    async fn permission(&mut self, pending: &PendingAsk) -> io::Result<Answer> {
        let mut seen = if pending.is_cut() { Seen::InPart } else { Seen::Whole };
        loop {
            let Some(line) = self.line(&choices(pending, seen)).await? else { return Ok(Answer::Cancelled) };
            match read_permission(&line, pending.scopes()) {
                Reply::Answer(answer) => return Ok(answer),
                Reply::Empty => self.device.write(EXPECTED).await?,
                Reply::View if seen == Seen::Whole => {
                    self.device.write("All of it is shown above.\n").await?;
                }
                Reply::View => match self.view(pending).await? {
                    Viewed::Whole => seen = Seen::Viewed,
                    Viewed::InPart => {}
                    Viewed::End => return Ok(Answer::Cancelled),
                },
                Reply::Help => self.device.write(&self.paint.lines(&pending.to_help())).await?,
                Reply::NotOffered => {
                    self.device.write("It cannot be allowed for that long here.\n").await?;
                }
            }
        }
    }

    /// Shows the whole question, page by page.
    async fn view(&mut self, pending: &PendingAsk) -> io::Result<Viewed> {
        let lines = pending.to_whole_prompt();
        let mut shown = 0;
        for page in lines.chunks(LINES_OF_PAGE) {
            if shown > 0 {
                let prompt = format!("Line {shown} of {}. Enter shows more, q stops: ", lines.len());
                match self.line(&prompt).await? {
                    None => return Ok(Viewed::End),
                    Some(line) if stops_pages(&line) => return Ok(Viewed::InPart),
                    Some(_) => {}
                }
            }
            self.device.write(&self.paint.lines(page)).await?;
            shown += page.len();
        }
        self.device.write("That is all of it.\n").await?;
        Ok(Viewed::Whole)
    }

    async fn values(&mut self, elicitation: &Elicitation) -> io::Result<Answer> {
        let fields = Field::all(&elicitation.schema);
        if !fields.is_empty() {
            let how =
                "Optional values may be left empty. Nothing is sent before you confirm; Ctrl-D cancels.\n";
            self.device.write(how).await?;
        }
        let mut values = Map::new();
        for field in &fields {
            loop {
                let Some(line) = self.line(&field.prompt()).await? else { return Ok(Answer::Cancelled) };
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
        Ok(match self.line(confirmation(&values)).await? {
            None => Answer::Cancelled,
            Some(line) if is_yes(&line) => Answer::value(Value::Object(values)),
            Some(_) => Answer::Declined,
        })
    }

    /// Reads the line typed after a prompt; returns `None` at the end of input.
    async fn line(&mut self, prompt: &str) -> io::Result<Option<String>> {
        loop {
            self.device.write(prompt).await?;
            let line = match self.device.read_line().await? {
                Typed::Line(line) => Some(line),
                Typed::End => None,
                // Other output may have been on the screen meanwhile, so the question is shown again.
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
