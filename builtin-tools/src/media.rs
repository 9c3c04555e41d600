//! Pictures and speech, by a program of the system or by configured endpoints.
//!
//! An endpoint has the HTTP API of OpenAI. A request that may have been charged is never sent again: if it fails without an answer that
//! refuses it, the call ends with an error that says so.

mod endpoint;
mod form;
mod image;
mod kept;
mod marker;
mod meter;
mod reader;
mod transcribe;
mod tts;

pub use self::image::{
    DescribedPicture, ImageAction, ImageDetails, ImageRequest, ImageSize, MadePicture, MadePictures, image,
};
pub use reader::{Describing, PictureQuestion, PictureReader};
pub use transcribe::{Transcript, transcribe};
pub use tts::{SpeechFormat, SpokenText, tts};
