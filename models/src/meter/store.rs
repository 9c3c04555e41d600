//! The records of a meter that a host keeps, so that its counts survive the process.

use super::MeterError;
use super::usage::TotalUsage;
use crate::account::Account;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::pin::Pin;

/// Future returned by [`MeterStore::open`].
pub type Opening<'a> = Pin<Box<dyn Future<Output = Result<(), MeterError>> + Send + 'a>>;

/// Where a host keeps the records of a [`Meter`](super::Meter). Records of different requests come in any order; each `settle` comes after
/// the `open` of its request.
pub trait MeterStore: Send + Sync + 'static {
    /// Keeps the record of a request that is about to be sent. The request is sent once the future is ready, and is not sent if it fails.
    /// A host whose budgets are counted in the store checks them here, and refuses with [`MeterError::Exceeded`].
    fn open<'a>(&'a self, request: &'a OpenRequest) -> Opening<'a>;

    /// Takes the record of a request that has ended. It must not block. If it is lost, the reservation stays, and counts.
    fn settle(&self, request: SettledRequest);
}

/// An account in a period.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[non_exhaustive]
pub struct AccountPeriod {
    /// The account.
    #[serde(flatten)]
    pub account: Account,
    /// The period; empty for all time.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub period: String,
}

impl AccountPeriod {
    /// Returns an account in a period; the name of the period is empty for all time.
    pub fn new(account: Account, period: impl Into<String>) -> Self {
        Self { account, period: period.into() }
    }
}

/// A request that is open.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct OpenRequest {
    /// Its id, which no other request has.
    pub id: String,
    /// The accounts that it counts against.
    pub accounts: Vec<AccountPeriod>,
    /// The usage that is reserved for it.
    pub reserved: TotalUsage,
}

/// A request that has ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SettledRequest {
    /// Its id.
    pub id: String,
    /// The accounts that it counts against.
    pub accounts: Vec<AccountPeriod>,
    /// The usage; nothing if it was not sent, or failed before it could be charged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub used: Option<TotalUsage>,
}

/// The use of an account in a period.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct AccountUsage {
    /// The account and the period.
    #[serde(flatten)]
    pub of: AccountPeriod,
    /// The usage so far.
    pub used: TotalUsage,
    /// The usage that its open requests have reserved.
    #[serde(default)]
    pub reserved: TotalUsage,
}

impl AccountUsage {
    fn none(of: AccountPeriod) -> Self {
        Self { of, used: TotalUsage::default(), reserved: TotalUsage::default() }
    }
}

/// The counts of a meter: what its accounts have used, and the requests that are open. In JSON, both are lists.
///
/// A host keeps one with a [`MeterStore`] that hands each record to [`open`](Self::open) or [`settle`](Self::settle), and starts the next
/// meter with it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct MeterCounts {
    #[serde(default, with = "accounts_as_list")]
    accounts: BTreeMap<AccountPeriod, AccountUsage>,
    #[serde(default)]
    open: Vec<OpenRequest>,
}

impl MeterCounts {
    /// Returns the use of each account and period that is known.
    pub fn accounts(&self) -> impl Iterator<Item = &AccountUsage> {
        self.accounts.values()
    }

    /// Returns the use of an account in a period.
    pub fn account(&self, of: &AccountPeriod) -> AccountUsage {
        self.accounts.get(of).cloned().unwrap_or_else(|| AccountUsage::none(of.clone()))
    }

    /// Returns the requests that are open.
    pub fn open_requests(&self) -> &[OpenRequest] {
        &self.open
    }

    /// Adds a request that is open.
    pub fn open(&mut self, request: OpenRequest) {
        for account in &request.accounts {
            self.entry(account).reserved += request.reserved;
        }
        self.open.push(request);
    }

    /// Ends a request: what it used takes the place of what was reserved.
    pub fn settle(&mut self, request: &SettledRequest) {
        self.open.retain(|open| open.id != request.id);
        for account in &request.accounts {
            // Added up anew: costs are not taken off to the last digit.
            let open = self.open.iter().filter(|open| open.accounts.contains(account));
            let reserved = open.map(|open| open.reserved).sum();
            let entry = self.entry(account);
            entry.reserved = reserved;
            entry.used += request.used.unwrap_or_default();
        }
    }

    /// Counts the requests that are open as used, as much as was reserved: how they ended is not known any more.
    pub fn settle_open(&mut self) {
        for OpenRequest { id, accounts, reserved } in self.open.clone() {
            self.settle(&SettledRequest { id, accounts, used: Some(reserved.as_used()) });
        }
    }

    /// Forgets what an account used in a period that is over, unless a request of it is open. Returns true if nothing is kept of it.
    pub fn forget(&mut self, of: &AccountPeriod) -> bool {
        let is_open = self.open.iter().any(|open| open.accounts.contains(of));
        if !is_open {
            self.accounts.remove(of);
        }
        !is_open
    }

    fn entry(&mut self, of: &AccountPeriod) -> &mut AccountUsage {
        self.accounts.entry(of.clone()).or_insert_with(|| AccountUsage::none(of.clone()))
    }
}

mod accounts_as_list {
    use super::{AccountPeriod, AccountUsage};
    use serde::{Deserialize, Deserializer, Serializer};
    use std::collections::BTreeMap;

    type Accounts = BTreeMap<AccountPeriod, AccountUsage>;

    pub(super) fn serialize<S: Serializer>(accounts: &Accounts, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(accounts.values())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Accounts, D::Error> {
        let usages = Vec::<AccountUsage>::deserialize(deserializer)?;
        Ok(usages.into_iter().map(|usage| (usage.of.clone(), usage)).collect())
    }
}
