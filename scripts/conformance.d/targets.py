"""Selects the devices and endpoints of tests, and the omitted ones with reasons."""

import os
from typing import Optional

import yaml

from devices import SCRIPTS
from table import target_name

DATA = os.path.join(SCRIPTS, "conformance-data")
OTHERS = "other types"

Target = tuple[str, Optional[int]]  # a device type, and the endpoint (None: that of the script)


def load(name: str):
    with open(os.path.join(DATA, name)) as file:
        return yaml.safe_load(file)


class Targets:
    def __init__(self, types: dict[str, list[str]]):
        self.types, self.table = types, load("suites.yaml")
        self.groups: dict[str, list[str]] = load("tests.yaml")["devices"]

    def serving(self, cluster: Optional[str]) -> list[Target]:
        """Returns the endpoints that serve an application cluster."""
        return [(kind, endpoint) for kind in self.types for endpoint, clusters in self.endpoints(kind).items()
                if cluster in clusters]

    def endpoints(self, kind: str) -> dict[int, list[str]]:
        """Returns the endpoints of a type with their application clusters. A battery is that of the node."""
        battery = [cluster for cluster in self.types[kind] if cluster == "PowerSource"]
        others = [cluster for cluster in self.types[kind] if cluster not in battery]
        return self.table["endpoints"].get(kind, {0: battery, 1: others})

    def listed(self, options: dict) -> list[Target]:
        """Resolves `devices` of tests.yaml: types, groups, or endpoints of types."""
        found: list[Target] = []
        for entry in options["devices"]:
            if isinstance(entry, dict):
                found += [(kind, endpoint) for kind, endpoints in entry.items() for endpoint in endpoints]
            else:
                found += [(kind, options.get("endpoint")) for kind in self.groups.get(entry, [entry])]
        return found

    def of_script(self, name: str, options: dict) -> tuple[list[Target], dict[str, str]]:
        """Returns the targets of a script, and the omitted ones with reasons."""
        reasons: dict[str, str] = {}
        for where, reason in options.get("left_out", {}).items():
            reasons |= {kind: reason for kind in self.groups.get(where, [where])}
        if "serving" not in options:
            chosen = [(kind, endpoint) for kind, endpoint in self.listed(options)
                      if target_name(kind, endpoint) not in reasons and kind not in reasons]
            if {kind for kind, _ in chosen} < set(self.types) and "devices" in options["own"]:
                reasons.setdefault(OTHERS, options["reason"])
            return chosen, reasons
        candidates = self.serving(options["serving"])
        chosen = [(kind, endpoint) for kind, endpoint in candidates
                  if target_name(kind, endpoint) not in reasons and kind not in reasons]
        # A reason without an omitted target is a mistake in the table.
        known = {target_name(*candidate) for candidate in candidates} | {kind for kind, _ in candidates}
        if unknown := set(reasons) - known:
            raise ValueError(f"tests.yaml: {name} would not run on {', '.join(sorted(unknown))} anyway")
        return chosen, reasons
