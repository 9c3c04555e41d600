//! A question as plain text: the tool's facts first, then the model's description, marked as such.

use super::{Access, AllowScope, Ask, AskDetail, Elicitation, PendingAsk, Question};
use crate::escape::{BlockLine, MAX_LINE_CHARS, block_lines, escape_line};
use std::fmt::Write as _;

/// The columns of a line. A terminal would continue a long line in the first column, where only the toolkit's own text
/// may begin. So lines are broken here, with a mark; every terminal has 80 columns.
const COLUMNS: usize = 72;
/// The columns that a line may leave empty to end with a word.
const MAX_GAP: usize = 24;
/// The prefix of each quoted line.
pub(super) const QUOTED: &str = "  │ ";
/// The prefix of the continuation of a broken line.
pub(super) const CONTINUED: &str = "  ┊ ";

impl PendingAsk {
    /// Returns the question as text, to show to a person: escaped, with bounded length of each part, and laid out so
    /// that quoted text cannot be mistaken for the toolkit's own.
    ///
    /// Lines are at most 80 columns wide, where a character beyond ASCII counts as two. Every line of text from a tool
    /// or model begins with two spaces; text of several lines, with `│`, or with `┊` where a line was broken.
    pub fn to_text(&self) -> String {
        let mut text = Text::default();
        match self.question() {
            Question::Approve(ask) => text.permission(self, ask),
            Question::Elicit(elicitation) => text.elicitation(self, elicitation),
        }
        if text.is_cut {
            text.heading("It is too long to be shown whole; the omissions are marked above.");
        }
        if let Some(note) = self.note() {
            text.heading("Nothing is remembered for longer than the session, nor counts from before:");
            text.quote(note);
        }
        if let Some(problem) = self.problem() {
            text.heading("The last answer did not fit:");
            text.quote(problem);
        }
        text.text
    }

    /// Returns the text of what a lasting answer would be remembered for, in the same layout.
    pub(crate) fn remembered_text(&self) -> String {
        let mut text = Text::default();
        let Question::Approve(ask) = self.question() else { return String::new() };
        if ask.patterns.is_empty() {
            text.heading("What s remembers: the same question, in every detail");
            for condition in &ask.conditions {
                text.field("only while: ", condition);
            }
            return text.text;
        }
        let is_always = self.scopes().contains(&AllowScope::Always);
        text.heading(if is_always {
            "What s and a remember, exactly as it is:"
        } else {
            "What s remembers, exactly as it is:"
        });
        text.field("kind: ", &ask.kind);
        for pattern in &ask.patterns {
            text.field("pattern: ", pattern);
        }
        for condition in &ask.conditions {
            text.field("only while: ", condition);
        }
        text.field("asked by: ", &self.origin().tool);
        if self.is_for_every_call() {
            text.heading("It covers every call of the tool, with any arguments.");
        }
        if let Some(workspace) = self.origin().workspace.as_ref().filter(|_| is_always) {
            text.heading("The workspace in which a remembers it:");
            text.field("", workspace);
        }
        text.text
    }
}

#[derive(Default)]
struct Text {
    text: String,
    /// True if anything is left out.
    is_cut: bool,
}

impl Text {
    fn permission(&mut self, pending: &PendingAsk, ask: &Ask) {
        self.heading("A tool asks for permission:");
        let is_title = |detail: &AskDetail| matches!(detail, AskDetail::Command { command, .. } if *command == ask.title);
        // A command that is also the title is shown once.
        if !ask.details.iter().any(is_title) {
            self.field("action: ", &ask.title);
        }
        self.field("kind: ", &ask.kind);
        self.origin(pending);
        for detail in &ask.details {
            self.detail(detail);
        }
        for pattern in &ask.patterns {
            self.field("pattern: ", pattern);
        }
        for condition in &ask.conditions {
            self.field("only while: ", condition);
        }
        if let Some(claim) = &ask.claim {
            self.heading("What the model says of it, unchecked:");
            self.quote(claim);
        }
    }

    fn elicitation(&mut self, pending: &PendingAsk, elicitation: &Elicitation) {
        self.heading("A tool asks for your answer:");
        self.origin(pending);
        self.heading("In its words:");
        self.quote(&elicitation.message);
    }

    fn origin(&mut self, pending: &PendingAsk) {
        let origin = pending.origin();
        self.field("tool: ", &origin.tool);
        for (label, fact) in origin.facts() {
            self.field(label, &fact);
        }
    }

    fn detail(&mut self, detail: &AskDetail) {
        match detail {
            AskDetail::Diff { path, diff } => {
                self.field("changes: ", path);
                self.quote(diff);
            }
            AskDetail::Command { command, cwd } => {
                self.field("runs: ", "");
                self.quote(command);
                if let Some(cwd) = cwd {
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
                self.field("", &format!("{label}:"));
                self.quote(value);
            }
        }
    }

    /// Adds the toolkit's own text.
    fn heading(&mut self, words: &str) {
        self.text.push_str(words);
        self.text.push('\n');
    }

    fn field(&mut self, label: &str, value: &str) {
        self.is_cut |= value.chars().nth(MAX_LINE_CHARS).is_some();
        let line = format!("{label}{}", escape_line(value));
        self.broken(line.trim_end_matches(' '), "  ");
    }

    fn quote(&mut self, quoted: &str) {
        for line in block_lines(quoted) {
            match line {
                BlockLine::Text(line) => self.broken(&line, QUOTED),
                BlockLine::LeftOut(statement) => {
                    self.is_cut = true;
                    let _ = writeln!(self.text, "  {statement}");
                }
            }
        }
    }

    fn broken(&mut self, line: &str, prefix: &str) {
        let (mut prefix, mut rest) = (prefix, line);
        loop {
            let (part, after) = rest.split_at(fitting(rest));
            let _ = writeln!(self.text, "{prefix}{part}");
            if after.is_empty() {
                return;
            }
            (prefix, rest) = (CONTINUED, after);
        }
    }
}

/// Returns the number of bytes of a line that fit: up to the end of a word, unless that leaves much of the line empty. The width of a
/// character depends on the terminal, but is never more than assumed here.
pub(super) fn fitting(line: &str) -> usize {
    let mut columns = 0;
    // Behind the last blank, and its column.
    let mut word = (0, 0);
    for (at, character) in line.char_indices() {
        columns += match character {
            '\t' => 8,
            _ if character.is_ascii() => 1,
            _ => 2,
        };
        if columns > COLUMNS {
            return if word.1 + MAX_GAP > COLUMNS { word.0 } else { at };
        }
        if character == ' ' {
            word = (at + 1, columns);
        }
    }
    line.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ask::Origin;
    use serde_json::json;

    fn shown(ask: Ask) -> String {
        PendingAsk::detached(Origin::new("1", "exec").with_agent("ada"), Question::Approve(ask)).to_text()
    }

    #[test]
    fn facts_come_first_and_claims_are_marked() {
        let ask = Ask::new("exec", "run a command")
            .with_command("cargo test\ncargo doc", "/srv/project")
            .with_path("/srv", Access::Write)
            .with_diff("src/lib.rs", "-a\n+b\n")
            .with_text("environment", "A=1")
            .with_pattern("cargo *")
            .with_claim("only reads");
        assert_eq!(
            shown(ask),
            "A tool asks for permission:\n  action: run a command\n  kind: exec\n  tool: exec\n  agent: ada\n  runs:\n  \
             │ cargo test\n  │ cargo doc\n  in: /srv/project\n  writes: /srv\n  changes: src/lib.rs\n  │ -a\n  │ +b\n  \
             environment:\n  │ A=1\n  pattern: cargo *\nWhat the model says of it, unchecked:\n  │ only reads\n"
        );
    }

    #[test]
    fn a_question_for_a_value() {
        let elicitation =
            Elicitation::new("which\nhost?", json!({"type": "object", "properties": {}})).unwrap();
        let pending = PendingAsk::detached(Origin::new("1", "deploy"), Question::Elicit(elicitation));
        assert_eq!(
            pending.with_problem("/port: expected 1".to_owned()).to_text(),
            "A tool asks for your answer:\n  tool: deploy\nIn its words:\n  │ which\n  │ host?\nThe last answer did not \
             fit:\n  │ /port: expected 1\n"
        );
    }

    /// Whatever a question contains, only the toolkit's own text begins a line, no line is wider than a terminal, and
    /// nothing moves the cursor.
    #[test]
    fn nothing_passes_for_our_words() {
        let evil = format!(
            "x\nAllow this? y\r\u{1b}[2K\u{1b}[1A\u{202e}What the model says\n{}Allow this?\n{}Allow\t\t\t\t\t\t\t\t\t\t\t\tthis?",
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
        let origin = Origin::new(&evil, &evil).with_agent(&evil).with_session(&evil);
        let pending = PendingAsk::detached(origin, Question::Approve(ask)).with_problem(evil.clone());
        let headings = [
            "A tool asks for permission:",
            "What the model says of it, unchecked:",
            "The last answer did not fit:",
        ];
        assert!(pending.remembered_text().lines().all(|line| line.starts_with("  ")
            || line.starts_with("What s ")
            || line.starts_with("It covers every call ")));
        let text = pending.to_text();
        let mut found = Vec::new();
        for line in text.lines() {
            if !line.starts_with("  ") {
                found.push(line);
            }
            let columns: usize = line.chars().map(|c| if c.is_ascii() { 1 } else { 2 }).sum();
            assert!(
                columns <= 80 + usize::from(line.starts_with(QUOTED) || line.starts_with(CONTINUED)),
                "{line}"
            );
            assert!(!line.contains(['\r', '\u{1b}', '\u{202e}']), "{line:?}");
        }
        assert_eq!(found, headings);
    }

    #[test]
    fn lines_end_with_words_and_nothing_is_lost() {
        let words = "rm deletes directories with all below them; rm changes files; it writes /srv/build";
        let long = format!("{} {}", "x".repeat(40), "y".repeat(100));
        for (line, expected) in [
            (
                words,
                &["rm deletes directories with all below them; rm changes files; it writes ", "/srv/build"][..],
            ),
            (&long, &[&long[..72], &long[72..]]),
            ("short", &["short"]),
        ] {
            let (mut parts, mut rest) = (Vec::new(), line);
            while !rest.is_empty() {
                let (part, after) = rest.split_at(fitting(rest));
                parts.push(part);
                rest = after;
            }
            assert_eq!(parts, expected);
        }
    }

    #[test]
    fn what_is_left_out_is_said_outside_the_quote() {
        let diff = "+line\n".repeat(5_000);
        let text = shown(Ask::new("edit", "t").with_diff("f", diff));
        assert!(
            text.contains("\n  │ +line\n  [… 3000 lines, 18000 characters left out …]\n  │ +line\n"),
            "{}",
            &text[..200]
        );
        let said = "\nIt is too long to be shown whole; the omissions are marked above.\n";
        for (ask, expected) in [
            (Ask::new("edit", "t").with_diff("f", "+line\n".repeat(5_000)), true),
            (Ask::new("edit", "t").with_diff("f", "+line\n".repeat(2_000)), false),
            (Ask::new("edit", "t").with_pattern("x".repeat(1_001)), true),
            (Ask::new("edit", "t").with_pattern("é".repeat(1_000)), false),
        ] {
            assert_eq!(shown(ask).contains(said), expected);
        }
    }

    #[test]
    fn what_would_be_remembered() {
        let shown =
            |origin: Origin, ask: Ask| PendingAsk::detached(origin, Question::Approve(ask)).remembered_text();
        let here = || Origin::new("1", "edit").with_workspace("/srv/a\nb");
        for (text, expected) in [
            (
                shown(here(), Ask::new("edit", "t").with_pattern("a\u{1b}").with_pattern("b*")),
                "What s and a remember, exactly as it is:\n  kind: edit\n  pattern: a\\u{1b}\n  pattern: b*\n  asked by: \
                 edit\nThe workspace in which a remembers it:\n  /srv/a\\u{a}b\n",
            ),
            (
                shown(Origin::new("1", "edit"), Ask::new("edit", "t").with_pattern("a")),
                "What s remembers, exactly as it is:\n  kind: edit\n  pattern: a\n  asked by: edit\n",
            ),
            (
                shown(Origin::new("1", "edit"), Ask::new("edit", "t").with_pattern("edit")),
                "What s remembers, exactly as it is:\n  kind: edit\n  pattern: edit\n  asked by: edit\nIt covers every \
                 call of the tool, with any arguments.\n",
            ),
            (shown(here(), Ask::new("edit", "t")), "What s remembers: the same question, in every detail\n"),
        ] {
            assert_eq!(text, expected);
        }
    }

    #[test]
    fn why_nothing_is_remembered() {
        let put = crate::ask::Put::remembered(
            Origin::new("1", "edit"),
            Question::Approve(Ask::new("edit", "t").with_pattern("a")),
            Some("there is\nno data directory".to_owned()),
        );
        let now = std::time::SystemTime::now();
        let text = PendingAsk::new("x".to_owned(), (now, now), put).to_text();
        let note = "\nNothing is remembered for longer than the session, nor counts from before:\n  │ there is\n  │ no data directory\n";
        assert!(text.ends_with(note), "{text}");
    }
}
