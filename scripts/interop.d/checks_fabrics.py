"""Checks several fabrics on one device, commissioning windows and access control."""

import asyncio

from harness import Failed, check, expect, expect_equal
from sdk_controller import ChipStackException, Clusters, Fabric, InteractionModelError, Status, status_of

OnOff = Clusters.OnOff
Administrator = Clusters.AdministratorCommissioning
Credentials = Clusters.OperationalCredentials
ENHANCED = 1


async def open_basic(target):
    # Not with OpenCommissioningWindow of the controller, which never returns for a basic window.
    await target.send(Administrator.Commands.OpenBasicCommissioningWindow(180), 0, timedRequestTimeoutMs=1000)


async def toggles(fabric: Fabric, node: int, endpoint: int):
    """Checks that the controller of the fabric can control and read the device."""
    before = await fabric.read(node, endpoint, OnOff.Attributes.OnOff)
    await fabric.send(node, endpoint, OnOff.Commands.Toggle())
    expect_equal(await fabric.read(node, endpoint, OnOff.Attributes.OnOff), not before, f"OnOff, by fabric {fabric.name}")


async def locked_out(fabric: Fabric, node: int):
    """Checks that the controller of the fabric can't establish a session with the node."""
    fabric.controller.ExpireSessions(node)
    try:
        await fabric.controller.GetConnectedDevice(node, allowPASE=False, timeoutMs=3000)
    except (ChipStackException, asyncio.TimeoutError):
        return
    raise Failed(f"fabric {fabric.name} still gets a session")


async def both_control(target, node_b: int):
    await toggles(target.a, target.node, target.endpoint)
    await toggles(target.b, node_b, target.endpoint)
    await toggles(target.a, target.node, target.endpoint)
    all_fabrics = (await target.b.controller.Read(node_b, [(0, Credentials.Attributes.Fabrics)], fabricFiltered=False))
    fabrics = all_fabrics.attributes[0][Credentials][Credentials.Attributes.Fabrics]
    expect_equal(len(fabrics), 2, "number of fabrics")
    expect_equal(sorted(entry.fabricID for entry in fabrics), [1, 2], "fabric ids")
    # With fabric filtering each controller reads its own entry only.
    for fabric, node, number in ((target.a, target.node, 1), (target.b, node_b, 2)):
        own = await fabric.read(node, 0, Credentials.Attributes.Fabrics)
        expect_equal([entry.fabricID for entry in own], [number], f"fabrics seen by {fabric.name}")
        expect_equal(await fabric.read(node, 0, Credentials.Attributes.CommissionedFabrics), 2, "CommissionedFabrics")


@check("second fabric through a basic window, first removes itself", limit=45)
async def basic_window(target):
    await open_basic(target)
    expect_equal(await target.read(Administrator.Attributes.WindowStatus, 0), 2, "WindowStatus with a basic window open")
    node_b = await target.b.commission_by_passcode(target.passcode, target.discriminator)
    target.other_fabrics.append((target.b, node_b))
    expect_equal(await target.read(Administrator.Attributes.WindowStatus, 0), 0, "WindowStatus after commissioning")
    await both_control(target, node_b)
    node, target.node = target.node, None
    await target.a.unpair(node)
    await locked_out(target.a, node)
    await toggles(target.b, node_b, target.endpoint)
    expect_equal(await target.b.read(node_b, 0, Credentials.Attributes.CommissionedFabrics), 1, "CommissionedFabrics")


@check("second fabric through an enhanced window, first removed by the second", limit=45)
async def enhanced_window(target):
    discriminator = (target.discriminator + 1234) % 4096
    opened = await target.a.controller.OpenCommissioningWindow(target.node, 180, 2000, discriminator, ENHANCED)
    expect_equal(await target.read(Administrator.Attributes.WindowStatus, 0), 1, "WindowStatus with a window open")
    found = await target.b.discover(discriminator)
    expect(found, f"no commissionable node with the window's discriminator {discriminator}")
    expect_equal(found.commissioningMode, 2, "CM in an enhanced window")
    expect(opened.setupPinCode != target.passcode, "the window has the device's own passcode")
    node_b = await target.b.commission_by_code(opened.setupQRCode)
    target.other_fabrics.append((target.b, node_b))
    await both_control(target, node_b)
    index_a = await target.read(Credentials.Attributes.CurrentFabricIndex, 0)
    response = await target.b.send(node_b, 0, Credentials.Commands.RemoveFabric(index_a))
    expect_equal(response.statusCode, 0, "RemoveFabric's status")
    node, target.node = target.node, None
    await locked_out(target.a, node)
    await toggles(target.b, node_b, target.endpoint)


@check("a window opens once and can be revoked")
async def window_revoked(target):
    await open_basic(target)
    try:
        await open_basic(target)
    except InteractionModelError as error:
        expect_equal((error.status, error.clusterStatus), (Status.Failure, 2), "status of a second window")
    else:
        raise Failed("a second window could be opened")
    await target.send(Administrator.Commands.RevokeCommissioning(), 0, timedRequestTimeoutMs=1000)
    expect_equal(await target.read(Administrator.Attributes.WindowStatus, 0), 0, "WindowStatus")


@check("wrong passcode in an enhanced window", limit=45)
async def wrong_window_passcode(target):
    discriminator = (target.discriminator + 99) % 4096
    await target.a.controller.OpenCommissioningWindow(target.node, 180, 1000, discriminator, ENHANCED)
    try:
        # The passcode of the device is not valid in the window.
        await asyncio.wait_for(target.b.commission_by_passcode(target.passcode, discriminator), 20)
    except (ChipStackException, asyncio.TimeoutError):
        pass
    else:
        raise Failed("the device's own passcode was accepted in an enhanced window")
    await target.send(Administrator.Commands.RevokeCommissioning(), 0, timedRequestTimeoutMs=1000)
    await toggles(target.a, target.node, target.endpoint)


@check("access control is enforced")
async def access_control(target):
    acl = Clusters.AccessControl
    entries = await target.read(acl.Attributes.Acl, 0)
    expect_equal(len(entries), 1, "entries after commissioning")
    expect_equal((entries[0].privilege, entries[0].authMode, entries[0].subjects), (5, 2, [0x100]), "the administrator's entry")
    other = target.sdk.node_without_access()
    reading = other.read(target.node, target.endpoint, OnOff.Attributes.OnOff)
    expect_equal(await status_of(reading), Status.UnsupportedAccess, "read without an entry")
    response = await other.controller.Read(target.node, [()])
    expect_equal(response.tlvAttributes, {}, "wildcard read without an entry")
    entry = acl.Structs.AccessControlEntryStruct(
        privilege=acl.Enums.AccessControlEntryPrivilegeEnum.kView, authMode=2, subjects=[other.controller.nodeId],
        targets=[acl.Structs.AccessControlTargetStruct(cluster=6, endpoint=target.endpoint, deviceType=Clusters.Types.NullValue)],
        fabricIndex=1)
    await target.write(acl.Attributes.Acl(entries + [entry]), 0)
    await other.read(target.node, target.endpoint, OnOff.Attributes.OnOff)
    invoke = other.send(target.node, target.endpoint, OnOff.Commands.On())
    expect_equal(await status_of(invoke), Status.UnsupportedAccess, "invoke with the View privilege")
    reading = other.read(target.node, target.endpoint, Clusters.Identify.Attributes.IdentifyTime)
    expect_equal(await status_of(reading), Status.UnsupportedAccess, "read of a cluster that is not granted")
    await target.write(acl.Attributes.Acl(entries), 0)
    reading = other.read(target.node, target.endpoint, OnOff.Attributes.OnOff)
    expect_equal(await status_of(reading), Status.UnsupportedAccess, "read after the entry was removed")


@check("five fabrics at once, each with a subscription", limit=60, once=True)
async def five_fabrics(target):
    supported = await target.read(Credentials.Attributes.SupportedFabrics, 0)
    expect(supported >= 5, f"SupportedFabrics is {supported}")
    for fabric in [target.b, *target.sdk.others(3)]:
        await open_basic(target)
        node = await fabric.commission_by_passcode(target.passcode, target.discriminator)
        target.other_fabrics.append((fabric, node))
    members = [(target.a, target.node), *target.other_fabrics]
    await target.send(OnOff.Commands.Off())
    subscriptions = [
        await fabric.subscribe(node, [(target.endpoint, OnOff.Attributes.OnOff)], 0, 60) for fabric, node in members]
    try:
        for index, (fabric, node) in enumerate(members):
            await fabric.send(node, target.endpoint, OnOff.Commands.Toggle())
            for subscription in subscriptions:
                await subscription.next(target.endpoint, OnOff.Attributes.OnOff, 2, lambda value: value is (index % 2 == 0))
        expect_equal(await target.read(Credentials.Attributes.CommissionedFabrics, 0), 5, "CommissionedFabrics")
    finally:
        for subscription in subscriptions:
            subscription.close()


@check("fail-safe can be armed and disarmed", limit=20)
async def fail_safe(target):
    commissioning = Clusters.GeneralCommissioning
    response = await target.send(commissioning.Commands.ArmFailSafe(expiryLengthSeconds=60, breadcrumb=7), 0)
    expect_equal(response.errorCode, 0, "ArmFailSafe's error")
    expect_equal(await target.read(commissioning.Attributes.Breadcrumb, 0), 7, "Breadcrumb")
    response = await target.send(commissioning.Commands.ArmFailSafe(expiryLengthSeconds=0, breadcrumb=0), 0)
    expect_equal(response.errorCode, 0, "ArmFailSafe's error")
    expect_equal(await target.read(commissioning.Attributes.Breadcrumb, 0), 0, "Breadcrumb after disarming")
    await toggles(target.a, target.node, target.endpoint)
