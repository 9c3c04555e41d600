//! The gateway that a subcommand talks to: the one that runs, or else its store, which this process opens for the time of the command.

use crate::exit::Stop;
use crate::runtime;
use crate::subcommand::Start;
use serde_json::Value;
use std::path::Path;
use tokio::runtime::Runtime;
use toolkit_gateway::client::{ClientError, GatewayClient, Method};
use toolkit_gateway::{StandIn, StoreError};

/// A gateway that a subcommand talks to.
pub(crate) struct Reached {
    pub(crate) runtime: Runtime,
    pub(crate) client: GatewayClient,
    /// The store, if no gateway runs.
    stand_in: Option<StandIn>,
}

/// Returns the gateway that runs with the data directory, or else its store behind the same interface.
pub(crate) fn reach(start: &Start<'_>) -> Result<Reached, Stop> {
    let data_dir = data_dir(start)?;
    let runtime = runtime::new()?;
    match GatewayClient::of_data_dir(data_dir) {
        Ok(client) => Ok(Reached { runtime, client, stand_in: None }),
        Err(ClientError::NotRunning { .. }) => {
            let opened = runtime.block_on(StandIn::open(start.load.clone()));
            let (stand_in, client) = opened.map_err(|error| Stop::cannot_start(error.to_string()))?;
            Ok(Reached { runtime, client, stand_in: Some(stand_in) })
        }
        Err(error) => Err(Stop::failed(error.to_string())),
    }
}

/// Returns the gateway that runs with the data directory.
pub(crate) fn reach_running(start: &Start<'_>) -> Result<Reached, Stop> {
    let client = GatewayClient::of_data_dir(data_dir(start)?).map_err(failed)?;
    Ok(Reached { runtime: runtime::new()?, client, stand_in: None })
}

pub(super) fn data_dir<'a>(start: &'a Start<'_>) -> Result<&'a Path, Stop> {
    let missing = "there is no data directory: the user has no home directory; set `TOOLKIT_DATA_DIR`";
    start.load.data_dir_path().ok_or_else(|| Stop::cannot_start(missing))
}

impl Reached {
    /// True if a gateway runs.
    pub(crate) fn is_running(&self) -> bool {
        self.stand_in.is_none()
    }

    pub(crate) fn get(&self, path: &str) -> Result<Value, Stop> {
        self.runtime.block_on(self.client.get(path)).map_err(failed)
    }

    pub(crate) fn post(&self, path: &str, body: &Value) -> Result<Value, Stop> {
        self.runtime.block_on(self.client.post(path, body)).map_err(failed)
    }

    pub(crate) fn patch(&self, path: &str, body: &Value) -> Result<Value, Stop> {
        self.runtime.block_on(self.client.send(Method::PATCH, path, Some(body))).map_err(failed)
    }

    pub(crate) fn delete(&self, path: &str) -> Result<Value, Stop> {
        self.runtime.block_on(self.client.send(Method::DELETE, path, None)).map_err(failed)
    }
}

impl Drop for Reached {
    fn drop(&mut self) {
        if let Some(stand_in) = self.stand_in.take() {
            self.runtime.block_on(stand_in.close());
        }
    }
}

#[expect(clippy::needless_pass_by_value, reason = "an error of `map_err`")]
pub(crate) fn failed(error: ClientError) -> Stop {
    Stop::failed(error.to_string())
}

pub(super) fn store_failed(error: &StoreError) -> Stop {
    Stop::failed(error.to_string())
}
