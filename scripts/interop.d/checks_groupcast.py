"""Checks group messages of the SDK's controller, which are multicast and not answered."""

import asyncio
import time

from harness import check, expect_equal
from sdk_controller import Clusters

Groups, Keys, OnOff = Clusters.Groups, Clusters.GroupKeyManagement, Clusters.OnOff
Access = Clusters.AccessControl
NULL = Clusters.Types.NullValue

# From the SDK's test data: it sends to this group with the second of these keys.
GROUP, KEY_SET = 0x0103, 0x01A3
EPOCH_KEYS = [bytes([first, second, *range(0xD2, 0xE0)]) for first, second in [(0xD0, 0xD1), (0xD1, 0xD1), (0xD2, 0xD1)]]
# Another group with the same keys and without an access control entry.
OTHER = 0x0101

_prepared: set = set()


def sender(target):
    """Returns the controller of fabric A with the SDK's groups and keys."""
    controller = target.a.controller
    if id(controller) not in _prepared:
        controller.InitGroupTestingData()
        _prepared.add(id(controller))
    return controller


async def write_keys(target, keys=EPOCH_KEYS):
    key_set = Keys.Structs.GroupKeySetStruct(
        groupKeySetID=KEY_SET, groupKeySecurityPolicy=0, epochKey0=keys[0], epochStartTime0=2220000,
        epochKey1=keys[1], epochStartTime1=2220001, epochKey2=keys[2], epochStartTime2=2220002)
    await target.send(Keys.Commands.KeySetWrite(key_set), 0)


async def map_keys(target, *groups):
    entries = [Keys.Structs.GroupKeyMapStruct(groupId=group, groupKeySetID=KEY_SET, fabricIndex=1) for group in groups]
    await target.write(Keys.Attributes.GroupKeyMap(entries), 0)


async def allow(target, privilege=None, group=GROUP):
    """Writes the access control list: the administrator, and the group with its privilege if given."""
    entry = Access.Structs.AccessControlEntryStruct
    mode = Access.Enums.AccessControlEntryAuthModeEnum
    entries = [entry(privilege=5, authMode=mode.kCase, subjects=[target.a.controller.nodeId], targets=NULL, fabricIndex=1)]
    if privilege is not None:
        entries.append(entry(privilege=privilege, authMode=mode.kGroup, subjects=[group], targets=NULL, fabricIndex=1))
    await target.write(Access.Attributes.Acl(entries), 0)


OPERATE = 3


class Prepared:
    """Makes the device a member of the group and restores its previous state."""

    def __init__(self, target, privilege=OPERATE):
        self.target, self.privilege = target, privilege

    async def __aenter__(self):
        target = self.target
        sender(target)
        await write_keys(target)
        await map_keys(target, GROUP)
        await allow(target, self.privilege)
        answer = await target.send(Groups.Commands.AddGroup(GROUP, "Test Group"))
        expect_equal(answer.status, 0, "AddGroup's status")
        await target.send(OnOff.Commands.Off())
        return target

    async def __aexit__(self, *_):
        target = self.target
        await target.send(Groups.Commands.RemoveAllGroups())
        await allow(target)
        await target.send(Keys.Commands.KeySetRemove(KEY_SET), 0)


async def on_off(target) -> bool:
    return await target.read(OnOff.Attributes.OnOff)


async def becomes(target, value: bool, seconds: float = 3):
    """Polls until the light has the state, because group messages are not acknowledged."""
    end = time.monotonic() + seconds
    while await on_off(target) != value and time.monotonic() < end:
        await asyncio.sleep(0.02)
    expect_equal(await on_off(target), value, f"OnOff {seconds} s after the group's command")


async def stays(target, value: bool, seconds: float = 0.7):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        expect_equal(await on_off(target), value, "OnOff after a command that was not for it")
        await asyncio.sleep(0.1)


@check("executes group commands")
async def obeys(target):
    async with Prepared(target):
        for value in (True, False, True):
            command = OnOff.Commands.On() if value else OnOff.Commands.Off()
            sender(target).SendGroupCommand(GROUP, command)
            await becomes(target, value)


@check("writes by group")
async def writes(target):
    async with Prepared(target):
        sender(target).WriteGroupAttribute(GROUP, [(OnOff.Attributes.OnTime(77),)])
        end = time.monotonic() + 3
        while await target.read(OnOff.Attributes.OnTime) != 77 and time.monotonic() < end:
            await asyncio.sleep(0.05)
        expect_equal(await target.read(OnOff.Attributes.OnTime), 77, "OnTime after the group's write")
        await target.write(OnOff.Attributes.OnTime(0))


@check("group commands need the privilege")
async def privilege(target):
    async with Prepared(target, None):
        for grant in (None, 1):
            await allow(target, grant)
            sender(target).SendGroupCommand(GROUP, OnOff.Commands.On())
            await stays(target, False)
        await allow(target, OPERATE, OTHER)
        sender(target).SendGroupCommand(GROUP, OnOff.Commands.On())
        await stays(target, False)
        # The message was received before, but not executed; now it is.
        await allow(target, OPERATE)
        sender(target).SendGroupCommand(GROUP, OnOff.Commands.On())
        await becomes(target, True)


@check("group commands need the right key")
async def keys(target):
    async with Prepared(target):
        await write_keys(target, [bytes([number] * 16) for number in (1, 2, 3)])
        sender(target).SendGroupCommand(GROUP, OnOff.Commands.On())
        await stays(target, False)
        await write_keys(target)
        sender(target).SendGroupCommand(GROUP, OnOff.Commands.On())
        await becomes(target, True)


@check("ignores a group after leaving it")
async def left(target):
    async with Prepared(target):
        sender(target).SendGroupCommand(GROUP, OnOff.Commands.On())
        await becomes(target, True)
        await target.send(Groups.Commands.RemoveGroup(GROUP))
        sender(target).SendGroupCommand(GROUP, OnOff.Commands.Off())
        await stays(target, True)
        await target.send(Groups.Commands.AddGroup(GROUP, ""))
        sender(target).SendGroupCommand(GROUP, OnOff.Commands.Off())
        await becomes(target, False)


@check("a group is added by group")
async def added(target):
    """After TC-SC-5.2."""
    async with Prepared(target, 4):
        await map_keys(target, GROUP, OTHER)
        sender(target).SendGroupCommand(GROUP, Groups.Commands.AddGroup(OTHER, "Test Group 0101"))
        end = time.monotonic() + 3
        answer = await target.send(Groups.Commands.ViewGroup(OTHER))
        while answer.status != 0 and time.monotonic() < end:
            await asyncio.sleep(0.05)
            answer = await target.send(Groups.Commands.ViewGroup(OTHER))
        expect_equal((answer.status, answer.groupName), (0, "Test Group 0101"), "ViewGroup's answer")


@check("groups survive a kill", limit=40)
async def killed(target):
    async with Prepared(target):
        sender(target).SendGroupCommand(GROUP, OnOff.Commands.On())
        await becomes(target, True)
        target.processes.stop(kill=True)
        target.processes.start()
        target.a.controller.ExpireSessions(target.node)
        await target.send(OnOff.Commands.Off())
        sender(target).SendGroupCommand(GROUP, OnOff.Commands.On())
        await becomes(target, True)
