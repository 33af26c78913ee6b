"""Checks discovery, commissioning with each setup code, and removal."""

import asyncio
import os

from harness import FRESH, Failed, check, expect, expect_equal
from sdk_controller import ChipStackException, Clusters

Basic = Clusters.BasicInformation.Attributes
Credentials = Clusters.OperationalCredentials
General = Clusters.GeneralCommissioning.Attributes


async def works(target, node: int):
    """Checks that commissioning is complete and that the controller of the fabric can control the node."""
    expect_equal(await target.a.read(node, 0, General.Breadcrumb), 0, "Breadcrumb after commissioning")
    expect(await target.a.read(node, 0, Basic.VendorName), "VendorName is empty")


@check("is advertised as commissionable", FRESH)
async def advertised(target):
    found = await target.a.discover(target.discriminator)
    expect(found, f"no commissionable node with discriminator {target.discriminator}")
    expect_equal(found.commissioningMode, 1, "CM")
    expect_equal(found.longDiscriminator, target.discriminator, "D")
    expect(found.vendorId in range(0xFFF1, 0xFFF5), f"VP has no test vendor: {found.vendorId:#x}")
    expect(found.deviceType in (None, 0, target.type_id), f"DT is {found.deviceType}, the device is a {target.type_id}")
    addresses = [address.split("%")[0] for address in found.addresses]
    expect(any(":" in address for address in addresses), f"no IPv6 address in {addresses}")
    outside = [address for address in addresses if not address.startswith(("fe80:", "fd77:", "10.77."))]
    expect(not outside, f"addresses of other interfaces are advertised: {outside}")


@check("commissioned by passcode", FRESH)
async def by_passcode(target):
    target.node = await target.a.commission_by_passcode(target.passcode, target.discriminator)
    await works(target, target.node)


@check("commissioned by QR code", FRESH)
async def by_qr(target):
    target.node = await target.a.commission_by_code(target.qr)
    await works(target, target.node)


@check("commissioned by manual code", FRESH)
async def by_manual(target):
    target.node = await target.a.commission_by_code(target.manual)
    await works(target, target.node)


@check("wrong passcode refused, right one accepted after", FRESH)
async def wrong_passcode(target):
    wrong = target.passcode + 1 if target.passcode != 99999998 else 1
    try:
        await asyncio.wait_for(target.a.commission_by_passcode(wrong, target.discriminator), 20)
    except (ChipStackException, asyncio.TimeoutError):
        pass
    else:
        raise Failed("commissioning with a wrong passcode went through")
    target.node = await target.a.commission_by_passcode(target.passcode, target.discriminator)
    await works(target, target.node)


async def add_noc(target) -> int:
    """Runs the steps through AddNOC over PASE; returns the node ID."""
    node = await target.a.establish_pase(target.qr)
    response = await target.a.send(node, 0, Clusters.GeneralCommissioning.Commands.ArmFailSafe(60, 1))
    expect_equal(response.errorCode, 0, "ArmFailSafe's error")
    csr = await target.a.send(node, 0, Credentials.Commands.CSRRequest(CSRNonce=os.urandom(32)))
    chain = await target.a.controller.IssueNOCChain(csr, node)
    await target.a.send(node, 0, Credentials.Commands.AddTrustedRootCertificate(chain.rcacBytes))
    response = await target.a.send(node, 0, Credentials.Commands.AddNOC(
        chain.nocBytes, chain.icacBytes, chain.ipkBytes, target.a.controller.nodeId, 0xFFF1))
    expect_equal(response.statusCode, 0, "AddNOC's status")
    expect_equal(await target.a.read(node, 0, Credentials.Attributes.CommissionedFabrics), 1, "CommissionedFabrics")
    return node


@check("commissioned with an empty ICACValue", FRESH, once=True)
async def empty_intermediate(target):
    """Some controllers send an empty field if they have no intermediate certificate."""
    node = await target.a.establish_pase(target.qr)
    response = await target.a.send(node, 0, Clusters.GeneralCommissioning.Commands.ArmFailSafe(60, 1))
    expect_equal(response.errorCode, 0, "ArmFailSafe's error")
    csr = await target.a.send(node, 0, Credentials.Commands.CSRRequest(CSRNonce=os.urandom(32)))
    target.a.authority.alwaysOmitIcac = True
    try:
        chain = await target.a.controller.IssueNOCChain(csr, node)
    finally:
        target.a.authority.alwaysOmitIcac = False
    expect(not chain.icacBytes, "the SDK issued an intermediate certificate")
    await target.a.send(node, 0, Credentials.Commands.AddTrustedRootCertificate(chain.rcacBytes))

    async def add(icac: bytes):
        return await target.a.send(node, 0, Credentials.Commands.AddNOC(
            chain.nocBytes, icac, chain.ipkBytes, target.a.controller.nodeId, 0xFFF1))

    refused = await add(b"\x15\x18")
    expect_equal(refused.statusCode, 3, "AddNOC's status for a broken ICAC")
    expect(refused.debugText, "the refusal has no DebugText")
    added = await add(b"")
    expect_equal(added.statusCode, 0, f"AddNOC's status for an empty ICAC ({added.debugText})")
    target.a.abandon()
    await target.a.controller.GetConnectedDevice(node, allowPASE=False, timeoutMs=5000)
    response = await target.a.send(node, 0, Clusters.GeneralCommissioning.Commands.CommissioningComplete())
    expect_equal(response.errorCode, 0, "CommissioningComplete's error")
    target.node = node
    await works(target, node)


async def is_as_new(target):
    """Checks that the failed attempt left no state: the device can be commissioned and has one fabric and one root."""
    target.a.abandon()
    target.node = await target.a.commission_by_passcode(target.passcode, target.discriminator)
    await works(target, target.node)
    for attribute, what in ((Credentials.Attributes.Fabrics, "fabrics"), (Credentials.Attributes.NOCs, "NOCs"),
                            (Credentials.Attributes.TrustedRootCertificates, "root certificates")):
        response = await target.a.controller.Read(target.node, [(0, attribute)], fabricFiltered=False)
        expect_equal(len(response.attributes[0][Credentials][attribute]), 1, f"number of {what}")


@check("aborted commissioning leaves no state", FRESH)
async def broken_off(target):
    node = await add_noc(target)
    await target.a.send(node, 0, Clusters.GeneralCommissioning.Commands.ArmFailSafe(0, 0))
    await is_as_new(target)


@check("expired commissioning leaves no state", FRESH)
async def expired(target):
    node = await add_noc(target)
    await target.a.send(node, 0, Clusters.GeneralCommissioning.Commands.ArmFailSafe(1, 2))
    await asyncio.sleep(1.2)
    await is_as_new(target)


@check("commissionable again after RemoveFabric")
async def removed(target):
    node, target.node = target.node, None
    fabrics = await target.a.read(node, 0, Credentials.Attributes.Fabrics)
    expect_equal(len(fabrics), 1, "number of fabrics")
    own = await target.a.read(node, 0, Credentials.Attributes.CurrentFabricIndex)
    expect_equal(fabrics[0].fabricIndex, own, "FabricIndex in Fabrics")
    response = await target.a.send(node, 0, Credentials.Commands.RemoveFabric(own))
    expect_equal(response.statusCode, 0, "RemoveFabric's status")
    found = await target.a.discover(target.discriminator)
    expect(found, "not advertised as commissionable after the last fabric was removed")
    target.node = await target.a.commission_by_passcode(target.passcode, target.discriminator)
    await works(target, target.node)
