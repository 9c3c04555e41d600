//! Approvals for the rest of a session, kept in memory with the session.

use super::{Asker, Grounds};
use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use toolkit_core::ask::{Ask, AskDetail};

/// The most patterns and questions that a session remembers; beyond that, the oldest are forgotten
/// and asked again.
const MAX_APPROVALS: usize = 1_000;
/// The most bytes that the remembered approvals may have.
const MAX_BYTES: usize = 4 << 20;
/// The longest time that an approval is valid: a session may be open for weeks, and the person asks for less.
const MAX_AGE: Duration = Duration::from_hours(24);

/// The approvals given in one session.
#[derive(Debug, Default)]
pub(super) struct Allowed(Mutex<Table>);

#[derive(Debug, Default)]
struct Table {
    /// In the order of answers, each with the time of its answer.
    all: VecDeque<(Deed, Instant)>,
    bytes: usize,
}

/// One approved pattern or question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Deed {
    pub(super) grounds: Grounds,
    /// True if a command's flags or paths raised the question, which its pattern does not show.
    pub(super) raised: bool,
    pub(super) what: What,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum What {
    Pattern(String),
    /// A question without a pattern: only the same question matches, apart from the model's own
    /// description of it.
    Whole {
        title: String,
        details: Vec<AskDetail>,
    },
}

impl Allowed {
    /// Returns true if everything that the question asks is approved.
    pub(super) fn covers(&self, grounds: &Grounds, ask: &Ask) -> bool {
        self.covers_at(Instant::now(), grounds, ask)
    }

    fn covers_at(&self, now: Instant, grounds: &Grounds, ask: &Ask) -> bool {
        let mut table = self.lock();
        table.remove_old(now);
        deeds(grounds, ask).all(|deed| table.all.iter().any(|(other, _)| *other == deed))
    }

    /// Returns the askers with an approval.
    pub(super) fn askers(&self) -> Vec<Asker> {
        let mut table = self.lock();
        table.remove_old(Instant::now());
        table.all.iter().map(|(deed, _)| deed.grounds.asker.clone()).collect()
    }

    /// Remembers everything that the question asks as approved, for a day.
    pub(super) fn add(&self, grounds: &Grounds, ask: &Ask) {
        self.add_at(Instant::now(), grounds, ask);
    }

    fn add_at(&self, now: Instant, grounds: &Grounds, ask: &Ask) {
        let mut table = self.lock();
        table.remove_old(now);
        for deed in deeds(grounds, ask) {
            // A new answer is valid for a day of its own.
            if let Some(index) = table.all.iter().position(|(other, _)| *other == deed) {
                table.all.remove(index);
            } else {
                table.bytes += deed.bytes();
            }
            table.all.push_back((deed, now));
            while table.all.len() > MAX_APPROVALS || table.bytes > MAX_BYTES {
                table.remove_oldest();
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Table> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Table {
    fn remove_old(&mut self, now: Instant) {
        while self.all.front().is_some_and(|(_, at)| now.saturating_duration_since(*at) >= MAX_AGE) {
            self.remove_oldest();
        }
    }

    fn remove_oldest(&mut self) {
        if let Some((oldest, _)) = self.all.pop_front() {
            self.bytes -= oldest.bytes();
        }
    }
}

/// Returns the entries that approving the question adds; at least one.
pub(super) fn deeds<'a>(grounds: &'a Grounds, ask: &'a Ask) -> impl Iterator<Item = Deed> + 'a {
    let deed = |what| Deed { grounds: grounds.clone(), raised: ask.raised, what };
    let whole = ask
        .patterns
        .is_empty()
        .then(|| What::Whole { title: ask.title.clone(), details: ask.details.clone() });
    whole.into_iter().chain(ask.patterns.iter().cloned().map(What::Pattern)).map(deed)
}

impl Deed {
    fn bytes(&self) -> usize {
        let what = match &self.what {
            What::Pattern(pattern) => pattern.len(),
            What::Whole { title, details } => {
                title.len() + details.iter().map(AskDetail::size).sum::<usize>()
            }
        };
        size_of::<Self>() + self.grounds.bytes() + what
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::approvals::Delegator;

    fn grounds() -> Grounds {
        let asker = Asker {
            tool: "edit".to_owned(),
            source: "here".to_owned(),
            agent: None,
            channel: None,
            conversation: None,
            sender: None,
            sandboxed: false,
            delegated_by: Vec::new(),
        };
        Grounds {
            asker,
            kind: "edit".to_owned(),
            access: None,
            directories: Vec::new(),
            conditions: Vec::new(),
            workspace: None,
        }
    }

    #[test]
    fn the_oldest_goes_and_memory_is_bounded() {
        let allowed = Allowed::default();
        let ask = |number: usize| Ask::new("edit", "t").with_pattern(number.to_string());
        for number in 0..MAX_APPROVALS + 10 {
            allowed.add(&grounds(), &ask(number));
            // Repeated approvals count once.
            allowed.add(&grounds(), &ask(number));
        }
        assert_eq!(allowed.lock().all.len(), MAX_APPROVALS);
        for (number, expected) in [(0, false), (9, false), (10, true), (MAX_APPROVALS + 9, true)] {
            assert_eq!(allowed.covers(&grounds(), &ask(number)), expected, "{number}");
        }
        let large = |number: usize| Ask::new("edit", number.to_string()).with_text("x", "y".repeat(1 << 20));
        for number in 0..10 {
            allowed.add(&grounds(), &large(number));
            assert!(allowed.lock().bytes <= MAX_BYTES);
        }
        assert!(allowed.covers(&grounds(), &large(9)) && !allowed.covers(&grounds(), &large(0)));
        let all = allowed.lock();
        assert_eq!(all.bytes, all.all.iter().map(|(deed, _)| deed.bytes()).sum::<usize>());
    }

    #[test]
    fn an_approval_ends_after_a_day_and_a_new_one_begins_another() {
        let allowed = Allowed::default();
        let ask = |pattern: &str| Ask::new("edit", "t").with_pattern(pattern);
        let begin = Instant::now();
        allowed.add_at(begin, &grounds(), &ask("a"));
        allowed.add_at(begin, &grounds(), &ask("b"));
        let later = begin + Duration::from_hours(23);
        assert!(allowed.covers_at(later, &grounds(), &ask("a")));
        allowed.add_at(later, &grounds(), &ask("b"));
        let (day, next) = (begin + MAX_AGE, later + MAX_AGE);
        assert!(!allowed.covers_at(day, &grounds(), &ask("a")));
        assert!(allowed.covers_at(day, &grounds(), &ask("b")));
        assert!(!allowed.covers_at(next, &grounds(), &ask("b")));
        let table = allowed.lock();
        assert_eq!((table.all.len(), table.bytes), (0, 0));
    }

    #[test]
    fn the_memory_may_be_full_to_the_last_byte() {
        let grounds = grounds();
        let least =
            size_of::<Deed>() + grounds.asker.tool.len() + grounds.asker.source.len() + grounds.kind.len();
        for (more, expected) in [(0, 1), (1, 0)] {
            let text = "x".repeat(MAX_BYTES - least + more);
            // A question without a pattern counts with its whole size.
            for ask in [Ask::new("edit", "t").with_pattern(&text), Ask::new("edit", &text)] {
                let allowed = Allowed::default();
                allowed.add(&grounds, &ask);
                assert_eq!(allowed.lock().all.len(), expected, "{more}");
            }
        }
    }

    #[test]
    fn what_must_be_the_same_counts_into_the_memory() {
        let long = || "x".repeat(MAX_BYTES / 4);
        let changes: [fn(&mut Grounds, String); 7] = [
            |grounds, long| grounds.asker.tool = long,
            |grounds, long| grounds.asker.source = long,
            |grounds, long| grounds.asker.agent = Some(long),
            |grounds, long| grounds.asker.channel = Some(long),
            |grounds, long| {
                grounds.asker.delegated_by = vec![Delegator { agent: Some(long), ..Delegator::default() }];
            },
            |grounds, long| grounds.kind = long,
            |grounds, long| grounds.directories.push(long),
        ];
        for (number, change) in changes.into_iter().enumerate() {
            let allowed = Allowed::default();
            let mut grounds = grounds();
            change(&mut grounds, long());
            for ask in 0..6 {
                allowed.add(&grounds, &Ask::new("edit", "t").with_pattern(ask.to_string()));
            }
            assert_eq!(allowed.lock().all.len(), 3, "{number}");
        }
    }

    #[test]
    fn without_a_pattern_every_detail_counts() {
        let allowed = Allowed::default();
        let ask = || Ask::new("edit", "t").with_text("x", "1");
        allowed.add(&grounds(), &ask());
        for (other, expected) in [
            (ask(), true),
            (ask().with_claim("safe"), true),
            (ask().with_text("x", "1"), false),
            (Ask::new("edit", "t").with_text("x", "2"), false),
            (Ask::new("edit", "T").with_text("x", "1"), false),
            (ask().raised(), false),
            (ask().with_pattern("t"), false),
        ] {
            assert_eq!(allowed.covers(&grounds(), &other), expected, "{other:?}");
        }
    }
}
