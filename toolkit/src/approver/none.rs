//! Nobody to ask.

use super::{Answering, Approver};
use crate::ask::{Answer, DeniedBy, PendingAsk};

/// Denies everything, since there is nobody to ask; what a toolkit has unless its host sets another.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoApprover;

impl Approver for NoApprover {
    fn ask<'a>(&'a self, _ask: &'a PendingAsk) -> Answering<'a> {
        let reason =
            "this program has no approver; its developer sets one with `Toolkit::builder().approver(..)`";
        Box::pin(std::future::ready(Some(Answer::denied_by(DeniedBy::NobodyThere, reason))))
    }
}
