//! Pictures and speech, by a program of the system or by endpoints that a person configured.
//!
//! An endpoint speaks as OpenAI's does. A request that it may have charged for is never sent again: where it failed without an
//! answer that refuses it, the call ends with an error that says so.

mod endpoint;
mod image;
mod kept;
mod transcribe;
mod tts;

pub use self::image::{ImageAction, ImageRequest, ImageSize, image};
pub use transcribe::transcribe;
pub use tts::{SpeechFormat, tts};
