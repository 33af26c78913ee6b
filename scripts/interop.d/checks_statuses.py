"""Checks the statuses of invalid and unusual requests.

Not covered: several commands in one invoke, because this build of the SDK aborts in SendBatchCommands, and a timed flag
without a timed request, because the build lacks the TestOnly calls.
"""

from dataclasses import dataclass
from typing import ClassVar

from chip.clusters.ClusterObjects import ClusterCommand, ClusterObjectDescriptor

from harness import check, expect, expect_equal
from sdk_controller import Clusters, InteractionModelError, Status, status_of

OnOff = Clusters.OnOff
Basic = Clusters.BasicInformation.Attributes
Administrator = Clusters.AdministratorCommissioning


@dataclass
class NoSuchCommand(ClusterCommand):
    """An unknown command of On/Off."""

    cluster_id: ClassVar[int] = 0x0006
    command_id: ClassVar[int] = 0x77
    is_client: ClassVar[bool] = True
    response_type: ClassVar[None] = None
    descriptor: ClassVar = ClusterObjectDescriptor(Fields=[])


@dataclass
class UntimedRevoke(Administrator.Commands.RevokeCommissioning):
    """A copy of a command that requires a timed request, without that flag, because the SDK refuses to send it untimed."""

    must_use_timed_invoke: ClassVar[bool] = False


@check("write to a read-only attribute refused")
async def read_only(target):
    expect_equal(await status_of(target.write(OnOff.Attributes.OnOff(True))), Status.UnsupportedWrite, "status")
    expect_equal(await status_of(target.write(Basic.VendorName("x"), 0)), Status.UnsupportedWrite, "status")


@check("write within and beyond the constraint")
async def constraint(target):
    await target.write(Basic.NodeLabel("Interop lamp ü"), 0)
    expect_equal(await target.read(Basic.NodeLabel, 0), "Interop lamp ü", "NodeLabel")
    expect_equal(await status_of(target.write(Basic.NodeLabel("x" * 33), 0)), Status.ConstraintError, "status of 33 bytes")
    expect_equal(await target.read(Basic.NodeLabel, 0), "Interop lamp ü", "NodeLabel after a refused write")


@check("several attributes in one write, a status for each")
async def several_writes(target):
    results = await target.a.controller.WriteAttribute(target.node, [
        (0, Basic.NodeLabel("one")), (target.endpoint, OnOff.Attributes.OnOff(True)),
        (target.endpoint, Clusters.Identify.Attributes.IdentifyTime(0)), (99, OnOff.Attributes.OnTime(1))])
    found = {(result.Path.EndpointId, result.Path.ClusterId): result.Status for result in results}
    expect_equal(found, {
        (0, 0x28): Status.Success, (target.endpoint, 6): Status.UnsupportedWrite,
        (target.endpoint, 3): Status.Success, (99, 6): Status.UnsupportedEndpoint}, "statuses")
    expect_equal(await target.read(Basic.NodeLabel, 0), "one", "NodeLabel")


@check("write with a stale data version refused")
async def stale_write(target):
    response = await target.a.controller.Read(target.node, [(0, Clusters.BasicInformation)], returnClusterObject=True)
    version = response.attributes[0][Clusters.BasicInformation].data_version
    wrong = await target.a.controller.WriteAttribute(target.node, [(0, Basic.NodeLabel("wrong"), (version - 1) % 2**32)])
    expect_equal(wrong[0].Status, Status.DataVersionMismatch, "status with another version")
    right = await target.a.controller.WriteAttribute(target.node, [(0, Basic.NodeLabel("right"), version)])
    expect_equal(right[0].Status, Status.Success, "status with the version")


@check("unknown commands refused")
async def absent_commands(target):
    expect_equal(await status_of(target.send(OnOff.Commands.On(), 99)), Status.UnsupportedEndpoint, "unknown endpoint")
    expect_equal(await status_of(target.send(Clusters.WindowCovering.Commands.UpOrOpen())), Status.UnsupportedCluster,
                 "unknown cluster")
    expect_equal(await status_of(target.send(NoSuchCommand())), Status.UnsupportedCommand, "unknown command")


@check("timed invoke, and refusals without")
async def timed(target):
    await target.send(OnOff.Commands.On(), timedRequestTimeoutMs=1000)
    expect_equal(await target.read(OnOff.Attributes.OnOff), True, "OnOff after a timed On")
    # RevokeCommissioning requires a timed request; with one, the status is that no window is open.
    expect_equal(await status_of(target.send(UntimedRevoke(), 0)),
                 Status.NeedsTimedInteraction, "untimed RevokeCommissioning")
    try:
        await target.send(Administrator.Commands.RevokeCommissioning(), 0, timedRequestTimeoutMs=1000)
    except InteractionModelError as error:
        expect_equal((error.status, error.clusterStatus), (Status.Failure, 4), "status with no window open")
    else:
        expect(False, "RevokeCommissioning succeeds with no window open")


@check("timed write")
async def timed_write(target):
    await target.write(Basic.NodeLabel("timed"), 0, timedRequestTimeoutMs=1000)
    expect_equal(await target.read(Basic.NodeLabel, 0), "timed", "NodeLabel")
