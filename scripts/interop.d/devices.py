"""The process that runs the virtual devices in namespace a, and their status."""

import json
import os
import shutil
import subprocess
import time
from dataclasses import dataclass, field
from typing import Optional

import sdk_controller
from harness import Failed, expect

Descriptor = sdk_controller.Clusters.Descriptor.Attributes

# The tested types: device type ID, and the clusters of the endpoint.
IDENTIFY, GROUPS, ON_OFF, LEVEL, DESCRIPTOR, SCENES, COLOR = 0x0003, 0x0004, 0x0006, 0x0008, 0x001D, 0x0062, 0x0300
TYPES = {
    0x0100: ("on/off light", {IDENTIFY, GROUPS, ON_OFF, DESCRIPTOR, SCENES}),
    0x0101: ("dimmable light", {IDENTIFY, GROUPS, ON_OFF, LEVEL, DESCRIPTOR, SCENES}),
    0x010A: ("on/off plug", {IDENTIFY, GROUPS, ON_OFF, DESCRIPTOR, SCENES}),
    0x010C: ("color temperature light", {IDENTIFY, GROUPS, ON_OFF, LEVEL, DESCRIPTOR, SCENES, COLOR}),
    0x010D: ("extended color light", {IDENTIFY, GROUPS, ON_OFF, LEVEL, DESCRIPTOR, SCENES, COLOR}),
}


class DeviceProcess:
    """A process `hearth run` in the namespace of the devices."""

    def __init__(self, hearth: str, definitions: list[str], lab: str, directory: str):
        self.hearth, self.definitions, self.lab, self.directory = hearth, definitions, lab, directory
        self.state = os.path.join(directory, "devices")
        self.ready = os.path.join(directory, "ready")
        self.pid_file = os.path.join(directory, "devices.pid")
        self.process: Optional[subprocess.Popen] = None

    def start(self, seconds: float = 15, options: tuple[str, ...] = ()):
        if os.path.exists(self.ready):
            os.remove(self.ready)
        with open(os.path.join(self.directory, "devices.log"), "ab") as log:
            # `ip netns exec` replaces itself, so the process ID is that of the command.
            self.process = subprocess.Popen(
                ["ip", "netns", "exec", f"{self.lab}-a", self.hearth, "run", *self.definitions, "--interface", "veth-a",
                 "--state", self.state, "--ready-file", self.ready, "--mdns", "builtin", *options],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        with open(self.pid_file, "w") as file:
            file.write(str(self.process.pid))
        end = time.monotonic() + seconds
        while not os.path.exists(self.ready):
            status = self.process.poll()
            expect(status is None, f"the devices stopped with exit status {status} before they were ready")
            expect(time.monotonic() < end, f"the devices were not ready in {seconds} s")
            time.sleep(0.02)

    def stop(self, kill: bool = False):
        if self.process is None:
            return
        (self.process.kill if kill else self.process.terminate)()
        try:
            self.process.wait(5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process = None

    def renew(self):
        """Restarts all devices without their state."""
        self.stop(kill=True)
        shutil.rmtree(self.state, ignore_errors=True)
        self.start()

    @property
    def alive(self) -> bool:
        return self.process is not None and self.process.poll() is None

    def list(self) -> list[dict]:
        answer = subprocess.run([self.hearth, "sim", "ps", "--json", "--state", self.state],
                                capture_output=True, text=True, timeout=10)
        try:
            document = json.loads(answer.stdout)
        except ValueError:
            raise Failed(f"sim ps --json: exit status {answer.returncode}, no JSON: {answer.stdout[:200]!r} "
                         f"{answer.stderr[:200]!r}") from None
        expect(document.get("ok"), f"sim ps --json: {document}")
        data = document["data"]
        return data if isinstance(data, list) else data["devices"]


@dataclass
class Target:
    """A virtual device under test, and its state."""

    label: str
    type_id: int
    entry: dict
    processes: DeviceProcess
    sdk: "sdk_controller.SDKController"
    node: Optional[int] = None  # the node ID on fabric A
    needs_reset: bool = False
    endpoint: int = 1
    refusals: int = 0
    other_fabrics: list = field(default_factory=list)  # (fabric, node ID), without A

    @property
    def name(self) -> str:
        return self.entry["name"]

    def current(self) -> dict:
        """Returns the status of the device."""
        return next(entry for entry in self.processes.list() if entry["name"] == self.name)

    def set(self, attribute: str, value):
        """Sets an attribute as a physical action."""
        room = self.entry.get("room")
        path = f"{room}/{self.name}" if room else self.name
        answer = subprocess.run(
            [self.processes.hearth, "sim", "set", f"{path}.{attribute}={json.dumps(value)}", "--state", self.processes.state],
            capture_output=True, text=True, timeout=10)
        expect(answer.returncode == 0, f"sim set: exit status {answer.returncode} ({answer.stderr.strip()})")

    @property
    def qr(self) -> str:
        return self.entry["qrCode"]

    @property
    def manual(self) -> str:
        # Not every controller accepts dashes in a manual code.
        return self.entry["manualCode"].replace("-", "")

    # From the QR code as parsed by the SDK, not from the status.
    @property
    def passcode(self) -> int:
        return int(sdk_controller.decode_code(self.qr)["SetUpPINCode"])

    @property
    def discriminator(self) -> int:
        return int(sdk_controller.decode_code(self.qr)["Long discriminator"])

    @property
    def a(self) -> "sdk_controller.Fabric":
        return self.sdk.a

    @property
    def b(self) -> "sdk_controller.Fabric":
        return self.sdk.b

    @property
    def clusters(self) -> set:
        return TYPES[self.type_id][1]

    # States

    async def join(self):
        """Commissions the device into fabric A only."""
        if self.needs_reset:
            await self.leave_all()
        await self.leave_other_fabrics()
        if self.node is not None:
            return
        # If commissioning fails, all checks fail at once instead of after a timeout each.
        expect(self.refusals < 2, "the device could not be commissioned twice, so this was not tried")
        try:
            self.node = await self.a.commission_by_passcode(self.passcode, self.discriminator)
        except BaseException:
            self.refusals += 1
            raise
        self.refusals = 0
        await self.find_endpoint()

    async def find_endpoint(self):
        """Finds the endpoint with the device type under test."""
        for endpoint in await self.a.read(self.node, 0, Descriptor.PartsList):
            types = await self.a.read(self.node, endpoint, Descriptor.DeviceTypeList)
            if self.type_id in [entry.deviceType for entry in types]:
                self.endpoint = endpoint
                return
        raise Failed(f"no endpoint has the device type {self.type_id:#06x}")

    async def leave_other_fabrics(self):
        while self.other_fabrics:
            fabric, node = self.other_fabrics.pop()
            await fabric.unpair(node)

    async def leave_all(self):
        """Restores the factory state."""
        if self.needs_reset:
            # The previous check may have left any state, so the device is reset.
            self.node, self.other_fabrics, self.needs_reset = None, [], False
            self.processes.renew()
            return
        await self.leave_other_fabrics()
        if self.node is not None:
            node, self.node = self.node, None
            await self.a.unpair(node)

    # Short forms for the checks: on fabric A, at the endpoint under test.

    async def read(self, attribute, endpoint: Optional[int] = None):
        return await self.a.read(self.node, self.endpoint if endpoint is None else endpoint, attribute)

    async def write(self, attribute_value, endpoint: Optional[int] = None, **options):
        await self.a.write(self.node, self.endpoint if endpoint is None else endpoint, attribute_value, **options)

    async def send(self, command, endpoint: Optional[int] = None, **options):
        return await self.a.send(self.node, self.endpoint if endpoint is None else endpoint, command, **options)
