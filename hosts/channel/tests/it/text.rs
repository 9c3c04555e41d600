//! Answers as parts.

mod cases;
mod cuts;
mod families;
mod hostile;
mod html;
mod laws;
mod limits;
mod property;
mod reading;
