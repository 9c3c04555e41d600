//! The possible decisions of a source about an action, regardless of its text.

use super::{Counts, Decision, Found, KindRule, Kinds, Level, PermissionRule, Question, Source, is_any};

/// The possible decisions of rules about an action's texts.
#[derive(Debug, Clone)]
pub(in crate::permission::rules) enum Prospect<'a> {
    /// No rule decides about every text.
    Open,
    /// Some text is allowed.
    MayAllow,
    /// Every text needs approval or is denied, by this rule.
    Bars(Found<'a>),
}

impl Prospect<'_> {
    /// Combines the possible decisions of two rules, of which the stricter applies.
    fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Bars(one), Self::Bars(other)) => Self::Bars(super::stricter(one, other)),
            (Self::Bars(one), _) | (_, Self::Bars(one)) => Self::Bars(one),
            (Self::MayAllow, _) | (_, Self::MayAllow) => Self::MayAllow,
            (Self::Open, Self::Open) => Self::Open,
        }
    }
}

impl Source {
    /// Returns the possible decisions on a level, as [`says`](Self::says) does for one text.
    pub(in crate::permission::rules) fn prospect(
        &self,
        level: Level<'_>,
        question: &Question<'_>,
    ) -> Prospect<'_> {
        let each = self.kinds(level).into_iter().map(|kinds| match self.by_key(kinds, question) {
            // These rules can only bar.
            Prospect::Open => match self.by_wildcard(kinds, question) {
                bar @ Prospect::Bars(_) => bar,
                _ => Prospect::Open,
            },
            prospect => prospect,
        });
        each.fold(Prospect::Open, Prospect::and)
    }

    /// Returns the possible decisions of an untrusted source: exceptions do not apply.
    pub(in crate::permission::rules) fn strict_prospect(
        &self,
        level: Level<'_>,
        question: &Question<'_>,
    ) -> Prospect<'_> {
        let each = self.kinds(level).into_iter();
        each.flat_map(|kinds| [self.by_key(kinds, question), self.by_wildcard(kinds, question)])
            .fold(Prospect::Open, Prospect::and)
    }

    fn by_key<'a>(&'a self, kinds: &'a Kinds, question: &Question<'_>) -> Prospect<'a> {
        let each =
            kinds.by_key(question).map(|(rule, counts)| match (self.of_rule(rule, question), counts) {
                (_, Counts::DeniedPaths) | (Prospect::MayAllow, Counts::ButAllow) => Prospect::Open,
                (prospect, _) => prospect,
            });
        each.fold(Prospect::Open, Prospect::and)
    }

    fn by_wildcard<'a>(&'a self, kinds: &'a Kinds, question: &Question<'_>) -> Prospect<'a> {
        let each = kinds.by_wildcard(question).map(|rule| self.of_rule(rule, question));
        each.fold(Prospect::Open, Prospect::and)
    }

    fn of_rule<'a>(&'a self, rule: &'a KindRule, question: &Question<'_>) -> Prospect<'a> {
        let bars = |decision, index| {
            Prospect::Bars(Found { decision, is_exact: false, rule, index, origins: &self.origins })
        };
        let entries = match &rule.rule {
            PermissionRule::Always(Decision::Allow) if question.is_single_path => {
                return bars(Decision::Ask, None);
            }
            PermissionRule::Always(Decision::Allow) => return Prospect::MayAllow,
            PermissionRule::Always(decision) => return bars(*decision, None),
            PermissionRule::List(entries) => entries,
        };
        // The last matching entry applies, so an entry before one that matches everything has no effect.
        for (index, entry) in entries.iter().enumerate().rev() {
            match entry.decision {
                Decision::Allow => return Prospect::MayAllow,
                decision if is_any(&entry.pattern) => return bars(decision, Some(index)),
                _ => {}
            }
        }
        Prospect::Open
    }
}
