"""Writes the pages and their labels into a directory: `make.py DIRECTORY`. The same pages each time."""

import json
import pathlib
import random
import sys

from kinds import KINDS, page_of
from layouts import LAYOUTS as FIRST
from unseen_layouts import UNSEEN
from writer import letters

LAYOUTS = FIRST | UNSEEN


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    labels = []
    for kind in KINDS:
        for layout in LAYOUTS:
            page = page_of(kind, layout, random.Random(f"{kind} {layout}"))
            html = LAYOUTS[layout](page).render()
            name = f"{kind}.{layout}"
            shown = letters(html)
            assert all(marker in shown for marker in page.markers)
            (folder / f"{name}.html").write_text(html)
            labels.append({"name": name, "kind": kind, "layout": layout, "title": page.title, "main": page.main, "other": page.others, "code": page.code,
                           "scripts": page.markers})
    (folder / "labels.json").write_text(json.dumps(labels, ensure_ascii=False, indent=1))
    print(f"{len(labels)} pages")


if __name__ == "__main__":
    main()
