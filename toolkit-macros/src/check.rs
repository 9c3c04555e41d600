//! Every rule that an annotation can violate, and the store that collects the violations, so that all mistakes are
//! reported at once.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote};
use std::fmt::Display;
use syn::Error;

macro_rules! checks {
    ($($name:ident,)*) => {
        /// A rule. A test checks that each is violated by at least one compile-fail case.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub(crate) enum Check { $($name,)* }

        #[cfg(test)]
        impl Check {
            pub(crate) const ALL: &[Self] = &[$(Self::$name,)*];

            /// Returns true if the compiler reports the violation, through checks in the expansion.
            pub(crate) fn is_left_to_the_compiler(self) -> bool {
                matches!(self, Self::ConstantName
                    | Self::RangeType | Self::LengthType | Self::PatternType | Self::DurationLiteral
                    | Self::VariantLiteral | Self::MapKey | Self::WholeShape)
            }
        }
    };
}

checks! {
    // The attribute's form.
    Syntax,
    UnknownKey,
    DuplicateKey,
    WrongForm,
    WrongValue,
    StrayLiteral,
    // The tool's keys.
    Name,
    Group,
    Permission,
    Channel,
    EmptyText,
    Duration,
    ZeroLimit,
    CratePath,
    Contradiction,
    AliasTwice,
    Description,
    DescriptionTwice,
    // The item that the attribute is on.
    NotAFunction,
    NoBody,
    TwoTools,
    OtherMacro,
    Receiver,
    SelfType,
    Generics,
    Unsafe,
    Abi,
    Variadic,
    Constness,
    ReturnImpl,
    ReturnBorrow,
    ReturnResult,
    // The function's body.
    AskAnswer,
    ContextCall,
    ConstructorArguments,
    GuardOverAwait,
    QuestionMark,
    OutputResult,
    ServiceChange,
    SpawnedContext,
    TextAsError,
    // Parameters.
    Pattern,
    ImplTrait,
    TraitObject,
    MutableReference,
    Reference,
    Lifetime,
    WideInteger,
    NeverArgument,
    TwoContexts,
    TwoConfigs,
    ContextByValue,
    Wrapper,
    AsksWithoutContext,
    TwoArgs,
    ArgsBeside,
    ArgsForm,
    ParameterCfg,
    ParameterAttribute,
    ArgOnService,
    ArgumentName,
    ArgumentTwice,
    // `#[arg]`.
    DefaultOnOption,
    DefaultType,
    DefaultRule,
    DefaultName,
    EmptyRange,
    RangeForm,
    Regex,
    // `#[toolkit::args]`.
    ArgsItem,
    SerdeTwice,
    SerdeWithoutEffect,
    SerdeWith,
    TaggedVariant,
    ArgOnVariant,
    // `#[toolkit::tools]`.
    ToolsItem,
    ToolsReceiver,
    // `link!`.
    Link,
    // `plugin!`.
    PluginId,
    // Parameters and results of tool factories and services.
    Taken,
    ServiceReturn,
    // Checks that only the compiler can make: the expansion triggers them.
    ConstantName,
    RangeType,
    LengthType,
    PatternType,
    DurationLiteral,
    VariantLiteral,
    MapKey,
    WholeShape,
}

/// The failed checks, in the order found.
#[derive(Default)]
pub(crate) struct Errors(Vec<(Check, Error)>);

impl Errors {
    /// Records a violated rule. The first line of `message` is the headline, at most 100 characters; the rest is the
    /// remedy.
    pub(crate) fn push(&mut self, check: Check, at: &impl ToTokens, message: impl Display) {
        self.add(check, Error::new_spanned(at, message));
    }

    pub(crate) fn push_span(&mut self, check: Check, at: Span, message: impl Display) {
        self.add(check, Error::new(at, message));
    }

    fn add(&mut self, check: Check, error: Error) {
        if !is_disabled(check) {
            self.0.push((check, error));
        }
    }

    pub(crate) fn push_syntax(&mut self, error: syn::Error) {
        for error in error {
            self.add(Check::Syntax, error);
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the number of recorded violations.
    pub(crate) fn count(&self) -> usize {
        self.0.len()
    }

    /// Returns true if a violation of the rule was recorded.
    pub(crate) fn has(&self, check: Check) -> bool {
        self.0.iter().any(|(found, _)| *found == check)
    }

    pub(crate) fn into_tokens(self) -> TokenStream {
        #[cfg(test)]
        tests::record(&self.0);
        let errors = self.0.into_iter().map(|(_, error)| error.into_compile_error());
        quote!(#(#errors)*)
    }
}

/// Returns false: checks are switched off only in tests.
#[cfg(not(test))]
pub(crate) fn is_disabled(_: Check) -> bool {
    false
}

#[cfg(test)]
pub(crate) use tests::is_disabled;

#[cfg(test)]
pub(crate) mod tests {
    use super::Check;
    use std::cell::{Cell, RefCell};
    use syn::Error;

    thread_local! {
        static DISABLED: Cell<Option<Check>> = const { Cell::new(None) };
        static FOUND: RefCell<Vec<(Check, String)>> = const { RefCell::new(Vec::new()) };
    }

    pub(crate) fn is_disabled(check: Check) -> bool {
        DISABLED.get() == Some(check)
    }

    pub(crate) fn record(errors: &[(Check, Error)]) {
        FOUND.with_borrow_mut(|found| {
            found.extend(errors.iter().map(|(check, error)| (*check, error.to_string())));
        });
    }

    /// Runs the macro with one check switched off; returns the violations that the others found.
    pub(crate) fn found(disabled: Option<Check>, expand: impl FnOnce()) -> Vec<(Check, String)> {
        DISABLED.set(disabled);
        FOUND.take();
        expand();
        DISABLED.set(None);
        FOUND.take()
    }
}
