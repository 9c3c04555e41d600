//! The rules about commands, applied to the parts of a command.

use super::command_forms::{ANY_TEXT, UNKNOWN, other_forms, possible_forms};
use super::judged::{Command, Judged, KIND, is_entry};
use super::unread::unread;
use std::collections::{BTreeMap, BTreeSet};
use toolkit::ToolContext;
use toolkit::permission::{Decision, PermissionRequest};

impl Judged {
    /// Applies the rules to each simple command, by its words and as written, and to the whole. Rules that ask or deny also apply to other
    /// ways to write a command; rules that allow do not.
    pub(super) fn hear_rules(&mut self, ctx: &ToolContext, whole: &str) {
        let mut texts: BTreeMap<String, Vec<String>> = BTreeMap::new();
        let has_parts = self.verdict.each_part().next().is_some();
        let decide_whole = |patterns: &[String]| {
            let request = PermissionRequest::new(KIND, patterns);
            // An entry about a program is about its calls, not about a command that begins with one of them.
            ctx.decide(&if has_parts { request.as_written() } else { request })
        };
        let mut decided = vec![decide_whole(&[whole.to_owned()])];
        for part in self.verdict.each_part() {
            texts.entry(part.text.clone()).or_default();
            if !part.words.is_empty() {
                let known = part.words.iter().map(|word| word.as_deref().unwrap_or(UNKNOWN));
                let words = known.collect::<Vec<_>>().join(" ");
                texts.entry(words).or_default().extend(other_forms(part));
            }
        }
        for (text, also) in texts {
            decided.push(ctx.decide(&PermissionRequest::new(KIND, &[text]).also(&also)));
        }
        for said in decided {
            let Some(rule) = said.rule.filter(|_| said.said) else { continue };
            match said.decision {
                Decision::Deny => self.denied_by = Some(rule.to_string()),
                // Approval for commands is the default anyway: for those that are not proved read-only.
                Decision::Ask if is_entry(&rule.pointer) => {
                    self.asked_by.insert(rule.to_string());
                }
                _ => {}
            }
        }
    }

    /// Returns the question about a command whose words are partly unknown, if an entry that asks about or denies commands may cover it:
    /// `$(echo cat) x` under a rule about `cat`.
    pub(super) fn possible_rule(&self, ctx: &ToolContext, command: &Command) -> Option<String> {
        let covers = |text: &str, forms: &[String]| {
            let said = ctx.decide(&PermissionRequest::new(KIND, &[text.to_owned()]).also(forms));
            said.rule.filter(|rule| said.decision > Decision::Allow && is_entry(&rule.pointer))
        };
        if let Some(text) = unread(&self.verdict, &command.text)
            && let Some(rule) = covers(&command.text, &[ANY_TEXT.to_owned()])
        {
            return Some(format!("what `{text}` runs is not known before, and {rule} may cover it"));
        }
        let mut asked = BTreeSet::new();
        self.verdict.each_part().find_map(|part| {
            let forms = possible_forms(part);
            if forms.is_empty() || !asked.insert(forms.clone()) {
                return None;
            }
            let rule = covers(&part.text, &forms)?;
            Some(format!(
                "which program `{}` runs is known only when it runs, and {rule} may cover it",
                part.text
            ))
        })
    }
}
