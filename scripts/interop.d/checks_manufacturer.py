"""Checks Hearth's controller without multicast with a CircuitMatter device of a manufacturer with a root of its own, and
bindings in both directions.

Not covered: grants in the access control list of CircuitMatter, which can't decode targets.
"""

import os
import subprocess

from devices import DeviceProcess
from harness import expect, expect_equal
from circuit_matter import CircuitMatterDevice, DeviceCheck

LABEL, PORT = "other manufacturer", 5743
VENDOR, PRODUCT = 0xFFF3, 0x8003
MANUFACTURER_CHECKS: list[DeviceCheck] = []

DEFINITION = """
home: Others
devices:
  - { name: Lamp, type: on/off light }
  - { name: Switch, type: on/off light switch }
"""


def manufacturer_check(name: str, is_paired: bool = True, limit: float = 20):
    """Registers a check on a device of another manufacturer, commissioned unless `is_paired` is false."""

    def register(body):
        MANUFACTURER_CHECKS.append(DeviceCheck(f"{LABEL}: {name}", body, is_paired, limit))
        return body

    return register


class ManufacturerDevice(CircuitMatterDevice):
    """The device and two Hearth devices."""

    def __init__(self, hearth: str, lab: str, directory: str):
        super().__init__(hearth, lab, directory, label=LABEL.replace(" ", "-"), port=PORT, manufacturer=True)
        folder = os.path.join(self.directory, "ours")
        os.makedirs(folder, exist_ok=True)
        definition = os.path.join(folder, "ours.yaml")
        with open(definition, "w") as file:
            file.write(DEFINITION)
        self.ours = DeviceProcess(hearth, [definition], lab, folder)

    def trust(self, name: str) -> str:
        return os.path.join(self.directory, "trust", name)

    def book(self, *lines: str) -> tuple:
        """Returns the options for a network without multicast, with these lines as the address book."""
        path = os.path.join(self.directory, "book")
        with open(path, "w") as file:
            file.writelines(f"{line}\n" for line in lines)
        return "--mdns", "off", "--address-book", path

    def stop(self):
        super().stop()
        self.ours.stop()

    async def join(self):
        """Commissions the device if necessary."""
        if self.node is not None:
            return
        expect(not self.refused_to_pair, "the device could not be commissioned, so this was not tried")
        self.refused_to_pair = True
        book = self.book(f"discriminator {self.codes['discriminator']}: 10.77.0.1:{PORT}")
        result = await self.do("pair", self.codes["qrCode"], "--name", "lights", "--trust", self.trust("whole"), *book)
        expect(result["attestationVerified"], f"the attestation was not verified: {result}")
        expect("discover" not in [step["step"] for step in result["steps"]], f"it was discovered: {result['steps']}")
        self.node, self.refused_to_pair = result["nodeID"], False

    def press(self, name: str):
        subprocess.run([self.hearth, "sim", "press", name, "--state", self.ours.state], check=True, timeout=10,
                       stdout=subprocess.DEVNULL)

    async def commission_ours(self, name: str):
        """Commissions a Hearth device if necessary."""
        if not self.ours.alive:
            self.ours.start()
        if name not in [entry["name"] for entry in await self.do("devices")]:
            code = next(entry["qrCode"] for entry in self.ours.list() if entry["name"] == name)
            await self.do("pair", code, "--name", name)


@manufacturer_check("a device with an unknown root is refused, and the error names the check", is_paired=False)
async def unknown_root(device):
    # During the second check the device still retries the answer of the first one, at the address and not by discovery.
    error = await device.refused(9, "pair", device.codes["qrCode"], "--at", f"10.77.0.1:{PORT}")
    expect("verifyAttestation" in error["message"] and "noTrustedRoot" in error["message"], f"the error is {error}")
    expect_equal(await device.do("devices"), [], "devices")


@manufacturer_check("refused if the root is trusted but not the signer of the certification declaration", is_paired=False)
async def unknown_signer(device):
    error = await device.refused(9, "pair", device.codes["qrCode"], "--at", f"10.77.0.1:{PORT}", "--trust",
                                 device.trust("root"))
    expect("unknownDeclarationSigner" in error["message"], f"the error is {error}")
    expect_equal(await device.do("devices"), [], "devices")


@manufacturer_check("commissioned from an address book without multicast, its root and signer trusted", is_paired=False)
async def trusted(device):
    await device.join()
    description = await device.do("describe", "lights", *device.book(f"lights: 10.77.0.1:{PORT}"))
    expect_equal((description["vendorID"], description["productID"]), (VENDOR, PRODUCT), "vendor and product")


@manufacturer_check("without multicast, the device is found by address book and by its last address")
async def without_multicast(device):
    right = device.book(f"lights: 10.77.0.1:{PORT}")
    await device.do("on", "lights/1", *right)
    expect_equal((await device.state(1))["onOff"], True, "OnOff at the device")
    await device.do("off", "lights/1", "--mdns", "off")
    expect_equal((await device.state(1))["onOff"], False, "OnOff at the device")
    # If the address book is wrong, the last address is tried.
    await device.do("on", "lights/1", *device.book(f"{device.node}: 10.77.0.1:9"))
    await device.do("off", "lights/1", "--mdns", "off")
    # Without discovery, a device without an address can't be commissioned.
    await device.refused(2, "pair", "--passcode", 20202021, "--discriminator", 1, "--mdns", "off")


@manufacturer_check("a binding to a Hearth device is added and removed", limit=40)
async def bound(device):
    await device.commission_ours("Lamp")
    expect_equal(await device.do("bind", "lights/1"), [], "bindings at first")
    await device.refused(3, "bind", "lights/1", "Lamp")  # it lists no client cluster
    change = await device.do("bind", "lights/1", "Lamp", "--cluster", "onOff")
    node = change["bindings"][0]["nodeID"]
    expect_equal(change["accessChanged"], True, "accessChanged")
    expect_equal(await device.read_one(1, "30/0"), [{"node": node, "endpoint": 1, "cluster": 6}], "Binding as it keeps it")
    expect_equal(await rights(device), [("administer", None), ("operate", 1)], "access control list of the lamp")
    change = await device.do("bind", "lights/1", "Lamp", "--cluster", "onOff")
    expect_equal((change["bindings"], change["accessChanged"]), ([], False), "the change when it is bound again")
    await device.do("bind", "lights/1", "Lamp", "--cluster", "identify")
    await device.do("unbind", "lights/1", "Lamp", "--cluster", "onOff")
    expect_equal([entry["cluster"] for entry in await device.do("bind", "lights/1")], ["identify"], "bindings")
    expect_equal(len(await rights(device)), 2, "entries of the lamp's list while a binding is left")
    change = await device.do("unbind", "lights/1", "Lamp")
    expect_equal(change["accessChanged"], True, "accessChanged")
    expect_equal(await device.do("bind", "lights/1"), [], "bindings")
    expect_equal(await rights(device), [("administer", None)], "access control list of the lamp")
    await device.refused(3, "unbind", "lights/1", "Lamp")


async def rights(device) -> list:
    entries = await device.do("acl list", "Lamp")
    return [(entry["privilege"], (entry["targets"] or [{}])[0].get("endpoint")) for entry in entries]


@manufacturer_check("a bound Hearth switch turns the device on and off", limit=40)
async def controlled(device):
    await device.commission_ours("Switch")
    error = await device.refused(2, "bind", "Switch", "lights/1")
    expect("--force" in error["message"], f"the error is {error}")
    # The device grants access to all, so its list is not changed.
    binding = f'[{{"node": {device.node}, "endpoint": 1, "cluster": 6}}]'
    await device.do("write", "Switch/1.binding.binding", binding)
    await device.perform("1 off")
    for wanted in (True, False, True):
        device.press("Switch")
        await device.until(1, {"onOff": wanted})
