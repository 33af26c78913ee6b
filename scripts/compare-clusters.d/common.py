"""What the readers of all sources share: names, types and expressions of conformance.

A reader returns a cluster as a dictionary of its name, its revision and its features, attributes, commands and events by id,
each a dictionary of facts. A fact that a source doesn't state is left out. A type is a word, or a pair of its kind with
the entry, the names of values or bits, or the fields: `number: (name, optional, type)`. The name of an obsolete value or field
is None, and `optional` of a field that depends on features.
"""

import re

FABRIC_INDEX = 254
FABRIC_INDEX_FIELD = ("FabricIndex", True, "uint8")


def plain(name):
    """Returns a name without spaces, punctuation and case."""
    return re.sub(r"[^a-z0-9]", "", name.lower())


def field_name(name, width):
    """The name of a bit, or of a field of several bits with their number."""
    return name if width == 1 else f"{name} with {width} bits"


def integer(signed, bits):
    """The type of the schema for an integer of a number of bits."""
    return f"{'' if signed else 'u'}int{next(size for size in (8, 16, 32, 64) if size >= bits)}"


class Undecidable(Exception):
    """A conformance that the text of the standard describes, or that depends on values."""


class Conformance:
    """An expression of conformance in the words of the standard."""

    WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
    KEYWORDS = {"M", "O", "P", "D", "X", "desc"}

    def __init__(self, text):
        self.text = text.replace(" ", "")

    @property
    def names(self):
        """The features and elements that it depends on, as `plain` names."""
        words = set(self.WORD.findall(re.sub(r"\.[a-z]\d*[+-]?", "", self.text))) - self.KEYWORDS
        return {plain(word) for word in words}

    @property
    def is_obsolete(self):
        return self.text in ("X", "D")

    def evaluate(self, present):
        """`mandatory`, `optional` or `absent`, with the choice, for a server with these features and elements."""
        for part in self.text.split(","):
            match re.fullmatch(r"(\[?)(.+?)\]?((?:\.[a-z]\d*[+-]?)?)", part).groups():
                case "", "M", _:
                    return "mandatory"
                case "", "O", choice:
                    return "optional" + choice
                case "", "P", _:
                    continue
                case "", "D" | "X", _:
                    return "absent"
                case "", "desc", _:
                    raise Undecidable
                case bracket, condition, choice if self.holds(condition, present):
                    return "optional" + choice if bracket else "mandatory"
        return "absent"

    def holds(self, condition, present):
        """Whether a condition holds. Its operators have the precedence of those of Python."""
        python = self.WORD.sub(lambda name: "-1" if plain(name[0]) in present else "0", condition).replace("!", "~")
        if not re.fullmatch(r"[-01~&|^()]+", python):
            raise Undecidable
        return bool(eval(python))
