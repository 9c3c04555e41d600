//! `whatsapp_send_contact`.

use crate::graph::{CloudApi, Content, SentMessageId};
use crate::recipient::Recipient;
use toolkit::ToolErrorKind;
use toolkit::prelude::*;

/// The card of a contact.
#[toolkit::args]
#[serde(rename_all = "snake_case")]
struct Contact {
    /// The contact's name.
    name: ContactName,
    /// Phone numbers.
    #[arg(default, length(..=20))]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    phones: Vec<PhoneNumber>,
    /// Email addresses.
    #[arg(default, length(..=20))]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    emails: Vec<Email>,
    /// Where the contact works.
    #[serde(skip_serializing_if = "Option::is_none")]
    org: Option<Organisation>,
    /// Postal addresses.
    #[arg(default, length(..=20))]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    addresses: Vec<Address>,
    /// Websites.
    #[arg(default, length(..=20))]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    urls: Vec<Website>,
    /// The birthday, as YYYY-MM-DD.
    #[arg(pattern = "^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])$", example = "1999-01-23")]
    #[serde(skip_serializing_if = "Option::is_none")]
    birthday: Option<String>,
}

/// A contact's name. At least one part stands beside the whole; where none is given, the whole counts as the first name.
#[toolkit::args]
struct ContactName {
    /// The whole name, as it is normally written.
    #[arg(length(1..=256), example = "Barbara J. Johnson")]
    formatted_name: String,
    /// The given name, such as Barbara.
    #[arg(length(1..=256))]
    #[serde(skip_serializing_if = "Option::is_none")]
    first_name: Option<String>,
    /// The family name.
    #[arg(length(1..=256))]
    #[serde(skip_serializing_if = "Option::is_none")]
    last_name: Option<String>,
    /// What stands between the two.
    #[arg(length(1..=256))]
    #[serde(skip_serializing_if = "Option::is_none")]
    middle_name: Option<String>,
    /// What stands before: Dr.
    #[arg(length(1..=256))]
    #[serde(skip_serializing_if = "Option::is_none")]
    prefix: Option<String>,
    /// What stands after: Esq.
    #[arg(length(1..=256))]
    #[serde(skip_serializing_if = "Option::is_none")]
    suffix: Option<String>,
}

/// A phone number of a contact.
#[toolkit::args]
struct PhoneNumber {
    /// The number.
    #[arg(length(1..=64), example = "+16505559999")]
    phone: String,
    /// What it is: CELL, HOME, WORK.
    #[arg(length(1..=64))]
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    kind: Option<String>,
    /// The contact on WhatsApp, a number without plus: then the card has a button to write to them.
    #[arg(pattern = "^[1-9][0-9]{6,14}$", example = "16505559999")]
    #[serde(skip_serializing_if = "Option::is_none")]
    wa_id: Option<String>,
}

/// An email address of a contact.
#[toolkit::args]
struct Email {
    /// The address.
    #[arg(length(3..=320), pattern = "^[^@\\s]+@[^@\\s]+$")]
    email: String,
    /// What it is: HOME, WORK.
    #[arg(length(1..=64))]
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    kind: Option<String>,
}

/// Where a contact works.
#[toolkit::args]
struct Organisation {
    /// Who employs the contact.
    #[arg(length(1..=256))]
    #[serde(skip_serializing_if = "Option::is_none")]
    company: Option<String>,
    /// The part of it, such as Sales.
    #[arg(length(1..=256))]
    #[serde(skip_serializing_if = "Option::is_none")]
    department: Option<String>,
    /// The contact's title there.
    #[arg(length(1..=256))]
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<String>,
}

/// A postal address of a contact.
#[toolkit::args]
struct Address {
    /// Street and number.
    #[arg(length(1..=256))]
    #[serde(skip_serializing_if = "Option::is_none")]
    street: Option<String>,
    /// City, town or village.
    #[arg(length(1..=256))]
    #[serde(skip_serializing_if = "Option::is_none")]
    city: Option<String>,
    /// The state's code.
    #[arg(length(1..=256))]
    #[serde(skip_serializing_if = "Option::is_none")]
    state: Option<String>,
    /// The postal code.
    #[arg(length(1..=64))]
    #[serde(skip_serializing_if = "Option::is_none")]
    zip: Option<String>,
    /// The country's name.
    #[arg(length(1..=256))]
    #[serde(skip_serializing_if = "Option::is_none")]
    country: Option<String>,
    /// The country's code of two letters.
    #[arg(pattern = "^[A-Za-z]{2}$", example = "US")]
    #[serde(skip_serializing_if = "Option::is_none")]
    country_code: Option<String>,
    /// What it is: HOME, WORK.
    #[arg(length(1..=64))]
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    kind: Option<String>,
}

/// A website of a contact.
#[toolkit::args]
struct Website {
    /// Its address.
    #[arg(length(1..=2_000), pattern = "^https?://\\S+$")]
    url: String,
    /// What it is: HOME, WORK.
    #[arg(length(1..=64))]
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    kind: Option<String>,
}

/// Sends the card of a contact, or several, to the conversation on WhatsApp. Returns the id of the message.
#[tool(group = "whatsapp", title = "Send a contact", permission = "message", always_asks, open_world)]
async fn whatsapp_send_contact(
    ctx: &ToolContext,
    api: State<CloudApi>,
    /// The contacts; few are read rather than many.
    #[arg(length(1..=257))]
    mut contacts: Vec<Contact>,
    /// The message that it answers, by its id: `wamid.…`.
    #[arg(length(1..=256))]
    reply_to: Option<&str>,
    /// The person's phone number with the country's code; this conversation by default.
    #[arg(pattern = "^\\+?[1-9][0-9]{6,14}$", example = "+16505551234")]
    to: Option<&str>,
) -> Result<Json<SentMessageId>, ToolError> {
    for (place, contact) in contacts.iter_mut().enumerate() {
        contact.complete().map_err(|message| {
            ToolError::new(ToolErrorKind::InvalidArguments, format!("`contacts[{place}]`{message}"))
        })?;
    }
    let to = Recipient::of(ctx, to)?;
    let what = if contacts.len() == 1 { "Send a contact to" } else { "Send contacts to" };
    let cards: Vec<String> = contacts.iter().map(Contact::summary).collect();
    ctx.ask(to.ask(ctx, what).with_text("contacts", cards.join("\n"))).await?;
    let sent = api.send(&to, reply_to, Content::Contacts(&serde_json::to_value(&contacts)?)).await?;
    ctx.set_title(format!("{} {to}", what.replace("Send", "Sent")));
    Ok(Json(sent))
}

impl Contact {
    /// Checks requirements that the schema does not express, and adds the part of the name that WhatsApp requires.
    fn complete(&mut self) -> Result<(), String> {
        let name = &mut self.name;
        if name.formatted_name.trim().is_empty() {
            return Err(".name.formatted_name is blank".to_owned());
        }
        let parts = [&name.first_name, &name.last_name, &name.middle_name, &name.prefix, &name.suffix];
        if parts.into_iter().all(Option::is_none) {
            name.first_name = Some(name.formatted_name.clone());
        }
        match &self.birthday {
            Some(birthday) if !is_date(birthday) => {
                Err(format!(".birthday is no day of any calendar: {birthday}"))
            }
            _ => Ok(()),
        }
    }

    /// Returns the summary that the user sees before the contact is sent.
    fn summary(&self) -> String {
        let phones = self.phones.iter().map(|phone| phone.phone.as_str());
        let emails = self.emails.iter().map(|email| email.email.as_str());
        let rest: Vec<&str> = phones.chain(emails).collect();
        let mut summary = self.name.formatted_name.clone();
        if !rest.is_empty() {
            summary.push_str(": ");
            summary.push_str(&rest.join(", "));
        }
        summary
    }
}

/// Returns true if the month of a well-formed date has such a day.
fn is_date(text: &str) -> bool {
    let mut numbers = text.split('-').map(|part| part.parse::<u32>().unwrap_or_default());
    let [year, month, day] = [(); 3].map(|()| numbers.next().unwrap_or_default());
    let is_leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let last = match month {
        2 if is_leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    };
    year > 0 && day <= last
}
