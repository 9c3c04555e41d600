//! A node from its pairing to its end: it connects again whenever the connection drops.

use std::path::PathBuf;
use std::time::Duration;

use ring::rand::{SecureRandom as _, SystemRandom};
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;
use toolkit::BuildError;

use crate::address::Address;
use crate::directory::{DirectoryError, NodeDirectory, Pin};
use crate::handshake::check_name;
use crate::session::{self, Answer, Connecting, SessionError};
use crate::tools::Device;

/// The first and the longest time between two attempts to connect.
const FIRST_WAIT: Duration = Duration::from_secs(1);
const MAX_WAIT: Duration = Duration::from_mins(1);
/// A connection that lasted so long was a good one: the next attempt comes soon.
const GOOD: Duration = Duration::from_mins(1);

/// An error of a node.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NodeError {
    /// The directory cannot be used.
    #[error(transparent)]
    Directory(#[from] DirectoryError),
    /// The connection ended.
    #[error(transparent)]
    Session(#[from] SessionError),
    /// The name is none.
    #[error("{0}")]
    Name(String),
    /// The device is paired with a gateway that has another key.
    #[error(
        "this device is paired with a gateway whose key has the fingerprint {pinned}, and the one at this address has {found}: if that is the one you \
         mean, compare its fingerprint on its machine, remove {}, and pair again",
        file.display()
    )]
    OtherPin {
        /// The fingerprint of the pairing.
        pinned: String,
        /// The fingerprint of the gateway at the address.
        found: String,
        /// The file of the pairing.
        file: PathBuf,
    },
    /// The tools cannot be made.
    #[error("the tools of this device cannot be made: {0}")]
    Tools(#[from] BuildError),
    /// A thread of the program ended.
    #[error("the program ended a part of itself: {0}")]
    Ended(String),
}

impl NodeError {
    /// Returns true if another start will fail in the same way until a person has done something: the node was revoked, the key of the gateway
    /// is another one, or the device is not paired.
    pub fn is_final(&self) -> bool {
        match self {
            Self::Session(error) => error.is_final(),
            // The other process may end.
            Self::Directory(DirectoryError::InUse { .. }) => false,
            Self::Directory(_) | Self::Name(_) | Self::OtherPin { .. } => true,
            _ => false,
        }
    }
}

/// A node that has asked for approval.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Paired {
    /// The code by which the owner approves it, and the seconds for which it counts; `None` if it is approved already.
    pub code: Option<(String, u64)>,
    /// The fingerprint of the key of this node.
    pub fingerprint: String,
    /// The fingerprint of the key of the gateway.
    pub gateway_fingerprint: String,
}

/// Asks the gateway at an address for approval, and pins its key. The key of another gateway is not replaced.
///
/// # Errors
///
/// The gateway cannot be reached, takes no more nodes, or has another key than the pinned one, or the directory cannot be used.
pub async fn pair(
    directory: &NodeDirectory,
    address: Address,
    name: String,
    ca: Option<PathBuf>,
) -> Result<Paired, NodeError> {
    check_name(&name).map_err(NodeError::Name)?;
    let identity = blocking(directory, NodeDirectory::identity).await?;
    let connecting = Connecting { identity: &identity, address: &address, name: &name, ca: ca.as_deref() };
    let earlier = blocking(directory, |directory| match directory.pin() {
        Ok(pin) => Ok(Some(pin.gateway_key)),
        Err(DirectoryError::NotPaired) => Ok(None),
        Err(error) => Err(error),
    });
    let earlier = earlier.await?;
    let (gateway_key, answer) = match session::ask_for_code(connecting, earlier).await {
        Err(SessionError::OtherKey { found, expected }) => {
            let [_, file] = directory.private_files();
            return Err(NodeError::OtherPin { pinned: expected, found, file });
        }
        asked => asked?,
    };
    let pin = Pin { address, gateway_key, name, ca };
    blocking(directory, move |directory| directory.set_pin(&pin)).await?;
    Ok(Paired {
        code: match answer {
            Answer::Code { code, expires_seconds } => Some((code, expires_seconds)),
            Answer::Approved => None,
        },
        fingerprint: identity.public_key().fingerprint(),
        gateway_fingerprint: gateway_key.fingerprint(),
    })
}

/// A step of a node, for whoever watches it.
#[derive(Debug)]
#[non_exhaustive]
pub enum Step<'a> {
    /// It is connected, under this id.
    Connected(&'a str),
    /// The connection ended, or there was none; the next attempt comes after this time.
    Waiting(&'a SessionError, Duration),
}

/// Serves the gateway with which this device is paired until `stop` is cancelled. A connection that drops is made again.
///
/// # Errors
///
/// The device is not paired, was revoked, the key of the gateway is not the pinned one, or another process runs the node of this directory.
pub async fn run(
    directory: &NodeDirectory,
    device: Device,
    stop: CancellationToken,
    mut watch: impl FnMut(Step<'_>),
) -> Result<(), NodeError> {
    let pin = blocking(directory, NodeDirectory::pin).await?;
    let _lock = blocking(directory, NodeDirectory::lock).await?;
    let identity = blocking(directory, NodeDirectory::identity).await?;
    let connecting =
        Connecting { identity: &identity, address: &pin.address, name: &pin.name, ca: pin.ca.as_deref() };
    let mut wait = FIRST_WAIT;
    loop {
        // Anew each time: a screen or a bus may have come or gone.
        let of_toolkit = device.clone();
        let toolkit = tokio::task::spawn_blocking(move || of_toolkit.toolkit()).await;
        let toolkit = toolkit.map_err(|error| NodeError::Ended(error.to_string()))??;
        let begun = Instant::now();
        let serving =
            session::serve(connecting, pin.gateway_key, &toolkit, &stop, |id| watch(Step::Connected(id)));
        let ended = tokio::select! {
            ended = Box::pin(serving) => ended,
            // While it connects.
            () = async { stop.cancelled().await; sleep(Duration::from_secs(2)).await } => Ok(()),
        };
        let Err(error) = ended else { return Ok(()) };
        if stop.is_cancelled() {
            return Ok(());
        }
        if error.is_final() {
            return Err(error.into());
        }
        if begun.elapsed() >= GOOD {
            wait = FIRST_WAIT;
        }
        let pause = jittered(wait);
        watch(Step::Waiting(&error, pause));
        tokio::select! {
            () = sleep(pause) => {}
            () = stop.cancelled() => return Ok(()),
        }
        wait = MAX_WAIT.min(wait * 2);
    }
}

/// A time between half of a wait and the whole: nodes that lost one gateway do not come back at once.
fn jittered(wait: Duration) -> Duration {
    let mut byte = [0];
    let random = SystemRandom::new().fill(&mut byte).map_or(u8::MAX, |()| byte[0]);
    wait / 2 + wait / 2 * u32::from(random) / 255
}

async fn blocking<T: Send + 'static>(
    directory: &NodeDirectory,
    act: impl FnOnce(&NodeDirectory) -> Result<T, DirectoryError> + Send + 'static,
) -> Result<T, NodeError> {
    let directory = directory.clone();
    let acted = tokio::task::spawn_blocking(move || act(&directory)).await;
    Ok(acted.map_err(|error| NodeError::Ended(error.to_string()))??)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_is_between_its_half_and_the_whole() {
        for _ in 0..100 {
            let wait = jittered(MAX_WAIT);
            assert!((MAX_WAIT / 2..=MAX_WAIT).contains(&wait), "{wait:?}");
        }
    }
}
