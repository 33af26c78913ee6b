"""Reads the XML definitions of the Matter SDK."""

import glob
import os
import sys
import xml.etree.ElementTree as ElementTree

from common import FABRIC_INDEX, FABRIC_INDEX_FIELD, Conformance, Undecidable, field_name, integer, plain

DEFINITIONS = "src/app/zap-templates/zcl/data-model/chip"

# The base types and derived types of the SDK as types of the schema.
BASE_TYPES = {
    "boolean": "bool", "single": "single", "double": "double",
    "char_string": "string", "long_char_string": "string",
    "octet_string": "octstr", "long_octet_string": "octstr",
    "ipadr": "octstr", "ipv4adr": "octstr", "ipv6adr": "octstr", "ipv6pre": "octstr", "hwadr": "octstr",
    "enum8": ("enum8", {}), "enum16": ("enum16", {}), "priority": ("enum8", {}), "status": ("enum8", {}),
    "bitmap8": ("map8", {}), "bitmap16": ("map16", {}), "bitmap32": ("map32", {}), "bitmap64": ("map64", {}),
    "percent": "uint8", "percent100ths": "uint16", "tod": "uint32", "date": "uint32",
    "epoch_us": "uint64", "epoch_s": "uint32", "posix_ms": "uint64", "systime_us": "uint64", "systime_ms": "uint64",
    "elapsed_s": "uint32", "temperature": "int16", "money": "int64",
    "amperage_ma": "int64", "voltage_mv": "int64", "power_mw": "int64", "energy_mwh": "int64",
    "power_mvar": "int64", "power_mva": "int64", "energy_mvah": "int64", "energy_mvarh": "int64",
    "group_id": "uint16", "endpoint_no": "uint16", "vendor_id": "uint16", "devtype_id": "uint32", "fabric_id": "uint64",
    "fabric_idx": "uint8", "cluster_id": "uint32", "attrib_id": "uint32", "field_id": "uint32", "event_id": "uint32",
    "command_id": "uint32", "action_id": "uint8", "trans_id": "uint32", "node_id": "uint64", "entry_idx": "uint16",
    "data_ver": "uint32", "event_no": "uint64", "semtag": "uint32", "namespace": "uint8", "tag": "uint8",
}


def name_of(element):
    """The name of an attribute, command or event: an attribute of the element, or its text."""
    return element.get("name") or "".join([element.text or "", *(child.tail or "" for child in element)]).strip() or (
        element.findtext("description", "").strip())


def number(text):
    return int(text, 16 if text.lower().startswith("0x") else 10)


def is_true(element, attribute):
    return element.get(attribute) == "true"


def base_type(name):
    if name.startswith("int") and name[3:-1].isdecimal():
        return integer(name[-1] == "s", int(name[3:-1]))
    return BASE_TYPES.get(name)


def access(element, operation, default):
    for item in element.findall("access"):
        if item.get("op") == operation:
            return item.get("privilege") or item.get("role") or default
    return default


def conformance(element):
    """The facts about the conformance of an element."""
    expression = next((child for child in element if child.tag.endswith("Conform")), None)
    if expression is not None:
        return {"conformance": Expression(expression)}
    return {} if is_true(element, "optional") else {"conformance": Conformance("M")}


class Expression:
    """An expression of conformance in XML."""

    def __init__(self, element):
        self.element = element

    is_obsolete = False

    @property
    def names(self):
        tags = ("feature", "attribute", "command", "event")
        return {plain(item.get("name")) for tag in tags for item in self.element.iter(tag)}

    def evaluate(self, present):
        """`mandatory`, `optional` or `absent`, with the choice, for a server with these features and elements."""
        result = self.result(self.element, present)
        if result is None:
            raise Undecidable
        return result

    @classmethod
    def result(cls, element, present):
        match element.tag:
            case "mandatoryConform" | "optionalConform":
                if len(element) and not cls.holds(element[0], present):
                    return "absent"
                limit = "+" if element.get("more") == "true" else ""
                choice = f".{element.get('choice')}{limit}" if element.get("choice") else ""
                return element.tag.removesuffix("Conform") + choice
            case "otherwiseConform":
                results = [cls.result(child, present) for child in element]
                return next((result for result in results if result not in (None, "absent")), "absent")
            case "disallowConform" | "deprecateConform":
                return "absent"
            case "describedConform":
                raise Undecidable
        return None

    @classmethod
    def holds(cls, element, present):
        match element.tag:
            case "feature" | "attribute" | "command" | "event":
                return plain(element.get("name")) in present
            case "notTerm":
                return not cls.holds(element[0], present)
            case "andTerm":
                return all([cls.holds(child, present) for child in element])
            case "orTerm":
                return any([cls.holds(child, present) for child in element])
        raise Undecidable


class Definitions:
    """The definitions of a checkout: clusters by id, types by name and cluster."""

    def __init__(self, checkout):
        directories = [os.path.join(checkout, DEFINITIONS), os.path.join(checkout, "chip"), checkout]
        files = sorted(glob.glob(os.path.join(next(filter(os.path.isdir, directories), checkout), "*.xml")))
        if not files:
            sys.exit(f"compare-clusters: no definitions in {checkout}")
        self.clusters, self.types, extensions = {}, {}, []
        for file in files:
            root = ElementTree.parse(file).getroot()
            for cluster in root.iter("cluster"):
                if cluster.find("code") is not None:
                    self.clusters[number(cluster.find("code").text)] = cluster
            extensions += root.iter("clusterExtension")
            for kind in ("enum", "bitmap", "struct"):
                for element in root.iter(kind):
                    owners = [number(owner.get("code")) for owner in element.findall("cluster")]
                    for owner in owners or [None]:
                        self.types[element.get("name"), owner] = element

        for extension in extensions:
            # A cluster with a manufacturer code is an extension of an example device.
            standard = [element for element in extension if element.get("manufacturerCode") is None]
            self.clusters[number(extension.get("code"))].extend(standard)

    def names(self):
        """The names of all clusters of the standard, by id."""
        return {id: cluster.find("name").text for id, cluster in self.clusters.items() if id < 0x8000}

    def cluster(self, id):
        """The facts about a cluster, or None."""
        element = self.clusters.get(id)
        if element is None:
            return None
        responses = {item.get("name"): item for item in element.findall("command") if item.get("source") == "server"}
        return {
            "name": element.find("name").text.removesuffix(" Cluster"),
            "features": {number(item.get("bit")): {"name": item.get("name"), "code": item.get("code"), **conformance(item)}
                         for item in element.findall("features/feature")},
            "attributes": {number(item.get("code")): self.attribute(item, id)
                           for item in element.findall("attribute") if item.get("side") == "server"},
            "commands": {number(item.get("code")): self.command(item, id, responses)
                         for item in element.findall("command") if item.get("source") == "client"},
            "events": {number(item.get("code")): self.event(item, id) for item in element.findall("event")},
        }

    def attribute(self, element, cluster):
        type = inner = self.typed(element, cluster)
        while inner[0] in ("nullable", "list"):
            inner = inner[1]
        return {
            "name": name_of(element),
            "type": type,
            "read privilege": access(element, "read", "view"),
            "write privilege": access(element, "write", "operate") if is_true(element, "writable") else None,
            "fabric-scoped": inner[0] == "struct" and FABRIC_INDEX in inner[1],
            "timed": is_true(element, "mustUseTimedWrite"),
            "atomic": is_true(element, "mustUseAtomicWrite"),
            "changes omitted": any(is_true(item, "changeOmitted") for item in element.findall("quality")),
            **conformance(element),
        }

    def command(self, element, cluster, responses):
        response = responses.get(element.get("response"))
        return {
            "name": name_of(element),
            "fields": self.fields(element, "arg", "id", cluster),
            "invoke privilege": access(element, "invoke", "operate"),
            "timed": is_true(element, "mustUseTimedInvoke"),
            "fabric-scoped": is_true(element, "isFabricScoped"),
            "response": None if response is None else (
                number(response.get("code")), self.fields(response, "arg", "id", cluster)),
            **conformance(element),
        }

    def event(self, element, cluster):
        sensitive = is_true(element, "isFabricSensitive")
        return {
            "name": name_of(element),
            "fields": self.fields(element, "field", "id", cluster, sensitive),
            "priority": element.get("priority"),
            "read privilege": access(element, "read", "view"),
            "fabric-sensitive": sensitive,
            **conformance(element),
        }

    def type(self, name, cluster):
        element = self.types.get((name, cluster))
        if element is None:
            element = self.types.get((name, None))
        if element is None:
            return base_type(name.lower()) or f"unknown {name}"
        if element.tag == "struct":
            return "struct", self.fields(element, "item", "fieldId", cluster, is_true(element, "isFabricScoped"))
        if element.tag == "enum":
            width = base_type(element.get("type").lower())
            kind = width[0] if isinstance(width, tuple) else "enum" + width.removeprefix("uint")
            return kind, {number(item.get("value")): item.get("name") for item in element.findall("item")}
        masks = {item.get("name"): number(item.get("mask")) for item in element.findall("field")}
        return base_type(element.get("type").lower())[0], {
            (mask & -mask).bit_length() - 1: field_name(name, mask.bit_count()) for name, mask in masks.items()}

    def typed(self, element, cluster):
        """The type of an attribute, argument, item or field."""
        name = element.get("type")
        if plain(name) == "array" and element.get("entryType"):
            type = "list", self.type(element.get("entryType"), cluster)
        elif is_true(element, "array"):
            type = "list", self.type(name, cluster)
        else:
            type = self.type(name, cluster)
        return ("nullable", type) if is_true(element, "isNullable") else type

    def fields(self, parent, tag, id_attribute, cluster, fabric_scoped=False):
        """Fields by number, which is their position where they have none, or all have the same."""
        elements = parent.findall(tag)
        ids = [element.get(id_attribute) for element in elements]
        counted = None in ids or len(set(ids)) < len(ids)
        fields = {position if counted else number(id): (
            element.get("name"), is_true(element, "optional"), self.typed(element, cluster))
            for position, (id, element) in enumerate(zip(ids, elements))}
        if fabric_scoped:
            fields[FABRIC_INDEX] = FABRIC_INDEX_FIELD
        return fields
