//! The guide of channels, followed with a double of Telegram.

use super::*;
use toolkit_loopback::bot_api::{Chat, FakeBotApi, User};

/// A section of the guide.
fn section(name: &str) -> String {
    let guide = fs::read_to_string(toolkit_tests::repository().join("docs/channels.md")).unwrap();
    let (_, text) = guide.split_once(&format!("\n## {name}\n")).expect("the guide has the section");
    text.split_once("\n## ").map_or(text, |(text, _)| text).to_owned()
}

/// The first block of a section in a language.
fn block(section: &str, language: &str) -> String {
    let (_, text) = section.split_once(&format!("```{language}\n")).expect("a block");
    text.split_once("```").expect("its end").0.to_owned()
}

/// The commands of a section, as words, without the name of the program: those of lines, and those between backticks.
fn commands(section: &str) -> Vec<Vec<String>> {
    let lines = section.lines().map(str::trim).filter_map(|line| line.strip_prefix("toolkit "));
    let quoted = section.split('`').skip(1).step_by(2).filter_map(|text| text.strip_prefix("toolkit "));
    lines.chain(quoted).map(|command| command.split_whitespace().map(str::to_owned).collect()).collect()
}

/// The code in a message to an unknown sender.
fn code(told: &str) -> String {
    told.rsplit(' ').next().unwrap().to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_commands_of_the_walk_through_let_people_in_and_turn_them_away() {
    let telegram = FakeBotApi::start().await;
    let walk = section("A walk-through with Telegram");
    let at = format!("{{ baseUrl: \"{}\", pollSeconds: 1, token:", telegram.url());
    let settings = block(&walk, "json5").replace("{ token:", &at);
    assert!(settings.contains(telegram.url()), "{settings}");
    let settings = settings.trim().trim_start_matches('{').trim_end_matches('}').trim_end_matches(',');
    let bench = Bench::with([text("Good morning.")], settings).await;
    let mut gateway = command(&bench, &["gateway", "--address", "127.0.0.1:0"]);
    gateway.env("TELEGRAM_TOKEN", telegram.token());
    let _gateway = tokio::task::block_in_place(|| Running::of(gateway)).unwrap();

    let owner = User::new(123_456, "Owner");
    let others = [User::new(234_567, "Ada"), User::new(345_678, "Ada at work")];
    let say = |user: &User, text: &str| telegram.say(user, &Chat::direct(user), text);
    let mut printed_of = Vec::new();
    let commands = commands(&walk);
    assert_eq!(commands.len(), 5, "{commands:?}");
    for command in commands {
        if command == ["gateway"] {
            continue;
        }
        let mut command: Vec<&str> = command.iter().map(String::as_str).collect();
        let code = if command[1] == "pair" {
            // Written by now, as the guide says.
            if telegram.sent().is_empty() {
                say(&owner, "hello");
            }
            code(&telegram.wait_sent(1).await[0].text)
        } else {
            String::new()
        };
        for word in &mut command {
            if *word == "ABCD-EFGH" {
                *word = &code;
            }
        }
        printed_of.push(printed(&bench, &command).await);
    }
    let [channels, listed, ..] = &printed_of[..] else { panic!("{printed_of:?}") };
    assert!(channels.contains("telegram"), "{channels}");
    assert!(listed.contains("telegram:123456"), "{listed}");
    // The code, the welcome and the message to oneself.
    telegram.wait_sent(3).await;
    say(&owner, "good morning");
    assert_eq!(telegram.wait_sent(4).await[3].text, "Good morning.");

    // The table: the first code makes Ada, the second is one more identity of hers.
    let mut others = others.iter();
    let mut seen = 4;
    let table = self::commands(&section("People"));
    assert_eq!(table.len(), 8, "{table:?}");
    for command in table {
        let mut command: Vec<&str> = command.iter().map(String::as_str).collect();
        if command.contains(&"--owner") {
            continue;
        }
        let mut code = String::new();
        if command.contains(&"CODE") {
            let user = others.next().unwrap();
            say(user, "hello");
            seen += 1;
            code = self::code(&telegram.wait_sent(seen).await[seen - 1].text);
            // Its welcome.
            seen += 1;
        }
        if command.get(2) == Some(&"deny") {
            command[3] = "telegram:456789";
            let stranger = User::new(456_789, "Nobody");
            say(&stranger, "hello");
            seen += 1;
            telegram.wait_sent(seen).await;
        } else if command.get(2) == Some(&"unlink") {
            command[3] = "telegram:345678";
        }
        for word in &mut command {
            if *word == "CODE" {
                *word = &code;
            }
        }
        printed(&bench, &command).await;
        telegram.wait_sent(seen).await;
    }
    let people = as_json(&bench, &["gateway", "people"]).await;
    let ada = people["people"].as_array().unwrap().iter().find(|person| person["name"] == "ada").unwrap();
    assert!(ada["blockedAt"].is_i64(), "{people}");
    assert_eq!(ada["identities"].as_array().unwrap().len(), 1, "{people}");
    assert_eq!(telegram.violations(), Vec::<String>::new());
}
