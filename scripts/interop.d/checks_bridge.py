"""Checks a bridge with its devices, and switches: devices/bridge.yaml and devices/switches.yaml."""

import asyncio
import os
from dataclasses import dataclass
from typing import Awaitable, Callable

from devices import DeviceProcess
from harness import Failed, Report, expect, expect_equal, run_one
from sdk_controller import Clusters, SDKController, Status, decode_code, status_of

LABEL = "bridge"
Descriptor, Bridged = Clusters.Descriptor.Attributes, Clusters.BridgedDeviceBasicInformation
OnOff, Switch, FixedLabel, UserLabel = Clusters.OnOff, Clusters.Switch, Clusters.FixedLabel, Clusters.UserLabel
AGGREGATOR, BRIDGED_NODE, GENERIC_SWITCH = 0x000E, 0x0013, 0x000F


@dataclass(frozen=True)
class BridgeCheck:
    name: str
    body: Callable[..., Awaitable[None]]
    limit: float


BRIDGE_CHECKS: list[BridgeCheck] = []


def bridge_check(name: str, limit: float = 30):
    def register(body):
        BRIDGE_CHECKS.append(BridgeCheck(f"{LABEL}: {name}", body, limit))
        return body

    return register


class BridgeHome:
    """The running devices, commissioned on demand, with physical actions."""

    def __init__(self, processes: DeviceProcess, sdk: SDKController):
        self.processes, self.sdk = processes, sdk
        self.nodes: dict[str, int] = {}

    @property
    def controller(self):
        return self.sdk.a.controller

    def entry(self, name: str) -> dict:
        return next(entry for entry in self.processes.list() if entry["name"] == name)

    async def node(self, name: str) -> int:
        if name not in self.nodes:
            code = decode_code(self.entry(name)["qrCode"])
            self.nodes[name] = await self.sdk.a.commission_by_passcode(
                int(code["SetUpPINCode"]), int(code["Long discriminator"]))
        return self.nodes[name]

    def bridged_endpoint(self, name: str) -> int:
        """Returns the endpoint of a bridged device."""
        for part in self.entry("Bridge")["bridged"]:
            if part["name"] == name:
                return part["endpoint"]
        raise Failed(f"sim ps has no bridged device {name}")

    async def sim(self, *arguments: str):
        process = await asyncio.create_subprocess_exec(
            self.processes.hearth, "sim", *arguments, "--state", self.processes.state,
            stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE)
        _, errors = await process.communicate()
        expect_equal(process.returncode, 0, f"status of hearth sim {' '.join(arguments)} ({errors.decode().strip()})")

    async def read(self, name: str, endpoint: int, attribute):
        return await self.sdk.a.read(await self.node(name), endpoint, attribute)

    async def write(self, name: str, endpoint: int, value):
        await self.sdk.a.write(await self.node(name), endpoint, value)

    async def events(self, name: str, endpoint: int, cluster) -> "Events":
        subscription = await self.controller.ReadEvent(
            await self.node(name), [(endpoint, cluster, True)], reportInterval=(0, 60), keepSubscriptions=True)
        return Events(subscription)


class Events:
    """Collects the events that a subscription reports."""

    def __init__(self, subscription):
        self.subscription, self.queue = subscription, asyncio.Queue()
        loop = asyncio.get_running_loop()
        subscription.SetEventUpdateCallback(
            lambda event, transaction: loop.call_soon_threadsafe(self.queue.put_nowait, event.Data))

    async def expect(self, *wanted, seconds: float = 8):
        """Checks that exactly these events arrive in this order."""
        found = []
        try:
            async with asyncio.timeout(seconds):
                while len(found) < len(wanted):
                    found.append(await self.queue.get())
        except TimeoutError:
            pass
        expect_equal(found, list(wanted), "the events")

    def close(self):
        self.subscription.Shutdown()


# The tree


@bridge_check("the tree of endpoints has one aggregator with all bridged devices")
async def tree(home: BridgeHome):
    node = await home.node("Bridge")
    wildcard = await home.controller.ReadAttribute(node, [Clusters.Descriptor])
    tree = {endpoint: found[Clusters.Descriptor] for endpoint, found in wildcard.items()}
    types = {endpoint: [entry.deviceType for entry in found[Descriptor.DeviceTypeList]] for endpoint, found in tree.items()}
    parts = {endpoint: list(found[Descriptor.PartsList]) for endpoint, found in tree.items()}
    expect_equal(sorted(parts[0]), sorted(set(tree) - {0}), "parts of the root")
    aggregators = [endpoint for endpoint in tree if AGGREGATOR in types[endpoint]]
    expect_equal(len(aggregators), 1, "number of aggregators")
    expect_equal(sorted(parts[aggregators[0]]), sorted(set(tree) - {0, aggregators[0]}), "parts of the aggregator")
    bridged = [endpoint for endpoint in tree if BRIDGED_NODE in types[endpoint]]
    expect_equal(len(bridged), 6, "number of bridged nodes")
    buttons = [endpoint for endpoint in tree if types[endpoint] == [GENERIC_SWITCH]]
    expect_equal([parts[endpoint] for endpoint in bridged if parts[endpoint]], [buttons], "parts of the remote")
    # Siblings of one type have different tags.
    for siblings in (set(bridged), set(buttons)):
        for kind in {kind for endpoint in siblings for kind in types[endpoint]} - {BRIDGED_NODE}:
            alike = [endpoint for endpoint in siblings if kind in types[endpoint]]
            if len(alike) < 2:
                continue
            tags = [str(tree[endpoint].get(Descriptor.TagList)) for endpoint in alike]
            expect(len(set(tags)) == len(alike) and "[]" not in tags, f"tags of {alike} are not unique: {tags}")


@bridge_check("each bridged device has its own name and unique ID")
async def identity(home: BridgeHome):
    names, ids = set(), set()
    for part in home.entry("Bridge")["bridged"]:
        attributes = Bridged.Attributes
        names.add(await home.read("Bridge", part["endpoint"], attributes.NodeLabel))
        ids.add(await home.read("Bridge", part["endpoint"], attributes.UniqueID))
        expect_equal(await home.read("Bridge", part["endpoint"], attributes.Reachable), True, "Reachable")
        expect_equal(await home.read("Bridge", part["endpoint"], attributes.VendorID), 0xFFF1, "VendorID")
    expect_equal(names, {"Ceiling", "Spot 1", "Spot 2", "Lamp", "Coffee Machine", "Remote"}, "names")
    expect_equal(len(ids), 6, "number of unique ids")
    expect_equal(await home.read("Bridge", home.bridged_endpoint("Lamp"), Bridged.Attributes.SerialNumber), "ELM-0043", "serial")


@bridge_check("a command to a bridged light switches only this light")
async def switching(home: BridgeHome):
    node, lamp = await home.node("Bridge"), home.bridged_endpoint("Lamp")
    others = [part["endpoint"] for part in home.entry("Bridge")["bridged"] if part["name"] not in ("Lamp", "Remote")]
    before = [await home.read("Bridge", endpoint, OnOff.Attributes.OnOff) for endpoint in others]
    for command, wanted in ((OnOff.Commands.On(), True), (OnOff.Commands.Off(), False)):
        await home.sdk.a.send(node, lamp, command)
        expect_equal(await home.read("Bridge", lamp, OnOff.Attributes.OnOff), wanted, "OnOff")
    expect_equal([await home.read("Bridge", endpoint, OnOff.Attributes.OnOff) for endpoint in others], before, "the others")


@bridge_check("a physical action is reported")
async def physical_action(home: BridgeHome):
    node, lamp = await home.node("Bridge"), home.bridged_endpoint("Lamp")
    subscription = await home.sdk.a.subscribe(node, [(lamp, OnOff.Attributes.OnOff)], 0, 60)
    try:
        for value in (True, False):
            await home.sim("set", f"Landing/Lamp.onOff.onOff={str(value).lower()}")
            await subscription.next(lamp, OnOff.Attributes.OnOff, 3, lambda found: found == value)
    finally:
        subscription.close()


@bridge_check("reports that a bridged device is unreachable and recovers")
async def reachable(home: BridgeHome):
    lamp = home.bridged_endpoint("Lamp")
    events = await home.events("Bridge", lamp, Bridged)
    try:
        await home.sim("power", "Landing/Lamp", "off")
        await events.expect(Bridged.Events.ReachableChanged(reachableNewValue=False))
        expect_equal(await home.read("Bridge", lamp, Bridged.Attributes.Reachable), False, "Reachable")
        await home.sim("power", "Landing/Lamp", "on")
        await events.expect(
            Bridged.Events.ReachableChanged(reachableNewValue=True), Bridged.Events.StartUp(softwareVersion=1))
        await home.sim("set", "Landing/Lamp.bridgedDeviceBasicInformation.configurationVersion=2")
        expect_equal(await home.read("Bridge", lamp, Bridged.Attributes.ConfigurationVersion), 2, "ConfigurationVersion")
    finally:
        events.close()


@bridge_check("labels are read, written and checked")
async def labels(home: BridgeHome):
    node, lamp = await home.node("Bridge"), home.bridged_endpoint("Lamp")
    fixed = await home.read("Bridge", lamp, FixedLabel.Attributes.LabelList)
    expect_equal([(entry.label, entry.value) for entry in fixed], [("floor", "ground"), ("side", "north")], "fixed labels")

    async def write(endpoint, value):
        return await status_of(home.sdk.a.write(node, endpoint, value))

    made = FixedLabel.Structs.LabelStruct(label="a", value="b")
    expect_equal(await write(lamp, FixedLabel.Attributes.LabelList([made])), Status.UnsupportedWrite, "a fixed label")
    long = UserLabel.Structs.LabelStruct(label="room", value="17_bytesIsTooLong")
    expect_equal(await write(lamp, UserLabel.Attributes.LabelList([long])), Status.ConstraintError, "a long label")
    mine = [UserLabel.Structs.LabelStruct(label="roomName", value="master bedroom 1"),
            UserLabel.Structs.LabelStruct(label="", value="")]
    expect_equal(await write(lamp, UserLabel.Attributes.LabelList(mine)), Status.Success, "user labels")
    expect_equal(await home.read("Bridge", lamp, UserLabel.Attributes.LabelList), mine, "user labels")


# Switches


@bridge_check("a button reports short, double and long presses")
async def presses(home: BridgeHome):
    names = [button for button in home.entry("Bridge")["bridged"] if button["name"] == "Remote"][0]["buttons"]
    parts = await home.read("Bridge", home.bridged_endpoint("Remote"), Descriptor.PartsList)
    events, sent = await home.events("Bridge", parts[names.index("Off")], Switch), Switch.Events
    press, release = sent.InitialPress(newPosition=1), sent.ShortRelease(previousPosition=1)
    try:
        await home.sim("press", "Remote", "short", "--button", "off")
        await events.expect(press, release, sent.MultiPressComplete(previousPosition=1, totalNumberOfPressesCounted=1))
        await home.sim("press", "Remote", "double", "--button", "2")
        await events.expect(
            press, release, press, sent.MultiPressOngoing(newPosition=1, currentNumberOfPressesCounted=2), release,
            sent.MultiPressComplete(previousPosition=1, totalNumberOfPressesCounted=2))
        await home.sim("press", "Remote", "long", "--button", "Off")
        await events.expect(press, sent.LongPress(newPosition=1), sent.LongRelease(previousPosition=1))
    finally:
        events.close()


@bridge_check("a latch reports its position, an action switch the result of a sequence")
async def latch(home: BridgeHome):
    events, sent = await home.events("Fan Speed", 1, Switch), Switch.Events
    try:
        for position in (3, 1):
            await home.sim("press", "Fan Speed", "latch", "--position", str(position))
            await events.expect(sent.SwitchLatched(newPosition=position))
            expect_equal(await home.read("Fan Speed", 1, Switch.Attributes.CurrentPosition), position, "CurrentPosition")
    finally:
        events.close()
    events = await home.events("Panic Button", 1, Switch)
    try:
        await home.sim("press", "Panic Button", "--count", "3", "--hold", "200ms", "--gap", "200ms")
        await events.expect(
            sent.InitialPress(newPosition=1), sent.MultiPressComplete(previousPosition=1, totalNumberOfPressesCounted=3))
    finally:
        events.close()


@bridge_check("switches list the clusters that they control, and store their bindings")
async def clients(home: BridgeHome):
    Binding = Clusters.Binding
    wanted = {"Hall Switch": [3, 6], "Living Room Dimmer": [3, 6, 8], "Color Dial": [3, 6, 8, 0x300]}
    for name in ("Hall Switch", "Color Dial"):
        expect_equal(await home.read(name, 1, Descriptor.ClientList), wanted[name], f"ClientList of {name}")

    async def bind(cluster: int):
        target = Binding.Structs.TargetStruct(node=0x1234, endpoint=1, cluster=cluster)
        return await status_of(home.write("Hall Switch", 1, Binding.Attributes.Binding([target])))

    expect_equal(await bind(OnOff.id), Status.Success, "a binding to On/Off")
    kept = await home.read("Hall Switch", 1, Binding.Attributes.Binding)
    expect_equal([(entry.node, entry.endpoint, entry.cluster) for entry in kept], [(0x1234, 1, OnOff.id)], "bindings")
    expect_equal(await bind(Clusters.LevelControl.id), Status.ConstraintError, "a binding to a cluster that it does not control")


# Power


@bridge_check("endpoints, labels and names survive a power cut", limit=60)
async def power(home: BridgeHome):
    node, lamp = await home.node("Bridge"), home.bridged_endpoint("Lamp")
    await home.write("Bridge", lamp, Bridged.Attributes.NodeLabel("Reading lamp"))
    before = await home.read("Bridge", 0, Descriptor.PartsList)
    count = await home.read("Bridge", 0, Clusters.GeneralDiagnostics.Attributes.RebootCount)
    await home.sim("power", "Bridge", "cycle")
    home.controller.ExpireSessions(node)
    expect_equal(await home.read("Bridge", 0, Clusters.GeneralDiagnostics.Attributes.RebootCount), count + 1, "RebootCount")
    expect_equal(await home.read("Bridge", 0, Clusters.GeneralDiagnostics.Attributes.BootReason), 1, "BootReason")
    expect_equal(await home.read("Bridge", 0, Descriptor.PartsList), before, "PartsList")
    expect_equal(await home.read("Bridge", lamp, Bridged.Attributes.NodeLabel), "Reading lamp", "NodeLabel")
    expect_equal(len(await home.read("Bridge", lamp, UserLabel.Attributes.LabelList)), 2, "number of user labels")
    expect_equal(await home.read("Bridge", lamp, Bridged.Attributes.Reachable), True, "Reachable")


async def run_bridge(report: Report, sdk: SDKController, arguments):
    """Runs the checks on separate devices."""
    chosen = [entry for entry in BRIDGE_CHECKS if entry.name in arguments.selection]
    if not chosen:
        return
    directory = os.path.join(arguments.directory, "bridge")
    os.makedirs(directory, exist_ok=True)
    folder = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), "devices")
    files = [os.path.join(folder, name) for name in ("bridge.yaml", "switches.yaml")]
    processes = DeviceProcess(arguments.hearth, files, arguments.lab, directory)
    try:

        async def start():
            processes.start()

        if not await run_one(report, f"{LABEL}: the devices start", start, 30):
            return
        home = BridgeHome(processes, sdk)
        for entry in chosen:
            await run_one(report, entry.name, lambda entry=entry: entry.body(home), entry.limit)
        if not processes.alive:
            report.not_ok(f"{LABEL}: the devices still run", "the process ended unexpectedly")
    finally:
        processes.stop()
