//! The guards that the programs of a command need, and what takes them away.

use super::Judge;
use crate::class::Class;
use crate::environment;
use crate::guards::Guard;
use crate::verdict::Part;

impl Judge<'_> {
    /// Records a guard that a program needs for its verdict to hold.
    pub(crate) fn needs(&mut self, guard: Guard, part: &mut Part) {
        if self.loses_env {
            part.has(Class::Code, "the variables that keep it from running configured programs are removed");
        }
        for (name, value) in guard.variables {
            if !self.env.iter().any(|(known, _)| known == name) {
                self.env.push(((*name).to_owned(), (*value).to_owned()));
            }
        }
        if let Some((program, end)) = &self.name_end
            && part.program.as_ref() == Some(program)
            && !guard.arguments.is_empty()
        {
            self.arguments.insert(*end, guard.arguments);
        }
    }

    /// Judges a command that changes the attributes, the scope or the existence of a variable. Programs that are started later may not
    /// get it.
    pub(crate) fn reshape(&mut self, name: &str, part: &mut Part) {
        let is_exported = self.situation().env.contains_key(name);
        let used = if is_exported { environment::Use::Program } else { environment::Use::Shell };
        if let Some(why) = environment::assignment(name, None, used) {
            part.has(Class::Code, why);
        }
        self.state.seen.borrow_mut().reshaped(name);
    }

    /// Returns the first guard that the command may remove, whatever the order of its parts.
    pub(crate) fn lost_guard(&self) -> Option<&str> {
        let seen = self.state.seen.borrow();
        let is_lost = |(name, value): &&(String, String)| seen.may_differ(name, value);
        self.env.iter().find(is_lost).map(|(name, _)| name.as_str())
    }
}
