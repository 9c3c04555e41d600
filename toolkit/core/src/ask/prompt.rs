//! A question as lines for a terminal: the facts that a person needs to decide, in as few lines as possible. [`PendingAsk::to_text`]
//! has everything.

use super::text::{CONTINUED, QUOTED, fitting};
use super::{Access, AllowScope, Ask, AskDetail, PendingAsk, Question};
use crate::escape::{BlockLine, MAX_LINE_CHARS, block_lines, escape_line, whole_line, whole_lines};
use std::fmt::Write as _;

/// A line of a prompt, escaped. Lines that quote a tool or a model begin with two spaces.
#[derive(Debug, Clone, PartialEq, Eq)]
#[doc(hidden)]
pub struct PromptLine {
    /// The text before the line, which is never coloured.
    pub prefix: &'static str,
    pub text: String,
    pub tone: Tone,
}

/// The style of a line on a terminal with colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[doc(hidden)]
pub enum Tone {
    Plain,
    /// The first line of a question.
    Heading,
    /// The operation.
    Action,
    /// An added line of a diff.
    Added,
    /// A removed line of a diff.
    Removed,
    /// The place of a hunk of a diff.
    Hunk,
}

impl PendingAsk {
    /// Returns the question as lines for a terminal.
    #[doc(hidden)]
    pub fn to_prompt(&self) -> Vec<PromptLine> {
        let mut prompt = Prompt::default();
        match self.question() {
            Question::Approve(ask) => prompt.permission(self, ask),
            Question::Elicit(_) => prompt.plain(&self.to_text()),
        }
        prompt.lines
    }

    /// Returns the question as lines for a terminal, with nothing left out of its parts: for a person who views it page by page.
    #[doc(hidden)]
    pub fn to_whole_prompt(&self) -> Vec<PromptLine> {
        let mut prompt = Prompt { is_whole: true, ..Prompt::default() };
        match self.question() {
            Question::Approve(ask) => prompt.permission(self, ask),
            Question::Elicit(_) => prompt.plain(&self.to_text()),
        }
        prompt.lines
    }

    /// Returns true if [`to_prompt`](Self::to_prompt) leaves anything out that [`to_whole_prompt`](Self::to_whole_prompt) has.
    #[doc(hidden)]
    pub fn is_cut(&self) -> bool {
        let mut prompt = Prompt::default();
        if let Question::Approve(ask) = self.question() {
            prompt.permission(self, ask);
        }
        prompt.is_cut
    }

    /// Returns the explanation of the answers, and the parts of the question that [`to_prompt`](Self::to_prompt) leaves out.
    #[doc(hidden)]
    pub fn to_help(&self) -> Vec<PromptLine> {
        let mut prompt = Prompt::default();
        let Question::Approve(ask) = self.question() else { return prompt.lines };
        prompt.heading("y allows this once.", Tone::Plain);
        if self.scopes().contains(&AllowScope::Session) {
            let end = match self.session_lifetime() {
                Some(lifetime) => format!(", {} from now at most", hours(lifetime.as_secs())),
                None => String::new(),
            };
            let text = format!("s also allows it again in this session, until the session ends{end}.");
            prompt.heading(&text, Tone::Plain);
        }
        if self.scopes().contains(&AllowScope::Always) {
            prompt.heading("a also allows it again in this workspace, until it is revoked.", Tone::Plain);
        }
        prompt
            .heading("n denies it. Any other text denies it too, and the model reads the text.", Tone::Plain);
        prompt.heading("Ctrl-D dismisses the question, which denies it.", Tone::Plain);
        if self.scopes().len() > 1 {
            prompt.plain(&self.remembered_text());
        } else {
            prompt.heading("The answer is not remembered.", Tone::Plain);
        }
        for (label, fact) in self.origin().facts() {
            prompt.field(label, &fact);
        }
        for detail in &ask.details {
            if let AskDetail::Command { cwd: Some(cwd), .. } = detail {
                prompt.field("runs in: ", cwd);
            }
        }
        prompt.lines
    }
}

/// Returns the lines of a quoted text for a terminal, escaped, with nothing left out.
#[doc(hidden)]
pub fn quoted_whole(text: &str) -> Vec<PromptLine> {
    let mut prompt = Prompt { is_whole: true, ..Prompt::default() };
    prompt.quote(text, false);
    prompt.lines
}

/// Returns true if `path` is the one changed file, and the one path that the question says is written.
fn is_only_change(ask: &Ask, path: &str, workspace: Option<&str>) -> bool {
    let mut changes = ask.details.iter().filter(|detail| matches!(detail, AskDetail::Diff { .. }));
    let mut written = ask.details.iter().filter_map(|detail| match detail {
        AskDetail::Path { path, access: Access::Write } => Some(path.as_str()),
        _ => None,
    });
    let is_same = |written: &str| {
        let relative = || written.strip_prefix(workspace?)?.strip_prefix('/');
        written == path || relative() == Some(path)
    };
    written.next().is_some_and(is_same) && written.next().is_none() && changes.nth(1).is_none()
}

/// Returns a diff without the lines that name the file before and after, if both only repeat `path`.
fn without_names<'a>(diff: &'a str, path: &str) -> &'a str {
    let rest = || {
        let (before, rest) = diff.strip_prefix("--- a/")?.split_once('\n')?;
        let (after, rest) = rest.strip_prefix("+++ b/")?.split_once('\n')?;
        let directory = path.strip_suffix(after)?;
        (before == after && (directory.is_empty() || directory.ends_with('/'))).then_some(rest)
    };
    rest().unwrap_or(diff)
}

/// Returns a condition without the digest at its end, which says nothing to a person.
fn without_digest(condition: &str) -> &str {
    condition.find(" (SHA-256 ").map_or(condition, |at| &condition[..at])
}

fn hours(seconds: u64) -> String {
    match (seconds / 3600, seconds % 3600 / 60) {
        (0, minutes) => format!("{minutes} minutes"),
        (1, 0) => "1 hour".to_owned(),
        (hours, 0) => format!("{hours} hours"),
        (hours, minutes) => format!("{hours} h {minutes} min"),
    }
}

#[derive(Default)]
struct Prompt {
    lines: Vec<PromptLine>,
    /// True if anything is left out.
    is_cut: bool,
    /// True if nothing may be left out.
    is_whole: bool,
}

impl Prompt {
    fn permission(&mut self, pending: &PendingAsk, ask: &Ask) {
        self.first_line(pending, ask);
        let commands: Vec<&str> = ask
            .details
            .iter()
            .filter_map(|detail| match detail {
                AskDetail::Command { command, .. } => Some(command.as_str()),
                _ => None,
            })
            .collect();
        if !commands.contains(&ask.title.as_str()) {
            self.toned("", &ask.title, Tone::Action);
        }
        for detail in &ask.details {
            self.detail(detail, ask, pending.origin().workspace.as_deref());
        }
        if let Some(claim) = &ask.claim {
            self.value("the model says, unchecked: ", claim);
        }
        self.patterns(pending, ask, &commands);
        if self.is_cut {
            self.heading("It is too long to be shown whole; the omissions are marked above.", Tone::Plain);
        }
        if let Some(note) = pending.note() {
            let text = "Nothing is remembered for longer than the session, nor counts from before:";
            self.heading(text, Tone::Plain);
            self.quote(note, false);
        }
        if let Some(problem) = pending.problem() {
            self.heading("The last answer did not fit:", Tone::Plain);
            self.quote(problem, false);
        }
    }

    /// Writes the caller and the session, which is the session that an answer for the session applies to.
    fn first_line(&mut self, pending: &PendingAsk, ask: &Ask) {
        let origin = pending.origin();
        let mut text = format!("Permission needed: {}", escape_line(&origin.tool));
        if ask.kind != origin.tool {
            let _ = write!(text, " ({})", escape_line(&ask.kind));
        }
        for (label, fact) in origin.facts() {
            let _ = write!(text, ", {} {}", label.trim_end_matches(": "), escape_line(&fact));
        }
        self.broken("", &text, Tone::Heading);
    }

    fn detail(&mut self, detail: &AskDetail, ask: &Ask, workspace: Option<&str>) {
        match detail {
            AskDetail::Diff { path, diff } => {
                if !is_only_change(ask, path, workspace) {
                    self.field("changes: ", path);
                }
                self.quote(without_names(diff, path), true);
            }
            AskDetail::Command { command, cwd } => {
                self.quoted_as(command, |_| Tone::Action);
                // Without a `cwd`, the command runs in the workspace.
                if let Some(cwd) = cwd.as_deref().filter(|cwd| Some(*cwd) != workspace) {
                    self.field("in: ", cwd);
                }
            }
            AskDetail::Path { path, access } => self.field(
                match access {
                    Access::Read => "reads: ",
                    Access::Write => "writes: ",
                },
                path,
            ),
            AskDetail::Text { label, value } => {
                // A reason for the command as a whole repeats the command, which is shown above.
                let whole = ask.details.iter().find_map(|detail| match detail {
                    AskDetail::Command { command, .. } => value.strip_prefix(&**command)?.strip_prefix(": "),
                    _ => None,
                });
                self.value(&format!("{}: ", escape_line(label)), whole.unwrap_or(value));
            }
        }
    }

    /// Writes the patterns that a lasting answer is remembered for; without such an answer, the patterns that rules match.
    fn patterns(&mut self, pending: &PendingAsk, ask: &Ask, commands: &[&str]) {
        let label = match pending.scopes() {
            [.., AllowScope::Always] => "s and a remember: ",
            [.., AllowScope::Session] => "s remembers: ",
            _ => {
                for pattern in ask.patterns.iter().filter(|pattern| **pattern != ask.title) {
                    self.field("pattern: ", pattern);
                }
                return;
            }
        };
        if ask.patterns.is_empty() {
            self.field(label, "the same question, in every detail");
        }
        if pending.is_for_every_call() {
            self.field(label, &format!("every call of `{}`, with any arguments", pending.origin().tool));
            self.conditions(ask);
            return;
        }
        for (number, pattern) in ask.patterns.iter().enumerate() {
            let label = if number == 0 { label } else { "and: " };
            // The command is shown above; the rest of the pattern says where it applies.
            let exact = commands.iter().find_map(|command| {
                let rest = pattern.strip_prefix("exactly `")?.strip_prefix(command)?.strip_prefix('`')?;
                Some(format!("exactly this command{rest}"))
            });
            self.field(label, exact.as_deref().unwrap_or(pattern));
        }
        self.conditions(ask);
    }

    fn conditions(&mut self, ask: &Ask) {
        // The sandbox is shown above.
        let is_shown = |condition: &str| {
            ask.details.iter().any(|detail| match detail {
                AskDetail::Text { label, value } => {
                    condition.strip_prefix("it ") == Some(&*format!("{label}: {value}"))
                }
                _ => false,
            })
        };
        let texts: Vec<&str> = ask
            .conditions
            .iter()
            .map(|condition| if is_shown(condition) { "it runs in that" } else { without_digest(condition) })
            .collect();
        if !texts.is_empty() {
            self.field("only while: ", &texts.join("; "));
        }
    }

    /// Adds a line of the toolkit's own text.
    fn heading(&mut self, words: &str, tone: Tone) {
        self.lines.push(PromptLine { prefix: "", text: words.to_owned(), tone });
    }

    /// Adds lines that are already laid out and escaped.
    fn plain(&mut self, text: &str) {
        for line in text.lines() {
            self.heading(line, Tone::Plain);
        }
    }

    /// Adds a value of one line beside its label, or a value of several lines below it. The label is escaped.
    fn value(&mut self, label: &str, value: &str) {
        if value.trim_end_matches('\n').contains('\n') {
            self.broken("  ", label.trim_end(), Tone::Plain);
            self.quote(value, false);
        } else {
            self.field(label, value.trim_end_matches('\n'));
        }
    }

    fn field(&mut self, label: &str, value: &str) {
        self.toned(label, value, Tone::Plain);
    }

    fn toned(&mut self, label: &str, value: &str, tone: Tone) {
        let escaped = if self.is_whole { whole_line(value) } else { escape_line(value) };
        self.is_cut |= !self.is_whole && value.chars().nth(MAX_LINE_CHARS).is_some();
        let line = format!("{label}{escaped}");
        self.broken("  ", line.trim_end_matches(' '), tone);
    }

    fn quote(&mut self, quoted: &str, is_diff: bool) {
        self.quoted_as(quoted, |line| match line.as_bytes().first() {
            Some(b'+') if is_diff => Tone::Added,
            Some(b'-') if is_diff => Tone::Removed,
            Some(b'@') if is_diff => Tone::Hunk,
            _ => Tone::Plain,
        });
    }

    fn quoted_as(&mut self, quoted: &str, tone: impl Fn(&str) -> Tone) {
        if self.is_whole {
            for line in whole_lines(quoted) {
                self.broken(QUOTED, &line, tone(&line));
            }
            return;
        }
        for line in block_lines(quoted) {
            match line {
                BlockLine::Text(line) => self.broken(QUOTED, &line, tone(&line)),
                BlockLine::LeftOut(statement) => {
                    self.is_cut = true;
                    self.lines.push(PromptLine { prefix: "  ", text: statement, tone: Tone::Plain });
                }
            }
        }
    }

    /// Breaks a line. A terminal would continue a long line in the first column, where only the toolkit's own text may begin.
    fn broken(&mut self, prefix: &'static str, line: &str, tone: Tone) {
        let (mut prefix, mut rest) = (prefix, line);
        loop {
            let (part, after) = rest.split_at(fitting(rest));
            self.lines.push(PromptLine { prefix, text: part.to_owned(), tone });
            if after.is_empty() {
                return;
            }
            (prefix, rest) = (CONTINUED, after);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ask::Origin;

    fn shown(lines: &[PromptLine]) -> String {
        lines.iter().fold(String::new(), |text, line| text + line.prefix + &line.text + "\n")
    }

    fn here() -> Origin {
        Origin::new("1", "exec").with_session("workspace /srv/project").with_workspace("/srv/project")
    }

    fn command(command: &str) -> Ask {
        Ask::new("exec", command).with_command(command, "/srv/project")
    }

    #[test]
    fn an_ordinary_question_is_short_and_shows_the_command_once() {
        let ask = command("cargo test --workspace")
            .with_text("why", "cargo test --workspace: `cargo` runs code of the project")
            .with_text("runs in", "a sandbox: it writes in the workspace alone, without network")
            .with_claim("Runs the tests")
            .with_pattern("cargo test *");
        let pending = PendingAsk::detached(here(), Question::Approve(ask));
        assert_eq!(
            shown(&pending.to_prompt()),
            "Permission needed: exec, session workspace /srv/project\n  │ cargo test --workspace\n  why: `cargo` runs \
             code of the project\n  runs in: a sandbox: it writes in the workspace alone, without network\n  the model says, unchecked: Runs the tests\n  s and a remember: cargo test *\n"
        );
        let ask = command("rm -r /srv/old").with_pattern("exactly `rm -r /srv/old` in /srv/project").raised();
        let text = shown(&PendingAsk::detached(here(), Question::Approve(ask)).to_prompt());
        assert_eq!(text.matches("rm -r").count(), 1, "{text}");
        assert!(text.ends_with("  s remembers: exactly this command in /srv/project\n"), "{text}");
    }

    #[test]
    fn a_change_names_its_file_once() {
        let diff = "--- a/src/a.txt\n+++ b/src/a.txt\n@@ -1 +1 @@\n-old\n+new\n";
        let edit = |path: &str| Ask::new("edit", "write src/a.txt").with_path(path, Access::Write);
        let text = |ask: Ask| shown(&PendingAsk::detached(here(), Question::Approve(ask)).to_prompt());
        let of_one = text(edit("/srv/project/src/a.txt").with_diff("src/a.txt", diff));
        assert!(
            of_one.contains(
                "\n  write src/a.txt\n  writes: /srv/project/src/a.txt\n  │ @@ -1 +1 @@\n  │ -old\n  │ +new\n"
            ),
            "{of_one}"
        );
        // Another file, several files, and a file that is moved or created are named.
        for ask in [
            edit("/srv/project/b.txt").with_diff("src/a.txt", diff),
            edit("/srv/other/src/a.txt").with_diff("src/a.txt", diff),
            edit("/srv/project/src/a.txt").with_path("/srv/b", Access::Write).with_diff("src/a.txt", diff),
            edit("/srv/project/src/a.txt").with_diff("src/a.txt", diff).with_diff("b.txt", diff),
        ] {
            let text = text(ask);
            assert!(text.contains("  changes: ") && text.contains("src/a.txt\n  │ @@"), "{text}");
        }
        for diff in ["--- /dev/null\n+++ b/src/a.txt\n@@\n", "--- a/src/b.txt\n+++ b/src/a.txt\n@@\n"] {
            let text = text(edit("/srv/project/src/a.txt").with_diff("src/a.txt", diff));
            assert!(text.contains("  │ +++ b/src/a.txt\n"), "{text}");
        }
    }

    #[test]
    fn what_is_not_usual_is_shown() {
        let ask = Ask::new("edit", "write a.txt")
            .with_command("make", "/srv/other")
            .with_path("/etc/x", Access::Read)
            .with_diff("a.txt", "@@ -1 +1 @@\n-old\n+new\n same\n")
            .with_text("its input", "one\ntwo")
            .with_pattern("a.txt")
            .with_pattern("b.txt");
        let origin = Origin::new("1", "apply_patch").with_agent("ada");
        let lines = PendingAsk::detached(origin, Question::Approve(ask)).to_prompt();
        assert_eq!(
            shown(&lines),
            "Permission needed: apply_patch (edit), agent ada\n  write a.txt\n  │ make\n  in: /srv/other\n  reads: /etc/x\n  \
             changes: a.txt\n  │ @@ -1 +1 @@\n  │ -old\n  │ +new\n  │  same\n  its input:\n  │ one\n  │ two\n  s remembers: \
             a.txt\n  and: b.txt\n"
        );
        let tones: Vec<Tone> = lines[6..10].iter().map(|line| line.tone).collect();
        assert_eq!(tones, [Tone::Hunk, Tone::Removed, Tone::Added, Tone::Plain]);
    }

    #[test]
    fn help_says_what_each_answer_does() {
        let pending = |ask: Ask| PendingAsk::detached(here(), Question::Approve(ask));
        let text = shown(&pending(command("make").with_pattern("make *")).to_help());
        for line in [
            "y allows this once.\n",
            "s also allows it again in this session, until the session ends.\n",
            "a also allows it again in this workspace, until it is revoked.\n",
            "n denies it. Any other text denies it too, and the model reads the text.\n",
            "  kind: exec\n  pattern: make *\n  asked by: exec\n",
            "  session: workspace /srv/project\n  runs in: /srv/project\n",
        ] {
            assert!(text.contains(line), "{line} in {text}");
        }
        let text = shown(&pending(command("make").once_only()).to_help());
        assert!(!text.contains("s also") && text.contains("The answer is not remembered.\n"), "{text}");
        assert_eq!(
            (hours(8 * 3600), hours(90 * 60), hours(60)),
            ("8 hours".into(), "1 h 30 min".into(), "1 minutes".into())
        );
    }

    #[test]
    fn nothing_is_left_out_of_the_whole() {
        let numbered =
            |count: usize| (1..=count).fold(String::new(), |text, line| text + &format!("+line {line}\n"));
        let lines = |ask: Ask| {
            let pending = PendingAsk::detached(here(), Question::Approve(ask));
            (pending.is_cut(), shown(&pending.to_prompt()), shown(&pending.to_whole_prompt()))
        };
        let (is_cut, prompt, whole) = lines(Ask::new("edit", "write a").with_diff("a", numbered(3_001)));
        assert!(is_cut && !prompt.contains("+line 1500\n") && prompt.contains("too long to be shown whole"));
        assert!((1..=3_001).all(|line| whole.contains(&format!("  │ +line {line}\n"))));
        assert!(!whole.contains("left out") && !whole.contains("too long"), "{whole}");
        let long = format!("{}the middle{}", "a".repeat(2_000), "b".repeat(2_000));
        for ask in [
            Ask::new("edit", &long),
            Ask::new("edit", "t").with_path(&long, Access::Write),
            Ask::new("edit", "t").with_text("x", &long),
            Ask::new("edit", "t").with_claim(&long),
            Ask::new("exec", "t")
                .with_command("y\n".repeat(2_000) + &long + &"z".repeat(200_000), "/srv/project"),
        ] {
            let (is_cut, prompt, whole) = lines(ask);
            let joined = |text: &str| text.replace("\n  ┊ ", "");
            assert!(is_cut && !joined(&prompt).contains("the middle"), "{prompt}");
            assert!(joined(&whole).contains("the middle"), "{whole}");
        }
        // A question that is shown whole is the same in both.
        let (is_cut, prompt, whole) = lines(Ask::new("edit", "write a").with_diff("a", numbered(1_000)));
        assert_eq!((is_cut, prompt), (false, whole));
        let text = "one\\u{d}\u{1b}[2J\n".repeat(5_000);
        let quoted = shown(&quoted_whole(&text));
        assert_eq!(quoted, "  │ one\\\\u{d}\\u{1b}[2J\n".repeat(5_000));
    }

    /// Whatever a question contains, only the toolkit's own text begins a line, no line is wider than a terminal, and nothing moves
    /// the cursor.
    #[test]
    fn nothing_passes_for_our_words() {
        let evil = format!(
            "x\nAllow? y\r\u{1b}[2K\u{1b}[1A\u{202e}Permission needed: y\n{}Allow?\n{}Allow\t\t\t\t\t\t\t\t\t\t\t\t?",
            " ".repeat(300),
            "世".repeat(60),
        );
        let ask = Ask::new(&evil, &evil)
            .with_command(&evil, &evil)
            .with_path(&evil, Access::Read)
            .with_diff(&evil, &evil)
            .with_text(&evil, &evil)
            .with_pattern(&evil)
            .with_claim(&evil);
        let origin = Origin::new(&evil, &evil).with_agent(&evil).with_session(&evil).with_workspace(&evil);
        let pending = PendingAsk::detached(origin, Question::Approve(ask)).with_problem(evil.clone());
        let own = [
            "Permission needed: x",
            "The last answer did not fit:",
            "What s and a",
            "It covers every call",
            "The workspace in",
        ];
        for line in
            shown(&[pending.to_prompt(), pending.to_whole_prompt(), pending.to_help()].concat()).lines()
        {
            let is_own = own.iter().any(|own| line.starts_with(own))
                || ["y allows", "s also", "a also", "n denies", "Ctrl-D"]
                    .iter()
                    .any(|own| line.starts_with(own));
            assert!(is_own || line.starts_with("  "), "{line:?}");
            let columns: usize = line.chars().map(|c| if c.is_ascii() { 1 } else { 2 }).sum();
            assert!(columns <= 81, "{line}");
            assert!(!line.contains(['\r', '\u{1b}', '\u{202e}']), "{line:?}");
        }
    }
}
