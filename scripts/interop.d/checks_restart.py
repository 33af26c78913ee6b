"""Checks that state and subscriptions survive a new session, a stop and a kill."""

import asyncio
import time

from harness import check, expect, expect_equal
from sdk_controller import Clusters

OnOff = Clusters.OnOff
Label = Clusters.BasicInformation.Attributes.NodeLabel


@check("a closed session is reestablished")
async def session_again(target):
    for _ in range(3):
        target.a.controller.ExpireSessions(target.node)
        await target.send(OnOff.Commands.Toggle())


@check("state survives a kill", limit=40)
async def killed(target):
    await target.write(Label("survivor"), 0)
    await target.write(OnOff.Attributes.StartUpOnOff(Clusters.Types.NullValue))
    await target.send(OnOff.Commands.On())
    starts = Clusters.GeneralDiagnostics.Attributes.RebootCount
    before = await target.read(starts, 0)
    seen = [event.Header.EventNumber for event in await target.a.controller.ReadEvent(target.node, [()])]
    target.processes.stop(kill=True)
    target.processes.start()
    target.a.controller.ExpireSessions(target.node)
    begin = time.monotonic()
    expect_equal(await target.read(Label, 0), "survivor", "NodeLabel after the restart")
    expect_equal(await target.read(OnOff.Attributes.OnOff), True, "OnOff after the restart (start-up: previous)")
    expect_equal(await target.read(starts, 0), before + 1, "RebootCount")
    events = await target.a.controller.ReadEvent(target.node, [()], eventNumberFilter=max(seen) + 1)
    newer = [event for event in events if isinstance(event.Data, Clusters.BasicInformation.Events.StartUp)]
    expect_equal(len(newer), 1, "number of StartUp events with a number beyond those before the restart")
    expect(time.monotonic() - begin < 10, "it took more than 10 s to reach the device again")


@check("a device that was killed resumes its subscription", limit=90, once=True)
async def subscription_resumed(target):
    port = target.current()["port"]
    # Otherwise setting it to true would be no change.
    await target.send(OnOff.Commands.Off())
    # The maximum interval, so that only a change causes a report during the check.
    subscription = await target.a.subscribe(target.node, [(target.endpoint, OnOff.Attributes.OnOff)], 0, 60)
    try:
        for _ in range(2):
            target.processes.stop(kill=True)
            await asyncio.sleep(1)
            target.processes.start()
            expect_equal(target.current()["port"], port, "the port after the restart")
            await asyncio.sleep(5)
            subscription.drain()
            begin = time.monotonic()
            target.set("onOff.onOff", True)
            moment, _ = await subscription.next(target.endpoint, OnOff.Attributes.OnOff, 1, lambda found: found)
            print(f"    reported {1000 * (moment - begin):.0f} ms after it was set")
            # The first command also uses a new session; the SDK no longer uses the previous one.
            begin = time.monotonic()
            await target.send(OnOff.Commands.Toggle())
            print(f"    switched in {1000 * (time.monotonic() - begin):.0f} ms")
            await subscription.next(target.endpoint, OnOff.Attributes.OnOff, 1, lambda found: not found)
        expect(not subscription.lost, "the subscription was lost")
    finally:
        subscription.close()


@check("subscription is reestablished after a kill without resumption", limit=60, once=True)
async def subscription_again(target):
    subscription = await target.a.subscribe(target.node, [(target.endpoint, OnOff.Attributes.OnOff)], 0, 2)
    succeeded = asyncio.Event()
    subscription.transaction.SetResubscriptionSucceededCallback(lambda transaction: succeeded.set())
    # The SDK detects a silent device only after the interval and all retransmissions; this shortens the time.
    subscription.transaction.OverrideLivenessTimeoutMs(2500)
    try:
        target.processes.stop(kill=True)
        target.processes.start(options=("--no-resume",))
        async with asyncio.timeout(45):
            await succeeded.wait()
        expect(subscription.lost, "the subscription was never lost")
        subscription.drain()
        await target.send(OnOff.Commands.Toggle())
        await subscription.next(target.endpoint, OnOff.Attributes.OnOff, 2)
    finally:
        subscription.close()
        target.processes.stop()
        target.processes.start()
        # The device does not know the sessions from before, and the SDK does not notice.
        target.a.controller.ExpireSessions(target.node)


@check("many interactions at once")
async def at_once(target):
    reads = [target.a.controller.Read(target.node, [()]) for _ in range(4)]
    toggles = [target.send(OnOff.Commands.Toggle()) for _ in range(10)]
    before = await target.read(OnOff.Attributes.OnOff)
    answers = await asyncio.gather(*reads, *toggles)
    covered = [{(e, c, a) for e, cs in answer.tlvAttributes.items() for c, attributes in cs.items() for a in attributes}
               for answer in answers[:4]]
    expect(all(paths == covered[0] for paths in covered), "reads at the same time cover different attributes")
    expect_equal(await target.read(OnOff.Attributes.OnOff), before, "OnOff after an even number of toggles")
