//! Tests of a node with a gateway by hand.
#![allow(clippy::unwrap_used)]

mod gateway;
mod pairing;
mod serving;
mod tls;
