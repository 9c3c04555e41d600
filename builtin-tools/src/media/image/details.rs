//! The structured output of `image`.

/// The facts about pictures that were made or described.
#[toolkit::args]
#[derive(Debug, Clone, PartialEq, Eq)]
#[serde(untagged)]
pub enum ImageDetails {
    /// Pictures that were made or changed.
    Made(MadePictures),
    /// A picture that was described.
    Described(DescribedPicture),
}

/// Pictures that an endpoint made.
#[toolkit::args]
#[derive(Debug, Clone, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct MadePictures {
    /// The pictures.
    pub images: Vec<MadePicture>,
    /// Name of the endpoint.
    pub provider: String,
}

/// A picture that an endpoint made.
#[toolkit::args]
#[derive(Debug, Clone, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct MadePicture {
    /// The path of the file, relative to the workspace if the file is in it.
    pub path: String,
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    /// Size of the PNG file in bytes.
    pub bytes: usize,
}

/// A picture that a model described.
#[toolkit::args]
#[derive(Debug, Clone, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct DescribedPicture {
    /// The path or URL of the picture.
    pub image: String,
    /// Width in pixels, as it was sent.
    pub width: u32,
    /// Height in pixels, as it was sent.
    pub height: u32,
    /// Name of the endpoint.
    pub provider: String,
}
