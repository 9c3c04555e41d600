//! The refusal of a request that would pass a budget.

use crate::account::Account;
use serde::{Deserialize, Serialize};
use std::fmt;

/// A measure of usage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Measure {
    /// Tokens of requests and answers together.
    Tokens,
    /// The cost, in the currency of the configured prices.
    Cost,
    /// Requests.
    Requests,
    /// Runs.
    Runs,
}

impl Measure {
    fn name(self) -> &'static str {
        match self {
            Self::Tokens => "tokens",
            Self::Cost => "of cost",
            Self::Requests => "requests",
            Self::Runs => "runs",
        }
    }

    fn shown(self, amount: f64) -> String {
        let number = match self {
            Self::Cost => format!("{amount:.4}"),
            _ => format!("{amount:.0}"),
        };
        let number =
            if number.contains('.') { number.trim_end_matches('0').trim_end_matches('.') } else { &number };
        format!("{number} {}", self.name())
    }
}

/// A request that is not sent, or a run that does not begin, since it would pass a limit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct BudgetExceeded {
    /// The account.
    pub account: Account,
    /// The period; empty for all time.
    pub period: String,
    /// The measure of the limit.
    pub measure: Measure,
    /// The limit.
    pub most: f64,
    /// The amount that is used.
    pub used: f64,
    /// The amount that open requests have reserved.
    pub reserved: f64,
    /// The amount that the request would reserve, or the run would count.
    pub wanted: f64,
    /// When the period ends, in words.
    pub until: Option<String>,
    /// True if its text is for people who may not know the amounts.
    #[serde(default)]
    pub hides_amounts: bool,
}

impl BudgetExceeded {
    /// Returns true if the request may be sent once requests that are open now have ended.
    pub fn is_passing(&self) -> bool {
        self.used < self.most && self.used + self.wanted <= self.most
    }

    /// Leaves the amounts out of its text, which then names the budget and when it begins anew.
    #[must_use]
    pub fn without_amounts(self) -> Self {
        Self { hides_amounts: true, ..self }
    }
}

impl fmt::Display for BudgetExceeded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { account, period, measure, .. } = self;
        let shown = |amount: f64| measure.shown(amount);
        let period = if period.is_empty() { String::new() } else { format!(" for {period}") };
        if self.hides_amounts {
            write!(f, "the budget of {account}{period} does not allow it")?;
        } else {
            let (most, used) = (shown(self.most), shown(self.used));
            write!(f, "the budget of {account}{period} is {most}, of which {used} are used")?;
        }
        if *measure != Measure::Runs && self.wanted > 0.0 && !self.hides_amounts {
            let (reserved, wanted) = (shown(self.reserved), shown(self.wanted));
            write!(f, " and {reserved} reserved, and the request needs up to {wanted}")?;
        }
        write!(f, "; ")?;
        if self.is_passing() {
            return write!(f, "try again when the open requests have ended");
        }
        let raise = if self.hides_amounts { "ask the owner to raise it" } else { "raise the budget" };
        match &self.until {
            Some(until) => write!(f, "wait until {until}, or {raise}"),
            None => write!(f, "{raise}"),
        }
    }
}
