//! The one clock of a store.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use rusqlite::ToSql;
use rusqlite::types::{FromSql, FromSqlResult, ToSqlOutput, ValueRef};

pub use crate::moment::Moment;
use crate::moment::millis;

impl ToSql for Moment {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        self.0.to_sql()
    }
}

impl FromSql for Moment {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        i64::column_result(value).map(Self)
    }
}

/// Where the times of a store come from.
#[derive(Clone)]
pub struct Clock(Source);

#[derive(Clone)]
enum Source {
    System,
    Set(Arc<AtomicI64>),
}

impl Clock {
    /// The system's.
    pub fn system() -> Self {
        Self(Source::System)
    }

    /// One that stands at this time until it is [set](Self::set).
    pub fn standing(at: Moment) -> Self {
        Self(Source::Set(Arc::new(AtomicI64::new(at.0))))
    }

    /// Sets a standing clock, and its copies. The system's clock stays as it is.
    pub fn set(&self, at: Moment) {
        if let Source::Set(standing) = &self.0 {
            standing.store(at.0, Ordering::SeqCst);
        }
    }

    /// The time now.
    pub fn now(&self) -> Moment {
        match &self.0 {
            Source::System => {
                // A clock before 1970 is one that was never set.
                let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
                Moment(millis(since))
            }
            Source::Set(standing) => Moment(standing.load(Ordering::SeqCst)),
        }
    }
}

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            Source::System => "Clock::system()",
            Source::Set(_) => "Clock::standing(..)",
        })
    }
}
