//! The mouse: clicking, hovering, dragging, scrolling.

use super::{Call, Done};
use crate::browser::arguments::{BrowserButton, BrowserDirection};
use crate::browser::element::{Needs, Place, find, ready};
use crate::browser::input::{self, Button};
use std::time::Duration;
use toolkit::prelude::*;

pub(super) async fn click(call: &Call<'_>) -> Result<Done, ToolError> {
    let locator = call.args.needed_locator()?;
    let (_, place) = ready(&call.page, &locator, Needs::POINTER, &call.deadline).await?;
    let button = match call.args.button {
        BrowserButton::Left => Button::Left,
        BrowserButton::Middle => Button::Middle,
        BrowserButton::Right => Button::Right,
    };
    input::click(&call.page, &place, button, if call.args.double { 2 } else { 1 }).await?;
    Ok(Done::acted(format!("Clicked {}.", locator.shown())))
}

pub(super) async fn hover(call: &Call<'_>) -> Result<Done, ToolError> {
    let locator = call.args.needed_locator()?;
    let (_, place) = ready(&call.page, &locator, Needs::HOVER, &call.deadline).await?;
    input::hover(&call.page, &place).await?;
    Ok(Done::acted(format!("The mouse is over {}.", locator.shown())))
}

pub(super) async fn drag(call: &Call<'_>) -> Result<Done, ToolError> {
    let (from, to) = (call.args.needed_locator()?, call.args.destination()?);
    let (_, end) = ready(&call.page, &to, Needs::SHOWN, &call.deadline).await?;
    let (_, start) = ready(&call.page, &from, Needs::HOVER, &call.deadline).await?;
    // Scrolling to one may have moved the other.
    let end = match ready(&call.page, &to, Needs::SHOWN, &call.deadline).await {
        Ok((_, end)) => end,
        Err(_) => end,
    };
    input::drag(&call.page, &start, &end).await?;
    Ok(Done::acted(format!("Dragged {} to {}.", from.shown(), to.shown())))
}

pub(super) async fn scroll(call: &Call<'_>) -> Result<Done, ToolError> {
    let (width, height) = (f64::from(call.settings.viewport_width), f64::from(call.settings.viewport_height));
    let (direction, screen) = match call.args.direction {
        BrowserDirection::Down => ((0.0, 1.0), height),
        BrowserDirection::Up => ((0.0, -1.0), height),
        BrowserDirection::Right => ((1.0, 0.0), width),
        BrowserDirection::Left => ((-1.0, 0.0), width),
    };
    let pixels = call.args.amount.map_or(screen * 0.8, f64::from);
    let (across, down) = (direction.0 * pixels, direction.1 * pixels);
    let Some(locator) = call.args.locator()? else {
        // In the middle: what is there is scrolled, be it the page or a part of it.
        let middle = Place { x: width / 2.0, y: height / 2.0, ..Place::default() };
        input::wheel(&call.page, &middle, across, down).await?;
        return Ok(Done::acted("Scrolled."));
    };
    let element = find(&call.page, &locator, &call.deadline).await?;
    if call.args.amount.is_none() {
        call.page.run(&element.on(), "reveal", &[], Duration::ZERO).await?;
        return Ok(Done::acted(format!("Scrolled {} into view.", locator.shown())));
    }
    let now = call.page.run(&element.on(), "scroll", &[across.into(), down.into()], Duration::ZERO).await?;
    let said = format!("Scrolled {}: it is at {} of {} pixels.", locator.shown(), now["top"], now["most"]);
    Ok(Done::acted(said))
}
