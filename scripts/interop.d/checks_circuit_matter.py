"""Checks Hearth's controller with a CircuitMatter device, from discovery to removal, in this order.

CircuitMatter lacks session resumption (it establishes a new session, which is allowed), timed requests, events, groups,
access control, fail-safe roll-back, commissioning windows and a successful removal (see the last check).
"""

import time

from harness import expect, expect_equal
from circuit_matter import PORT, circuit_matter_check

ON_OFF, LEVEL, DESCRIPTOR = 0x0006, 0x0008, 0x001D


@circuit_matter_check("the commissionable device is discovered", is_paired=False)
async def discovered(device):
    found = await device.do("discover", "--commissionable", "--timeout", "2s")
    mine = [entry for entry in found if entry["port"] == PORT]
    expect_equal(len(mine), 1, f"number of services at its port among {found}")
    expect_equal(mine[0]["discriminator"], device.codes["discriminator"], "discriminator")
    expect_equal((mine[0]["vendorID"], mine[0]["productID"]), (0xFFF4, 0x1234), "vendor and product")
    expect("10.77.0.1" in mine[0]["addresses"], f"addresses are {mine[0]['addresses']}")


@circuit_matter_check("a wrong passcode is refused, and the step named", is_paired=False)
async def wrong_passcode(device):
    wrong = 20202021 if device.codes["passcode"] != 20202021 else 20202022
    error = await device.refused(9, "pair", "--passcode", wrong, "--at", f"10.77.0.1:{PORT}")
    expect("passcode" in error["message"] and "connectByPasscode" in error["message"], f"the error is {error}")
    expect_equal(await device.do("devices"), [], "devices")


@circuit_matter_check("commissioned by QR code, its attestation verified", is_paired=False, limit=60)
async def commissioned(device):
    await pair(device)


async def pair(device):
    device.refused_to_pair = True
    begin = time.monotonic()
    result = await device.do("pair", device.codes["qrCode"], "--name", "lights", "--room", "lab")
    device.paired_in = time.monotonic() - begin
    device.node, device.refused_to_pair = result["nodeID"], False


@circuit_matter_check("the device is listed and described")
async def described(device):
    devices = await device.do("devices")
    expect_equal([entry["name"] for entry in devices], ["lights"], "names")
    expect_equal((devices[0]["room"], devices[0]["online"]), ("lab", True), "room, online")
    description = await device.do("describe", "lights")
    expect_equal((description["vendorID"], description["productName"]), (0xFFF4, "CircuitMatter"), "vendor, product")
    types = {endpoint["id"]: {entry["id"] for entry in endpoint["types"]} for endpoint in description["endpoints"]}
    expect_equal((types[1], types[2]), ({0x0100}, {0x0100, 0x0101}), "device types")
    for endpoint, wanted in [(1, {ON_OFF}), (2, {ON_OFF, LEVEL})]:
        found = {entry["id"] for entry in description["endpoints"][endpoint]["clusters"]}
        expect(wanted <= found, f"clusters of endpoint {endpoint} are {found}")


@circuit_matter_check("on, off and toggle")
async def switched(device):
    for command, endpoint, wanted in [("on", 1, True), ("off", 1, False), ("toggle", 1, True), ("toggle", 1, False),
                                      ("on", 2, True), ("off", 2, False)]:
        await device.do(command, f"lights/{endpoint}")
        expect_equal((await device.state(endpoint))["onOff"], wanted, f"OnOff at the device after {command}")
    expect_equal(await device.read_one(1, "6/0"), False, "OnOff as read")


@circuit_matter_check("level")
async def dimmed(device):
    for level, wanted in [(("40%",), 102), (("254", "--raw"), 254)]:
        await device.do("level", "lights/2", *level)
        expect_equal((await device.state(2))["currentLevel"], wanted, f"CurrentLevel at the device after {level}")
        expect_equal(await device.read_one(2, "8/0"), wanted, f"CurrentLevel as read after {level}")


@circuit_matter_check("unknown clusters and commands are refused with their status")
async def unsupported(device):
    error = await device.refused(8, "toggle", "lights/2")
    expect("UNSUPPORTED_COMMAND" in error["message"], f"the error is {error}")
    error = await device.refused(8, "read", f"{device.node}/1/6/0x1234")
    expect("UNSUPPORTED_ATTRIBUTE" in error["message"], f"the error is {error}")


@circuit_matter_check("everything is read by wildcard, in several messages")
async def wildcard(device):
    since = device.log_size()
    entries = await device.do("read", f"{device.node}/*/*/*", "--raw")
    read = {tuple(int(part) for part in entry["path"].split("/")[1:]) for entry in entries}
    sent = device.attributes_sent(since)
    expect(len(sent) > 150, f"the device's log names only {len(sent)} attributes")
    expect_equal(sorted(read - sent), [], "what was read but not sent")
    expect_equal(sorted(sent - read), [], "what was sent but not read")
    # A status response requests each further message, and the last one ends the transaction.
    expect(device.log_text(since).count("Received Status Response") >= 3, "it came in fewer than three messages")
    values = {entry["path"].split("/", 1)[1]: entry["value"] for entry in entries}
    expect_equal((values["0/40/1"], values["0/40/2"], values["0/40/4"]), ("CircuitMatter", 0xFFF4, 0x1234), "values")
    expect_equal(values[f"0/{DESCRIPTOR}/3"], [1, 2], "PartsList")


@circuit_matter_check("its fabrics are listed, and a lockout is refused")
async def administered(device):
    fabrics = await device.do("fabrics list", "lights")
    expect_equal([(entry["isOurs"], entry["nodeID"]) for entry in fabrics], [(True, device.node)], "fabrics")
    await device.refused(2, "fabrics remove", "lights", fabrics[0]["index"])
    await device.refused(3, "fabrics remove", "lights", 99)
    # CircuitMatter grants access to all and has an empty list; a write would add the only entries.
    expect_equal(await device.do("acl list", "lights"), [], "access control list")
    error = await device.refused(2, "acl grant", "lights", "operate", "--to", 77, "--endpoint", 1)
    expect("--force" in error["message"], f"the error is {error}")
    await device.refused(3, "acl revoke", "lights", 1)


@circuit_matter_check("the unknown state of its commissioning window is an error")
async def shared(device):
    error = await device.refused(8, "share", "lights", "--status")
    # It does not answer a read of an unknown attribute, instead of reporting a status.
    expect("UNSUPPORTED_" in error["message"] or "is missing" in error["message"], f"the error is {error}")


@circuit_matter_check("a device without a Groups cluster joins no group and keeps no group keys")
async def grouped(device):
    group = await device.do("group create", "Den")
    await device.refused(8, "group add", "Den", "lights/1")
    expect_equal([(entry["id"], entry["members"]) for entry in await device.do("group list")], [(group["id"], [])], "groups")
    deleted = await device.do("group delete", "Den")
    expect_equal((deleted["deleted"], deleted["pending"]), (True, []), "deleted, pending")
    expect_equal(await device.do("group list"), [], "groups after it")
    expect_equal((await device.do("group create", "Hall"))["id"], group["id"], "number of the next group")
    await device.do("group delete", "Hall")


@circuit_matter_check("an attribute is written")
async def written(device):
    await device.do("write", f"{device.node}/0/40/5", "night shift")
    expect_equal(await device.read_one(0, "40/5"), "night shift", "NodeLabel")


@circuit_matter_check("subscription reports changes at the device and by another command")
async def subscribed(device):
    await device.do("off", "lights/1")
    subscription = await device.subscribe("1/6/0", "2/8/0")
    lamp, dimmer = f"{device.node}/1/6/0", f"{device.node}/2/8/0"
    try:
        first = await subscription.next(lamp, False, 5)
        expect(first["initial"], "the first value is not marked as such")
        await subscription.next(dimmer, (await device.state(2))["currentLevel"])
        await device.perform("1 on")
        change = await subscription.next(lamp, True)
        expect(not change["initial"], "a change is marked as a first value")
        await device.perform("2 77")
        await subscription.next(dimmer, 77)
        await device.do("off", "lights/1")
        await subscription.next(lamp, False)
        await device.do("level", "lights/2", "200", "--raw")
        await subscription.next(dimmer, 200)
    finally:
        await subscription.close()


@circuit_matter_check("session and subscription are reestablished after a restart of the device", limit=60)
async def restarted(device):
    await device.do("off", "lights/1")
    subscription = await device.subscribe("1/6/0", longest="2s")
    lamp = f"{device.node}/1/6/0"
    try:
        await subscription.next(lamp, False, 5)
        # A change, because the subscription is not established after the first values alone.
        await device.perform("1 on")
        await subscription.next(lamp, True)
        device.stop()
        await device.start()
        expect_equal(device.codes["fabrics"], 1, "fabrics that the device remembers")
        await device.do("off", "lights/1")
        expect_equal((await device.state(1))["onOff"], False, "OnOff at the device")
        await subscription.next(lamp, False, 18)
        await device.perform("1 on")
        await subscription.next(lamp, True)
    finally:
        await subscription.close()


@circuit_matter_check("a restart between two reports is probed and not reported as offline", limit=45)
async def restarted_unnoticed(device):
    await device.do("off", "lights/1")
    subscription = await device.subscribe("1/6/0", longest="5s")
    lamp = f"{device.node}/1/6/0"
    try:
        await subscription.next(lamp, False, 5)
        await device.perform("1 on")
        await subscription.next(lamp, True)
        device.stop()
        await device.start()
        # The overdue report alone causes the probe: no other message is received from the device.
        await device.perform("1 off")
        await subscription.next(lamp, False, 25)
        await device.perform("1 on")
        await subscription.next(lamp, True)
        expect_equal([note for note in subscription.noted() if "retrying" in note], [], "losses")
    finally:
        await subscription.close()


@circuit_matter_check("a second home commissions the device by manual code", limit=60)
async def second_home(device):
    await pair_second(device)
    await device.do("off", "also ours/1", home="home2")
    expect_equal(await device.read_one(1, "6/0"), False, "OnOff as the first home reads it")
    await device.do("on", "lights/1")
    expect_equal((await device.state(1))["onOff"], True, "OnOff at the device")


async def pair_second(device):
    await device.perform("window")
    await device.do("pair", device.codes["manualCode"], "--name", "also ours", home="home2")
    device.has_second_home = True


@circuit_matter_check("the device is removed, with --force if it refuses", limit=60)
async def removed(device):
    if not device.has_second_home:
        await pair_second(device)
    # CircuitMatter uses the fabric index, which starts at 1, as a list position, so that of the last fabric is invalid.
    error = await device.refused(8, "remove", "also ours", home="home2")
    expect("FAILURE" in error["message"], f"the error is {error}")
    expect_equal(len(await device.do("devices", home="home2")), 1, "devices after the refusal")
    await device.do("remove", "also ours", "--force", home="home2")
    expect_equal(await device.do("devices", home="home2"), [], "devices after it")
