"""Checks on, off and dimming with their durations."""

import asyncio
import time

from devices import LEVEL
from harness import check, expect, expect_equal
from sdk_controller import Clusters, Status, status_of

OnOff, Level = Clusters.OnOff, Clusters.LevelControl
NULL = Clusters.Types.NullValue


async def level(target):
    return await target.read(Level.Attributes.CurrentLevel)


async def is_on(target):
    return await target.read(OnOff.Attributes.OnOff)


async def until(target, read, wanted, seconds: float, what: str):
    """Reads until the value is reached; returns the elapsed time."""
    begin = time.monotonic()
    while (found := await read(target)) != wanted:
        expect(time.monotonic() - begin < seconds, f"{what} is {found} after {seconds} s, expected {wanted}")
        await asyncio.sleep(0.05)
    return time.monotonic() - begin


@check("on, off, toggle")
async def switch(target):
    for command, wanted in [(OnOff.Commands.On(), True), (OnOff.Commands.On(), True), (OnOff.Commands.Off(), False),
                            (OnOff.Commands.Toggle(), True), (OnOff.Commands.Toggle(), False)]:
        await target.send(command)
        expect_equal(await is_on(target), wanted, f"OnOff after {type(command).__name__}")


@check("on with timed off expires")
async def timed_off(target):
    await target.send(OnOff.Commands.Off())
    await target.send(OnOff.Commands.OnWithTimedOff(onOffControl=0, onTime=10, offWaitTime=0))
    expect_equal(await is_on(target), True, "OnOff at first")
    expect(await target.read(OnOff.Attributes.OnTime) > 0, "OnTime does not count down from its value")
    took = await until(target, is_on, False, 2, "OnOff")
    expect(took > 0.6, f"it went off after {took:.2f} s, not after 1 s")


@check("off with effect keeps the global scene")
async def global_scene(target):
    await target.send(OnOff.Commands.On())
    await target.send(OnOff.Commands.OffWithEffect(effectIdentifier=0, effectVariant=0))
    # The slowest effect with these parameters takes 0.8 s.
    await until(target, is_on, False, 1.5, "OnOff")
    expect_equal(await target.read(OnOff.Attributes.GlobalSceneControl), False, "GlobalSceneControl")
    await target.send(OnOff.Commands.OnWithRecallGlobalScene())
    expect_equal(await is_on(target), True, "OnOff")
    expect_equal(await target.read(OnOff.Attributes.GlobalSceneControl), True, "GlobalSceneControl")


@check("start-up behavior is writable and nullable")
async def start_up(target):
    for value in (OnOff.Enums.StartUpOnOffEnum.kOn, OnOff.Enums.StartUpOnOffEnum.kOff, NULL):
        await target.write(OnOff.Attributes.StartUpOnOff(value))
        expect_equal(await target.read(OnOff.Attributes.StartUpOnOff), value, "StartUpOnOff")


@check("identify counts down")
async def identify(target):
    await target.send(Clusters.Identify.Commands.Identify(identifyTime=3))
    left = await target.read(Clusters.Identify.Attributes.IdentifyTime)
    expect(left in (2, 3), f"IdentifyTime is {left}")
    await asyncio.sleep(1.2)
    left = await target.read(Clusters.Identify.Attributes.IdentifyTime)
    expect(left in (1, 2), f"IdentifyTime is {left} after 1.2 s")
    await target.send(Clusters.Identify.Commands.Identify(identifyTime=0))
    expect_equal(await target.read(Clusters.Identify.Attributes.IdentifyTime), 0, "IdentifyTime")


@check("dims to a level over a transition time", clusters=(LEVEL,))
async def transition(target):
    await target.send(OnOff.Commands.On())
    await target.send(Level.Commands.MoveToLevel(level=254, transitionTime=0, optionsMask=0, optionsOverride=0))
    await until(target, level, 254, 1, "CurrentLevel")
    begin = time.monotonic()
    await target.send(Level.Commands.MoveToLevel(level=54, transitionTime=10, optionsMask=0, optionsOverride=0))
    await asyncio.sleep(0.4)
    between = await level(target)
    remaining = await target.read(Level.Attributes.RemainingTime)
    elapsed = time.monotonic() - begin
    expect(54 < between < 254, f"CurrentLevel is {between} after {elapsed:.2f} s of a transition of 1 s")
    expect(abs(between - (254 - 200 * elapsed)) < 60, f"CurrentLevel is {between} after {elapsed:.2f} s")
    expect(0 < remaining < 10, f"RemainingTime is {remaining} in the middle")
    await until(target, level, 54, 1.5, "CurrentLevel")
    expect_equal(await target.read(Level.Attributes.RemainingTime), 0, "RemainingTime at the end")


@check("moves, stops and steps", clusters=(LEVEL,))
async def move(target):
    await target.send(OnOff.Commands.On())
    await target.send(Level.Commands.MoveToLevel(level=100, transitionTime=0, optionsMask=0, optionsOverride=0))
    await until(target, level, 100, 1, "CurrentLevel")
    await target.send(Level.Commands.Move(moveMode=Level.Enums.MoveModeEnum.kUp, rate=100, optionsMask=0, optionsOverride=0))
    await asyncio.sleep(0.5)
    await target.send(Level.Commands.Stop(optionsMask=0, optionsOverride=0))
    stopped = await level(target)
    expect(120 < stopped < 200, f"CurrentLevel is {stopped} after 0.5 s up from 100 at 100 a second")
    await asyncio.sleep(0.3)
    expect_equal(await level(target), stopped, "CurrentLevel after Stop")
    step = Level.Commands.Step(stepMode=Level.Enums.StepModeEnum.kDown, stepSize=20, transitionTime=0,
                               optionsMask=0, optionsOverride=0)
    await target.send(step)
    await until(target, level, stopped - 20, 1, "CurrentLevel")


@check("level and on/off are coupled", clusters=(LEVEL,))
async def coupled(target):
    await target.send(OnOff.Commands.On())
    minimum = await target.read(Level.Attributes.MinLevel)
    to = Level.Commands.MoveToLevelWithOnOff
    await target.send(to(level=minimum, transitionTime=0, optionsMask=0, optionsOverride=0))
    await until(target, is_on, False, 1, "OnOff at the minimum level")
    await target.send(to(level=128, transitionTime=0, optionsMask=0, optionsOverride=0))
    await until(target, is_on, True, 1, "OnOff above the minimum level")
    await until(target, level, 128, 1, "CurrentLevel")


@check("options control dimming while off", clusters=(LEVEL,))
async def options(target):
    await target.write(Level.Attributes.Options(0))
    await target.send(OnOff.Commands.On())
    await target.send(Level.Commands.MoveToLevel(level=200, transitionTime=0, optionsMask=0, optionsOverride=0))
    await until(target, level, 200, 1, "CurrentLevel")
    await target.send(OnOff.Commands.Off())
    await asyncio.sleep(0.2)
    before = await level(target)
    await target.send(Level.Commands.MoveToLevel(level=90, transitionTime=0, optionsMask=0, optionsOverride=0))
    await asyncio.sleep(0.2)
    expect_equal(await level(target), before, "CurrentLevel after dimming while off")
    # The override executes the command nevertheless and leaves the light off.
    await target.send(Level.Commands.MoveToLevel(level=90, transitionTime=0, optionsMask=1, optionsOverride=1))
    await until(target, level, 90, 1, "CurrentLevel with ExecuteIfOff")
    expect_equal(await is_on(target), False, "OnOff")


@check("levels beyond the range refused", clusters=(LEVEL,))
async def level_range(target):
    call = target.send(Level.Commands.MoveToLevel(level=255, transitionTime=0, optionsMask=0, optionsOverride=0))
    # The constraint of the specification is 254; the SDK's devices respond differently.
    status = await status_of(call)
    expect(status in (Status.ConstraintError, Status.InvalidCommand), f"status of level 255 is {status}")
    call = target.send(Level.Commands.Move(moveMode=0, rate=0, optionsMask=0, optionsOverride=0))
    expect_equal(await status_of(call), Status.InvalidCommand, "status of rate 0")
