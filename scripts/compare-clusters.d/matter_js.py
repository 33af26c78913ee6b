"""Reads the model of matter.js: calls such as `Attribute({ name: "OnOff", id: 0x0 }, Field(…))` in TypeScript."""

import dataclasses
import glob
import json
import os
import re
import sys

from common import FABRIC_INDEX, FABRIC_INDEX_FIELD, Conformance, field_name, integer, limits, plain

ELEMENTS = "packages/model/src/standard/elements"
SPECIFICATION = "packages/model/src/common/Specification.ts"
PRIVILEGES = {"V": "view", "O": "operate", "M": "manage", "A": "administer"}
FIRST_GLOBAL_ATTRIBUTE = 0xF000


@dataclasses.dataclass
class Element:
    kind: str
    properties: dict
    children: list

    def get(self, name, default=None):
        return self.properties.get(name, default)

    def all(self, kind):
        return [child for child in self.children if child.kind == kind]

    @property
    def is_obsolete(self):
        return self.get("conformance") in ("X", "D")


class Parser:
    """Parses the literals and calls of an element file."""

    TOKEN = re.compile(
        r'\s*(?:(?P<string>"(?:[^"\\]|\\.)*")|(?P<number>-?0x[0-9a-fA-F]+|-?\d+(?:\.\d+)?)n?'
        r"|(?P<word>[A-Za-z_$][\w$.]*)|(?P<sign>\S))")

    def __init__(self, text):
        text = re.sub(r"/\*.*?\*/|^\s*//[^\n]*", "", text, flags=re.DOTALL | re.MULTILINE)
        self.tokens = [(match.lastgroup, match[match.lastgroup]) for match in self.TOKEN.finditer(text)]
        self.position = 0

    def elements(self):
        """The element of each `export const name = …`."""
        result = []
        while self.position < len(self.tokens):
            if self.take() == ("word", "export") and self.take() == ("word", "const"):
                self.position += 2
                result.append(self.value())
        return [element for element in result if isinstance(element, Element)]

    def take(self):
        token = self.tokens[self.position]
        self.position += 1
        return token

    def skip(self, sign):
        found = self.position < len(self.tokens) and self.tokens[self.position] == ("sign", sign)
        self.position += found
        return found

    def value(self):
        match self.take():
            case "string", text:
                return json.loads(text)
            case "number", text:
                return float(text) if "." in text else int(text, 0)
            case "word", word if self.skip("("):
                properties, *children = self.values(")")
                return Element(word, properties, [child for child in children if isinstance(child, Element)])
            case "word", word:
                return {"true": True, "false": False, "null": None}.get(word, word)
            case "sign", "[":
                return self.values("]")
            case "sign", "{":
                result = {}
                while not self.skip("}"):
                    _, key = self.take()
                    self.skip(":")
                    result[key.strip('"')] = self.value()
                    self.skip(",")
                return result
            case _, text:
                raise ValueError(f"unexpected {text}")

    def values(self, end):
        result = []
        while not self.skip(end):
            result.append(self.value())
            self.skip(",")
        return result


def access(element):
    """The operations, flags and privileges of an access such as `RW F VM`."""
    words = element.get("access", "").replace("[", "").replace("]", "").split()
    return (next((word for word in words if set(word) <= set("RW")), ""), {word for word in words if word in "FST"},
            [PRIVILEGES[letter] for word in words if set(word) <= PRIVILEGES.keys() for letter in word])


def conformance(element):
    text = element.get("conformance")
    return {"conformance": Conformance(text)} if isinstance(text, str) else {}


def bounds(text):
    """The lowest and highest number of a literal constraint such as `max 5[max 32]` or `-2^62 to 2^62`, None for each
    that is open; None for a constraint that refers to other elements or to the text of the standard."""
    def number(word):
        base, _, power = word.rstrip("%").partition("^")
        return int(base) ** int(power or 1) if not base.startswith("-") else -(int(base[1:]) ** int(power or 1))

    literal = r"(-?\d+(?:\^\d+)?%?)"
    text = re.sub(r"\[.*\]$", "", str(text))
    if match := re.fullmatch(rf"(max |min |){literal}", text):
        value = number(match[2])
        return None if match[1] == "max " else value, None if match[1] == "min " else value
    if match := re.fullmatch(rf"{literal} to {literal}", text):
        return number(match[1]), number(match[2])
    return None


def implied_bounds(type):
    """The limits of a type of the standard that the schema has as a larger integer."""
    match type:
        case "percent":
            return 0, 100
        case "percent100ths":
            return 0, 10000
        case "uint24":
            return 0, 0xFFFFFE
    return None, None


def initial(value, kind):
    """A literal default as the schema writes it; nothing for one that refers to other elements."""
    match value:
        case {"type": "celsius", "value": degrees}:
            # A temperature of 8 bits is in tenths of a degree, others are in hundredths.
            return {"initial": round(degrees * (10 if kind.endswith("8") else 100))}
        case dict() | [_, *_]:
            return {}
    return {"initial": value}


class Definitions:
    """The definitions of a checkout."""

    def __init__(self, checkout):
        files = sorted(glob.glob(os.path.join(checkout, ELEMENTS, "*.element.ts")))
        if not files:
            sys.exit(f"compare-clusters: no model in {checkout}")
        with open(os.path.join(checkout, SPECIFICATION), encoding="utf-8") as file:
            self.version = re.search(r'const REVISION = "([^"]*)"', file.read())[1]
        self.globals, self.clusters, self.devices = {}, {}, {}
        for path in files:
            with open(path, encoding="utf-8") as file:
                try:
                    elements = Parser(file.read()).elements()
                except (ValueError, IndexError) as error:
                    sys.exit(f"compare-clusters: {path}: {error}")
            for element in elements:
                group = {"Cluster": self.clusters, "DeviceType": self.devices}.get(element.kind, self.globals)
                group[element.get("name")] = element

    def names(self):
        """The names of all clusters by id."""
        return {element.get("id"): name for name, element in self.clusters.items() if "id" in element.properties}

    def cluster(self, id):
        """The facts about a cluster, or None."""
        element = self.clusters.get(self.names().get(id))
        if element is None:
            return None
        attributes = self.members(element, "Attribute")
        commands = self.members(element, "Command")
        numbered = {name: item for name, item in attributes.items() if item.get("id") < FIRST_GLOBAL_ATTRIBUTE}
        return {
            "name": element.get("name"),
            "revision": attributes["ClusterRevision"].get("default"),
            "features": {int(item.get("constraint")): {
                "name": item.get("title", item.get("name")), "code": item.get("name"),
                "conformance": Conformance(item.get("conformance", "O"))} for item in attributes["FeatureMap"].children}
            if "FeatureMap" in attributes else {},
            "attributes": {item.get("id"): self.attribute(item, element) for item in numbered.values()},
            "commands": {item.get("id"): self.command(item, element, commands)
                         for item in commands.values() if item.get("direction") == "request"},
            "events": {item.get("id"): self.event(item, element) for item in self.members(element, "Event").values()},
        }

    def members(self, cluster, kind):
        """The members of a cluster and of the clusters that it is derived from, by name."""
        result = self.members(base, kind) if (base := self.base(cluster)) else {}
        for own in cluster.all(kind):
            if inherited := result.get(own.get("name")):
                children = {child.get("name"): child for child in [*inherited.children, *own.children]}
                own = Element(kind, inherited.properties | own.properties, list(children.values()))
            result[own.get("name")] = own
        return result

    def base(self, cluster):
        return self.clusters.get(cluster.get("type"))

    def attribute(self, element, cluster):
        operations, flags, privileges = access(element)
        quality = element.get("quality", "").split()
        facts = {
            "name": element.get("name"),
            "type": self.typed(element, cluster),
            "fabric-scoped": "F" in flags,
            "timed": "T" in flags,
            "atomic": "T" in quality,
            "changes omitted": "C" in quality,
            "non-volatile": "N" in quality,
            "fixed": "F" in quality,
            "part of scenes": "S" in quality,
            "quieter": "Q" in quality,
            **conformance(element),
        }
        kind, _, _ = self.shape(element, cluster)
        constraint = self.constraint(element, cluster)
        literal = bounds(constraint) if constraint else implied_bounds(element.get("type"))
        if literal is not None:
            facts["constraint"] = limits(kind, "X" in quality, *literal)
        if "default" in element.properties:
            facts |= initial(element.get("default"), kind)
        if privileges:
            facts |= {"read privilege": privileges[0], "write privilege": privileges[-1] if "W" in operations else None}
        return facts

    def constraint(self, element, cluster):
        """The constraint of an element, or that of its datatype."""
        constraint = element.get("constraint")
        datatype = self.datatype(str(element.get("type")).rpartition(".")[2], cluster, element)
        if constraint is None and datatype is not None:
            return self.constraint(datatype, cluster)
        return constraint

    def command(self, element, cluster, commands):
        _, flags, privileges = access(element)
        response = commands.get(element.get("response"))
        return {
            "name": element.get("name"),
            # A command may have the fields of another one.
            "fields": self.fields(commands.get(element.get("type"), element), cluster),
            "invoke privilege": privileges[0] if privileges else "operate",
            "timed": "T" in flags,
            "fabric-scoped": "F" in flags,
            "large message": "L" in element.get("quality", "").split(),
            "response": (response.get("id"), self.fields(response, cluster)) if response else None,
            **conformance(element),
        }

    def event(self, element, cluster):
        _, flags, privileges = access(element)
        fields = self.fields(element, cluster)
        if "S" in flags:
            fields[FABRIC_INDEX] = FABRIC_INDEX_FIELD
        return {
            "name": element.get("name"),
            "fields": fields,
            "priority": element.get("priority"),
            "read privilege": privileges[0] if privileges else "view",
            "fabric-sensitive": "S" in flags,
            **conformance(element),
        }

    def typed(self, element, cluster):
        """The type of an attribute or field."""
        type = self.type(element, cluster)
        return ("nullable", type) if "X" in element.get("quality", "").split() else type

    def type(self, element, cluster):
        kind, fields, cluster = self.shape(element, cluster)
        if kind == "list":
            entry = next((field for field in fields if field.get("name") == "entry"), None)
            return kind, self.typed(entry, cluster) if entry else "unknown"
        if kind == "struct":
            return kind, self.fields(Element("Datatype", {}, fields), cluster)
        if kind.startswith("enum"):
            return kind, {field.get("id"): None if field.is_obsolete else field.get("name") for field in fields}
        if kind.startswith("map"):
            return kind, dict(self.bits(field) for field in fields if not field.is_obsolete)
        return kind

    def shape(self, element, cluster):
        """The base type of an element, its fields with those of the types that it is derived from, and their scope."""
        name, own = element.get("type"), element.all("Field")
        if match := re.fullmatch(r"(u?)int(\d+)", name or ""):
            return integer(not match[1], int(match[2])), [], cluster
        if re.fullmatch(r"bool|single|double|string|octstr|list|struct|enum(8|16)|map(8|16|32|64)", name or ""):
            return name, own, cluster
        scope, _, local = (name or "").rpartition(".")
        cluster = self.clusters.get(scope, cluster)
        datatype = self.datatype(local, cluster, element)
        if datatype is None:
            return f"unknown {name}", own, cluster
        kind, inherited, cluster = self.shape(datatype, cluster)
        fields = {field.get("name"): field for field in inherited} | {field.get("name"): field for field in own}
        return kind, list(fields.values()), cluster

    def datatype(self, name, cluster, user):
        """The datatype of this name in the cluster, one that it is derived from, or the model, other than its user."""
        while cluster:
            for datatype in cluster.all("Datatype"):
                if datatype.get("name") == name and datatype is not user:
                    return datatype
            cluster = self.base(cluster)
        return self.globals.get(name)

    @staticmethod
    def bits(field):
        first, _, last = str(field.get("constraint")).partition(" to ")
        return int(first), field_name(field.get("name"), int(last or first) - int(first) + 1)

    def fields(self, element, cluster):
        """The fields of a structure, command or event."""
        result = {}
        for field in element.all("Field"):
            id, text = field.get("id"), field.get("conformance", "M")
            is_stated = text in ("M", "O") or "[" in text
            result[id] = FABRIC_INDEX_FIELD if id == FABRIC_INDEX else (
                None if field.is_obsolete else field.get("name"), text != "M" if is_stated else None,
                self.typed(field, cluster))
        return result

    def device_types(self):
        """The device types by id."""
        result = {}
        for name, element in self.devices.items():
            revisions = [item["revision"] for requirement in element.all("Requirement")
                         for attribute in requirement.children if attribute.get("name") == "DeviceTypeList"
                         for item in attribute.get("default")]
            if "id" in element.properties:
                servers = self.required(element, "serverCluster")
                result[element.get("id")] = {
                    "name": name,
                    "revision": revisions[0],
                    "server": {server.get("id") for server in servers},
                    "client": {client.get("id") for client in self.required(element, "clientCluster")},
                    "elements": {(server.get("id"), plain(item.get("name"))) for server in servers
                                 for kind in ("feature", "attribute", "command", "event")
                                 for item in self.required(server, kind)},
                }
        return result

    @staticmethod
    def required(element, kind):
        return [item for item in element.all("Requirement")
                if item.get("element") == kind and item.get("conformance") == "M"]
