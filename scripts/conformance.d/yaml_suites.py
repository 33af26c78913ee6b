"""The YAML suites of a checkout and their parameters."""

import glob
import os
import re
from typing import Optional

import yaml

# The passcode and discriminator of windows that suites open, with the verifier.
WINDOW_PASSCODE, WINDOW_DISCRIMINATOR = 20202021, 3840
FOLDER = "src/app/tests/suites/certification"


class Suite:
    """One file `Test_TC_….yaml`."""

    def __init__(self, path: str):
        self.path = path
        self.name = os.path.basename(path).removesuffix(".yaml")
        with open(path) as file:
            self.document = yaml.safe_load(file)
        self.config: dict = self.document["config"]
        self.steps = [step for step in self.document["tests"] if not step.get("disabled")]

    @property
    def group(self) -> str:
        return self.name.removeprefix("Test_TC_").split("_")[0]

    @property
    def endpoint(self) -> int:
        return self.config.get("endpoint", 0)

    @property
    def needs(self) -> list[str]:
        return self.document.get("PICS") or []

    @property
    def commissions_device(self) -> bool:
        """Whether the suite commissions the device."""
        first = next((step for step in self.steps if step.get("cluster") in ("SystemCommands", "CommissionerCommands",
                                                                             "DelayCommands")), {})
        return first.get("command") in ("FactoryReset", "PairWithCode")

    def not_runnable(self) -> Optional[str]:
        """Returns the reason in the file why the suite can't be run, or None."""
        if self.name.endswith("_Simulated"):
            return "it tests a controller: the suite itself is the device"
        for need in self.needs:
            if re.search(r"\.C(\.|$)|\.ROLE\.(COMMISSIONER|CONTROLLER)|BRIDGECLIENT", need):
                return f"it tests a controller (it needs {need})"
        if not self.steps:
            return f"all {len(self.document['tests'])} steps are for a person to carry out (disabled in the suite)"
        return None

    @property
    def cluster(self) -> Optional[str]:
        """Returns the short name of the cluster of the suite, or None."""
        found = re.match(r"([A-Z0-9]+)\.S(\.|$)", self.needs[0]) if self.needs else None
        return found[1] if found else None

    @property
    def waits(self) -> float:
        """Returns the approximate waiting time in seconds; a computed one counts as a minute."""
        values = [value["value"] for step in self.steps if step.get("command") == "WaitForMs"
                  for value in step["arguments"]["values"]]
        return sum(value if isinstance(value, int) else 60000 for value in values) / 1000

    def refused_by(self, codes: set[str]) -> Optional[str]:
        """Returns the first required PICS code that is false."""
        known = {code.lower() for code in codes}
        for expression in self.needs:
            code = str(expression).strip()
            negated = code.startswith("!")
            if (code.lstrip("!").strip().lower() in known) == negated:
                return code
        return None

    def settings(self, endpoint: int, groups: list[int], device: dict) -> dict:
        """Returns the settings that replace those of the file: endpoints, setup codes, and values that suit the device."""
        chosen = {key: device[key] for key in ("vendorId", "productId", "deviceType")}
        if self.endpoint != 0:
            chosen["endpoint"] = endpoint
        if groups:
            chosen["Groups.Endpoint"] = endpoint if endpoint in groups else groups[0]
            chosen["Groups.Endpoint1"] = groups[0]
            chosen["Groups.Endpoint2"] = groups[-1]
        chosen["PIXIT.DGGEN.ENABLEKEY"] = chosen["TEST_EVENT_ENABLE_KEY"] = device["enableKey"]
        # In suites of alarms it is the enable key, elsewhere a trigger; this one has no effect.
        is_key = (self.config.get("TEST_EVENT_TRIGGER_KEY") or {}).get("type") == "octet_string"
        chosen["TEST_EVENT_TRIGGER_KEY"] = device["enableKey"] if is_key else 0xFFFF_FFFF_FFF1_0000
        for name, entry in self.config.items():
            # An older form of the triggers, without the cluster.
            default = str(entry.get("defaultValue")) if isinstance(entry, dict) else ""
            if default.startswith("0xffffffff0000") and self.cluster == "SMOKECO":
                chosen[name] = 0x005C_0000_0000_0000 | int(default, 0) & 0xFFFF_FFFF
        chosen["payload"] = device["qr"]
        chosen["discriminator"] = device["discriminator"]
        chosen["shortDiscriminator"] = device["discriminator"] >> 8
        if "payload" in self.config and "PakeVerifier" in self.config:
            # It opens a window with another passcode.
            chosen["payload"] = device["windowCode"]
            del chosen["discriminator"]
        chosen |= device["values"]
        return {key: value for key, value in chosen.items() if key in self.config}


def find(checkout: str) -> list[Suite]:
    paths = glob.glob(os.path.join(checkout, FOLDER, "Test_TC_*.yaml"))
    suites = [Suite(path) for path in paths]
    return sorted(suites, key=lambda suite: [int(part) if part.isdigit() else part
                                             for part in re.split(r"(\d+)", suite.name)])
