//! Rejections of axum's extractors as problems.

use crate::problem::Problem;
use axum::extract::rejection::{
    BytesRejection, ExtensionRejection, JsonRejection, PathRejection, StringRejection,
};

/// Converts rejections, with their status and text.
macro_rules! rejections {
    ($($rejection:ident)+) => {
        $(
            impl From<$rejection> for Problem {
                /// Returns a problem with the status and the text of the rejection.
                fn from(rejection: $rejection) -> Self {
                    Self::new(rejection.status(), rejection.body_text())
                }
            }
        )+
    };
}

rejections!(BytesRejection ExtensionRejection JsonRejection PathRejection StringRejection);
