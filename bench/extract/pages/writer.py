"""Writes sentences by a grammar. No two sentences of a page are equal, so that each can be found in what an extractor returns."""

import re

import english
from other_languages import LANGUAGES

SLOT = re.compile(r"\{(\w+)\}")


def letters(text):
    """Letters and digits in lower case: what is compared. Marks of Markdown and HTML, spaces and punctuation differ between extractors."""
    return "".join(character for character in text.lower() if character.isalnum())


class Writer:
    def __init__(self, rng, language):
        self.rng, self.language, self.written = rng, language, []
        self.uses = {}
        other = LANGUAGES.get(language)
        self.words = other["words"] if other else english.WORDS
        self.rules = other["rules"] if other else english.RULES
        self.nav = other["nav"] if other else english.NAV
        self.labels = other["labels"] if other else english.LABELS

    def one(self, rule):
        """A sentence that the page does not have yet, neither as a part nor as a whole of another one."""
        # A page of another language has one kind of main text.
        choices = self.rules.get(rule) or self.rules["main"]
        for _ in range(300):
            # The templates that were used least, so that a text does not repeat itself.
            least = min(self.uses.get(choice, 0) for choice in choices)
            template = self.rng.choice([choice for choice in choices if self.uses.get(choice, 0) == least])
            self.uses[template] = least + 1
            text = self._fill(template)
            plain = letters(re.sub(r"<[^>]+>", "", text))
            if not any(plain in other or other in plain for other in self.written):
                self.written.append(plain)
                return text
        return None

    def some(self, rule, count):
        return [text for text in (self.one(rule) for _ in range(count)) if text]

    def _fill(self, template):
        def word(match):
            name = match.group(1)
            if name in self.words:
                return self.rng.choice(self.words[name])
            text = self.rng.choice(self.words[name.lower().removesuffix("_cap")])
            return text[0].upper() + text[1:]

        text = SLOT.sub(word, template)
        return text if "<" in text[:1] else text[0].upper() + text[1:]
