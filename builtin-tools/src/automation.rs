//! A host that runs all the time: `cron`, over its service [`JobService`], and `gateway`, over [`GatewayService`].

mod cron;
mod gateway;
mod service;

pub use cron::{CronAction, CronArguments, CronResult, cron};
pub use gateway::{GatewayAction, GatewayResult, gateway};
pub use service::{
    GatewayService, GatewayStatus, JobAnswer, JobFields, JobInfo, JobRun, JobSchedule, JobService, JobTask,
    MissedTimes,
};
