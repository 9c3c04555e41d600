//! A meter of usage: each request reserves what it may use before it is sent, and settles what it used when it has ended.
//!
//! A request counts against every account of its [`Scope`]. One lock covers the check of all budgets and the reservation, so that requests
//! at the same time never pass a limit together. A request that is dropped counts as much as is known of it.

mod budget;
mod respond;
mod store;
mod usage;

pub use budget::Budget;
pub use store::{AccountPeriod, AccountUsage, MeterCounts, MeterStore, OpenRequest, Opening, SettledRequest};
pub use usage::TotalUsage;

use crate::account::{Account, Scope};
use crate::exceeded::BudgetExceeded;
use data_encoding::HEXLOWER;
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The most accounts without a limit that are counted. Of more, those that were not used for the longest time are forgotten.
const MAX_UNLIMITED: usize = 4_096;

type BudgetsFn = dyn Fn(&Account) -> Vec<Budget> + Send + Sync;

/// Counts what requests use, by account, and refuses those that would pass a budget. Cheap to clone.
///
/// ```
/// use toolkit_models::{Account, Budget, Message, Meter, ModelError, Request, Scope, Scripted};
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() {
/// let meter = Meter::builder().budgets(|_| vec![Budget::unlimited().max_requests(1)]).build();
/// let (model, scope) = (Scripted::new(["Hello!"]), Scope::new().with(Account::agent("main")));
/// let request = Request::new([Message::user("Hi")]);
/// assert!(meter.respond(&scope, &model, &request, None, &mut |_| {}).await.is_ok());
/// let refused = meter.respond(&scope, &model, &request, None, &mut |_| {}).await;
/// assert!(matches!(refused, Err(ModelError::Budget { .. })));
/// # }
/// ```
#[derive(Clone)]
pub struct Meter(Arc<Inner>);

struct Inner {
    budgets: Box<BudgetsFn>,
    store: Option<Arc<dyn MeterStore>>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    counts: MeterCounts,
    /// The scopes of the requests that are open, by their id.
    scopes: HashMap<String, Scope>,
    tallies: HashMap<Account, Vec<Arc<Mutex<TotalUsage>>>>,
    /// The accounts without a limit, by their last use.
    unlimited: HashMap<AccountPeriod, u64>,
    reservations: u64,
}

/// Puts a [`Meter`] together.
pub struct MeterBuilder {
    budgets: Box<BudgetsFn>,
    store: Option<Arc<dyn MeterStore>>,
    counts: MeterCounts,
}

impl MeterBuilder {
    /// Sets the function that returns the budgets of an account, at the time of each request: one for each period in which it is counted.
    /// None means that it is not counted. By default every account is counted for all time, without limits.
    #[must_use]
    pub fn budgets(self, budgets: impl Fn(&Account) -> Vec<Budget> + Send + Sync + 'static) -> Self {
        Self { budgets: Box::new(budgets), ..self }
    }

    /// Sets where records are kept.
    #[must_use]
    pub fn store(self, store: Arc<dyn MeterStore>) -> Self {
        Self { store: Some(store), ..self }
    }

    /// Begins with the counts of an earlier meter. Requests that were open count as used, as much as was reserved: the process may have
    /// ended before it learned their usage.
    #[must_use]
    pub fn counts(self, mut counts: MeterCounts) -> Self {
        counts.settle_open();
        Self { counts, ..self }
    }

    /// Makes the meter.
    #[must_use]
    pub fn build(self) -> Meter {
        let Self { budgets, store, counts } = self;
        let state = Mutex::new(State { counts, ..State::default() });
        Meter(Arc::new(Inner { budgets, store, state }))
    }
}

/// Why a request was not admitted.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum MeterError {
    /// It would pass a budget.
    #[error("{0}")]
    Exceeded(BudgetExceeded),
    /// Its record could not be kept.
    #[error(
        "the record of its usage could not be kept ({reason}); check the disk of the host, and try again"
    )]
    Store {
        /// The reason of the store.
        reason: String,
    },
}

impl Meter {
    /// Returns a meter that counts every account, without limits, in memory.
    pub fn new() -> Self {
        Self::builder().build()
    }

    /// Starts a meter with budgets, a store, or the counts of an earlier one.
    pub fn builder() -> MeterBuilder {
        let budgets = Box::new(|_: &Account| vec![Budget::unlimited()]);
        MeterBuilder { budgets, store: None, counts: MeterCounts::default() }
    }

    /// Reserves what a request may use, in every account of its scope.
    ///
    /// # Errors
    ///
    /// A budget does not allow it, or its record cannot be kept. Nothing is reserved then.
    pub async fn reserve(&self, scope: &Scope, most: TotalUsage) -> Result<Reservation, MeterError> {
        let budgets: Vec<(&Account, Budget)> = scope
            .accounts()
            .iter()
            .flat_map(|account| (self.0.budgets)(account).into_iter().map(move |budget| (account, budget)))
            .collect();
        let request = self
            .state()
            .reserve(scope, &budgets, most.in_numbers())
            .map_err(|exceeded| MeterError::Exceeded(*exceeded))?;
        let mut reservation = Reservation { meter: self.clone(), request: Some(request), is_kept: false };
        if let (Some(store), Some(request)) = (&self.0.store, &reservation.request) {
            // Dropping the reservation releases it.
            store.open(request).await?;
        }
        reservation.is_kept = true;
        Ok(reservation)
    }

    /// Returns what an account used in a period, and what its open requests have reserved. The name of the period is empty for all time.
    pub fn usage(&self, account: &Account, period: &str) -> AccountUsage {
        self.state().counts.account(&AccountPeriod::new(account.clone(), period))
    }

    /// Returns the counts of all accounts, and the requests that are open.
    pub fn counts(&self) -> MeterCounts {
        self.state().counts.clone()
    }

    /// Forgets what an account used in a period that is over, unless a request of it is open. Returns true if nothing is kept of it.
    pub fn forget(&self, account: &Account, period: &str) -> bool {
        self.state().counts.forget(&AccountPeriod::new(account.clone(), period))
    }

    /// Returns a count of what the requests of an account use from now on.
    pub fn tally(&self, account: &Account) -> Tally {
        let used = Arc::<Mutex<TotalUsage>>::default();
        self.state().tallies.entry(account.clone()).or_default().push(Arc::clone(&used));
        Tally { meter: self.clone(), account: account.clone(), used }
    }

    fn settle(&self, request: OpenRequest, used: Option<TotalUsage>) {
        let OpenRequest { id, accounts, .. } = request;
        let settled = SettledRequest { id, accounts, used };
        {
            let mut state = self.state();
            state.counts.settle(&settled);
            let scope = state.scopes.remove(&settled.id).unwrap_or_default();
            let tallies = scope.accounts().iter().filter_map(|account| state.tallies.get(account)).flatten();
            for tally in tallies {
                *lock(tally) += used.unwrap_or_default();
            }
        }
        if let Some(store) = &self.0.store {
            store.settle(settled);
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.0.state)
    }
}

impl State {
    fn reserve(
        &mut self,
        scope: &Scope,
        budgets: &[(&Account, Budget)],
        reserved: TotalUsage,
    ) -> Result<OpenRequest, Box<BudgetExceeded>> {
        let mut accounts: Vec<AccountPeriod> = Vec::with_capacity(budgets.len());
        let mut unlimited = Vec::new();
        for (account, budget) in budgets {
            let of = AccountPeriod::new((*account).clone(), &*budget.period);
            let usage = self.counts.account(&of);
            if let Some(exceeded) = budget.exceeded(account, &usage.used, &usage.reserved, &reserved) {
                return Err(Box::new(exceeded));
            }
            if !budget.is_limited() {
                unlimited.push(of.clone());
            }
            if !accounts.contains(&of) {
                accounts.push(of);
            }
        }
        self.reservations += 1;
        for of in &accounts {
            self.unlimited.remove(of);
        }
        self.unlimited.extend(unlimited.into_iter().map(|of| (of, self.reservations)));
        let request = OpenRequest { id: new_id(self.reservations), accounts, reserved };
        self.counts.open(request.clone());
        self.scopes.insert(request.id.clone(), scope.clone());
        self.forget_unused();
        Ok(request)
    }

    /// Forgets accounts without a limit where there are too many.
    fn forget_unused(&mut self) {
        while self.unlimited.len() > MAX_UNLIMITED {
            let mut by_use: Vec<(u64, AccountPeriod)> =
                self.unlimited.iter().map(|(of, used)| (*used, of.clone())).collect();
            by_use.sort_unstable();
            // Some at once: sorting at each request would be slow. One with an open request is forgotten after a later use.
            for (_, of) in by_use.into_iter().take(MAX_UNLIMITED / 8) {
                self.unlimited.remove(&of);
                self.counts.forget(&of);
            }
        }
    }
}

impl Default for Meter {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Meter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Meter").field("has_store", &self.0.store.is_some()).finish_non_exhaustive()
    }
}

impl fmt::Debug for MeterBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MeterBuilder").field("counts", &self.counts).finish_non_exhaustive()
    }
}

/// The reservation of one request. If it is dropped unsettled, all that was reserved counts as used.
#[derive(Debug)]
#[must_use = "dropping it counts all that was reserved"]
pub struct Reservation {
    meter: Meter,
    request: Option<OpenRequest>,
    is_kept: bool,
}

impl Reservation {
    /// Counts what the request used, in place of what was reserved.
    pub fn settle(mut self, used: TotalUsage) {
        if let Some(request) = self.request.take() {
            self.meter.settle(request, Some(used.as_used()));
        }
    }

    /// Counts nothing: the request was not sent, or failed before it could be charged.
    pub fn release(mut self) {
        if let Some(request) = self.request.take() {
            self.meter.settle(request, None);
        }
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        if let Some(request) = self.request.take() {
            let used = self.is_kept.then_some(request.reserved.as_used());
            self.meter.settle(request, used);
        }
    }
}

/// A count of what the requests of one account use, from a time on.
#[derive(Debug)]
pub struct Tally {
    meter: Meter,
    account: Account,
    used: Arc<Mutex<TotalUsage>>,
}

impl Tally {
    /// Returns what was used so far.
    pub fn used(&self) -> TotalUsage {
        *lock(&self.used)
    }
}

impl Drop for Tally {
    fn drop(&mut self) {
        let mut state = self.meter.state();
        if let Some(tallies) = state.tallies.get_mut(&self.account) {
            tallies.retain(|tally| !Arc::ptr_eq(tally, &self.used));
            if tallies.is_empty() {
                state.tallies.remove(&self.account);
            }
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// An id that no request of this or another process has.
fn new_id(number: u64) -> String {
    let mut random = [0; 16];
    // Without random numbers, the number alone keeps requests of this process apart.
    let _ = getrandom::fill(&mut random);
    format!("{}-{number}", HEXLOWER.encode(&random))
}
