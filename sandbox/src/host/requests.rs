//! Requests of a job that may need the spawner: it starts the job's supervisor, and is woken if that does not answer.

use std::io;
use std::os::fd::{AsFd as _, BorrowedFd};
use std::sync::Arc;
use std::time::Duration;

use super::control::{Control, PATIENCE};
use super::spawner;
use super::thread::Heard;
use crate::wire::{Run, Writer};
use crate::{inside, socket};

impl Control {
    /// Sends a command to its own supervisor. The descriptors are sent with the message that describes it.
    pub(crate) fn start(run: &Run, descriptors: &[BorrowedFd<'_>]) -> io::Result<Arc<Self>> {
        let message = run.write();
        let hearing = super::hearing()?;
        let (ours, theirs) = socket::stream()?;
        let number = hearing.number();
        let sent = socket::send(&ours, &message, descriptors, false)?;
        let control = Arc::new(Self::new(number, ours));
        spawner::job(number, inside::namespaces(run), &control, theirs.as_fd())?;
        drop(theirs);
        hearing.add(number, Arc::clone(&control) as Arc<dyn Heard>)?;
        if sent < message.len() {
            control.say(&message[sent..]);
        }
        Ok(control)
    }

    /// Sends a request to the supervisor, which itself may take `wait`. `None` if the supervisor is gone, or does not
    /// answer.
    pub(crate) async fn ask(
        &self,
        kind: u8,
        wait: Duration,
        more: impl FnOnce(Writer) -> Writer,
    ) -> Option<Vec<u8>> {
        let mut answer = self.request(kind, more)?;
        for wait in [wait.saturating_add(PATIENCE), PATIENCE] {
            match tokio::time::timeout(wait, &mut answer).await {
                Ok(answer) => return answer.ok(),
                Err(_) => spawner::rouse(),
            }
        }
        None
    }
}
