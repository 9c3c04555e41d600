//! One way of calling a tool, and a batch of such calls.

use std::hint::black_box;

use serde_json::Value;
use tokio::runtime::Runtime;

/// A framework with the tool in it.
///
/// Data that a host has before the call is made before the clock starts: the arguments, and the call they
/// belong to where the framework has such a type. Whatever else a call needs is made by the call.
pub trait Contender {
    /// A call with arguments that are parsed already.
    type Parsed;
    /// A call with the arguments' text.
    type Text;
    /// The framework's answer.
    type Answer;

    /// Makes a call out of parsed arguments.
    fn parsed(&self, arguments: Value) -> Self::Parsed;
    /// Makes a call out of the arguments' text.
    fn text(&self, arguments: &str) -> Self::Text;
    /// Calls the tool.
    fn call_parsed(&self, call: Self::Parsed) -> impl Future<Output = Self::Answer>;
    /// Calls the tool.
    fn call_text(&self, call: Self::Text) -> impl Future<Output = Self::Answer>;
    /// Waits until nothing of the calls before is still under way.
    fn settle(&self) {}
    /// The tool's output.
    ///
    /// # Panics
    ///
    /// When the framework answers with an error.
    fn returned(answer: Self::Answer) -> String;
}

/// How the arguments come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// As a JSON value.
    Parsed,
    /// As JSON text.
    Text,
}

impl Form {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Parsed, Self::Text];

    /// The name of a series of such calls.
    pub fn name(self) -> &'static str {
        match self {
            Self::Parsed => "parsed",
            Self::Text => "text",
        }
    }
}

/// Any [`Contender`].
pub trait Subject {
    /// Returns the tool's output for [`ARGUMENTS`](crate::ARGUMENTS).
    fn returns(&self, runtime: &Runtime, form: Form) -> String;

    /// Makes that many calls; the function returned runs them, one after the other, and drops what they answer.
    fn prepare<'a>(&'a self, runtime: &'a Runtime, form: Form, calls: usize) -> Box<dyn FnOnce() + 'a>;
}

impl<C: Contender> Subject for C {
    fn returns(&self, runtime: &Runtime, form: Form) -> String {
        C::returned(runtime.block_on(async {
            match form {
                Form::Parsed => self.call_parsed(self.parsed(arguments())).await,
                Form::Text => self.call_text(self.text(crate::ARGUMENTS)).await,
            }
        }))
    }

    fn prepare<'a>(&'a self, runtime: &'a Runtime, form: Form, calls: usize) -> Box<dyn FnOnce() + 'a> {
        self.settle();
        match form {
            Form::Parsed => {
                let calls: Vec<_> = (0..calls).map(|_| self.parsed(arguments())).collect();
                Box::new(move || {
                    runtime.block_on(async {
                        for call in calls {
                            black_box(self.call_parsed(black_box(call)).await);
                        }
                    });
                })
            }
            Form::Text => {
                let calls: Vec<_> = (0..calls).map(|_| self.text(crate::ARGUMENTS)).collect();
                Box::new(move || {
                    runtime.block_on(async {
                        for call in calls {
                            black_box(self.call_text(black_box(call)).await);
                        }
                    });
                })
            }
        }
    }
}

fn arguments() -> Value {
    serde_json::from_str(crate::ARGUMENTS).expect("the arguments are JSON")
}
