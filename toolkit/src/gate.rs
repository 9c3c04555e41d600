//! The gate of a session: read-only calls run together, every other call runs alone, all in the order in which they
//! came.

use tokio::sync::{RwLock, RwLockReadGuard, RwLockWriteGuard};

/// A gate. Tokio's lock is fair: waiting calls are served in turn, so readers cannot starve a writer.
#[derive(Debug, Default)]
pub(crate) struct Gate(RwLock<()>);

/// The way in which a call passes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Passage {
    /// Together with other calls that do the same.
    Together,
    /// Without any other call.
    Alone,
}

/// The permission to run; released when it is dropped.
#[derive(Debug)]
pub(crate) enum Pass<'a> {
    Together { _guard: RwLockReadGuard<'a, ()> },
    Alone { _guard: RwLockWriteGuard<'a, ()> },
}

impl Gate {
    /// Passes if no other call conflicts and none is waiting.
    pub(crate) fn try_pass(&self, passage: Passage) -> Option<Pass<'_>> {
        match passage {
            Passage::Together => self.0.try_read().ok().map(|guard| Pass::Together { _guard: guard }),
            Passage::Alone => self.0.try_write().ok().map(|guard| Pass::Alone { _guard: guard }),
        }
    }

    /// Passes as soon as it is this call's turn.
    pub(crate) async fn pass(&self, passage: Passage) -> Pass<'_> {
        match passage {
            Passage::Together => Pass::Together { _guard: self.0.read().await },
            Passage::Alone => Pass::Alone { _guard: self.0.write().await },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    fn is_open(gate: &Gate, passage: Passage) -> bool {
        gate.try_pass(passage).is_some()
    }

    #[test]
    fn readers_go_together_and_others_alone() {
        let gate = Gate::default();
        let first = gate.try_pass(Passage::Together).unwrap();
        assert!(matches!(first, Pass::Together { .. }));
        assert!(is_open(&gate, Passage::Together));
        assert!(!is_open(&gate, Passage::Alone));
        drop(first);
        let alone = gate.try_pass(Passage::Alone).unwrap();
        assert!(matches!(alone, Pass::Alone { .. }));
        assert!(!is_open(&gate, Passage::Together));
        assert!(!is_open(&gate, Passage::Alone));
        drop(alone);
        assert!(is_open(&gate, Passage::Alone));
    }

    #[test]
    fn a_waiting_writer_is_not_overtaken() {
        let gate = Gate::default();
        let mut task = Context::from_waker(Waker::noop());
        let reader = gate.try_pass(Passage::Together).unwrap();
        let mut writer = pin!(gate.pass(Passage::Alone));
        assert!(writer.as_mut().poll(&mut task).is_pending());
        assert!(!is_open(&gate, Passage::Together), "a reader overtook the writer");
        let mut late = pin!(gate.pass(Passage::Together));
        assert!(late.as_mut().poll(&mut task).is_pending());
        drop(reader);
        assert!(late.as_mut().poll(&mut task).is_pending());
        let Poll::Ready(inside) = writer.as_mut().poll(&mut task) else { panic!("the writer still waits") };
        assert!(late.as_mut().poll(&mut task).is_pending());
        drop(inside);
        assert!(matches!(late.as_mut().poll(&mut task), Poll::Ready(Pass::Together { .. })));
    }
}
