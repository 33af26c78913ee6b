"""Checks a hub with the Python client of Home Assistant's Matter server, unmodified.

Run by checks_matter_server.py in an environment of its own: the client contains a package `chip`, as the SDK does. Prints a
line of JSON for each check: its name, the duration in seconds, and the reason of a failure. Manual use, with running
devices and a hub without devices:

  PYTHON matter_client.py --hearth HEARTH --devices STATE --url ws://127.0.0.1:PORT/ws
"""

import argparse
import asyncio
import json
import subprocess
import time
import traceback

import aiohttp
from chip.clusters import Objects as Clusters
from matter_server.client import MatterClient
from matter_server.common.errors import (
    InvalidArguments, InvalidCommand, MatterError, NodeCommissionFailed, NodeNotExists, UpdateError)
from matter_server.common.models import EventType, UpdateSource

from harness import Failed, expect, expect_equal, reason_of

LABEL = "matter server"
CHECKS: list = []
LIGHT, BRIDGE = "Light", "Bridge"
FABRIC_LABEL = "Interop’s home"


def client_check(name: str, limit: float = 20):
    def register(body):
        CHECKS.append((f"{LABEL}: {name}", body, limit))
        return body

    return register


class Server:
    """A connected client, its events, and the devices."""

    def __init__(self, arguments):
        self.hearth, self.devices, self.url = arguments.hearth, arguments.devices, arguments.url
        self.events: list = []  # (time, type, data)
        self.nodes: dict[str, int] = {}
        self.changed = asyncio.Event()

    async def connect(self, session: aiohttp.ClientSession):
        self.session = session
        self.client, self.listening = await self.new_client()
        self.client.subscribe_events(self.note)
        await self.client.set_default_fabric_label(FABRIC_LABEL)

    async def new_client(self):
        client = MatterClient(self.url, self.session)
        await client.connect()
        ready = asyncio.Event()
        listening = asyncio.create_task(client.start_listening(ready))
        await asyncio.wait_for(ready.wait(), 10)
        return client, listening

    def note(self, event, data):
        self.events.append((time.monotonic(), event, data))
        self.changed.set()

    async def event(self, event: EventType, is_wanted=lambda data: True, since: int = 0, seconds: float = 5):
        """Waits for an event after the first `since` ones; returns its time and data."""
        try:
            async with asyncio.timeout(seconds):
                while True:
                    for entry in self.events[since:]:
                        if entry[1] == event and is_wanted(entry[2]):
                            return entry[0], entry[2]
                    self.changed.clear()
                    await self.changed.wait()
        except TimeoutError:
            found = [(kind.value, str(data)[:80]) for _, kind, data in self.events[since:]]
            raise Failed(f"no {event.value} in {seconds} s; received: {found}") from None

    async def sim(self, *arguments: str):
        process = await asyncio.create_subprocess_exec(
            self.hearth, "sim", *arguments, "--state", self.devices, "--json",
            stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE)
        output, errors = await process.communicate()
        expect_equal(process.returncode, 0, f"status of hearth sim {' '.join(arguments)} ({errors.decode().strip()})")
        return json.loads(output)["data"]

    async def device(self, name: str) -> dict:
        found = await self.sim("ps")
        return next(entry for entry in (found if isinstance(found, list) else found["devices"]) if entry["name"] == name)

    async def node(self, name: str) -> int:
        """Returns the node ID of a device, commissioned on demand."""
        if name not in self.nodes:
            self.nodes[name] = (await self.client.commission_with_code((await self.device(name))["qrCode"])).node_id
        return self.nodes[name]

    async def light(self):
        return self.client.get_node(await self.node(LIGHT))

    async def bridge(self):
        return self.client.get_node(await self.node(BRIDGE))


@client_check("the server returns its schema, its fabric and its health")
async def information(server: Server):
    info = server.client.server_info
    expect_equal((info.schema_version, info.min_supported_schema_version), (13, 11), "schema versions")
    expect(0 < info.compressed_fabric_id < 1 << 64, f"the compressed fabric id is {info.compressed_fabric_id}")
    async with server.session.get(server.url.replace("ws://", "http://").removesuffix("/ws") + "/health") as response:
        expect_equal(response.status, 200, "status of /health")
        expect_equal((await response.json())["node_count"], 0, "node_count")
    expect_equal(server.client.get_nodes(), [], "nodes")


@client_check("a commissionable device is found and commissioned by manual code", limit=60)
async def commissioned(server: Server):
    device = await server.device(LIGHT)
    found = await server.client.discover_commissionable_nodes()
    mine = [entry for entry in found if entry.long_discriminator == device["discriminator"]]
    expect_equal(len(mine), 1, f"number of its services among {found}")
    expect(mine[0].addresses, "it has no address")
    data = await server.client.commission_with_code(device["manualCode"].replace("-", ""))
    server.nodes[LIGHT] = data.node_id
    expect_equal((data.available, data.is_bridge), (True, False), "available, is_bridge")
    await server.event(EventType.NODE_ADDED, lambda node: node.node_id == data.node_id)
    expect_equal([node.node_id for node in server.client.get_nodes()], [data.node_id], "nodes")


@client_check("attributes have their types: text, numbers, structures, octet strings, lists and null")
async def values(server: Server):
    node = await server.light()
    expect_equal(node.device_info.vendorID, 0xFFF1, "VendorID")
    expect_equal(node.device_info.capabilityMinima.subscriptionsPerFabric, 3, "a field of CapabilityMinima")
    interface = node.get_attribute_value(0, None, Clusters.GeneralDiagnostics.Attributes.NetworkInterfaces)[0]
    expect(interface.isOperational is True and len(interface.hardwareAddress) in (6, 8), f"the interface is {interface}")
    expect(all(len(address) in (4, 16) for address in interface.IPv4Addresses + interface.IPv6Addresses), f"{interface}")
    expect(interface.offPremiseServicesReachableIPv4 is not True, f"the interface is {interface}")
    types = node.get_attribute_value(1, None, Clusters.Descriptor.Attributes.DeviceTypeList)
    expect_equal([entry.deviceType for entry in types], [0x0101], "device types")
    expect_equal(node.get_attribute_value(1, None, Clusters.OnOff.Attributes.OnOff), False, "OnOff")
    expect_equal(list(node.endpoints), [0, 1], "endpoints")
    access = node.get_attribute_value(0, None, Clusters.AccessControl.Attributes.Acl)
    expect_equal([entry.privilege for entry in access], [5], "privileges")
    expect(access[0].subjects[0] > 0 and access[0].targets in (None, Clusters.NullValue, []), f"the entry is {access[0]}")


@client_check("a command is executed, and the change reported within a second")
async def switched(server: Server):
    node = await server.light()
    for command, wanted in ((Clusters.OnOff.Commands.On, True), (Clusters.OnOff.Commands.Toggle, False)):
        since, begin = len(server.events), time.monotonic()
        expect_equal(await server.client.send_device_command(node.node_id, 1, command()), None, "the result")
        at, _ = await server.event(EventType.ATTRIBUTE_UPDATED, lambda value: value is wanted, since)
        expect(at - begin < 1, f"reported after {at - begin:.3f} s")
        expect_equal(node.get_attribute_value(1, None, Clusters.OnOff.Attributes.OnOff), wanted, "OnOff")
        expect_equal((await server.device(LIGHT))["onOff"], wanted, "OnOff at the device")
    await server.client.send_device_command(
        node.node_id, 1, Clusters.LevelControl.Commands.MoveToLevelWithOnOff(level=77, transitionTime=0))
    expect_equal((await server.device(LIGHT))["level"], 77, "CurrentLevel at the device")


@client_check("a physical action is reported within a second")
async def physical_action(server: Server):
    await server.light()
    since = len(server.events)
    await server.sim("set", f"{LIGHT}.levelControl.currentLevel=200")
    begin = time.monotonic()
    at, _ = await server.event(EventType.ATTRIBUTE_UPDATED, lambda value: value == 200, since)
    expect(at - begin < 1, f"reported after {at - begin:.3f} s")


@client_check("the fields of a response have their names")
async def response(server: Server):
    result = await server.client.send_device_command(
        await server.node(LIGHT), 1, Clusters.Groups.Commands.AddGroup(groupID=7, groupName="den"))
    expect_equal(result, {"status": 0x7E, "groupID": 7} if result["status"] else {"status": 0, "groupID": 7}, "the response")
    result = await server.client.send_device_command(
        await server.node(LIGHT), 1, Clusters.Groups.Commands.GetGroupMembership(groupList=[]))
    expect({"capacity", "groupList"} <= set(result), f"the response is {result}")


@client_check("attributes are read by path, list and wildcard")
async def read(server: Server):
    node = await server.node(LIGHT)
    expect_equal(await server.client.read_attribute(node, "0/40/2"), {"0/40/2": 0xFFF1}, "one attribute")
    paths = [f"0/40/{number}" for number in range(12)]
    expect_equal(len(await server.client.read_attribute(node, paths)), 11, "number of values of 12 paths")
    found = await server.client.read_attribute(node, "*/29/3")
    expect_equal(found, {"0/29/3": [1], "1/29/3": []}, "PartsList of all endpoints")


@client_check("an attribute is written, and a refusal is a status")
async def write(server: Server):
    node, since = await server.node(LIGHT), len(server.events)
    result = await server.client.write_attribute(node, "0/40/5", "Reading lamp")
    expect_equal(result[0]["Status"], 0, "Status")
    await server.event(EventType.ATTRIBUTE_UPDATED, lambda value: value == "Reading lamp", since)
    result = await server.client.write_attribute(node, "0/40/2", 1)
    expect_equal(result[0]["Status"], 0x88, "Status of a write to VendorID")
    labels = [Clusters.UserLabel.Structs.LabelStruct(label="room", value="den")]
    result = await server.client.write_attribute(node, "0/65/0", labels)
    expect_equal(result[0]["Status"], 0, "Status of a list of structures")
    expect_equal(await server.client.read_attribute(node, "0/65/0"), {"0/65/0": [{"0": "room", "1": "den"}]}, "the list")


async def error_of(kind, awaitable) -> str:
    try:
        result = await awaitable
    except MatterError as error:
        expect_equal(type(error), kind, f"the error ({error})")
        return str(error)
    raise Failed(f"no {kind.__name__}, but {result!r}")


@client_check("errors have their codes", limit=60)
async def errors(server: Server):
    client, node = server.client, await server.node(LIGHT)
    expect("999999" in await error_of(NodeNotExists, client.remove_node(999999)), "the error does not name the node")
    await error_of(InvalidCommand, client.send_command("does_not_exist"))
    await error_of(InvalidArguments, client.write_attribute(node, "0/40/*", "x"))
    await error_of(InvalidArguments, client.write_attribute(node, "0/40/5", 5))
    await error_of(InvalidArguments, client.send_command("read_attribute", node_id=node, attribute_path="0/40"))
    await error_of(NodeCommissionFailed, client.commission_with_code("00000000000"))
    await error_of(InvalidArguments, client.send_command("commission_on_network", setup_pin_code=20202021, filter_type=2))


@client_check("a second client has the same nodes, and its disconnection does not affect the first")
async def second(server: Server):
    node = await server.light()
    other, listening = await server.new_client()
    expect_equal([entry.node_id for entry in other.get_nodes()], [entry.node_id for entry in server.client.get_nodes()], "nodes")
    for endpoint, attribute in ((0, Clusters.BasicInformation.Attributes.NodeLabel), (1, Clusters.OnOff.Attributes.OnOff),
                                (0, Clusters.OperationalCredentials.Attributes.Fabrics)):
        found = other.get_node(node.node_id).get_attribute_value(endpoint, None, attribute)
        expect_equal(found, node.get_attribute_value(endpoint, None, attribute), attribute.__name__)
    await other.disconnect()
    await asyncio.wait_for(listening, 5)
    await server.client.send_command("get_nodes")


@client_check("fabrics, addresses, ping and interview")
async def administered(server: Server):
    node = await server.node(LIGHT)
    fabrics = await server.client.get_matter_fabrics(node)
    expect_equal([(entry.fabric_index, entry.fabric_id, entry.fabric_label) for entry in fabrics],
                 [(1, server.client.server_info.fabric_id, FABRIC_LABEL)], "fabrics")
    addresses = await server.client.get_node_ip_addresses(node)
    expect(addresses and not any("%" in address for address in addresses), f"the addresses are {addresses}")
    expect(any((await server.client.ping_node(node)).values()), "no address answers")
    since = len(server.events)
    await server.client.interview_node(node)
    await server.event(EventType.NODE_UPDATED, lambda entry: entry.node_id == node, since)


@client_check("a commissioning window opens, and replaces an open one")
async def window(server: Server):
    for _ in range(2):
        codes = await server.client.open_commissioning_window(await server.node(LIGHT))
        expect(codes.setup_qr_code.startswith("MT:") and len(codes.setup_manual_code) == 11, f"the codes are {codes}")


@client_check("a bridge is commissioned by QR code, with an endpoint for each device", limit=60)
async def bridge(server: Server):
    node = await server.bridge()
    expect_equal((node.is_bridge_device, node.available), (True, True), "is_bridge_device, available")
    device = await server.device(BRIDGE)
    for part in device["bridged"]:
        endpoint = node.endpoints[part["endpoint"]]
        expect(endpoint.is_bridged_device, f"{part} is not a bridged device")
        expect_equal(endpoint.device_info.nodeLabel, part["name"], "NodeLabel")
        expect_equal(endpoint.device_info.reachable, True, "Reachable")
    since = len(server.events)
    await server.sim("power", "Landing/Lamp", "off")
    await server.event(EventType.ATTRIBUTE_UPDATED, lambda value: value is False, since)
    lamp = next(part["endpoint"] for part in device["bridged"] if part["name"] == "Lamp")
    expect_equal(node.endpoints[lamp].device_info.reachable, False, "Reachable")
    await server.sim("power", "Landing/Lamp", "on")


@client_check("a switch sends its events, with the names of their fields")
async def pressed(server: Server):
    node, since = (await server.bridge()).node_id, len(server.events)
    await server.sim("press", "Remote", "double", "--button", "On")
    _, event = await server.event(
        EventType.NODE_EVENT, lambda event: event.node_id == node and event.cluster_id == Clusters.Switch.id and event.event_id == 6,
        since)
    expect_equal(event.data, {"previousPosition": 1, "totalNumberOfPressesCounted": 2}, "the fields")


@client_check("a device that loses power becomes unavailable, and available again", limit=150)
async def availability(server: Server):
    node = await server.light()
    since = len(server.events)
    await server.sim("power", LIGHT, "off")
    try:
        await server.client.send_device_command(node.node_id, 1, Clusters.OnOff.Commands.Toggle())
        raise Failed("a command to a device without power succeeded")
    except MatterError:
        pass
    await server.event(EventType.NODE_UPDATED, lambda entry: entry.node_id == node.node_id and not entry.available,
                       since, seconds=90)
    since = len(server.events)
    await server.sim("power", LIGHT, "on")
    await server.event(EventType.NODE_UPDATED, lambda entry: entry.node_id == node.node_id and entry.available, since,
                       seconds=30)
    await server.client.send_device_command(node.node_id, 1, Clusters.OnOff.Commands.On())


@client_check("a node is updated, and reports the state of the update", limit=120)
async def updated(server: Server):
    node = await server.light()
    found = await server.client.check_node_update(node.node_id)
    expect(found is not None, "no update is found")
    expect_equal((found.vid, found.pid, found.software_version, found.software_version_string, found.release_notes_url,
                  found.update_source), (0xFFF1, 0x8001, 2, "2.0", "https://example.org/2", UpdateSource.LOCAL), "update")
    await error_of(UpdateError, server.client.update_node(node.node_id, 3))
    states = []
    unsubscribe = server.client.subscribe_events(
        lambda _, state: states.append(state), event_filter=EventType.ATTRIBUTE_UPDATED, node_filter=node.node_id,
        attr_path_filter="0/42/2")
    await server.client.update_node(node.node_id, 2)
    unsubscribe()
    # Downloading and Applying.
    expect(4 in states and 5 in states, f"the states are {states}")
    version = Clusters.BasicInformation.Attributes.SoftwareVersion
    async with asyncio.timeout(30):
        while node.get_attribute_value(0, None, version) != 2:
            await asyncio.sleep(0.1)
    expect_equal(await server.client.check_node_update(node.node_id), None, "another update")


@client_check("a removed node is announced, and can be commissioned again", limit=60)
async def removed(server: Server):
    node, since = await server.node(LIGHT), len(server.events)
    await server.client.remove_node(node)
    del server.nodes[LIGHT]
    await server.event(EventType.NODE_REMOVED, lambda id: id == node, since)
    expect(node not in [entry.node_id for entry in server.client.get_nodes()], "the node is still listed")
    expect((await server.device(LIGHT))["commissionable"], "the device is still in the fabric")
    await server.light()


async def run(arguments):
    server = Server(arguments)
    async with aiohttp.ClientSession() as session:
        await server.connect(session)
        for name, body, limit in CHECKS:
            if arguments.names and name not in arguments.names:
                continue
            begin, reason = time.monotonic(), None
            try:
                await asyncio.wait_for(body(server), limit)
            except (Exception, asyncio.CancelledError) as error:
                traceback.print_exc()
                reason = reason_of(error)
            print(json.dumps({"name": name, "seconds": time.monotonic() - begin, "reason": reason}), flush=True)
        await server.client.disconnect()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--hearth")
    parser.add_argument("--devices")
    parser.add_argument("--url")
    parser.add_argument("names", nargs="*")
    given = parser.parse_args()
    if given.list:
        print("\n".join(name for name, _, _ in CHECKS))
    else:
        asyncio.run(run(given))
