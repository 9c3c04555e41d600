"""The main content of each kind of page, as blocks that a layout renders."""

import html
import re
from dataclasses import dataclass, field

from writer import Writer, letters


@dataclass
class Block:
    """`kind` is one of p, h, code, table, list, figure, infobox, references, post, item, button."""

    kind: str
    text: str = ""
    parts: list = field(default_factory=list)
    language: str = ""


@dataclass
class Page:
    kind: str
    layout: str
    writer: Writer
    rng: object
    title: str = ""
    blocks: list = field(default_factory=list)
    main: list = field(default_factory=list)
    others: list = field(default_factory=list)
    code: list = field(default_factory=list)
    markers: list = field(default_factory=list)

    def wanted(self, rule, count):
        """Sentences of the main content."""
        texts = self.writer.some(rule, count)
        self.main += [html.unescape(re.sub(r"<[^>]+>", "", text)) for text in texts]
        return texts

    def other(self, rule, count=1):
        """Sentences of what is around the main content."""
        texts = self.writer.some(rule, count)
        self.others += texts
        return texts

    def marker(self):
        """A word that stands only in scripts and styles."""
        word = "zq" + "".join(self.rng.choice("bcdfghjklmnpqrstvwxz") for _ in range(10))
        self.markers.append(word)
        return word

    def label(self, name):
        return self.writer.labels[name]

    # Blocks.

    def prose(self, rule, count, sizes=(2, 5)):
        """Paragraphs with `count` sentences together."""
        sentences, blocks = self.wanted(rule, count), []
        while sentences:
            size = self.rng.randint(*sizes)
            blocks.append(Block("p", parts=sentences[:size]))
            sentences = sentences[size:]
        return blocks

    def heading(self):
        # Headings are not counted: some extractors treat the title apart, and headings are not sentences.
        return Block("h", self.writer.one("heading") or "II")

    def snippet(self, language=None):
        language = language or self.rng.choice(sorted(SNIPPETS))
        number = lambda: self.rng.randint(2, 9999)
        text = re.sub(r"@(\w+)@", lambda match: f"{match.group(1)}_{number()}", self.rng.choice(SNIPPETS[language]))
        text = re.sub(r"#N#", lambda _: str(number()), text)
        self.code.append(text)
        return Block("code", text, language=language)


SNIPPETS = {
    "python": [
        "import client\n\nwith client.open(\"@host@\", timeout=#N#) as link:\n    for row in link.rows():\n        if row.size < #N# and row.kind != \"@kind@\":\n            print(row.name, row.size)\n",
        "def @name@(values, limit=#N#):\n    total = 0\n    for value in values:\n        # Negative ones are errors.\n        if value <= 0:\n            continue\n\n        total += value\n    return total & 0xff\n",
    ],
    "rust": [
        "fn @load@(path: &Path) -> Result<Vec<u8>, Error> {\n    let mut file = File::open(path)?;\n    let mut bytes = Vec::with_capacity(#N#);\n    file.read_to_end(&mut bytes)?;\n\n    Ok(bytes)\n}\n",
        "#[derive(Debug, Clone)]\nstruct @Options@<'a> {\n    name: &'a str,\n    limit: Option<usize>, // #N# if none\n}\n",
    ],
    "javascript": [
        "const @queue@ = new Queue({ limit: #N# });\n\nqueue.on('drain', async () => {\n  const items = await store.take(#N#);\n  items.filter(item => item.age > #N# && item.ready)\n       .forEach(item => queue.push(item));\n});\n",
    ],
    "bash": [
        "curl -fsS https://api.example.com/v1/@jobs@ \\\n  -H 'Authorization: Bearer $TOKEN' \\\n  -d '{\"limit\": #N#}' | jq '.items[] | .id' > ids.txt\n",
        "$ make @target@ JOBS=#N#\n$ ./configure --prefix=/opt/tool && make install\n",
    ],
    "json": ["{\n  \"name\": \"@pool@\",\n  \"limits\": {\n    \"connections\": #N#,\n    \"idle\": null\n  }\n}\n"],
    "sql": ["SELECT o.id, sum(l.price) AS total\nFROM @orders@ o\nJOIN lines l ON l.order_id = o.id\nWHERE o.created > now() - interval '#N# days'\nGROUP BY o.id\nHAVING sum(l.price) >= #N#;\n"],
}


def news(page):
    count = page.rng.randint(12, 34)
    first = page.prose("news", count // 2, (1, 3))
    first.insert(min(2, len(first)), Block("figure", page.writer.one("teaser")))
    rest = page.prose("news", count - count // 2, (1, 3))
    return first + ([page.heading()] if page.rng.random() < 0.6 else []) + rest


def blog(page):
    blocks = []
    for part in range(page.rng.randint(2, 4)):
        if part:
            blocks.append(page.heading())
        blocks += page.prose("blog", page.rng.randint(5, 11), (2, 6))
        if page.rng.random() < 0.4:
            blocks.append(page.snippet())
            blocks += page.prose("blog", 2, (2, 3))
    if page.rng.random() < 0.5:
        blocks.append(Block("list", parts=page.wanted("blog", 3)))
    return blocks


def documentation(page):
    blocks = page.prose("docs", page.rng.randint(2, 5))
    for _ in range(page.rng.randint(2, 4)):
        blocks += [page.heading(), *page.prose("docs", page.rng.randint(2, 5), (1, 3)), page.snippet()]
        if page.rng.random() < 0.7:
            rows = [[f"<code>{page.rng.choice(page.writer.words['code'])}</code>", page.rng.choice(["string", "integer", "bool", "Duration"]), text]
                    for text in page.wanted("docs", page.rng.randint(3, 6))]
            blocks.append(Block("table", parts=[["Name", "Type", "Description"], *rows]))
        if page.rng.random() < 0.4:
            blocks.append(Block("list", parts=page.wanted("docs", 3)))
    return blocks


def post(page, *blocks):
    return Block("post", page.rng.choice(page.writer.words["person"]), list(blocks))


def questions(page):
    language = page.rng.choice(["python", "rust", "javascript", "sql", "bash"])
    posts = [post(page, *page.prose("question", page.rng.randint(3, 5)), page.snippet(language), *page.prose("question", 1))]
    for number in range(page.rng.randint(2, 4)):
        code = [page.snippet(language)] if number == 0 or page.rng.random() < 0.6 else []
        posts.append(post(page, *page.prose("answer", page.rng.randint(2, 5)), *code, *page.prose("answer", page.rng.randint(1, 2))))
    return posts


def forum(page):
    return [post(page, *page.prose("forum", page.rng.randint(1, 4), (1, 4))) for _ in range(page.rng.randint(6, 12))]


def product(page):
    blocks = [*page.prose("product", page.rng.randint(3, 5)), Block("button", "Add to basket"), Block("list", parts=page.wanted("product", page.rng.randint(3, 5)))]
    rows = [[name, f"{page.rng.randint(2, 900)} {unit}"] for name, unit in [("Height", "mm"), ("Width", "mm"), ("Weight", "g"), ("Volume", "ml")]]
    return [*blocks, page.heading(), *page.prose("product", page.rng.randint(4, 8)), Block("table", parts=[["Property", "Value"], *rows])]


def encyclopedia(page):
    blocks = [Block("infobox", parts=[[name, page.rng.choice(page.writer.words["year"])] for name in ["Founded", "Listed", "Restored", "Opened"]])]
    blocks += page.prose("encyclopedia", page.rng.randint(3, 5))
    for _ in range(page.rng.randint(3, 6)):
        blocks += [page.heading(), *page.prose("encyclopedia", page.rng.randint(4, 9), (2, 5))]
    references = [f"{page.rng.choice(page.writer.words['surname'])}, {page.rng.choice(page.writer.words['year'])}, p. {page.rng.randint(3, 400)}" for _ in range(page.rng.randint(6, 14))]
    return [*blocks, Block("references", parts=references)]


def recipe(page):
    amounts = [f"{page.rng.randint(1, 500)} g {page.rng.choice(page.writer.words['food']).removeprefix('the ')}" for _ in range(8)]
    return [*page.prose("recipe", page.rng.randint(2, 6)), Block("h", page.label("ingredients")), Block("list", parts=amounts), page.heading(),
            Block("list", parts=page.wanted("recipe", page.rng.randint(5, 9)), text="ordered"), *page.prose("recipe", page.rng.randint(2, 4))]


def release(page):
    blocks = page.prose("release", page.rng.randint(1, 3))
    for _ in range(page.rng.randint(2, 4)):
        blocks += [page.heading(), Block("list", parts=page.wanted("release", page.rng.randint(4, 9)))]
        if page.rng.random() < 0.4:
            blocks.append(page.snippet("bash"))
    return blocks


def legal(page):
    blocks = []
    for _ in range(page.rng.randint(4, 8)):
        blocks += [page.heading(), *page.prose("legal", page.rng.randint(3, 7), (1, 2))]
    return blocks


def landing(page):
    blocks = [*page.prose("landing", 2, (1, 1)), Block("button", "Start free trial")]
    for text in page.wanted("landing", page.rng.randint(3, 6)):
        blocks += [page.heading(), Block("p", parts=[text])]
    return [*blocks, Block("button", "Talk to sales")]


def listing(page):
    return [Block("item", page.writer.one("title"), [text]) for text in page.wanted("listing", page.rng.randint(10, 20))]


def foreign(page):
    blocks = page.prose("main", page.rng.randint(4, 8), (1, 4))
    for _ in range(page.rng.randint(1, 3)):
        blocks += [page.heading(), *page.prose("main", page.rng.randint(4, 8), (1, 4))]
    if page.rng.random() < 0.5:
        blocks.insert(2, Block("figure", page.writer.one("teaser")))
    return blocks


KINDS = {
    "news": ("en", news), "blog": ("en", blog), "documentation": ("en", documentation), "questions": ("en", questions), "forum": ("en", forum), "product": ("en", product),
    "encyclopedia": ("en", encyclopedia), "recipe": ("en", recipe), "release-notes": ("en", release), "legal": ("en", legal), "landing": ("en", landing),
    "listing": ("en", listing), "chinese": ("zh", foreign), "japanese": ("ja", foreign), "arabic": ("ar", foreign), "russian": ("ru", foreign), "german": ("de", foreign),
}


def page_of(kind, layout, rng):
    language, make = KINDS[kind]
    page = Page(kind, layout, Writer(rng, language), rng)
    page.title = page.writer.one("title")
    page.blocks = make(page)
    assert len({letters(text) for text in page.main}) == len(page.main)
    return page
