//! Questions of calls to a person: approvers, answers, and the approvals that are kept.

pub use crate::approvals::{Approval, ApprovalError, ApprovalList, Approvals};
pub use crate::approver::{Answering, CallbackApprover, NoApprover, ScriptedApprover, TerminalApprover};
pub use crate::ask_record::RecordedAsk;
pub use crate::asks::{AnswerError, AskLimits, Asks};
pub use toolkit_core::{
    Access, AllowScope, Answer, AskAnswer, AskDetail, DeniedBy, Elicitation, Origin, PendingAsk, Question,
};
