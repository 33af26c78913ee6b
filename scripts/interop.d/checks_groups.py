"""Checks groups with their keys, and scenes."""

import os

from harness import check, expect, expect_equal
from sdk_controller import Clusters, Status, status_of

Groups, Scenes, Keys, OnOff = Clusters.Groups, Clusters.ScenesManagement, Clusters.GroupKeyManagement, Clusters.OnOff
NULL = Clusters.Types.NullValue
GROUP, KEY_SET, SCENE = 0x0107, 0x42, 1


async def give_keys(target):
    """Writes a key set and maps the group to it, which an endpoint requires to join the group."""
    key_set = Keys.Structs.GroupKeySetStruct(
        groupKeySetID=KEY_SET, groupKeySecurityPolicy=0, epochKey0=os.urandom(16), epochStartTime0=1,
        epochKey1=NULL, epochStartTime1=NULL, epochKey2=NULL, epochStartTime2=NULL)
    await target.send(Keys.Commands.KeySetWrite(key_set), 0)
    entry = Keys.Structs.GroupKeyMapStruct(groupId=GROUP, groupKeySetID=KEY_SET, fabricIndex=1)
    await target.write(Keys.Attributes.GroupKeyMap([entry]), 0)


@check("group keys persist and are never readable")
async def group_keys(target):
    await give_keys(target)
    answer = await target.send(Keys.Commands.KeySetRead(KEY_SET), 0)
    expect_equal(answer.groupKeySet.epochKey0, NULL, "EpochKey0")
    expect_equal(answer.groupKeySet.epochStartTime0, 1, "EpochStartTime0")
    answer = await target.send(Keys.Commands.KeySetReadAllIndices(), 0)
    expect_equal(sorted(answer.groupKeySetIDs), [0, KEY_SET], "key sets")
    mapped = await target.read(Keys.Attributes.GroupKeyMap, 0)
    expect_equal([(entry.groupId, entry.groupKeySetID) for entry in mapped], [(GROUP, KEY_SET)], "GroupKeyMap")
    await target.send(Keys.Commands.KeySetRemove(KEY_SET), 0)
    expect_equal(await status_of(target.send(Keys.Commands.KeySetRead(KEY_SET), 0)), Status.NotFound, "status after removal")


@check("joins, names and leaves a group")
async def groups(target):
    await target.send(Groups.Commands.RemoveAllGroups())
    expect_equal((await target.send(Groups.Commands.AddGroup(0x0222, ""))).status, Status.UnsupportedAccess,
                 "AddGroup without a key")
    await give_keys(target)
    expect_equal((await target.send(Groups.Commands.AddGroup(GROUP, "lab"))).status, 0, "AddGroup's status")
    expect_equal((await target.send(Groups.Commands.ViewGroup(GROUP))).status, 0, "ViewGroup's status")
    member = await target.send(Groups.Commands.GetGroupMembership([]))
    expect_equal(member.groupList, [GROUP], "groups")
    table = await target.read(Keys.Attributes.GroupTable, 0)
    expect_equal([(entry.groupId, entry.endpoints) for entry in table], [(GROUP, [target.endpoint])], "GroupTable")
    expect_equal((await target.send(Groups.Commands.RemoveGroup(GROUP))).status, 0, "RemoveGroup's status")
    expect_equal((await target.send(Groups.Commands.ViewGroup(GROUP))).status, Status.NotFound, "ViewGroup after it")


@check("stores, recalls and removes a scene")
async def scenes(target):
    await target.send(OnOff.Commands.On())
    stored = await target.send(Scenes.Commands.StoreScene(groupID=0, sceneID=SCENE))
    expect_equal((stored.status, stored.groupID, stored.sceneID), (0, 0, SCENE), "StoreScene's response")
    await target.send(OnOff.Commands.Off())
    await target.send(Scenes.Commands.RecallScene(groupID=0, sceneID=SCENE, transitionTime=0))
    expect_equal(await target.read(OnOff.Attributes.OnOff), True, "OnOff after RecallScene")
    seen = await target.send(Scenes.Commands.ViewScene(groupID=0, sceneID=SCENE))
    expect_equal(seen.status, 0, "ViewScene's status")
    served = {field.clusterID for field in seen.extensionFieldSetStructs}
    expect(OnOff.id in served, f"the scene holds clusters {served}")
    member = await target.send(Scenes.Commands.GetSceneMembership(groupID=0))
    expect(SCENE in member.sceneList, f"scenes {member.sceneList}")
    removed = await target.send(Scenes.Commands.RemoveScene(groupID=0, sceneID=SCENE))
    expect_equal(removed.status, 0, "RemoveScene's status")
    call = target.send(Scenes.Commands.RecallScene(groupID=0, sceneID=SCENE))
    expect_equal(await status_of(call), Status.NotFound, "status of a removed scene")
