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


def integer_range(kind, is_nullable):
    """The lowest and highest number of an integer type of the schema, which are 64 bits with a sign; None for another type. A
    nullable type reserves one number."""
    match = re.fullmatch(r"(int|uint|enum|map)(\d+)", kind)
    if not match:
        return None
    bits = int(match[2])
    if match[1] == "int":
        return -(1 << bits - 1) + is_nullable, (1 << bits - 1) - 1
    return 0, (1 << min(bits, 63)) - 1 - (is_nullable and bits < 64)


def limits(kind, is_nullable, lowest, highest):
    """The limits of a number, or of a length; None if they limit nothing. The type fills in those that are None."""
    whole = integer_range(kind, is_nullable) or (0, None)
    lowest = whole[0] if lowest is None else max(lowest, whole[0])
    if whole[1] is not None:
        highest = whole[1] if highest is None else min(highest, whole[1])
    return None if (lowest, highest) == whole else f"{lowest} to {'any number' if highest is None else highest}"


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
