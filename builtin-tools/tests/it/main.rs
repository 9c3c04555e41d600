//! Integration tests of this crate, in one program: each module is one subject.

mod apply_patch;
mod automation;
mod browser;
mod canvas;
mod commands;
mod config;
mod descriptors;
mod details;
mod edit;
mod edit_arguments;
mod edit_while_asked;
mod hard_links;
mod hosts;
mod in_place;
mod lint;
mod listing;
mod media;
mod own_paths;
mod patch_asked;
mod patch_faults;
mod patch_modes;
mod patch_taken_back;
mod reserved;
mod ripgrep;
mod unread;
mod web;
