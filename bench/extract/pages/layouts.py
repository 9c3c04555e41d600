"""Layouts: what a page's HTML looks like, and what stands around its main content."""

import html
import json
import re


class Layout:
    """The parts that layouts share. A layout overrides how a part is marked up."""

    name = ""

    def __init__(self, page):
        self.page, self.rng = page, page.rng

    # Parts of the main content.

    def inline(self, text):
        """A sentence, sometimes with a link or emphasis around some of its words."""
        chance = self.rng.random()
        if "<" in text or chance > 0.25:
            return text
        spaced = " " in text
        words = text.split(" ") if spaced else re.findall(r".{4}|.+", text)
        if len(words) < 5:
            return text
        first = self.rng.randint(1, len(words) - 3)
        last = min(first + self.rng.randint(1, 3), len(words) - 1)
        tag = f'<a href="/{self.slug()}">' if chance < 0.13 else self.rng.choice(["<em>", "<strong>", "<b>"])
        end = "</" + re.match(r"<(\w+)", tag).group(1) + ">"
        join = " " if spaced else ""
        return join.join([*words[:first], tag + join.join(words[first:last]) + end, *words[last:]])

    def slug(self):
        return f"{self.rng.choice(['story', 'topic', 'tag', 'p', 'wiki', 'go'])}/{self.rng.randint(100, 99999)}"

    def sentences(self, parts):
        join = "" if self.page.writer.language in ("zh", "ja") else " "
        return join.join(self.inline(part) for part in parts)

    def block(self, block):
        return getattr(self, f"do_{block.kind}")(block)

    def blocks(self, blocks):
        return "\n".join(self.block(block) for block in blocks)

    def do_p(self, block):
        return f"<p>{self.sentences(block.parts)}</p>"

    def do_h(self, block):
        return f"<h2>{block.text}</h2>"

    def do_code(self, block):
        return f'<pre><code class="language-{block.language}">{self.highlighted(block)}</code></pre>'

    def highlighted(self, block):
        text = html.escape(block.text, quote=False)
        if self.rng.random() < 0.5:
            text = re.sub(r"\b(def|for|if|let|fn|const|import|return|SELECT|FROM|await)\b", r'<span class="k">\1</span>', text)
        return text

    def do_table(self, block):
        head, *rows = block.parts
        head = "".join(f"<th>{cell}</th>" for cell in head)
        rows = "\n".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows)
        return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"

    def do_list(self, block):
        tag = "ol" if block.text == "ordered" else "ul"
        return f"<{tag}>" + "".join(f"<li>{self.inline(part)}</li>" for part in block.parts) + f"</{tag}>"

    def do_figure(self, block):
        return f'<figure><img src="/img/{self.slug()}.jpg" alt=""><figcaption>{block.text}</figcaption></figure>'

    def do_infobox(self, block):
        rows = "".join(f"<tr><th>{name}</th><td>{value}</td></tr>" for name, value in block.parts)
        return f'<table class="infobox">{rows}</table>'

    def do_references(self, block):
        items = "".join(f'<li id="cite-{index}"><a href="#ref-{index}">^</a> {text}</li>' for index, text in enumerate(block.parts))
        return f'<h2>{self.page.label("references")}</h2><ol class="references">{items}</ol>'

    def do_post(self, block):
        return f'<div class="post"><div class="post-author"><a href="/u/{self.slug()}">{block.text}</a> {self.date()}</div><div class="post-body">{self.blocks(block.parts)}</div></div>'

    def do_item(self, block):
        return f'<div class="teaser"><h3><a href="/{self.slug()}">{block.text}</a></h3><p>{block.parts[0]}</p></div>'

    def do_button(self, block):
        return f'<a class="button" href="/{self.slug()}">{block.text}</a>'

    # Parts around it.

    def date(self):
        return f"{self.rng.randint(2018, 2025)}-{self.rng.randint(1, 12):02}-{self.rng.randint(1, 28):02}"

    def links(self, count, tag="li"):
        names = self.rng.sample(self.page.writer.nav, min(count, len(self.page.writer.nav)))
        return "".join(f'<{tag}><a href="/{self.slug()}">{name}</a></{tag}>' for name in names)

    def teasers(self, count, tag="li", text=None):
        names = self.page.other("teaser", count)
        end = tag.split(" ")[0]
        return "".join(f'<{tag}><a href="/{self.slug()}">{name}</a></{end}>' for name in names)

    def paragraphs(self, rule, count, tag="p"):
        return "".join(f"<{tag}>{text}</{tag}>" for text in self.page.other(rule, count))

    def legal_links(self):
        return " | ".join(f'<a href="/{self.slug()}">{name}</a>' for name in self.page.label("legal"))

    def script(self):
        word = self.page.marker()
        return (f"<script>window.dataLayer = window.dataLayer || []; function {word}(a, b) {{ if (a < b) dataLayer.push({{event: 'view', id: b}}); }} "
                f"{word}({self.rng.randint(1, 99)}, {self.rng.randint(100, 999)});</script>")

    def head(self):
        page = self.page
        state = json.dumps({"@context": "https://schema.org", "@type": "WebPage", "name": page.title, "identifier": page.marker()}, ensure_ascii=False)
        direction = ' dir="rtl"' if page.writer.language == "ar" else ""
        return (f'<!DOCTYPE html>\n<html lang="{page.writer.language}"{direction}>\n<head><meta charset="utf-8"><title>{page.title} - Example</title>'
                f'<meta name="viewport" content="width=device-width"><style>.{page.marker()} {{ display: block }}</style>'
                f'<script type="application/ld+json">{state}</script>{self.script()}</head>\n')

    def render(self):
        return f"{self.head()}<body>\n{self.body()}\n{self.script()}</body>\n</html>\n"

    def main(self):
        return self.blocks(self.page.blocks)

    def body(self):
        raise NotImplementedError


class Semantic(Layout):
    """HTML5 elements as they are meant."""

    name = "semantic"

    def do_post(self, block):
        return f"<article><header><b>{block.text}</b> <time>{self.date()}</time></header>{self.blocks(block.parts)}<footer><button>{self.page.label('reply')}</button></footer></article>"

    def do_item(self, block):
        return f'<article><h2><a href="/{self.slug()}">{block.text}</a></h2><p>{block.parts[0]}</p></article>'

    def body(self):
        page = self.page
        inner = f"<h1>{page.title}</h1>\n{self.main()}"
        if page.kind not in ("questions", "forum", "listing", "landing"):
            inner = f"<article><header><h1>{page.title}</h1><p>{page.label('by')} <a href='/a/{self.slug()}'>{self.rng.choice(page.writer.words['person'])}</a>, <time>{self.date()}</time></p></header>\n{self.main()}\n</article>"
        return (f"<header><a href='/'>Example</a><nav><ul>{self.links(8)}</ul></nav></header>\n<main>{inner}</main>\n"
                f"<aside><h2>{page.label('popular')}</h2><ul>{self.teasers(5)}</ul>{self.paragraphs('newsletter', 2)}</aside>\n"
                f"<footer><ul>{self.links(10)}</ul>{self.paragraphs('about', 2)}<p>{self.legal_links()}</p></footer>")


CMS = {
    "news": ("site-content", "story-body__inner", "story-body__paragraph"), "blog": ("site-content", "entry-content post-content", ""),
    "documentation": ("wy-nav-content", "rst-content document", ""), "questions": ("inner-content", "question-page", ""),
    "forum": ("viewforum-page", "topic-posts", ""), "product": ("page-wrapper", "product-single__description rte", ""),
    "encyclopedia": ("mw-body", "mw-parser-output", ""), "recipe": ("site-inner", "wprm-recipe-container entry-content", ""),
    "release-notes": ("repository-content", "markdown-body", ""), "legal": ("region region-content", "field field--name-body field__item", ""),
    "landing": ("sections", "hero-and-features", ""), "listing": ("content-area", "archive-posts hfeed", ""),
}


class Cms(Layout):
    """`div` elements with the class names of common content management systems."""

    name = "cms"

    def do_code(self, block):
        return (f'<div class="highlight-{block.language} notranslate"><div class="highlight"><button class="copybtn">Copy</button>'
                f"<pre>{self.highlighted(block)}</pre></div></div>")

    def do_figure(self, block):
        return f'<div class="wp-caption aligncenter"><img src="/wp-content/{self.slug()}.jpg"><p class="wp-caption-text">{block.text}</p></div>'

    def do_post(self, block):
        inner = self.blocks(block.parts)
        if self.page.kind == "questions":
            return (f'<div class="answer js-answer"><div class="votecell"><span class="vote-count">{self.rng.randint(0, 400)}</span></div><div class="answercell">'
                    f'<div class="s-prose js-post-body">{inner}</div><div class="user-info"><a href="/users/{self.slug()}">{block.text}</a> {self.rng.randint(100, 9999)}</div></div></div>')
        return (f'<div class="topic-post clearfix regular"><div class="topic-meta-data"><span class="username">{block.text}</span> <span class="post-date">{self.date()}</span></div>'
                f'<div class="cooked">{inner}</div><nav class="post-controls"><button>{self.page.label("reply")}</button></nav></div>')

    def do_item(self, block):
        return (f'<div class="post type-post status-publish hentry"><h2 class="entry-title"><a href="/{self.slug()}">{block.text}</a></h2>'
                f'<div class="entry-meta">{self.date()}</div><div class="entry-summary"><p>{block.parts[0]}</p></div></div>')

    def body(self):
        page = self.page
        outer, inner, _ = CMS.get(page.kind, ("content-wrapper", "article-body td-post-content", ""))
        comments = ""
        if page.kind in ("news", "blog", "recipe", "german", "russian"):
            comments = f'<div id="comments" class="comments-area"><h3>{page.label("comments")}</h3>' + "".join(
                f'<div class="comment even depth-1"><div class="comment-author vcard">{self.rng.choice(page.writer.words["person"])}</div><div class="comment-content"><p>{text}</p></div></div>'
                for text in page.other("comment", 3)) + "</div>"
        return (f'<div id="page" class="hfeed site"><div id="masthead" class="site-header"><div class="site-branding">Example</div><div class="menu-main-container"><ul class="menu">{self.links(9)}</ul></div></div>\n'
                f'<div class="breadcrumbs"><a href="/">Example</a> › <a href="/{self.slug()}">{page.writer.nav[2]}</a></div>\n'
                f'<div class="{outer}"><h1 class="entry-title">{page.title}</h1><div class="entry-meta">{page.label("by")} {self.rng.choice(page.writer.words["person"])} {self.date()}</div>\n'
                f'<div class="{inner}">\n{self.main()}\n</div>\n<div class="sharedaddy sd-sharing">{"".join(f"<a href=#>{name}</a> " for name in page.label("share"))}</div>\n{comments}</div>\n'
                f'<div id="secondary" class="widget-area sidebar"><div class="widget widget_recent_entries"><h3>{page.label("popular")}</h3><ul>{self.teasers(5)}</ul></div>'
                f'<div class="widget widget_text">{self.paragraphs("bio", 1)}{self.paragraphs("newsletter", 1)}</div></div>\n'
                f'<div id="colophon" class="site-footer"><ul>{self.links(7)}</ul><div class="site-info">{self.paragraphs("about", 2)}{self.legal_links()}</div></div></div>')


class Tables(Layout):
    """Nested tables and line breaks, as sites of the nineties have them."""

    name = "tables"

    def do_p(self, block):
        return f"{self.sentences(block.parts)}<br><br>"

    def do_h(self, block):
        return f'<font size="4" color="#003366"><b>{block.text}</b></font><br><br>'

    def do_code(self, block):
        return f"<pre>{self.highlighted(block)}</pre>"

    def do_table(self, block):
        rows = "\n".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in block.parts)
        return f'<table border="1" cellpadding="3">{rows}</table><br>'

    def do_figure(self, block):
        return f'<center><img src="{self.slug()}.gif" width="300"><br><font size="1">{block.text}</font></center>'

    def do_infobox(self, block):
        rows = "".join(f"<tr><td><b>{name}</b></td><td>{value}</td></tr>" for name, value in block.parts)
        return f'<table align="right" bgcolor="#eeeeee">{rows}</table>'

    def do_post(self, block):
        return f'<table width="100%" border="1"><tr><td width="120" valign="top"><b>{block.text}</b><br>{self.date()}</td><td valign="top">{self.blocks(block.parts)}</td></tr></table>'

    def do_item(self, block):
        return f'<tr><td valign="top"><img src="dot.gif"></td><td><a href="{self.slug()}.html"><b>{block.text}</b></a><br>{block.parts[0]}</td></tr>'

    def main(self):
        inner = super().main()
        return f"<table>{inner}</table>" if self.page.kind == "listing" else inner

    def body(self):
        page = self.page
        menu = "<br>".join(f'<a href="{self.slug()}.html">{name}</a>' for name in self.rng.sample(page.writer.nav, 10))
        right = "<br><br>".join(f'<a href="{self.slug()}.html">{text}</a>' for text in page.other("teaser", 4))
        return (f'<center><table width="780" border="0" cellspacing="0" cellpadding="4"><tr bgcolor="#003366"><td colspan="3"><font color="white" size="6">Example</font></td></tr>'
                f'<tr><td width="140" valign="top" bgcolor="#dddddd">{menu}</td>\n<td width="480" valign="top"><font face="Arial"><font size="5"><b>{page.title}</b></font><br><i>{self.date()}</i><br><br>\n'
                f'{self.main()}</font></td>\n<td width="160" valign="top" bgcolor="#ffffee"><b>{page.label("related")}</b><br>{right}<br><br>{"<br>".join(page.other("ad", 1) + page.other("newsletter", 1))}</td></tr>'
                f'<tr><td colspan="3" align="center"><font size="1">{"<br>".join(page.other("about", 2))}<br>{self.legal_links()}</font></td></tr></table></center>')


class SinglePage(Layout):
    """A single-page application that its server renders: hashed class names, and the state, the text included, as JSON in scripts."""

    name = "single-page"

    def __init__(self, page):
        super().__init__(page)
        self.hash = lambda: "".join(self.rng.choice("abcdefghijkmnpqrstuvwxyz0123456789") for _ in range(6))
        self.names = {}

    def cls(self, name):
        """One name a component; half of the pages keep it readable in front of the hash."""
        if name not in self.names:
            self.names[name] = f"css-{self.hash()}" if self.page.rng.random() < 0.5 else f"{name}_{name.lower()}__{self.hash()}"
        return self.names[name]

    def do_p(self, block):
        return f'<p class="{self.cls("Text")}">{self.sentences(block.parts)}</p>'

    def do_code(self, block):
        return f'<div class="{self.cls("Code")}"><pre><code>{self.highlighted(block)}</code></pre></div>'

    def do_post(self, block):
        return f'<div class="{self.cls("Message")}"><div class="{self.cls("Meta")}">{block.text} · {self.date()}</div><div class="{self.cls("Rich")}">{self.blocks(block.parts)}</div></div>'

    def do_item(self, block):
        return f'<a class="{self.cls("Card")}" href="/{self.slug()}"><h3>{block.text}</h3><p>{block.parts[0]}</p></a>' if self.rng.random() < 0.3 else \
            f'<div class="{self.cls("Card")}"><h3><a href="/{self.slug()}">{block.text}</a></h3><p>{block.parts[0]}</p></div>'

    def do_button(self, block):
        return f'<button class="{self.cls("Button")}">{block.text}</button>'

    def body(self):
        page = self.page
        content = f'<div class="{self.cls("Content")}">{self.main()}</div>'
        state = json.dumps({"props": {"pageProps": {"id": page.marker(), "title": page.title, "body": [part for block in page.blocks for part in block.parts if isinstance(part, str)],
                                                    "menu": page.writer.nav[:8]}}, "buildId": page.marker()}, ensure_ascii=False).replace("</", "<\\/")
        return (f'<div id="{self.rng.choice(["__next", "root", "app", "__nuxt"])}"><div class="{self.cls("Layout")}"><div class="{self.cls("Bar")}"><nav class="{self.cls("Nav")}">{self.links(8, "span")}</nav></div>\n'
                f'<div class="{self.cls("Grid")}"><div class="{self.cls("Column")}"><h1 class="{self.cls("Title")}">{page.title}</h1>{content}</div>\n'
                f'<div class="{self.cls("Rail")}"><h4>{page.label("related")}</h4>{self.teasers(6, "div")}<div class="{self.cls("Signup")}">{self.paragraphs("newsletter", 2)}<button>{page.label("subscribe")}</button></div></div></div>\n'
                f'<div class="{self.cls("Foot")}">{self.links(9, "span")}{self.paragraphs("about", 2)}{self.legal_links()}</div></div></div>\n'
                f'<script id="__NEXT_DATA__" type="application/json">{state}</script><script>self.__next_f=self.__next_f||[];self.__next_f.push([1,{json.dumps(page.marker())}])</script>')


class Bare(Layout):
    """No class names, no semantic elements: `div`, `p`, `b`."""

    name = "bare"

    def do_h(self, block):
        return f"<p><b>{block.text}</b></p>"

    def do_code(self, block):
        return f"<pre>{self.highlighted(block)}</pre>"

    def do_figure(self, block):
        return f'<div><img src="/{self.slug()}.jpg"><div>{block.text}</div></div>'

    def do_infobox(self, block):
        return "<table>" + "".join(f"<tr><td>{name}</td><td>{value}</td></tr>" for name, value in block.parts) + "</table>"

    def do_references(self, block):
        return f"<p><b>{self.page.label('references')}</b></p><ol>" + "".join(f"<li>{text}</li>" for text in block.parts) + "</ol>"

    def do_post(self, block):
        return f"<div><div><b>{block.text}</b> {self.date()}</div><div>{self.blocks(block.parts)}</div></div>"

    def do_item(self, block):
        return f'<div><a href="/{self.slug()}">{block.text}</a><div>{block.parts[0]}</div></div>'

    def do_button(self, block):
        return f'<div><a href="/{self.slug()}">{block.text}</a></div>'

    def body(self):
        page = self.page
        return (f'<div>{self.links(9, "span")}</div>\n<div><div><h1>{page.title}</h1>\n<div>{self.date()}</div>\n{self.main()}\n</div>\n'
                f'<div><p><b>{page.label("related")}</b></p>{self.teasers(5, "div")}</div></div>\n<div>{self.paragraphs("newsletter", 1, "div")}{self.paragraphs("about", 2, "div")}<div>{self.legal_links()}</div></div>')


class Heavy(Layout):
    """Everything that publishers put around and into a text."""

    name = "heavy"

    def do_post(self, block):
        return (f'<section class="message"><div class="message-user"><img src="/avatar.png" alt=""><a href="/u/{self.slug()}">{block.text}</a><span>{self.rng.randint(3, 4000)} posts</span></div>'
                f'<div class="message-content">{self.blocks(block.parts)}</div><div class="message-actions"><a href="#">{self.page.label("reply")}</a> <a href="#">{self.page.label("share")[0]}</a></div></section>')

    def do_code(self, block):
        lines = "\n".join(str(number + 1) for number in range(block.text.count("\n")))
        gutter = f'<span class="line-numbers" aria-hidden="true" style="display:none">{lines}</span>' if self.rng.random() < 0.5 else ""
        return f'<div class="code-toolbar">{gutter}<pre class="language-{block.language}"><code class="language-{block.language}">{self.highlighted(block)}</code></pre><div class="toolbar"><button>{self.page.label("share")[1]}</button></div></div>'

    def main(self):
        """The main content, with an advertisement and a box of related links between its blocks."""
        blocks = [self.block(block) for block in self.page.blocks]
        page = self.page
        ad = f'<div class="ad-slot inline-ad" data-ad="{self.rng.randint(1, 9)}"><span>Ad</span>{self.paragraphs("ad", 1)}{self.script()}</div>'
        box = f'<aside class="related-inline"><strong>{page.label("related")}</strong><ul>{self.teasers(3)}</ul></aside>'
        form = f'<div class="newsletter-signup"><h4>{page.label("subscribe")}</h4>{self.paragraphs("newsletter", 1)}<form><input type="email"><button>{page.label("subscribe")}</button></form></div>'
        third = max(1, len(blocks) // 3)
        blocks.insert(third, ad)
        blocks.insert(2 * third + 1, box)
        blocks.append(form)
        return "\n".join(blocks)

    def body(self):
        page = self.page
        share = "".join(f'<li class="share__item"><a href="https://social.example/{self.slug()}">{name}</a></li>' for name in page.label("share"))
        comments = "".join(
            f'<li class="comment"><div class="comment__author">{self.rng.choice(page.writer.words["person"])}</div><div class="comment__body"><p>{" ".join(page.other("comment", self.rng.randint(1, 2)))}</p></div><a href="#">{page.label("reply")}</a></li>'
            for _ in range(self.rng.randint(2, 4))) if page.kind not in ("forum", "questions", "listing", "landing") else ""
        comments = f'<section id="comments" class="comments"><h3>{page.label("comments")}</h3><ul class="comment-list">{comments}</ul></section>' if comments else ""
        mega = "".join(f'<li><a href="/{self.slug()}">{name}</a><ul class="submenu">{self.links(5)}</ul></li>' for name in page.writer.nav[:7])
        return (f'<div id="cookie-consent" class="cookie-banner" role="dialog" aria-label="cookies">{self.paragraphs("cookie", 3)}<button>{page.label("accept")}</button><button>{page.label("reject")}</button></div>\n'
                f'<div class="modal" hidden>{self.paragraphs("modal", 1)}</div><div class="overlay" style="display: none">{self.paragraphs("modal", 1)}</div>\n'
                f'<noscript>{self.paragraphs("noscript", 1)}</noscript>\n<header class="site-header"><div class="top-ad">{self.paragraphs("ad", 1)}</div><nav class="mega-menu"><ul>{mega}</ul></nav><form role="search"><input placeholder="{page.label("search")}"></form></header>\n'
                f'<main id="main" class="layout"><nav class="breadcrumb" aria-label="breadcrumb"><ol>{self.links(3)}</ol></nav><nav class="toc"><ul>{self.links(4)}</ul></nav>\n'
                f'<div class="content-column"><h1 class="headline">{page.title}</h1><div class="byline">{page.label("by")} {self.rng.choice(page.writer.words["person"])} · {self.date()} · {self.rng.randint(2, 12)} {page.label("read")}</div><ul class="share share--top">{share}</ul>\n'
                f'<div class="content-body">\n{self.main()}\n</div>\n<ul class="share share--bottom">{share}</ul><div class="tags">{self.links(4, "span")}</div><div class="author-box"><h4>{page.label("author")}</h4>{self.paragraphs("bio", 1)}</div>{comments}</div>\n'
                f'<aside class="sidebar"><div class="ad-slot">{self.paragraphs("ad", 1)}</div><h3>{page.label("popular")}</h3><ol>{self.teasers(6)}</ol></aside></main>\n'
                f'<section class="recommended"><h2>{page.label("related")}</h2><div class="cards">{self.teasers(6, "div class=card")}</div></section>\n'
                f'<footer class="site-footer"><div class="columns"><ul>{self.links(10)}</ul><ul>{self.links(10)}</ul></div>{self.paragraphs("about", 3)}<p>{self.legal_links()}</p></footer>{self.script()}')


class Builder(Layout):
    """A page of a site builder: each block in wrappers of its own."""

    name = "builder"

    def widget(self, name, inner):
        return (f'<div class="elementor-element elementor-element-{self.rng.randint(100000, 999999)} elementor-widget elementor-widget-{name}" data-element_type="widget">'
                f'<div class="elementor-widget-container">{inner}</div></div>')

    def do_p(self, block):
        inner = f"<p>{self.sentences(block.parts)}</p>" if self.page.rng.random() < 0.7 else f'<div><span style="font-size:16px">{self.sentences(block.parts)}</span></div>'
        return self.widget("text-editor", inner)

    def do_h(self, block):
        return self.widget("heading", f'<h2 class="elementor-heading-title">{block.text}</h2>')

    def do_code(self, block):
        return self.widget("code-highlight", super().do_code(block))

    def do_table(self, block):
        return self.widget("table", super().do_table(block))

    def do_list(self, block):
        return self.widget("icon-list", super().do_list(block))

    def do_button(self, block):
        return self.widget("button", super().do_button(block))

    def do_item(self, block):
        return f'<div class="elementor-column elementor-col-33">{self.widget("heading", f"<h3><a href=/{self.slug()}>{block.text}</a></h3>")}{self.widget("text-editor", f"<p>{block.parts[0]}</p>")}</div>'

    def section(self, inner):
        return f'<section class="elementor-section elementor-top-section"><div class="elementor-container"><div class="elementor-column elementor-col-100"><div class="elementor-widget-wrap">{inner}</div></div></div></section>'

    def main(self):
        """Some sections; a heading begins a new one."""
        sections, inner = [], []
        for block in self.page.blocks:
            if block.kind == "h" and inner and self.rng.random() < 0.6:
                sections.append(self.section("\n".join(inner)))
                inner = []
            inner.append(self.block(block))
        return "\n".join([*sections, self.section("\n".join(inner))])

    def body(self):
        page = self.page
        title = self.section(self.widget("heading", f"<h1>{page.title}</h1>"))
        return (f'<div class="elementor elementor-location-header">{self.section(self.widget("nav-menu", f"<nav><ul>{self.links(8)}</ul></nav>"))}</div>\n'
                f'<div data-elementor-type="wp-page" class="elementor">\n{title}\n{self.main()}\n'
                f'{self.section(self.widget("posts", self.teasers(4, "div")))}{self.section(self.widget("form", self.paragraphs("newsletter", 2)))}</div>\n'
                f'<div class="elementor elementor-location-footer">{self.section(self.widget("icon-list", f"<ul>{self.links(8)}</ul>") + self.widget("text-editor", self.paragraphs("about", 2) + self.legal_links()))}</div>')


class Wiki(Layout):
    """A skin of a wiki: the content first, and portlets with links after it."""

    name = "wiki"

    def do_h(self, block):
        return f'<h2><span class="hl" id="h{self.rng.randint(1, 999)}">{block.text}</span><span class="es">[<a href="/{self.slug()}">{self.page.label("share")[-1]}</a>]</span></h2>'

    def do_figure(self, block):
        return f'<div class="thumb tright"><div class="thumbinner"><a href="/{self.slug()}"><img src="/t.png"></a><div class="thumbcaption">{block.text}</div></div></div>'

    def do_code(self, block):
        return f'<div class="mw-highlight"><pre>{self.highlighted(block)}</pre></div>'

    def do_post(self, block):
        return f'<dl><dt>{block.text} ({self.date()})</dt><dd>{self.blocks(block.parts)}</dd></dl>'

    def do_item(self, block):
        return f'<dl><dt><a href="/{self.slug()}">{block.text}</a></dt><dd>{block.parts[0]}</dd></dl>'

    def portlet(self, count):
        return f'<div class="portlet"><h3>{self.rng.choice(self.page.writer.nav)}</h3><div class="pBody"><ul>{self.links(count)}</ul></div></div>'

    def body(self):
        page = self.page
        contents = "".join(f'<li class="l1"><a href="#h{index}">{index} {block.text}</a></li>' for index, block in enumerate(page.blocks) if block.kind == "h")
        contents = f'<table id="contents"><tr><td><ul>{contents}</ul></td></tr></table>' if contents else ""
        return (f'<div id="globalWrapper"><div id="column-content"><div id="content"><div id="siteNotice">{self.paragraphs("newsletter", 1)}</div><h1 id="firstHeading">{page.title}</h1><div id="bodyContent">'
                f'<h3 id="siteSub">{self.paragraphs("about", 1, "span")}</h3>\n{contents}{self.main()}\n<div id="catlinks"><span>{self.links(4, "span")}</span></div></div></div></div>\n'
                f'<div id="column-one">{self.portlet(4)}{self.portlet(6)}{self.portlet(8)}{self.portlet(5)}</div>\n'
                f'<div id="foot"><ul>{"".join(f"<li>{text}</li>" for text in page.other("about", 2))}<li>{self.legal_links()}</li></ul></div></div>')


class Magazine(Layout):
    """A publisher's page whose class names say little, with pictures and summaries of other stories between and after the text."""

    name = "magazine"

    def card(self):
        title, *summary = self.page.other("teaser", 1) + self.page.other("ad", 1)
        return f'<div class="m-unit"><a href="/{self.slug()}"><img src="/{self.slug()}.jpg" alt=""></a><div class="m-txt"><a href="/{self.slug()}">{title}</a><p>{" ".join(summary)}</p><span>{self.date()}</span></div></div>'

    def do_p(self, block):
        return f'<div class="para"><p>{self.sentences(block.parts)}</p></div>' if self.page.kind == "news" else super().do_p(block)

    def do_post(self, block):
        return f'<div class="u-row"><div class="u-who"><a href="/{self.slug()}">{block.text}</a></div><div class="u-say">{self.blocks(block.parts)}</div><div class="u-act"><a href="/{self.slug()}">{self.page.label("reply")}</a> <a href="/{self.slug()}">{self.page.label("share")[0]}</a></div></div>'

    def do_item(self, block):
        return f'<div class="u-row"><a href="/{self.slug()}"><img src="/{self.slug()}.jpg"></a><h3><a href="/{self.slug()}">{block.text}</a></h3><div>{block.parts[0]}</div><a href="/{self.slug()}">{self.page.label("share")[0]}</a></div>'

    def main(self):
        blocks = [self.block(block) for block in self.page.blocks]
        blocks.insert(max(1, len(blocks) // 2), f'<div class="in-read"><span>{self.page.label("related")}: </span><a href="/{self.slug()}">{self.page.other("teaser", 1)[0]}</a></div>')
        return "\n".join(blocks)

    def body(self):
        page = self.page
        return (f'<div class="hd"><div class="logo"><a href="/">Example</a></div><div class="strip">{self.links(10, "div")}</div></div>\n'
                f'<div class="wrap"><div class="col-a"><div class="kicker"><a href="/{self.slug()}">{page.writer.nav[3]}</a></div><h1>{page.title}</h1><div class="meta">{page.label("by")} {self.rng.choice(page.writer.words["person"])}, {self.date()}</div>\n'
                f'<div class="copy">{self.main()}</div><div class="who"><p>{"".join(page.other("bio", 1))}</p></div></div>\n'
                f'<div class="col-b"><div class="unit">{self.card()}{self.card()}</div><div class="unit"><h4>{page.label("popular")}</h4>{self.teasers(5, "div")}</div></div></div>\n'
                f'<div class="strip-2"><h4>{page.label("related")}</h4>{self.card()}{self.card()}{self.card()}</div>\n'
                f'<div class="ft"><div>{self.links(8, "span")}</div><div>{self.paragraphs("about", 2)}</div><div>{self.legal_links()}</div></div>')


LAYOUTS = {layout.name: layout for layout in (Semantic, Cms, Tables, SinglePage, Bare, Heavy, Builder, Wiki, Magazine)}
