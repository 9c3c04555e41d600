"""Layouts that were written after the rules of `web_fetch`, and before any extractor was run on them."""

from layouts import Layout


class Handbook(Layout):
    """A generator of documentation: a tree of pages at the left, the headings of the page at the right, and a box that asks for an opinion."""

    name = "handbook"

    def do_h(self, block):
        anchor = f"s{self.rng.randint(1, 999)}"
        return f'<h2 class="anchor" id="{anchor}">{block.text}<a class="hash-link" href="#{anchor}" title="Direct link">#</a></h2>'

    def do_code(self, block):
        return (f'<div class="codeBlockContainer_Ckt0 theme-code-block"><div class="codeBlockTitle">{block.language}</div><div class="codeBlockContent_biex">'
                f'<pre tabindex="0"><code>{self.highlighted(block)}</code></pre><div class="buttonGroup__atx"><button>Copy</button></div></div></div>')

    def do_post(self, block):
        return f'<details class="alert" open><summary>{block.text}, {self.date()}</summary><div><div class="collapsibleContent_i85q">{self.blocks(block.parts)}</div></div></details>'

    def do_item(self, block):
        return f'<article class="col col--6"><a class="card padding--lg" href="/{self.slug()}"><h2 class="text--truncate">{block.text}</h2><p class="text--truncate">{block.parts[0]}</p></a></article>'

    def tree(self):
        items = "".join(f'<li class="tree-item"><div><a href="/{self.slug()}">{name}</a></div><ul class="tree-list">{self.links(self.rng.randint(3, 6))}</ul></li>' for name in self.page.writer.nav[:5])
        return f'<div class="docSidebarContainer"><ul class="tree-list">{items}</ul></div>'

    def body(self):
        page = self.page
        contents = "".join(f'<li><a href="#s{index}" class="contents__link">{block.text}</a></li>' for index, block in enumerate(page.blocks) if block.kind == "h")
        opinion = " ".join(page.other("newsletter", 1))
        return (f'<div id="__root"><div class="skipToContent_fXgn"><a href="#main">Skip</a></div><div class="announcementBar_mb4j">{self.paragraphs("ad", 1, "span")}</div>\n'
                f'<div class="headRow">{self.links(6, "span")}<div class="searchBox"><input placeholder="{page.label("search")}"></div></div>\n'
                f'<div class="docsWrapper">{self.tree()}<div class="docMainContainer"><div class="container"><div class="row"><div class="col docItemCol">\n'
                f'<div class="docItemContainer"><div class="theme-doc-version">{self.date()}</div><div class="theme-doc-markdown markdown"><h1>{page.title}</h1>\n{self.main()}\n</div>\n'
                f'<div class="theme-doc-footer"><div class="row"><div class="col"><a href="/edit/{self.slug()}">Edit</a></div><div class="col lastUpdated">{self.date()} {page.label("by")} {self.rng.choice(page.writer.words["person"])}</div></div></div></div>\n'
                f'<div class="prevNext"><a href="/{self.slug()}"><div>Previous</div><div>{page.other("teaser", 1)[0]}</div></a><a href="/{self.slug()}"><div>Next</div><div>{page.other("teaser", 1)[0]}</div></a></div>\n'
                f'<div class="opinionBox"><h4>{opinion}</h4><button>Yes</button><button>No</button></div></div>\n'
                f'<div class="col col--3"><div class="contentsOnPage"><ul>{contents}</ul></div></div></div></div></div></div>\n'
                f'<div class="bottomRow"><div class="bottomLinks"><ul>{self.links(5)}</ul><ul>{self.links(5)}</ul></div><div>{" ".join(page.other("about", 2))} {self.legal_links()}</div></div></div>')


class Forge(Layout):
    """A page of a host of source code: a list of files, a text, and a column that describes the project."""

    name = "forge"

    def do_code(self, block):
        return f'<div class="highlight highlight-source-{block.language} position-relative overflow-auto" dir="auto"><pre class="notranslate">{self.highlighted(block)}</pre><div class="zeroclipboard-container"><clipboard-copy aria-label="Copy"></clipboard-copy></div></div>'

    def do_h(self, block):
        return f'<div class="markdown-heading" dir="auto"><h2 class="heading-element" dir="auto">{block.text}</h2><a class="anchor" href="#{self.slug()}"></a></div>'

    def do_post(self, block):
        return (f'<div class="TimelineItem js-comment-container"><div class="timeline-comment-group"><div class="timeline-comment"><div class="timeline-comment-header clearfix d-flex"><h3><strong><a href="/{self.slug()}">{block.text}</a></strong> '
                f'<a href="#c{self.rng.randint(1, 9999)}"><relative-time>{self.date()}</relative-time></a></h3></div><div class="edit-comment-hide"><table class="d-block"><tbody class="d-block"><tr class="d-block"><td class="d-block comment-body markdown-body">'
                f'{self.blocks(block.parts)}</td></tr></tbody></table><div class="comment-reactions"><button>+1</button></div></div></div></div></div>')

    def do_item(self, block):
        return f'<li class="Box-row d-flex"><div class="flex-auto"><a class="Link--primary" href="/{self.slug()}">{block.text}</a><div class="color-fg-muted text-small">{block.parts[0]}</div></div><div class="text-right"><a href="/{self.slug()}">{self.rng.randint(0, 90)}</a></div></li>'

    def main(self):
        inner = super().main()
        return f'<ul class="Box">{inner}</ul>' if self.page.kind == "listing" else inner

    def body(self):
        page = self.page
        files = "".join(f'<div role="row" class="Box-row py-2"><div role="rowheader"><a href="/{self.slug()}">{name}</a></div><div role="gridcell"><a href="/{self.slug()}">{teaser}</a></div><div role="gridcell">{self.date()}</div></div>'
                        for name, teaser in zip(["src", "tests", "LICENSE", "README.md", "Makefile"], page.other("teaser", 5)))
        listing = f'<div class="Box mb-3"><div class="Box-header">{self.rng.choice(page.writer.words["person"])} {self.date()}</div>{files}</div>' if page.kind not in ("forum", "questions", "listing") else ""
        about = " ".join(page.other("about", 1))
        return (f'<div class="position-relative js-header-wrapper"><div class="Header"><div class="Header-item"><a href="/">Example</a></div>{self.links(6, "div class=Header-item")}</div></div>\n'
                f'<div class="application-main"><div class="repohead"><div class="d-flex"><a href="/u">{self.rng.choice(page.writer.words["person"])}</a> / <a href="/r">{page.title}</a></div><ul class="UnderlineNav-body">{self.links(7)}</ul></div>\n'
                f'<div class="container-xl clearfix"><div class="Layout Layout--flowRow-until-md"><div class="Layout-main"><h1 class="f1">{page.title}</h1>{listing}<div class="Box mt-3"><div class="Box-body px-5 pb-5">\n{self.main()}\n</div></div></div>\n'
                f'<div class="Layout-side"><div class="BorderGrid"><div class="BorderGrid-cell"><h2>{page.label("author")}</h2><p class="f4 my-3">{about}</p><div class="topics">{self.links(5, "span")}</div></div>'
                f'<div class="BorderGrid-cell"><h2>{page.label("popular")}</h2>{self.paragraphs("ad", 1)}<a href="/{self.slug()}">+ {self.rng.randint(3, 90)}</a></div></div></div></div></div></div>\n'
                f'<div class="bottom width-full container-xl"><ul class="list-style-none d-flex">{self.links(9)}</ul><span>{" ".join(page.other("about", 1))}</span> {self.legal_links()}</div>')


class Utility(Layout):
    """Class names that describe looks alone."""

    name = "utility"

    def do_p(self, block):
        return f'<p class="mt-6 text-lg leading-8 text-gray-600">{self.sentences(block.parts)}</p>'

    def do_h(self, block):
        return f'<h2 class="mt-16 text-2xl font-bold tracking-tight">{block.text}</h2>'

    def do_post(self, block):
        return (f'<div class="flex gap-x-4 border-b py-6"><img class="h-10 w-10 rounded-full" src="/a.png" alt=""><div class="flex-auto"><div class="flex justify-between"><span class="text-sm font-semibold">{block.text}</span><span class="text-xs">{self.date()}</span></div>'
                f'<div class="mt-2 text-sm">{self.blocks(block.parts)}</div><div class="mt-2 flex gap-4 text-xs"><a href="#">{self.page.label("reply")}</a><a href="#">{self.page.label("share")[0]}</a></div></div></div>')

    def do_item(self, block):
        return f'<div class="relative flex flex-col gap-2 rounded-xl p-6 shadow"><span class="text-xs text-gray-500">{self.date()}</span><a class="text-lg font-semibold" href="/{self.slug()}">{block.text}</a><p class="text-sm">{block.parts[0]}</p></div>'

    def do_button(self, block):
        return f'<div class="mt-10 flex items-center gap-x-6"><a href="/{self.slug()}" class="rounded-md bg-indigo-600 px-3.5 py-2.5">{block.text}</a></div>'

    def body(self):
        page = self.page
        quotes = "".join(f'<div class="rounded-2xl bg-gray-50 p-8"><p>{text}</p><div class="mt-4 text-sm">{self.rng.choice(page.writer.words["person"])}</div></div>' for text in page.other("comment", 2))
        cards = "".join(f'<div class="flex flex-col items-start"><div class="text-xs">{self.date()}</div><h3 class="mt-3 text-lg"><a href="/{self.slug()}">{title}</a></h3><p class="mt-5 line-clamp-3">{text}</p></div>'
                        for title, text in zip(page.other("teaser", 3), page.other("ad", 3)))
        return (f'<div class="bg-white"><div class="sticky top-0 z-50"><div class="mx-auto flex max-w-7xl justify-between p-6"><a href="/">Example</a><div class="hidden lg:flex lg:gap-x-12">{self.links(6, "div")}</div><a href="/in">{page.writer.nav[0]}</a></div></div>\n'
                f'<div class="isolate"><div class="mx-auto max-w-3xl px-6 py-24"><p class="text-base font-semibold text-indigo-600">{self.date()}</p><h1 class="text-4xl font-bold">{page.title}</h1>\n{self.main()}\n</div>\n'
                f'<div class="mx-auto max-w-7xl px-6"><div class="grid grid-cols-2 gap-8">{quotes}</div></div>\n'
                f'<div class="mx-auto max-w-7xl px-6 py-16"><h2 class="text-3xl">{page.label("related")}</h2><div class="grid grid-cols-3 gap-8">{cards}</div></div>\n'
                f'<div class="bg-gray-900 py-16"><div class="max-w-xl">{self.paragraphs("newsletter", 2)}<div class="flex"><input type="email"><button>{page.label("subscribe")}</button></div></div></div></div>\n'
                f'<div class="bg-gray-900"><div class="grid grid-cols-4">{"".join(f"<div><h3>{page.writer.nav[at]}</h3><ul>{self.links(4)}</ul></div>" for at in range(4))}</div><p class="text-xs">{" ".join(page.other("about", 1))} {self.legal_links()}</p></div></div>')


class Archive(Layout):
    """An archive of a mailing list, or another page that a program of the last century writes: lists of links and rules around a text."""

    name = "archive"

    def do_p(self, block):
        return f"<P>{self.sentences(block.parts)}"

    def do_h(self, block):
        return f"<H3>{block.text}</H3>"

    def do_code(self, block):
        return f"<PRE>{self.highlighted(block)}</PRE>"

    def do_figure(self, block):
        return f"<P><A HREF={self.slug()}.html><IMG SRC=a.gif BORDER=0></A><BR><I>{block.text}</I>"

    def do_post(self, block):
        return f"<HR><B>{block.text}</B> <A HREF=mailto:someone>someone at example.com</A><BR><I>{self.date()}</I>\n{self.blocks(block.parts)}"

    def do_item(self, block):
        return f"<DT><A HREF={self.slug()}.html>{block.text}</A><DD>{block.parts[0]}"

    def main(self):
        inner = super().main()
        return f"<DL>{inner}</DL>" if self.page.kind == "listing" else inner

    def neighbours(self):
        page = self.page
        names = page.other("teaser", 2)
        return (f"<UL><LI>Previous: <A HREF={self.slug()}.html>{names[0]}</A><LI>Next: <A HREF={self.slug()}.html>{names[1]}</A>"
                f"<LI><B>Sorted by:</B> <A HREF=date.html>[ date ]</A> <A HREF=thread.html>[ thread ]</A> <A HREF=author.html>[ author ]</A></UL>")

    def body(self):
        page = self.page
        return (f"<H1>{page.title}</H1>\n<B>{self.rng.choice(page.writer.words['person'])}</B> <A HREF=/cgi-bin/mail>someone at example.com</A><BR><I>{self.date()}</I><P>{self.neighbours()}<HR>\n"
                f"{self.main()}\n<HR><P>{self.neighbours()}<HR><A HREF=/list>{'<BR>'.join(page.other('about', 1))}</A><BR>{'<BR>'.join(page.other('newsletter', 1))}<BR>{self.legal_links()}")


class Mobile(Layout):
    """A page for telephones of custom elements: menus and boxes that open, pictures that are loaded later."""

    name = "mobile"

    def do_figure(self, block):
        return f'<amp-img src="/{self.slug()}.jpg" width="640" height="480" layout="responsive"><noscript><img src="/{self.slug()}.jpg"></noscript></amp-img><div class="cap">{block.text}</div>'

    def do_post(self, block):
        return f'<section class="entry-{self.rng.randint(1, 9)}"><div class="who">{block.text} · {self.date()}</div>{self.blocks(block.parts)}</section>'

    def do_item(self, block):
        return f'<div class="story"><a href="/{self.slug()}"><amp-img src="/t.jpg" width="90" height="90"></amp-img><h3>{block.text}</h3></a><p>{block.parts[0]}</p></div>'

    def body(self):
        page = self.page
        folded = "".join(f"<section><h4>{title}</h4><div>{text}</div></section>" for title, text in zip(page.other("teaser", 2), page.other("ad", 2)))
        return (f'<amp-sidebar id="side" layout="nodisplay"><ul>{self.links(9)}</ul></amp-sidebar><amp-user-notification id="note" layout="nodisplay">{self.paragraphs("cookie", 2)}<button>{page.label("accept")}</button></amp-user-notification>\n'
                f'<div class="top"><button on="tap:side.toggle">≡</button><a href="/">Example</a></div>\n<div class="body-text"><h1>{page.title}</h1><div class="info">{page.label("by")} {self.rng.choice(page.writer.words["person"])} {self.date()}</div>\n'
                f'<amp-social-share type="email"></amp-social-share>\n{self.main()}\n<amp-ad width="300" height="250">{self.paragraphs("ad", 1)}</amp-ad>\n'
                f'<div class="further"><h2>{page.label("related")}</h2><amp-list layout="fixed-height">{self.teasers(4, "div")}</amp-list></div><amp-accordion>{folded}</amp-accordion></div>\n'
                f'<div class="end">{" ".join(page.other("about", 2))}<br>{self.legal_links()}</div>')


class Intranet(Layout):
    """A portal of a company: one form around the page, generated identifiers, zones of web parts."""

    name = "intranet"

    def zone(self, name, inner):
        return f'<div id="ctl00_MSO_ContentDiv_{self.rng.randint(1, 99)}" class="ms-webpart-zone"><div class="s4-wpcell-plain"><div class="ms-webpart-chrome"><div class="ms-webpart-chrome-title"><h2><span>{name}</span></h2></div><div class="ms-WPBody noindex"><div class="ms-rtestate-field">{inner}</div></div></div></div></div>'

    def do_p(self, block):
        return f'<div class="ms-rteElement-P">{self.sentences(block.parts)}</div>' if self.page.rng.random() < 0.5 else f"<p>\u200b{self.sentences(block.parts)}</p>"

    def do_h(self, block):
        return f'<h2 class="ms-rteElement-H2">{block.text}</h2>'

    def do_table(self, block):
        rows = "\n".join('<tr class="ms-rteTableOddRow-default">' + "".join(f'<td class="ms-rteTableEvenCol-default">{cell}</td>' for cell in row) + "</tr>" for row in block.parts)
        return f'<table class="ms-rteTable-default" cellspacing="0" style="width: 100%"><tbody>{rows}</tbody></table>'

    def do_post(self, block):
        return f'<table id="ctl00_g_{self.rng.randint(1, 999)}" class="ms-disc"><tr class="ms-disc-root"><td class="ms-disc-bordered"><span class="ms-imnSpan"><a href="/_layouts/{self.slug()}">{block.text}</a></span> {self.date()}</td></tr><tr><td class="ms-disc-bordered-noleft">{self.blocks(block.parts)}</td></tr></table>'

    def do_item(self, block):
        return f'<div class="ms-srch-item"><div class="ms-srch-item-title"><h3><a href="/Pages/{self.slug()}.aspx">{block.text}</a></h3></div><div class="ms-srch-item-body"><div class="ms-srch-item-summary">{block.parts[0]}</div><div class="ms-srch-item-path">https://intranet.example/{self.slug()}</div></div></div>'

    def body(self):
        page = self.page
        return (f'<form method="post" action="./{self.slug()}.aspx" id="aspnetForm"><input type="hidden" name="__VIEWSTATE" value="{"d" * 200}"><div id="s4-workspace"><div id="s4-bodyContainer">\n'
                f'<div id="s4-titlerow"><div id="suiteBarLeft">{self.links(5, "span")}</div><div class="ms-breadcrumb-box"><a href="/">Example</a> &gt; <a href="/{self.slug()}">{page.writer.nav[1]}</a></div></div>\n'
                f'<div id="contentRow"><div id="sideNavBox" class="ms-dialogHidden"><div class="ms-core-listMenu-verticalBox"><ul>{self.links(8)}</ul></div></div>\n'
                f'<div id="contentBox"><div id="DeltaPlaceHolderMain"><div class="article article-left"><h1><span>{page.title}</span></h1><div class="article-info">{self.date()} {self.rng.choice(page.writer.words["person"])}</div>\n'
                f'<div class="article-content"><div id="ctl00_PlaceHolderMain_ctl01_label" style="display:none">Page Content</div><div class="ms-rtestate-field">\n{self.main()}\n</div></div></div>\n'
                f'{self.zone(page.label("popular"), self.teasers(4, "div"))}{self.zone(page.label("subscribe"), self.paragraphs("newsletter", 2))}</div></div></div>\n'
                f'<div id="ms-bottom">{self.paragraphs("about", 1, "div")}{self.legal_links()}</div></div></div></form>')


class Components(Layout):
    """Custom elements in place of everything that HTML has."""

    name = "components"

    def do_p(self, block):
        return f"<x-text>{self.sentences(block.parts)}</x-text>" if self.page.rng.random() < 0.5 else super().do_p(block)

    def do_h(self, block):
        return f'<x-heading level="2">{block.text}</x-heading>'

    def do_code(self, block):
        return f'<x-code language="{block.language}"><pre slot="code"><code>{self.highlighted(block)}</code></pre></x-code>'

    def do_figure(self, block):
        return f'<x-figure src="/{self.slug()}.jpg"><span slot="caption">{block.text}</span></x-figure>'

    def do_post(self, block):
        return f'<x-message><x-avatar slot="start"></x-avatar><div slot="meta"><x-user>{block.text}</x-user> <x-time>{self.date()}</x-time></div><div slot="content">{self.blocks(block.parts)}</div><x-actions slot="end"><x-button>{self.page.label("reply")}</x-button></x-actions></x-message>'

    def do_item(self, block):
        return f'<x-tile href="/{self.slug()}"><x-heading level="3"><a href="/{self.slug()}">{block.text}</a></x-heading><x-text>{block.parts[0]}</x-text></x-tile>'

    def do_button(self, block):
        return f"<x-button>{block.text}</x-button>"

    def body(self):
        page = self.page
        return (f'<x-app><x-bar slot="top"><a href="/">Example</a><x-tabs>{self.links(7, "x-tab")}</x-tabs></x-bar>\n'
                f'<x-drawer slot="start"><x-tree>{self.links(9, "x-tree-item")}</x-tree></x-drawer>\n'
                f'<x-page><x-heading level="1">{page.title}</x-heading><x-byline>{self.date()}</x-byline>\n{self.main()}\n'
                f'<x-rating>{" ".join(page.other("modal", 1))}</x-rating><x-strip><x-heading level="3">{page.label("related")}</x-heading>{self.teasers(4, "x-tile")}</x-strip></x-page>\n'
                f'<x-bar slot="bottom"><x-text>{" ".join(page.other("about", 2))}</x-text>{self.legal_links()}</x-bar></x-app>')


class Timeline(Layout):
    """A social network: a column of the page between two others, with actions below each part."""

    name = "timeline"

    def card(self, inner, who=None):
        page = self.page
        who = who or self.rng.choice(page.writer.words["person"])
        return (f'<div class="status__wrapper"><div class="status"><div class="status__info"><a href="/@{self.slug()}"><strong>{who}</strong> <span>@{self.rng.randint(10, 999)}</span></a> <a href="/@{self.slug()}">{self.date()}</a></div>'
                f'<div class="status__content"><div class="status__content__text">{inner}</div></div><div class="status__action-bar"><button>{page.label("reply")}</button><a href="#">{self.rng.randint(0, 99)}</a><a href="#">{page.label("share")[0]}</a></div></div></div>')

    def do_post(self, block):
        return self.card(self.blocks(block.parts), block.text)

    def do_item(self, block):
        return self.card(f'<p>{block.parts[0]}</p><a class="status-card" href="/{self.slug()}"><strong>{block.text}</strong></a>')

    def body(self):
        page = self.page
        inner = self.main() if page.kind in ("forum", "questions", "listing") else self.card(f"<h1>{page.title}</h1>{self.main()}")
        people = "".join(f'<div class="account"><a href="/@{self.slug()}"><strong>{self.rng.choice(page.writer.words["person"])}</strong></a><div class="account__note">{text}</div><button>{page.label("subscribe")}</button></div>' for text in page.other("bio", 2))
        trends = "".join(f'<div class="trends__item"><a href="/tags/{self.slug()}">#{text}</a><span>{self.rng.randint(10, 900)}</span></div>' for text in page.other("teaser", 4))
        return (f'<div class="app-holder"><div class="columns-area__panels"><div class="columns-area__panels__pane"><div class="compose-panel">{self.paragraphs("about", 1)}<a href="/in">{page.writer.nav[0]}</a></div>'
                f'<div class="navigation-panel">{self.links(7, "div")}</div></div>\n<div class="columns-area__panels__main"><div class="column"><div class="scrollable">\n{inner}\n</div></div></div>\n'
                f'<div class="columns-area__panels__pane"><div class="getting-started__trends"><h4>{page.label("popular")}</h4>{trends}</div><div class="suggestions"><h4>{page.label("related")}</h4>{people}</div><div class="link-strip">{self.legal_links()}</div></div></div></div>')


class Exported(Layout):
    """A text that an office program saved, within the page of a small site."""

    name = "exported"

    def do_p(self, block):
        return f'<p class=MsoNormal style="margin-bottom:0cm"><span lang=EN-US style="font-size:11.0pt;font-family:Calibri">{self.sentences(block.parts)}<o:p></o:p></span></p>\n<p class=MsoNormal><o:p>&nbsp;</o:p></p>'

    def do_h(self, block):
        return f'<p class=MsoHeading8><b><span style="font-size:16.0pt">{block.text}</span></b></p>'

    def do_code(self, block):
        return f"<pre style=\"background:white\">{self.highlighted(block)}</pre>"

    def do_list(self, block):
        return "".join(f'<p class=MsoListParagraph style="text-indent:-18pt"><span style="font-family:Symbol">·<span style="font:7.0pt">&nbsp;&nbsp; </span></span><span>{self.inline(part)}</span></p>' for part in block.parts)

    def do_post(self, block):
        return f'<div style="border-left:solid 1.0pt"><p class=MsoNormal><b>From:</b> {block.text}<br><b>Sent:</b> {self.date()}</p>{self.blocks(block.parts)}</div>'

    def do_item(self, block):
        return f'<p class=MsoNormal><a href="{self.slug()}.htm"><span style="color:blue">{block.text}</span></a><br><span>{block.parts[0]}</span></p>'

    def do_button(self, block):
        return f'<p class=MsoNormal align=center><a href="{self.slug()}.htm">{block.text}</a></p>'

    def body(self):
        page = self.page
        return (f'<div align=center><a href="index.htm"><b>Example</b></a><br>{" | ".join(f"<a href={self.slug()}.htm>{name}</a>" for name in page.writer.nav[:6])}</div>\n'
                f'<div class=WordSection1><p class=MsoTitle><span style="font-size:26.0pt">{page.title}</span></p>\n{self.main()}\n</div>\n'
                f'<div align=center style="font-size:8pt">{"<br>".join(page.other("about", 2))}<br>{" ".join(page.other("newsletter", 1))}<br>{self.legal_links()}</div>')


class Office(Layout):
    """A page of an authority: notices above the text, a list of contents beside it, a form for opinions and links to topics below."""

    name = "office"

    def do_post(self, block):
        return f'<div class="app-response"><div class="gem-c-metadata"><dl><dt>{self.page.label("by")}</dt><dd>{block.text}</dd><dt>·</dt><dd>{self.date()}</dd></dl></div><div class="gem-c-govspeak">{self.blocks(block.parts)}</div></div>'

    def do_item(self, block):
        return f'<li class="gem-c-document-list__item"><div class="gem-c-document-list__item-title"><a href="/{self.slug()}">{block.text}</a></div><p class="gem-c-document-list__item-description">{block.parts[0]}</p><ul class="gem-c-document-list__item-metadata"><li>{self.date()}</li></ul></li>'

    def main(self):
        inner = super().main()
        return f'<ul class="gem-c-document-list">{inner}</ul>' if self.page.kind == "listing" else inner

    def body(self):
        page = self.page
        contents = "".join(f'<li><a href="#{index}">{index}. {block.text}</a></li>' for index, block in enumerate(page.blocks) if block.kind == "h")
        return (f'<div class="cookie-notice">{self.paragraphs("cookie", 2)}<button>{page.label("accept")}</button></div><a class="govuk-skip" href="#content">Skip</a>\n'
                f'<div class="global-bar"><div class="global-bar-message">{self.paragraphs("ad", 1, "span")}</div></div><div class="gem-c-layout-super">{self.links(6, "span")}</div>\n'
                f'<div class="phase"><p><strong>BETA</strong> {" ".join(page.other("modal", 1))} <a href="/feedback">{page.writer.nav[1]}</a></p></div>\n'
                f'<div class="govuk-width-container"><div class="govuk-grid-row"><div class="govuk-grid-column-two-thirds"><h1 class="gem-c-title__text">{page.title}</h1></div></div>'
                f'<div class="gem-c-metadata"><dl><dt>{page.label("by")}</dt><dd><a href="/o">{self.rng.choice(page.writer.words["person"])}</a></dd><dt>·</dt><dd>{self.date()}</dd></dl></div>\n'
                f'<div class="govuk-grid-row"><div class="govuk-grid-column-two-thirds"><div class="gem-c-contents-list"><ol>{contents}</ol></div><div class="govspeak">\n{self.main()}\n</div></div>\n'
                f'<div class="govuk-grid-column-one-third"><div class="gem-c-contextual"><h2>{page.label("related")}</h2><ul>{self.teasers(4)}</ul></div></div></div></div>\n'
                f'<div class="gem-c-opinion"><h2>{" ".join(page.other("newsletter", 1))}</h2><button>Yes</button><button>No</button></div>\n'
                f'<div class="foot-links"><ul>{self.links(8)}</ul><p>{" ".join(page.other("about", 2))}</p><p>{self.legal_links()}</p></div>')


UNSEEN = {layout.name: layout for layout in (Handbook, Forge, Utility, Archive, Mobile, Intranet, Components, Timeline, Exported, Office)}
