//! Messages of a link in both directions: each has a number, and is kept until the other end confirms it.

use std::cmp::Ordering;
use std::collections::VecDeque;

/// Messages that were received after which a confirmation is sent, if no message carries it before.
const CONFIRM_AFTER: u64 = 16;

/// The messages of one link.
#[derive(Debug, Default)]
pub(super) struct Queue {
    /// The number of the last message that was received.
    received: u64,
    /// The number up to which the other end knows that they were received.
    confirmed: u64,
    /// The number of the last message that is to be sent.
    last: u64,
    /// The number of the last message that was given to the present socket.
    given: u64,
    /// Messages that the other end has not confirmed.
    kept: VecDeque<(u64, String)>,
    /// The bytes of these.
    bytes: usize,
}

/// The next thing to send.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Sent {
    /// A message, with its number, and the number of the last one that was received.
    Message(u64, u64, String),
    /// A confirmation alone.
    Confirmation(u64),
}

/// The place of a message, by its number.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Arrival {
    /// The next one.
    New,
    /// One that was received before.
    Again,
    /// One before it was lost.
    Gap {
        /// The number that would be the next.
        expected: u64,
    },
}

impl Queue {
    pub(super) fn received(&self) -> u64 {
        self.received
    }

    /// The bytes that wait for a confirmation.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(super) fn push(&mut self, message: String) {
        self.last += 1;
        self.bytes += message.len();
        self.kept.push_back((self.last, message));
    }

    /// Looks at the number of a message that arrives.
    pub(super) fn arrival(&self, number: u64) -> Arrival {
        let expected = self.received + 1;
        match number.cmp(&expected) {
            Ordering::Less => Arrival::Again,
            Ordering::Equal => Arrival::New,
            Ordering::Greater => Arrival::Gap { expected },
        }
    }

    /// Notes that the next message was taken.
    pub(super) fn take(&mut self) {
        self.received += 1;
    }

    /// Forgets what the other end has. Returns false for a number that was never sent.
    pub(super) fn confirm(&mut self, number: u64) -> bool {
        if number > self.last {
            return false;
        }
        while let Some((first, message)) = self.kept.front()
            && *first <= number
        {
            self.bytes -= message.len();
            self.kept.pop_front();
        }
        true
    }

    /// Begins again after the last message that the other end has. Returns false if that is none that was sent, or some after it are gone.
    pub(super) fn resume(&mut self, number: u64) -> bool {
        let first_kept = self.kept.front().map_or(self.last + 1, |(number, _)| *number);
        if number.saturating_add(1) < first_kept || !self.confirm(number) {
            return false;
        }
        self.given = number;
        self.confirmed = self.received;
        true
    }

    /// Returns what is sent next.
    pub(super) fn next(&mut self) -> Option<Sent> {
        // Their numbers follow one another.
        let next = self.kept.front().map(|(first, _)| (self.given + 1).saturating_sub(*first));
        let next = next.and_then(|place| self.kept.get(usize::try_from(place).ok()?));
        if let Some((number, message)) = next {
            self.given = *number;
            self.confirmed = self.received;
            return Some(Sent::Message(*number, self.received, message.clone()));
        }
        if self.received >= self.confirmed + CONFIRM_AFTER {
            self.confirmed = self.received;
            return Some(Sent::Confirmation(self.received));
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(number: u64, text: &str) -> Sent {
        Sent::Message(number, 0, text.to_owned())
    }

    #[test]
    fn a_message_is_sent_again_until_it_is_confirmed() {
        let mut queue = Queue::default();
        for text in ["a", "b", "c"] {
            queue.push(text.to_owned());
        }
        assert_eq!([queue.next(), queue.next()], [Some(message(1, "a")), Some(message(2, "b"))]);
        assert!(queue.resume(1), "the client has the first one alone");
        assert_eq!(
            [queue.next(), queue.next(), queue.next()],
            [Some(message(2, "b")), Some(message(3, "c")), None]
        );
        assert_eq!(queue.bytes(), 2);
        assert!(queue.confirm(3) && queue.bytes() == 0);
        assert!(!queue.resume(2), "the third one is gone");
        assert!(!queue.confirm(4) && !queue.resume(4), "there is no fourth one");
        assert!(queue.resume(3));
    }

    #[test]
    fn a_message_is_taken_once_and_in_order() {
        let mut queue = Queue::default();
        assert_eq!(queue.arrival(1), Arrival::New);
        queue.take();
        assert_eq!([queue.arrival(0), queue.arrival(1)], [Arrival::Again, Arrival::Again]);
        assert_eq!([queue.arrival(2), queue.arrival(3)], [Arrival::New, Arrival::Gap { expected: 2 }]);
    }

    #[test]
    fn received_messages_are_confirmed_when_no_message_is_sent() {
        let mut queue = Queue::default();
        for _ in 1..CONFIRM_AFTER {
            queue.take();
        }
        assert_eq!(queue.next(), None);
        queue.take();
        assert_eq!([queue.next(), queue.next()], [Some(Sent::Confirmation(CONFIRM_AFTER)), None]);
        queue.take();
        queue.push("a".to_owned());
        assert_eq!(queue.next(), Some(Sent::Message(1, CONFIRM_AFTER + 1, "a".to_owned())));
    }
}
