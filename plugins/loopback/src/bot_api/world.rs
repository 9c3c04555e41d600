//! Users and chats.

use serde_json::{Value, json};

/// A user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct User {
    /// The id, which is positive.
    pub id: i64,
    /// The first name.
    pub first_name: String,
    /// The user name, without `@`.
    pub username: Option<String>,
    /// True for a bot.
    pub is_bot: bool,
}

impl User {
    /// A person without a user name.
    pub fn new(id: i64, first_name: &str) -> Self {
        Self { id, first_name: first_name.to_owned(), username: None, is_bot: false }
    }

    pub(super) fn json(&self) -> Value {
        let mut user = json!({ "id": self.id, "is_bot": self.is_bot, "first_name": self.first_name });
        if let Some(username) = &self.username {
            user["username"] = username.as_str().into();
        }
        user
    }
}

/// A chat.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chat {
    /// The id: that of the user for a direct chat, negative for others.
    pub id: i64,
    /// The type: `private`, `group`, `supergroup` or `channel`.
    pub kind: &'static str,
    /// The name of the user, or the title.
    pub title: String,
}

impl Chat {
    /// The direct chat with a user.
    pub fn direct(user: &User) -> Self {
        Self { id: user.id, kind: "private", title: user.first_name.clone() }
    }

    /// A supergroup.
    pub fn supergroup(id: i64, title: &str) -> Self {
        Self { id, kind: "supergroup", title: title.to_owned() }
    }

    /// A basic group, which can become a supergroup.
    pub fn group(id: i64, title: &str) -> Self {
        Self { id, kind: "group", title: title.to_owned() }
    }

    /// A channel.
    pub fn channel(id: i64, title: &str) -> Self {
        Self { id, kind: "channel", title: title.to_owned() }
    }

    pub(super) fn json(&self) -> Value {
        let name = if self.kind == "private" { "first_name" } else { "title" };
        json!({ "id": self.id, "type": self.kind, name: self.title })
    }
}
