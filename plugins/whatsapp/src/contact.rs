//! `whatsapp_send_contact`.

use crate::graph::{CloudApi, Content, SentMessageId};
use crate::recipient::Recipient;
use toolkit::ToolErrorKind;
use toolkit::prelude::*;

/// A contact card.
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
    /// The contact's employer.
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

/// A contact's name. Give at least one part besides the whole name; otherwise the whole name is used as the first name.
#[toolkit::args]
struct ContactName {
    /// The whole name, as normally written.
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
    /// The name between given and family name.
    #[arg(length(1..=256))]
    #[serde(skip_serializing_if = "Option::is_none")]
    middle_name: Option<String>,
    /// The prefix, such as Dr.
    #[arg(length(1..=256))]
    #[serde(skip_serializing_if = "Option::is_none")]
    prefix: Option<String>,
    /// The suffix, such as Esq.
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
    /// The kind: CELL, HOME, WORK.
    #[arg(length(1..=64))]
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    kind: Option<String>,
    /// The contact's WhatsApp number, without plus: adds a button to message them.
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
    /// The kind: HOME, WORK.
    #[arg(length(1..=64))]
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    kind: Option<String>,
}

/// A contact's employer.
#[toolkit::args]
struct Organisation {
    /// The employer.
    #[arg(length(1..=256))]
    #[serde(skip_serializing_if = "Option::is_none")]
    company: Option<String>,
    /// The department, such as Sales.
    #[arg(length(1..=256))]
    #[serde(skip_serializing_if = "Option::is_none")]
    department: Option<String>,
    /// The job title.
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
    /// The country's two-letter code.
    #[arg(pattern = "^[A-Za-z]{2}$", example = "US")]
    #[serde(skip_serializing_if = "Option::is_none")]
    country_code: Option<String>,
    /// The kind: HOME, WORK.
    #[arg(length(1..=64))]
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    kind: Option<String>,
}

/// A website of a contact.
#[toolkit::args]
struct Website {
    /// The website's address.
    #[arg(length(1..=2_000), pattern = "^https?://\\S+$")]
    url: String,
    /// The kind: HOME, WORK.
    #[arg(length(1..=64))]
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    kind: Option<String>,
}

/// Sends one or more contact cards to a WhatsApp conversation. Returns the message's id.
#[tool(group = "whatsapp", title = "Send a contact", permission = "message", always_asks, open_world)]
async fn whatsapp_send_contact(
    ctx: &ToolContext,
    api: State<CloudApi>,
    /// The contacts; send few.
    #[arg(length(1..=257))]
    mut contacts: Vec<Contact>,
    /// The id of the message to reply to: `wamid.…`.
    #[arg(length(1..=256))]
    reply_to: Option<&str>,
    /// The recipient's phone number with country code. Default: this conversation.
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
