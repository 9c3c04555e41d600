//! The reasons why a gateway cannot start.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

use toolkit::config::ConfigError;
use toolkit_host::HostError;

use crate::client::ClientError;
use crate::people::PeopleError;
use crate::store::StoreError;

/// The reason why a gateway cannot start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GatewayError {
    /// There is nowhere to keep anything.
    #[error("there is no data directory: the user has no home directory; set `TOOLKIT_DATA_DIR`")]
    NoDataDirectory,
    /// The configuration cannot be used.
    #[error(transparent)]
    Configuration(ConfigError),
    /// The address would be reached from other machines without encryption.
    #[error(
        "the address {address} is reached from other machines, and tokens and messages would cross the network in plain text: set \
         `gateway.tls`, or use an address of this machine, such as 127.0.0.1, with a proxy that does TLS in front of it. If such a proxy runs on \
         another machine, set `gateway.behindProxy` to true"
    )]
    Open {
        /// The address.
        address: SocketAddr,
    },
    /// TLS cannot be used.
    #[error("{reason}; see `gateway.tls` in the configuration")]
    Tls {
        /// The reason, with the file.
        reason: io::Error,
    },
    /// A file of TLS is named by a path from nowhere.
    #[error("`gateway.tls` names {}, which is no absolute path; write it from the root", path.display())]
    RelativeTls {
        /// The path.
        path: PathBuf,
    },
    /// The address cannot be listened on.
    #[error(
        "cannot listen on {address}: {reason}; choose another with `--address`, or `gateway.address` in the configuration"
    )]
    Address {
        /// The address.
        address: SocketAddr,
        /// Why.
        reason: io::Error,
    },
    /// The file that tells clients the address cannot be written.
    #[error("cannot write the file with the address, in the data directory: {0}")]
    AddressFile(io::Error),
    /// A budget is for an agent that is not there, and would limit nothing.
    #[error(
        "`budgets.agents.{agent}` is the budget of an agent that is not in the configuration; write the id of one that is: {}", agents.join(", ")
    )]
    BudgetOfUnknownAgent {
        /// The agent.
        agent: String,
        /// The agents of the configuration.
        agents: Vec<String>,
    },
    /// The settings of a channel are wrong.
    #[error("{0}")]
    Channel(String),
    /// The people of the configuration are wrong.
    #[error("{0}")]
    ConfiguredPeople(String),
    /// The store cannot be used.
    #[error(transparent)]
    Store(StoreError),
    /// The tokens cannot be used.
    #[error(transparent)]
    People(#[from] PeopleError),
    /// The key that nodes know cannot be used.
    #[error(transparent)]
    Key(toolkit_node::KeyError),
    /// A client of it cannot be made.
    #[error(transparent)]
    Client(ClientError),
    /// The host cannot start.
    #[error(transparent)]
    Host(HostError),
}

impl GatewayError {
    /// Returns true if the configuration is wrong: another start will fail in the same way until a person has changed it.
    pub fn is_of_configuration(&self) -> bool {
        matches!(
            self,
            Self::NoDataDirectory
                | Self::Configuration(_)
                | Self::BudgetOfUnknownAgent { .. }
                | Self::Channel(_)
                | Self::Open { .. }
                | Self::Tls { .. }
                | Self::RelativeTls { .. }
                | Self::Host(_)
        )
    }
}

impl From<HostError> for GatewayError {
    fn from(error: HostError) -> Self {
        match error {
            HostError::Configuration(error) => Self::Configuration(error),
            error => Self::Host(error),
        }
    }
}
