//! The loop guard: handles a model that makes the same call again and again and gets the same result.

mod key;
mod recent;

pub(crate) use key::{call_key, refused_key, result_key};
pub(crate) use recent::Recent;

/// Thresholds at which repeated identical calls are reported to the model, need a person's approval, and are blocked.
///
/// Two calls are the same if they call the same tool with the same arguments, in any order. The guard counts how often
/// such a call had the very same result in its session:
///
/// * with the third such result, the model is told that the result will not change;
/// * after the fifth, a person is asked before each further such call, unless something changed meanwhile;
/// * after the eighth, such calls are blocked.
///
/// The count starts again with a different result, so polling a changing value is not stopped. It also starts again
/// after any other call that may have changed something (a call of a tool that is not `read_only`, with new arguments
/// or a new result), and after ten minutes without such a call. Other calls in between do not reset the count, even if
/// several calls repeat in a cycle. The guard remembers the last 32 different calls of a session. It ignores calls that
/// a tool makes itself, and calls of a caller without agent and model, because a program may have reason to repeat a
/// call.
///
/// ```
/// use toolkit::{Toolkit, inspection::LoopGuard};
///
/// let patient = Toolkit::empty().loop_guard(LoopGuard::new().tell(10).ask(0).block(50));
/// # drop(patient);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct LoopGuard {
    /// The number of same results with which the model is told; 0 for never.
    pub tell: u32,
    /// The number of same results after which a person is asked; 0 for never.
    pub ask: u32,
    /// The number of same results after which the call is blocked; 0 for never.
    pub block: u32,
}

impl Default for LoopGuard {
    /// The thresholds 3, 5 and 8.
    fn default() -> Self {
        Self { tell: 3, ask: 5, block: 8 }
    }
}

impl LoopGuard {
    /// Creates the default guard: the model is told with the 3rd same result, a person is asked after the 5th, and the
    /// call is blocked after the 8th.
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates a guard that does nothing.
    pub fn off() -> Self {
        Self { tell: 0, ask: 0, block: 0 }
    }

    /// Sets the number of same results with which the model is told; 0 for never.
    #[must_use]
    pub fn tell(mut self, answers: u32) -> Self {
        self.tell = answers;
        self
    }

    /// Sets the number of same results after which a person is asked; 0 for never.
    #[must_use]
    pub fn ask(mut self, answers: u32) -> Self {
        self.ask = answers;
        self
    }

    /// Sets the number of same results after which the call is blocked; 0 for never.
    #[must_use]
    pub fn block(mut self, answers: u32) -> Self {
        self.block = answers;
        self
    }

    pub(crate) fn is_on(self) -> bool {
        self != Self::off()
    }

    /// Returns the step before a call that had this many same results.
    pub(crate) fn before(self, answers: u32) -> Step {
        match answers {
            answers if reached(self.block, answers) => Step::Block,
            answers if reached(self.ask, answers) => Step::Ask,
            _ => Step::Run,
        }
    }

    /// Returns true if the model is told with this number of same results.
    pub(crate) fn tells(self, answers: u32) -> bool {
        reached(self.tell, answers)
    }

    /// Returns true if the guard has to act before a call that had this many same results.
    fn is_watching(self, answers: u32) -> bool {
        self.before(answers) != Step::Run
    }
}

fn reached(limit: u32, answers: u32) -> bool {
    limit > 0 && answers >= limit
}

/// The guard's step before a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    Run,
    Ask,
    Block,
}

/// Formats an ordinal number for a model: `3rd`.
pub(crate) fn ordinal(number: u32) -> String {
    let ending = match (number % 10, number % 100) {
        (_, 11..=13) => "th",
        (1, _) => "st",
        (2, _) => "nd",
        (3, _) => "rd",
        _ => "th",
    };
    format!("{number}{ending}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_done_after_how_many_answers() {
        let (default, patient) = (LoopGuard::new(), LoopGuard::new().tell(0).ask(0).block(2));
        for (guard, answers, tells, step) in [
            (default, 0, false, Step::Run),
            (default, 2, false, Step::Run),
            (default, 3, true, Step::Run),
            (default, 4, true, Step::Run),
            (default, 5, true, Step::Ask),
            (default, 7, true, Step::Ask),
            (default, 8, true, Step::Block),
            (default, u32::MAX, true, Step::Block),
            (patient, 1, false, Step::Run),
            (patient, 2, false, Step::Block),
            (LoopGuard::off(), u32::MAX, false, Step::Run),
        ] {
            assert_eq!((guard.tells(answers), guard.before(answers)), (tells, step), "{guard:?} {answers}");
        }
        assert!(default.is_on() && patient.is_on() && !LoopGuard::off().is_on());
    }

    #[test]
    fn numbers_in_words() {
        for (number, expected) in [
            (1, "1st"),
            (2, "2nd"),
            (3, "3rd"),
            (4, "4th"),
            (11, "11th"),
            (12, "12th"),
            (13, "13th"),
            (111, "111th"),
            (122, "122nd"),
        ] {
            assert_eq!(ordinal(number), expected);
        }
    }
}
