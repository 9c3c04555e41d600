//! Kinds of pages, as sites build them.

#![expect(
    clippy::format_push_string,
    clippy::format_collect,
    reason = "pages are put together piece by piece"
)]

use super::Page;
use super::code::{answers, changelog, docs, reference};
use super::maker::{COOKIES, MENU, Maker, NEWSLETTER, RELATED, footer};
use super::texts::Text;

/// Makes a page of a kind from a text.
type Make = fn(&str, &Text) -> Page;

/// All kinds.
pub const KINDS: &[(&str, Make)] = &[
    ("news", news),
    ("blog", blog),
    ("docs", docs),
    ("reference", reference),
    ("forum", forum),
    ("answers", answers),
    ("landing", landing),
    ("wiki", wiki),
    ("recipe", recipe),
    ("product", product),
    ("tables", tables),
    ("mail", mail),
    ("index", index),
    ("changelog", changelog),
    ("terms", terms),
];

fn news(kind: &str, text: &Text) -> Page {
    let mut maker = Maker::new(kind, text);
    let menu = maker.links(MENU);
    let first = maker.paragraphs(&text.sentences[..6], 2);
    let advert = maker.around("Advertisement: the new electric bicycle, now with two years of warranty.");
    let second = maker.paragraphs(&text.sentences[6..], 3);
    let related = maker.links(RELATED);
    let newsletter = maker.around(NEWSLETTER);
    let comment =
        maker.around("User anna91 wrote: I have been there last year and it was raining all the time!");
    let cookies = maker.around(COOKIES);
    let footer = footer(&mut maker);
    let body = format!(
        "<div id=\"cookie-banner\" class=\"cookie-consent\"><p>{cookies}</p><button>Accept</button></div>\
         <header class=\"site-header\"><a href=\"/\"><img src=\"/logo.png\" alt=\"Logo\"></a><nav><ul>{menu}</ul></nav></header>\
         <main><article><h1>{}</h1><p class=\"byline\">By Jane Doe</p>\
         <div class=\"share-bar\"><a href=\"#\">Share</a> <a href=\"#\">Tweet</a></div>{first}\
         <div class=\"ad-slot\"><p>{advert}</p></div>{second}</article>\
         <aside class=\"related\"><h2>Related</h2><ul>{related}</ul></aside>\
         <div class=\"newsletter-signup\"><p>{newsletter}</p><form><input type=\"email\"></form></div>\
         <section class=\"comments\" id=\"comments\"><h2>Comments</h2><div class=\"comment\"><p>{comment}</p></div></section></main>{footer}",
        text.title
    );
    maker.done(text.language, "<meta property=\"og:type\" content=\"article\">", &body)
}

fn blog(kind: &str, text: &Text) -> Page {
    let mut maker = Maker::new(kind, text);
    let menu = maker.links(&MENU[..4]);
    let mut parts = String::new();
    for (number, heading) in text.headings.iter().enumerate() {
        let sentences = &text.sentences[number * 4..number * 4 + 4];
        parts.push_str(&format!("<div class=\"h\"><h2>{}</h2></div>", maker.want(heading)));
        for sentence in sentences {
            parts.push_str(&format!("<div class=\"txt\"><span>{}</span></div><br>", maker.want(sentence)));
        }
    }
    let archive = maker.links(&[
        "Posts from January 2026",
        "Posts from February 2026",
        "Posts from March 2026",
        "Posts about travel",
    ]);
    let about = maker.around("About me: I write about everything that I see on my walks.");
    let footer = footer(&mut maker);
    let body = format!(
        "<div id=\"wrap\"><div id=\"top\"><ul id=\"menu\">{menu}</ul></div><div id=\"main\"><div class=\"post\">\
         <div class=\"post-title\"><h1>{}</h1></div><div class=\"post-body entry-content\">{parts}</div></div></div>\
         <div id=\"sidebar\"><div class=\"widget\"><p>{about}</p></div><div class=\"widget\"><ul>{archive}</ul></div></div></div>{footer}",
        text.title
    );
    maker.done(text.language, "", &body)
}

fn forum(kind: &str, text: &Text) -> Page {
    let mut maker = Maker::new(kind, text);
    let menu = maker.links(&[
        "Forum home board",
        "Members of the board",
        "Calendar of events",
        "Search the board",
        "Frequently asked questions",
    ]);
    let mut posts = String::new();
    for (number, sentences) in text.sentences.chunks(3).enumerate() {
        let quote =
            if number == 0 { String::new() } else { "<blockquote><p>…</p></blockquote>".to_owned() };
        posts.push_str(&format!(
            "<div class=\"post\" id=\"p{number}\"><div class=\"author\"><img src=\"/a{number}.png\" alt=\"\"><span>user{number}</span>\
             <span>Posts: {}</span></div><div class=\"postbody\">{quote}{}</div><div class=\"postlinks\"><a href=\"#\">Reply</a> \
             <a href=\"#\">Quote</a></div></div>",
            number * 17,
            maker.paragraphs(sentences, 2)
        ));
    }
    let similar = maker.links(RELATED);
    let footer = footer(&mut maker);
    let body = format!(
        "<div id=\"header\"><ul class=\"navbar\">{menu}</ul></div><div id=\"content\"><h1>{}</h1>{posts}</div>\
         <div class=\"similar-threads related\"><ul>{similar}</ul></div>{footer}",
        text.title
    );
    maker.done(text.language, "", &body)
}

fn landing(kind: &str, text: &Text) -> Page {
    let mut maker = Maker::new(kind, text);
    let menu = maker.links(&["Product overview", "Pricing for teams", "Customer stories", "Sign in here"]);
    let lead = maker.want(text.sentences[0]);
    let mut cards = String::new();
    for (number, item) in text.items.iter().enumerate() {
        cards.push_str(&format!(
            "<div class=\"card\"><svg><path d=\"M0 0\"/></svg><h3>{}</h3><p>{}</p></div>",
            maker.want(item),
            maker.want(text.sentences[number + 1])
        ));
    }
    let quote = maker.want(text.sentences[8]);
    let closing = maker.want(text.sentences[13]);
    let footer = footer(&mut maker);
    let body = format!(
        "<header class=\"topbar\"><nav><ul>{menu}</ul></nav></header><section class=\"hero\"><h1>{}</h1><p class=\"lead\">{lead}</p>\
         <a class=\"btn\" href=\"/start\">Start</a></section><section class=\"features\"><div class=\"grid\">{cards}</div></section>\
         <section class=\"testimonials\"><blockquote>{quote}</blockquote></section><section class=\"cta\"><p>{closing}</p></section>{footer}",
        text.title
    );
    maker.done(text.language, "", &body)
}

fn wiki(kind: &str, text: &Text) -> Page {
    let mut maker = Maker::new(kind, text);
    let menu = maker.links(&[
        "Main page of the wiki",
        "Random article link",
        "Recent changes list",
        "Upload a file here",
        "Community portal page",
    ]);
    let lead = maker.paragraphs(&text.sentences[..3], 3);
    let mut parts = String::new();
    for (number, heading) in text.headings.iter().enumerate() {
        let sentences = &text.sentences[3 + number * 3..6 + number * 3];
        parts.push_str(&format!(
            "<div class=\"mw-heading mw-heading2\"><h2>{}</h2><span class=\"mw-editsection\">[<a href=\"/edit\">edit</a>]</span></div>{}",
            maker.want(heading),
            maker.paragraphs(sentences, 3)
        ));
    }
    let facts: String = text.items[..3]
        .iter()
        .enumerate()
        .map(|(number, item)| format!("<tr><th>No. {number}</th><td>{}</td></tr>", maker.want(item)))
        .collect();
    let last =
        maker.around("This page was last edited on 3 March 2026 and is available under a free licence.");
    let body = format!(
        "<div class=\"mw-page-container\"><nav class=\"vector-menu\"><ul>{menu}</ul></nav><main id=\"content\" class=\"mw-body\"><h1>{}</h1>\
         <div class=\"mw-parser-output\"><table class=\"infobox\"><tbody>{facts}</tbody></table>{lead}{parts}</div></main></div>\
         <footer><p>{last}</p></footer>",
        text.title
    );
    maker.done(text.language, "", &body)
}

fn recipe(kind: &str, text: &Text) -> Page {
    let mut maker = Maker::new(kind, text);
    let menu = maker.links(&["Breakfast ideas", "Quick dinners", "Cakes and pies", "Seasonal cooking"]);
    let story = maker.paragraphs(&text.sentences[..5], 2);
    let list = maker.list(&text.items, "ul");
    let steps = maker.list(&text.sentences[5..11], "ol");
    let more = maker.links(RELATED);
    let newsletter = maker.around(NEWSLETTER);
    let footer = footer(&mut maker);
    let body = format!(
        "<header><nav><ul>{menu}</ul></nav></header><main><article class=\"recipe\"><h1>{}</h1><div class=\"intro\">{story}</div>\
         <div class=\"ingredients\"><h2>1</h2>{list}</div><div class=\"instructions\"><h2>2</h2>{steps}</div></article>\
         <aside><ul>{more}</ul><p class=\"subscribe\">{newsletter}</p></aside></main>{footer}",
        text.title
    );
    maker.done(text.language, "", &body)
}

fn product(kind: &str, text: &Text) -> Page {
    let mut maker = Maker::new(kind, text);
    let menu = maker.links(&[
        "Home and garden",
        "Tools and machines",
        "Your shopping basket",
        "Gift cards for friends",
    ]);
    let description = maker.paragraphs(&text.sentences[..4], 4);
    let specs: String = text
        .items
        .iter()
        .enumerate()
        .map(|(number, item)| format!("<tr><td>{number}</td><td>{}</td></tr>", maker.want(item)))
        .collect();
    let reviews: String = text.sentences[4..9]
        .iter()
        .map(|sentence| {
            format!("<div class=\"review\"><span>★★★★</span><p>{}</p></div>", maker.want(sentence))
        })
        .collect();
    let others = maker.links(&[
        "Customers also bought: garden hose",
        "Customers also bought: watering can",
        "Customers also bought: spade",
    ]);
    let footer = footer(&mut maker);
    let body = format!(
        "<header><nav class=\"nav\"><ul>{menu}</ul></nav></header><div class=\"product\"><h1>{}</h1><div class=\"price\">€ 49</div>\
         <div class=\"description\">{description}</div><table class=\"specs\">{specs}</table><div class=\"customer-voices\">{reviews}</div></div>\
         <div class=\"recommended\"><ul>{others}</ul></div>{footer}",
        text.title
    );
    maker.done(text.language, "", &body)
}

fn tables(kind: &str, text: &Text) -> Page {
    let mut maker = Maker::new(kind, text);
    let menu: String = MENU
        .iter()
        .map(|item| {
            format!("<tr><td><a href=\"/x\"><font size=2>{}</font></a></td></tr>", maker.around(item))
        })
        .collect();
    let content: String = text
        .sentences
        .chunks(3)
        .map(|chunk| {
            let joined: Vec<String> = chunk.iter().map(|sentence| maker.want(sentence)).collect();
            format!("<font face=\"Times\">{}</font><br><br>\n", joined.join(" "))
        })
        .collect();
    let counter = maker.around("You are visitor number 48213 since 1998");
    let body = format!(
        "<center><table width=800><tr><td valign=top width=150><table>{menu}</table></td><td valign=top><h1>{}</h1>{content}</td></tr></table>\
         <hr><small>{counter}</small></center>",
        text.title
    );
    maker.done(text.language, "", &body)
}

fn mail(kind: &str, text: &Text) -> Page {
    let mut maker = Maker::new(kind, text);
    let lines: String = text
        .sentences
        .chunks(2)
        .map(|chunk| {
            format!(
                "{}\n\n",
                chunk.iter().map(|sentence| maker.want(sentence)).collect::<Vec<_>>().join("\n")
            )
        })
        .collect();
    let body = format!(
        "<h1>{}</h1><b>Jane Doe</b> <a href=\"mailto:jane@example.com\">jane at example.com</a><br><i>Mon Mar 2 10:00:00 2026</i><hr>\
         <ul><li>Previous message: <a href=\"1.html\">one</a></li><li>Next message: <a href=\"3.html\">three</a></li></ul><hr><pre>{lines}</pre><hr>",
        text.title
    );
    maker.done(text.language, "", &body)
}

fn index(kind: &str, text: &Text) -> Page {
    let mut maker = Maker::new(kind, text);
    let menu = maker.links(MENU);
    let teasers: String = text
        .items
        .iter()
        .enumerate()
        .map(|(number, item)| {
            format!(
                "<article class=\"teaser\"><a href=\"/story/{number}\"><h2>{}</h2></a><p>{}</p></article>",
                maker.want(item),
                maker.want(text.sentences[number * 2])
            )
        })
        .collect();
    let footer = footer(&mut maker);
    let body = format!(
        "<header><nav><ul>{menu}</ul></nav></header><main><h1>{}</h1><div class=\"teasers\">{teasers}</div></main>{footer}",
        text.title
    );
    maker.done(text.language, "", &body)
}

fn terms(kind: &str, text: &Text) -> Page {
    let mut maker = Maker::new(kind, text);
    let menu = maker.links(&MENU[..3]);
    let sections: String = text
        .sentences
        .chunks(4)
        .enumerate()
        .map(|(number, chunk)| {
            format!("<section><h2>§ {}</h2>{}</section>", number + 1, maker.list(chunk, "ol"))
        })
        .collect();
    let footer = footer(&mut maker);
    let body = format!(
        "<nav><ul>{menu}</ul></nav><div role=\"main\"><h1>{}</h1>{sections}</div>{footer}",
        text.title
    );
    maker.done(text.language, "", &body)
}
