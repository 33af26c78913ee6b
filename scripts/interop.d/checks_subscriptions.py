"""Checks subscriptions: priming reports, changes, intervals and liveness."""

import asyncio

from devices import LEVEL
from harness import check, expect, expect_equal
from sdk_controller import Clusters, Failed

OnOff, Level = Clusters.OnOff, Clusters.LevelControl


@check("subscription to one attribute reports changes")
async def one_attribute(target):
    await target.send(OnOff.Commands.Off())
    subscription = await target.a.subscribe(target.node, [(target.endpoint, OnOff.Attributes.OnOff)], 0, 60)
    try:
        primed = subscription.transaction.GetTLVAttributes()
        expect_equal(primed, {target.endpoint: {6: {0: False}}}, "the first report")
        for wanted in (True, False, True):
            subscription.drain()
            await target.send(OnOff.Commands.Toggle())
            await subscription.next(target.endpoint, OnOff.Attributes.OnOff, 1, lambda value: value == wanted)
    finally:
        subscription.close()


@check("subscription to all attributes reports changes only")
async def wildcard(target):
    await target.send(OnOff.Commands.Off())
    subscription = await target.a.subscribe(target.node, [()], 0, 60)
    try:
        primed = subscription.transaction.GetTLVAttributes()
        read = (await target.a.controller.Read(target.node, [()])).tlvAttributes
        count = lambda tree: {e: {c: sorted(a) for c, a in cs.items()} for e, cs in tree.items()}
        expect_equal(count(primed), count(read), "what the first report covers")
        await asyncio.sleep(0.3)
        subscription.drain()
        await target.send(OnOff.Commands.On())
        await subscription.next(target.endpoint, OnOff.Attributes.OnOff, 1, lambda value: value is True)
        await target.write(Clusters.BasicInformation.Attributes.NodeLabel("changed"), 0)
        await subscription.next(0, Clusters.BasicInformation.Attributes.NodeLabel, 1, lambda value: value == "changed")
        await asyncio.sleep(0.2)
        subscription.drain()
        # A command without a change causes no report.
        await target.send(OnOff.Commands.On())
        await asyncio.sleep(0.4)
        spurious = [change for change in subscription.drain() if change[1:4] == (target.endpoint, 6, 0)]
        expect(not spurious, f"reports without a change: {spurious}")
    finally:
        subscription.close()


@check("subscription reports changes by another controller")
async def two_subscribers(target):
    paths = [(target.endpoint, OnOff.Attributes.OnOff)]
    await target.send(OnOff.Commands.Off())
    first = await target.a.subscribe(target.node, paths, 0, 60)
    second = await target.a.subscribe(target.node, paths, 0, 60, keep=True)
    try:
        expect(first.transaction.subscriptionId != second.transaction.subscriptionId, "two subscriptions share an id")
        await target.send(OnOff.Commands.On())
        for subscription in (first, second):
            await subscription.next(target.endpoint, OnOff.Attributes.OnOff, 1, lambda value: value is True)
    finally:
        first.close()
        second.close()


@check("subscription reports a transition", clusters=(LEVEL,))
async def transition(target):
    await target.send(OnOff.Commands.On())
    await target.send(Level.Commands.MoveToLevel(level=10, transitionTime=0, optionsMask=0, optionsOverride=0))
    subscription = await target.a.subscribe(target.node, [(target.endpoint, Level.Attributes.CurrentLevel)], 0, 60)
    try:
        await target.send(Level.Commands.MoveToLevel(level=210, transitionTime=10, optionsMask=0, optionsOverride=0))
        await subscription.next(target.endpoint, Level.Attributes.CurrentLevel, 2.5, lambda value: value == 210)
    finally:
        subscription.close()


@check("minimum interval delays reports")
async def minimum_interval(target):
    await target.send(OnOff.Commands.Off())
    subscription = await target.a.subscribe(target.node, [(target.endpoint, OnOff.Attributes.OnOff)], 1, 60)
    try:
        expect_equal(subscription.intervals[0], 1, "minimum interval")
        await target.send(OnOff.Commands.On())
        first, _ = await subscription.next(target.endpoint, OnOff.Attributes.OnOff, 2, lambda value: value is True)
        await target.send(OnOff.Commands.Off())
        second, _ = await subscription.next(target.endpoint, OnOff.Attributes.OnOff, 2.5, lambda value: value is False)
        expect(second - first > 0.9, f"two reports {second - first:.2f} s apart, with a minimum interval of 1 s")
    finally:
        subscription.close()


@check("maximum interval keeps the subscription alive")
async def keep_alive(target):
    subscription = await target.a.subscribe(target.node, [(target.endpoint, OnOff.Attributes.OnOff)], 0, 1)
    try:
        expect_equal(subscription.intervals[1], 1, "maximum interval")
        # The SDK adds time for retransmissions to the interval; without it a missing report is detected sooner.
        subscription.transaction.OverrideLivenessTimeoutMs(1600)
        await asyncio.sleep(4)
        expect(not subscription.lost, f"the subscription was lost: {subscription.lost}")
        await target.send(OnOff.Commands.Toggle())
        await subscription.next(target.endpoint, OnOff.Attributes.OnOff, 1)
    finally:
        subscription.close()


@check("a new subscription replaces old ones unless they are kept")
async def replaced(target):
    paths = [(target.endpoint, OnOff.Attributes.OnOff)]
    old = await target.a.subscribe(target.node, paths, 0, 60)
    new = await target.a.subscribe(target.node, paths, 0, 60)
    try:
        old.drain()
        await target.send(OnOff.Commands.Toggle())
        await new.next(target.endpoint, OnOff.Attributes.OnOff, 1)
        try:
            await old.next(target.endpoint, OnOff.Attributes.OnOff, 0.5)
        except Failed:
            return
        raise Failed("the old subscription still gets reports")
    finally:
        new.close()
        old.close()
