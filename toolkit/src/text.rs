//! Text that is shown to a person or a model: escapes, redaction, names, and an estimate of its tokens.

#[doc(hidden)]
#[cfg(feature = "runtime")]
pub use crate::line_buffer::{LineBuffer, Piece};
#[cfg(feature = "runtime")]
pub use crate::tokens::estimated_tokens;
#[doc(hidden)]
pub use toolkit_core::ask::{PromptLine, quoted_whole};
pub use toolkit_core::{
    MAX_BLOCK_CHARS, MAX_BLOCK_LINES, MAX_LINE_CHARS, MAX_NAME_BYTES, escape_block, escape_hidden,
    escape_line, escape_terminal, is_valid_name, nearest,
};
#[doc(hidden)]
#[cfg(feature = "runtime")]
pub use toolkit_core::{MAX_OF_LONG_PREFIX, in_letters_of_names};
#[cfg(feature = "runtime")]
pub use toolkit_core::{Redactor, server_prefixes};
