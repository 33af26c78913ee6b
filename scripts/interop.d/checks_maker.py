"""Our controller, without multicast, and a device of CircuitMatter from a maker whose root no controller knows by itself;
and bindings between such a device and ours, both ways.

What CircuitMatter can't show: what is granted in its access control list, whose targets it can't decode.
"""

import os
import subprocess

from devices import DeviceProcess
from harness import expect, expect_equal
from stranger import Stranger, StrangerCheck

LABEL, PORT = "another maker", 5743
VENDOR, PRODUCT = 0xFFF3, 0x8003
MAKER_CHECKS: list[StrangerCheck] = []

DEFINITION = """
home: Others
devices:
  - { name: Lamp, type: on/off light }
  - { name: Switch, type: on/off light switch }
"""


def maker_check(name: str, is_paired: bool = True, limit: float = 20):
    """Registers a check on a device of another maker, which is ours by then unless `is_paired` is false."""

    def register(body):
        MAKER_CHECKS.append(StrangerCheck(f"{LABEL}: {name}", body, is_paired, limit))
        return body

    return register


class Made(Stranger):
    """The device, and two of ours beside it."""

    def __init__(self, hearth: str, lab: str, directory: str):
        super().__init__(hearth, lab, directory, label=LABEL.replace(" ", "-"), port=PORT, maker=True)
        folder = os.path.join(self.directory, "ours")
        os.makedirs(folder, exist_ok=True)
        definition = os.path.join(folder, "ours.yaml")
        with open(definition, "w") as file:
            file.write(DEFINITION)
        self.ours = DeviceProcess(hearth, [definition], lab, folder)

    def trust(self, what: str) -> str:
        return os.path.join(self.directory, "trust", what)

    def book(self, *lines: str) -> tuple:
        """The options for a network without multicast, where devices are as these lines say."""
        path = os.path.join(self.directory, "book")
        with open(path, "w") as file:
            file.writelines(f"{line}\n" for line in lines)
        return "--mdns", "off", "--address-book", path

    def stop(self):
        super().stop()
        self.ours.stop()

    async def join(self):
        """Commissions it, if that was not done."""
        if self.node is not None:
            return
        expect(not self.refused_to_pair, "the device could not be commissioned, so this was not tried")
        self.refused_to_pair = True
        book = self.book(f"discriminator {self.codes['discriminator']}: 10.77.0.1:{PORT}")
        result = await self.do("pair", self.codes["qrCode"], "--name", "lights", "--trust", self.trust("whole"), *book)
        expect(result["attestationVerified"], f"the attestation was not verified: {result}")
        expect("discover" not in [step["step"] for step in result["steps"]], f"it was looked for: {result['steps']}")
        self.node, self.refused_to_pair = result["nodeID"], False

    def press(self, name: str):
        subprocess.run([self.hearth, "sim", "press", name, "--state", self.ours.state], check=True, timeout=10,
                       stdout=subprocess.DEVNULL)

    async def have_ours(self, name: str):
        """Commissions one of ours, if that was not done."""
        if not self.ours.alive:
            self.ours.start()
        if name not in [entry["name"] for entry in await self.do("devices")]:
            code = next(entry["qrCode"] for entry in self.ours.list() if entry["name"] == name)
            await self.do("pair", code, "--name", name)


@maker_check("refused as long as its root is unknown, and the check named", is_paired=False)
async def unknown_root(device):
    # By the time of the second check it still looks for an answer of the first: at its address, not by what it announces.
    error = await device.refused(9, "pair", device.codes["qrCode"], "--at", f"10.77.0.1:{PORT}")
    expect("verifyAttestation" in error["message"] and "noTrustedRoot" in error["message"], f"the error is {error}")
    expect_equal(await device.do("devices"), [], "devices")


@maker_check("refused where only its root is trusted, not who signed its certification", is_paired=False)
async def unknown_signer(device):
    error = await device.refused(9, "pair", device.codes["qrCode"], "--at", f"10.77.0.1:{PORT}", "--trust",
                                 device.trust("root"))
    expect("unknownDeclarationSigner" in error["message"], f"the error is {error}")
    expect_equal(await device.do("devices"), [], "devices")


@maker_check("commissioned from an address book without multicast, its root and signer trusted", is_paired=False)
async def trusted(device):
    await device.join()
    description = await device.do("describe", "lights", *device.book(f"lights: 10.77.0.1:{PORT}"))
    expect_equal((description["vendorID"], description["productID"]), (VENDOR, PRODUCT), "vendor and product")


@maker_check("used without multicast: from an address book, and where it was last")
async def without_multicast(device):
    right = device.book(f"lights: 10.77.0.1:{PORT}")
    await device.do("on", "lights/1", *right)
    expect_equal((await device.state(1))["onOff"], True, "OnOff at the device")
    await device.do("off", "lights/1", "--mdns", "off")
    expect_equal((await device.state(1))["onOff"], False, "OnOff at the device")
    # Where the book is wrong, it is tried where it was last.
    await device.do("on", "lights/1", *device.book(f"{device.node}: 10.77.0.1:9"))
    await device.do("off", "lights/1", "--mdns", "off")
    # Nobody is looked for: whose address is unknown can't be paired.
    await device.refused(2, "pair", "--passcode", 20202021, "--discriminator", 1, "--mdns", "off")


@maker_check("it is bound to one of ours, and unbound", limit=40)
async def bound(device):
    await device.have_ours("Lamp")
    expect_equal(await device.do("bind", "lights/1"), [], "bindings at first")
    await device.refused(3, "bind", "lights/1", "Lamp")  # it says of no cluster that it controls it
    change = await device.do("bind", "lights/1", "Lamp", "--cluster", "onOff")
    node = change["bindings"][0]["nodeID"]
    expect_equal(change["accessChanged"], True, "accessChanged")
    expect_equal(await device.read_one(1, "30/0"), [{"node": node, "endpoint": 1, "cluster": 6}], "Binding as it keeps it")
    expect_equal(await rights(device), [("administer", None), ("operate", 1)], "who may do what with the lamp")
    change = await device.do("bind", "lights/1", "Lamp", "--cluster", "onOff")
    expect_equal((change["bindings"], change["accessChanged"]), ([], False), "the change when it is bound again")
    await device.do("bind", "lights/1", "Lamp", "--cluster", "identify")
    await device.do("unbind", "lights/1", "Lamp", "--cluster", "onOff")
    expect_equal([entry["cluster"] for entry in await device.do("bind", "lights/1")], ["identify"], "bindings")
    expect_equal(len(await rights(device)), 2, "entries of the lamp's list while a binding is left")
    change = await device.do("unbind", "lights/1", "Lamp")
    expect_equal(change["accessChanged"], True, "accessChanged")
    expect_equal(await device.do("bind", "lights/1"), [], "bindings")
    expect_equal(await rights(device), [("administer", None)], "who may do what with the lamp")
    await device.refused(3, "unbind", "lights/1", "Lamp")


async def rights(device) -> list:
    entries = await device.do("acl list", "Lamp")
    return [(entry["privilege"], (entry["targets"] or [{}])[0].get("endpoint")) for entry in entries]


@maker_check("a switch of ours that is bound to it turns it on and off", limit=40)
async def controlled(device):
    await device.have_ours("Switch")
    error = await device.refused(2, "bind", "Switch", "lights/1")
    expect("--force" in error["message"], f"the error is {error}")
    # It lets everybody in, and its list is left alone.
    binding = f'[{{"node": {device.node}, "endpoint": 1, "cluster": 6}}]'
    await device.do("write", "Switch/1.binding.binding", binding)
    await device.by_hand("1 off")
    for wanted in (True, False, True):
        device.press("Switch")
        await device.until(1, {"onOff": wanted})
