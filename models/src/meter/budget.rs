//! The limits of accounts.

use super::usage::TotalUsage;
use crate::account::Account;
use crate::exceeded::{BudgetExceeded, Measure};
use std::cmp::Ordering;

/// A measure, its limit, and the amount of a usage.
type Limit = (Measure, Option<f64>, fn(&TotalUsage) -> f64);

/// The limits of an account in one period.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Budget {
    /// The name of the period, such as `2026-11-30` or `2026-11`; empty for all time. A request counts in the period in which it began.
    pub period: String,
    /// The most tokens of requests and answers together.
    pub max_tokens: Option<u64>,
    /// The highest cost, in the currency of the configured prices. It has no effect on requests without a price.
    pub max_cost: Option<f64>,
    /// The most requests.
    pub max_requests: Option<u32>,
    /// The most runs. It has no effect on requests, which begin none.
    pub max_runs: Option<u32>,
    /// When the period ends, in words, for refusals.
    pub until: Option<String>,
}

impl Budget {
    /// Returns a budget for all time without limits: its use is counted alone.
    pub fn unlimited() -> Self {
        Self::default()
    }

    /// Sets the period and the words for its end.
    #[must_use]
    pub fn period(mut self, name: impl Into<String>, until: impl Into<String>) -> Self {
        (self.period, self.until) = (name.into(), Some(until.into()));
        self
    }

    /// Sets the most tokens.
    #[must_use]
    pub fn max_tokens(mut self, tokens: impl Into<Option<u64>>) -> Self {
        self.max_tokens = tokens.into();
        self
    }

    /// Sets the highest cost.
    #[must_use]
    pub fn max_cost(mut self, cost: impl Into<Option<f64>>) -> Self {
        self.max_cost = cost.into();
        self
    }

    /// Sets the most requests.
    #[must_use]
    pub fn max_requests(mut self, requests: impl Into<Option<u32>>) -> Self {
        self.max_requests = requests.into();
        self
    }

    /// Sets the most runs.
    #[must_use]
    pub fn max_runs(mut self, runs: impl Into<Option<u32>>) -> Self {
        self.max_runs = runs.into();
        self
    }

    /// Returns true if it has a limit.
    pub fn is_limited(&self) -> bool {
        let counts = self.max_requests.is_some() || self.max_runs.is_some();
        counts || self.max_tokens.is_some() || self.max_cost.is_some()
    }

    /// Returns the first limit that a request or a run would pass, beside what is used and what open requests have reserved. A request whose
    /// answer has no limit may use all that is left, so that none is open beside it.
    pub fn exceeded(
        &self,
        account: &Account,
        used: &TotalUsage,
        reserved: &TotalUsage,
        wanted: &TotalUsage,
    ) -> Option<BudgetExceeded> {
        let is_beside_unlimited = wanted.unlimited_requests > 0 && reserved.requests > 0
            || wanted.requests > 0 && reserved.unlimited_requests > 0;
        self.limits().into_iter().find_map(|(measure, most, of)| {
            let concerns = match measure {
                Measure::Cost => wanted.counted_cost().is_some(),
                Measure::Runs => wanted.runs > 0,
                _ => true,
            };
            let (used, reserved, wanted) = (of(used), of(reserved), of(wanted));
            let waits = is_beside_unlimited && matches!(measure, Measure::Tokens | Measure::Cost);
            let most =
                most.filter(|most| concerns && (waits || !is_within(used + reserved + wanted, *most)))?;
            Some(self.refusal(account, measure, most, [used, reserved, wanted]))
        })
    }

    /// Returns the limits that are used up, whatever open requests have reserved.
    pub fn reached(&self, account: &Account, used: &TotalUsage) -> impl Iterator<Item = BudgetExceeded> {
        self.limits().into_iter().filter_map(move |(measure, most, of)| {
            let used = of(used);
            // A limit of cost has no effect on requests without a price.
            let concerns = measure != Measure::Cost || used > 0.0;
            let most = most.filter(|most| concerns && used >= *most)?;
            Some(self.refusal(account, measure, most, [used, 0.0, 0.0]))
        })
    }

    fn limits(&self) -> [Limit; 4] {
        #[expect(clippy::cast_precision_loss, reason = "no account has 2^52 tokens")]
        [
            (Measure::Tokens, self.max_tokens.map(|most| most as f64), |usage| usage.counted_tokens() as f64),
            (Measure::Requests, self.max_requests.map(f64::from), |usage| f64::from(usage.requests)),
            (Measure::Cost, self.max_cost, |usage| usage.counted_cost().unwrap_or(0.0)),
            (Measure::Runs, self.max_runs.map(f64::from), |usage| f64::from(usage.runs)),
        ]
    }

    fn refusal(
        &self,
        account: &Account,
        measure: Measure,
        most: f64,
        [used, reserved, wanted]: [f64; 3],
    ) -> BudgetExceeded {
        BudgetExceeded {
            account: account.clone(),
            period: self.period.clone(),
            measure,
            most,
            used,
            reserved,
            wanted,
            until: self.until.clone(),
            hides_amounts: false,
        }
    }
}

/// Returns true if an amount is within a limit, which what is not a number never is.
fn is_within(amount: f64, most: f64) -> bool {
    matches!(amount.partial_cmp(&most), Some(Ordering::Less | Ordering::Equal))
}
