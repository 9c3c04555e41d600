//! Names under which a program may look for a dialect: each is a compile error that says what to write. Nothing has the traits.

use super::Dialect;

#[diagnostic::on_unimplemented(
    message = "there is no such dialect",
    label = "write `Dialect::OpenAiChat` for Chat Completions, or `Dialect::OpenAiResponses`",
    note = "with strict functions: `OpenAiChatStrict`, `OpenAiResponsesStrict`"
)]
pub trait IsOpenAi<'a> {}

#[doc(hidden)]
#[expect(non_snake_case, reason = "as variants of the enum")]
impl<'a> Dialect
where
    Self: IsOpenAi<'a>,
{
    pub fn OpenAI() {}
    pub fn OpenAi() {}
    pub fn Openai() {}
    pub fn OpenAIChat() {}
    pub fn OpenAIResponses() {}
    pub fn OpenAiCompatible() {}
    pub fn ChatCompletions() {}
    pub fn Responses() {}
    pub fn Ollama() {}
}

#[diagnostic::on_unimplemented(message = "there is no such dialect", label = "write `Dialect::Anthropic`")]
pub trait IsAnthropic<'a> {}

#[doc(hidden)]
#[expect(non_snake_case, reason = "as variants of the enum")]
impl<'a> Dialect
where
    Self: IsAnthropic<'a>,
{
    pub fn Claude() {}
    pub fn Messages() {}
}

#[diagnostic::on_unimplemented(message = "there is no such dialect", label = "write `Dialect::Gemini`")]
pub trait IsGemini<'a> {}

#[doc(hidden)]
#[expect(non_snake_case, reason = "as variants of the enum")]
impl<'a> Dialect
where
    Self: IsGemini<'a>,
{
    pub fn Google() {}
    pub fn Vertex() {}
    pub fn VertexAi() {}
}

/// The dialect of a provider: a [`Dialect`], and nothing else.
// A trait of its own, so that the name of a provider is one compile error that says what to write.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "a provider's form of definitions is named by a `Dialect`",
    label = "not a `Dialect`",
    note = "write `Dialect::OpenAiChat` or `Dialect::OpenAiResponses`, `Dialect::Anthropic`, `Dialect::Gemini`",
    note = "of a name that is known at run time: `name.parse::<Dialect>()?`"
)]
pub trait AsDialect {
    #[doc(hidden)]
    fn into_dialect(self) -> Dialect;
}

#[diagnostic::do_not_recommend]
impl AsDialect for Dialect {
    fn into_dialect(self) -> Dialect {
        self
    }
}
