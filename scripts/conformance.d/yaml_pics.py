"""The PICS of the device under test: its elements, read from the device, and facts that can't be read."""

import os
from typing import Iterable

import yaml

GENERATED_COMMANDS, ACCEPTED_COMMANDS, ATTRIBUTES, FEATURE_MAP = 0xFFF8, 0xFFF9, 0xFFFB, 0xFFFC
GROUPS = 0x0004

Served = dict[int, dict[int, dict[int, object]]]  # endpoint, cluster, global attribute


async def read_served(controller, node: int) -> Served:
    """The global attributes of every cluster on every endpoint."""
    from chip.clusters.Attribute import AttributePath, ValueDecodeFailure  # loads the SDK's native library

    wanted = [GENERATED_COMMANDS, ACCEPTED_COMMANDS, ATTRIBUTES, FEATURE_MAP]
    response = await controller.Read(node, [AttributePath(AttributeId=attribute) for attribute in wanted])
    served: Served = {}
    for endpoint, clusters in response.tlvAttributes.items():
        for cluster, attributes in clusters.items():
            good = {key: value for key, value in attributes.items() if not isinstance(value, ValueDecodeFailure)}
            served.setdefault(endpoint, {})[cluster] = good
    return served


class Facts:
    """Reads `pics.yaml`."""

    def __init__(self, path: str):
        with open(path) as file:
            document = yaml.safe_load(file)
        self.codes: dict[int, str] = {number: code for code, (number, _) in document["clusters"].items()}
        self.names: dict[str, str] = {code: name for code, (_, name) in document["clusters"].items()}
        self.events: dict[str, dict[int, str]] = document["events"]
        self.others: dict[str, bool] = document["others"]

    def of_cluster(self, cluster: int, served: dict[int, object]) -> Iterable[str]:
        code = self.codes.get(cluster)
        if code is None:
            return
        yield f"{code}.S"
        features = served.get(FEATURE_MAP, 0)
        for bit in range(32):
            if features >> bit & 1:
                yield f"{code}.S.F{bit:02x}"
        for attribute in served.get(ATTRIBUTES, []):
            yield f"{code}.S.A{attribute:04x}"
        for command in served.get(ACCEPTED_COMMANDS, []):
            yield f"{code}.S.C{command:02x}.Rsp"
        for command in served.get(GENERATED_COMMANDS, []):
            yield f"{code}.S.C{command:02x}.Tx"
        for event, feature in self.events.get(code, {}).items():
            if feature == "any" or features >> int(feature[1:], 16) & 1:
                yield f"{code}.S.E{event:02x}"

    def of_target(self, served: Served, endpoint: int) -> set[str]:
        """Returns the codes for an endpoint: its clusters and those of the root node."""
        clusters = {**served.get(0, {}), **served.get(endpoint, {})}
        codes = {code for cluster, attributes in clusters.items() for code in self.of_cluster(cluster, attributes)}
        codes |= {code for code, holds in self.others.items() if holds}
        if sum(GROUPS in clusters for clusters in served.values()) > 1:
            codes.add("MCORE.G.MULTIENDPOINT")
        if any(0x0039 in clusters for clusters in served.values()):
            codes.add("MCORE.BRIDGE")
        return codes


def write(codes: set[str], path: str):
    """Writes the file format of the SDK's reader."""
    temporary = f"{path}.{os.getpid()}"
    with open(temporary, "w") as file:
        file.writelines(f"{code}=1\n" for code in sorted(codes))
    os.replace(temporary, path)


def endpoints_with(served: Served, cluster: int) -> list[int]:
    return sorted(endpoint for endpoint, clusters in served.items() if cluster in clusters)
