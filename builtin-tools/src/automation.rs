//! Work that an agent does later: `cron`, over the service [`JobService`] of a host that runs all the time.

mod cron;
mod service;

pub use cron::{CronAction, CronArguments, CronResult, cron};
pub use service::{JobAnswer, JobFields, JobInfo, JobRun, JobSchedule, JobService, JobTask, MissedTimes};
