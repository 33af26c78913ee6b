"""Checks that events of start and commissioning are stored, numbered and filtered."""

import asyncio

from harness import check, expect, expect_equal
from sdk_controller import Clusters, Status

StartUp = Clusters.BasicInformation.Events.StartUp
EntryChanged = Clusters.AccessControl.Events.AccessControlEntryChanged


@check("events are read with number, priority and data")
async def read_events(target):
    events = await target.a.controller.ReadEvent(target.node, [()])
    for event in events:
        expect_equal(event.Status, Status.Success, "event status")
    numbers = [event.Header.EventNumber for event in events]
    expect(numbers == sorted(set(numbers)), f"event numbers are not ascending: {numbers}")
    starts = [event for event in events if isinstance(event.Data, StartUp)]
    expect(starts, f"no StartUp event among {[type(event.Data).__name__ for event in events]}")
    expect_equal(starts[0].Header.Priority.name, "CRITICAL", "priority of StartUp")
    changed = [event for event in events if isinstance(event.Data, EntryChanged)]
    expect(changed, "no AccessControlEntryChanged event after commissioning")


@check("event filter omits older numbers")
async def event_filter(target):
    events = await target.a.controller.ReadEvent(target.node, [()])
    expect(len(events) >= 2, f"only {len(events)} events")
    last = events[-1].Header.EventNumber
    newer = await target.a.controller.ReadEvent(target.node, [()], eventNumberFilter=last)
    expect_equal([event.Header.EventNumber for event in newer], [last], "numbers from the last on")


@check("event subscription reports a new event")
async def event_subscription(target):
    queue: asyncio.Queue = asyncio.Queue()
    loop = asyncio.get_running_loop()
    subscription = await target.a.controller.ReadEvent(
        target.node, [(0, Clusters.AccessControl, True)], reportInterval=(0, 60), keepSubscriptions=True)
    try:
        subscription.SetEventUpdateCallback(
            lambda event, transaction: loop.call_soon_threadsafe(queue.put_nowait, event))
        entries = await target.read(Clusters.AccessControl.Attributes.Acl, 0)
        extra = Clusters.AccessControl.Structs.AccessControlEntryStruct(
            privilege=1, authMode=2, subjects=[0x7777], targets=Clusters.Types.NullValue, fabricIndex=1)
        await target.write(Clusters.AccessControl.Attributes.Acl(entries + [extra]), 0)
        event = await asyncio.wait_for(queue.get(), 3)
        expect(isinstance(event.Data, EntryChanged), f"got {event}")
        await target.write(Clusters.AccessControl.Attributes.Acl(entries), 0)
    finally:
        subscription.Shutdown()
