//! The use of requests, added up.

use crate::answer::Usage;
use crate::model::Price;
use serde::{Deserialize, Serialize};
use std::ops::{Add, AddAssign};

/// The use of requests, added up.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[non_exhaustive]
pub struct TotalUsage {
    /// The tokens of all answers that report them.
    #[serde(flatten)]
    pub tokens: Usage,
    /// How many requests were sent.
    pub requests: u32,
    /// How many runs of agents and jobs began, where a host counts them.
    #[serde(skip_serializing_if = "is_default")]
    pub runs: u32,
    /// Of what is reserved, how many requests have an answer without a limit of tokens. In an account with a limit of tokens or cost, such a
    /// request is open alone. Of what is used it is 0.
    #[serde(skip_serializing_if = "is_default")]
    pub unlimited_requests: u32,
    /// How many of them took an unknown number of tokens: the answer broke off, or the provider does not report it. `tokens` and
    /// `cost` are without them.
    pub unknown_requests: u32,
    /// The tokens of these requests and their answers, as an estimate. They count against the limits.
    pub estimated_tokens: u64,
    /// The cost, if the price of the model is configured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
    /// The cost of the requests of unknown usage, as an estimate. It counts against the limits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub estimated_cost: Option<f64>,
    /// Pictures that were made.
    #[serde(skip_serializing_if = "is_default")]
    pub images: u64,
    /// Characters that were spoken.
    #[serde(skip_serializing_if = "is_default")]
    pub characters: u64,
    /// Seconds of speech that were transcribed.
    #[serde(skip_serializing_if = "is_default")]
    pub audio_seconds: f64,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

impl TotalUsage {
    /// Returns the use of one request. Without `usage`, the usage is unknown, and `estimate` counts in its place. Where `usage` has no tokens of
    /// the answer, those of `estimate` count beside it.
    pub fn of_request(usage: Option<&Usage>, estimate: &Usage, price: Option<&Price>) -> Self {
        let cost = |usage: &Usage| price.map(|price| price.cost(usage));
        match usage {
            Some(usage) => {
                let silent = if usage.output_tokens == 0 { estimate.output_tokens } else { 0 };
                Self {
                    tokens: *usage,
                    requests: 1,
                    cost: cost(usage),
                    estimated_tokens: silent,
                    estimated_cost: cost(&Usage::new(0, silent)).filter(|_| silent > 0),
                    ..Self::default()
                }
            }
            None => Self {
                requests: 1,
                unknown_requests: 1,
                estimated_tokens: estimate.input_tokens.saturating_add(estimate.output_tokens),
                estimated_cost: cost(estimate),
                ..Self::default()
            },
        }
    }

    /// Returns the tokens of requests and answers together, without those that are only estimated.
    pub const fn total_tokens(&self) -> u64 {
        self.tokens.input_tokens.saturating_add(self.tokens.output_tokens)
    }

    /// Returns the tokens that count against a limit, those that are estimated included.
    pub const fn counted_tokens(&self) -> u64 {
        self.total_tokens().saturating_add(self.estimated_tokens)
    }

    /// Leaves out amounts that are no numbers, infinite or negative: one of them would make an account worthless for ever.
    pub(super) fn in_numbers(self) -> Self {
        let number = |amount: &f64| amount.is_finite() && *amount >= 0.0;
        Self {
            cost: self.cost.filter(number),
            estimated_cost: self.estimated_cost.filter(number),
            audio_seconds: Some(self.audio_seconds).filter(number).unwrap_or_default(),
            ..self
        }
    }

    /// Returns what was reserved as what is used.
    pub(super) fn as_used(self) -> Self {
        Self { unlimited_requests: 0, ..self.in_numbers() }
    }

    /// Returns the cost that counts against a limit, that which is estimated included; `None` if no price is known.
    pub fn counted_cost(&self) -> Option<f64> {
        sum(self.cost, self.estimated_cost)
    }
}

fn sum(one: Option<f64>, other: Option<f64>) -> Option<f64> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one + other),
        (one, other) => one.or(other),
    }
}

impl Add for TotalUsage {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            tokens: self.tokens + other.tokens,
            requests: self.requests.saturating_add(other.requests),
            runs: self.runs.saturating_add(other.runs),
            unlimited_requests: self.unlimited_requests.saturating_add(other.unlimited_requests),
            unknown_requests: self.unknown_requests.saturating_add(other.unknown_requests),
            estimated_tokens: self.estimated_tokens.saturating_add(other.estimated_tokens),
            cost: sum(self.cost, other.cost),
            estimated_cost: sum(self.estimated_cost, other.estimated_cost),
            images: self.images.saturating_add(other.images),
            characters: self.characters.saturating_add(other.characters),
            audio_seconds: self.audio_seconds + other.audio_seconds,
        }
    }
}

impl AddAssign for TotalUsage {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl std::iter::Sum for TotalUsage {
    fn sum<I: Iterator<Item = Self>>(usages: I) -> Self {
        usages.fold(Self::default(), Add::add)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_usage_is_counted_apart_and_never_as_zero_tokens() {
        let price = Price::new(1_000_000.0, 2_000_000.0);
        let estimate = Usage::new(7, 1);
        let usage = TotalUsage::of_request(Some(&Usage::new(100, 10)), &estimate, Some(&price));
        let usage = usage + TotalUsage::of_request(None, &estimate, Some(&price));
        assert_eq!((usage.requests, usage.unknown_requests, usage.total_tokens()), (2, 1, 110));
        assert_eq!((usage.cost, usage.estimated_tokens, usage.estimated_cost), (Some(120.0), 8, Some(9.0)));
        assert_eq!((usage.counted_tokens(), usage.counted_cost()), (118, Some(129.0)));
    }
}
