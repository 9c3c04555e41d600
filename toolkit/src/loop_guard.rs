//! The loop guard: what happens to a model that makes the same call again and again and gets the same answer.

mod key;
mod recent;

pub(crate) use key::{call_key, refused_key, result_key};
pub(crate) use recent::Recent;

/// When a model that makes the same call again and again is told, when a person is asked, and when the call is blocked.
///
/// The same call is one of the same tool with the same arguments, whatever their order. What counts is how often in its
/// session it had the very same answer:
///
/// * with the third such answer, the model is told that it will not change;
/// * after the fifth, a person is asked before each further such call, unless something changed meanwhile;
/// * after the eighth, such calls are blocked.
///
/// An answer that differs begins anew: whoever polls something that moves is not stopped. So does any other call that may
/// have changed something: one of a tool that is not `read_only`, with arguments or an answer that are new. So do ten
/// minutes without such a call. Other calls in between do not count, also where they take turns in a circle. The guard
/// remembers the last 32 different calls of a session. Calls that a tool makes by itself are its own business, and so are
/// those of a caller that names neither an agent nor a model: a program may well ask the same again and again.
///
/// ```
/// use toolkit::{LoopGuard, Toolkit};
///
/// let patient = Toolkit::empty().loop_guard(LoopGuard::new().tell(10).ask(0).block(50));
/// # drop(patient);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct LoopGuard {
    /// With how many same answers the model is told; never where 0.
    pub tell: u32,
    /// After how many same answers a person is asked; never where 0.
    pub ask: u32,
    /// After how many same answers the call is blocked; never where 0.
    pub block: u32,
}

impl Default for LoopGuard {
    /// 3, 5 and 8.
    fn default() -> Self {
        Self { tell: 3, ask: 5, block: 8 }
    }
}

impl LoopGuard {
    /// The default: told with the 3rd same answer, asked after the 5th, blocked after the 8th.
    pub fn new() -> Self {
        Self::default()
    }

    /// None at all.
    pub fn off() -> Self {
        Self { tell: 0, ask: 0, block: 0 }
    }

    /// With how many same answers the model is told; never where 0.
    #[must_use]
    pub fn tell(mut self, answers: u32) -> Self {
        self.tell = answers;
        self
    }

    /// After how many same answers a person is asked; never where 0.
    #[must_use]
    pub fn ask(mut self, answers: u32) -> Self {
        self.ask = answers;
        self
    }

    /// After how many same answers the call is blocked; never where 0.
    #[must_use]
    pub fn block(mut self, answers: u32) -> Self {
        self.block = answers;
        self
    }

    pub(crate) fn is_on(self) -> bool {
        self != Self::off()
    }

    /// What to do before a call that had so many same answers already.
    pub(crate) fn before(self, answers: u32) -> Step {
        match answers {
            answers if reached(self.block, answers) => Step::Block,
            answers if reached(self.ask, answers) => Step::Ask,
            _ => Step::Run,
        }
    }

    /// Whether the model is told with its answer number so and so.
    pub(crate) fn tells(self, answers: u32) -> bool {
        reached(self.tell, answers)
    }

    /// Whether anything has to be looked at before a call that had so many same answers.
    fn is_watching(self, answers: u32) -> bool {
        self.before(answers) != Step::Run
    }
}

fn reached(limit: u32, answers: u32) -> bool {
    limit > 0 && answers >= limit
}

/// What to do before a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    Run,
    Ask,
    Block,
}

/// A number in words that a model reads: `3rd`.
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
