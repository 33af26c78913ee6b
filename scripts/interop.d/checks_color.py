"""Checks color models, transitions, color loops, reports and error statuses."""

import asyncio
import time

from checks_control import OnOff, until
from devices import COLOR
from harness import check, expect, expect_equal
from sdk_controller import Clusters, Status, status_of

Color = Clusters.ColorControl
Of, To = Color.Attributes, Color.Commands
HUE, TEMPERATURE = Color.Bitmaps.Feature.kHueAndSaturation, Color.Bitmaps.Feature.kColorTemperature


async def has(target, feature) -> bool:
    return bool(await target.read(Of.FeatureMap) & feature)


async def on(target):
    await target.write(Of.Options(0))
    await target.send(OnOff.Commands.On())


def reader(attribute):
    async def read(target):
        return await target.read(attribute)
    return read


@check("color ranges and features are complete", clusters=(COLOR,))
async def whole(target):
    features = await target.read(Of.FeatureMap)
    expect_equal(await target.read(Of.ColorCapabilities), features, "ColorCapabilities")
    expect(features & TEMPERATURE, f"FeatureMap is {features:#x}, without color temperature")
    least, most = await target.read(Of.ColorTempPhysicalMinMireds), await target.read(Of.ColorTempPhysicalMaxMireds)
    now = await target.read(Of.ColorTemperatureMireds)
    expect(1 <= least <= await target.read(Of.CoupleColorTempToLevelMinMireds) <= now <= most <= 65279,
           f"ColorTemperatureMireds is {now}, between {least} and {most}")
    served = set(await target.read(Of.AttributeList))
    for attribute in (Of.CurrentHue, Of.EnhancedCurrentHue, Of.CurrentX, Of.ColorLoopActive, Of.Primary1X):
        expect_equal(attribute.attribute_id in served, bool(features & HUE), f"{attribute.__name__} in AttributeList")


@check("color temperature moves over its transition time", clusters=(COLOR,))
async def temperature(target):
    await on(target)
    await target.send(To.MoveToColorTemperature(200, 0, 0, 0))
    expect_equal(await target.read(Of.ColorTemperatureMireds), 200, "ColorTemperatureMireds")
    expect_equal(await target.read(Of.ColorMode), 2, "ColorMode")
    begin = time.monotonic()
    await target.send(To.MoveToColorTemperature(400, 10, 0, 0))
    await asyncio.sleep(0.4)
    between = await target.read(Of.ColorTemperatureMireds)
    remaining = await target.read(Of.RemainingTime)
    elapsed = time.monotonic() - begin
    expect(abs(between - (200 + 200 * elapsed)) < 60, f"ColorTemperatureMireds is {between} after {elapsed:.2f} s")
    expect(0 < remaining < 10, f"RemainingTime is {remaining} in the middle")
    await until(target, reader(Of.ColorTemperatureMireds), 400, 1.5, "ColorTemperatureMireds")
    expect_equal(await target.read(Of.RemainingTime), 0, "RemainingTime at the end")
    await target.send(To.MoveColorTemperature(Color.Enums.MoveModeEnum.kDown, 100, 0, 0, 0, 0))
    await asyncio.sleep(0.5)
    await target.send(To.StopMoveStep(0, 0))
    stopped = await target.read(Of.ColorTemperatureMireds)
    expect(320 < stopped < 390, f"ColorTemperatureMireds is {stopped} after 0.5 s down from 400 at 100 a second")
    await asyncio.sleep(0.3)
    expect_equal(await target.read(Of.ColorTemperatureMireds), stopped, "ColorTemperatureMireds after StopMoveStep")
    await target.send(To.StepColorTemperature(Color.Enums.StepModeEnum.kUp, 20, 0, 0, 0, 0, 0))
    expect_equal(await target.read(Of.ColorTemperatureMireds), stopped + 20, "ColorTemperatureMireds after a step")


@check("hue, saturation, x and y, where a light has them", clusters=(COLOR,))
async def models(target):
    await on(target)
    hue = To.MoveToHueAndSaturation(200, 50, 0, 0, 0)
    if not await has(target, HUE):
        for command in (hue, To.MoveToColor(1, 1, 0, 0, 0), To.EnhancedMoveToHue(1, 0, 0, 0, 0)):
            expect_equal(await status_of(target.send(command)), Status.UnsupportedCommand, type(command).__name__)
        return
    await target.send(hue)
    expect_equal([await target.read(a) for a in (Of.CurrentHue, Of.CurrentSaturation, Of.ColorMode)], [200, 50, 0],
                 "hue, saturation and mode")
    await target.send(To.MoveToHue(10, Color.Enums.DirectionEnum.kUp, 5, 0, 0))
    await until(target, reader(Of.CurrentHue), 10, 1.5, "CurrentHue")
    await target.send(To.MoveToColor(32768, 19660, 0, 0, 0))
    expect_equal([await target.read(a) for a in (Of.CurrentX, Of.CurrentY, Of.EnhancedColorMode)], [32768, 19660, 1],
                 "x, y and mode")
    await target.send(To.EnhancedMoveToHueAndSaturation(20000, 80, 0, 0, 0))
    expect_equal([await target.read(a) for a in (Of.EnhancedCurrentHue, Of.CurrentSaturation, Of.ColorMode,
                                                 Of.EnhancedColorMode)], [20000, 80, 0, 3], "enhanced hue")


@check("a color loop cycles the hue and restores it", clusters=(COLOR,))
async def loop(target):
    await on(target)
    flags = Color.Bitmaps.UpdateFlagsBitmap
    everything = flags.kUpdateAction | flags.kUpdateDirection | flags.kUpdateTime | flags.kUpdateStartHue
    start = To.ColorLoopSet(everything, 1, 1, 2, 1000, 0, 0)
    if not await has(target, HUE):
        expect_equal(await status_of(target.send(start)), Status.UnsupportedCommand, "ColorLoopSet")
        return
    await target.send(To.EnhancedMoveToHue(16384, 0, 0, 0, 0))
    await target.send(start)
    expect_equal(await target.read(Of.ColorLoopActive), 1, "ColorLoopActive")
    expect_equal(await target.read(Of.ColorLoopStoredEnhancedHue), 16384, "ColorLoopStoredEnhancedHue")
    seen = set()
    for _ in range(6):
        seen.add(await target.read(Of.EnhancedCurrentHue))
        await asyncio.sleep(0.2)
    expect(len(seen) > 3, f"EnhancedCurrentHue is always one of {seen}")
    await target.send(To.ColorLoopSet(flags.kUpdateAction, 0, 0, 0, 0, 0, 0))
    expect_equal(await target.read(Of.ColorLoopActive), 0, "ColorLoopActive")
    expect_equal(await target.read(Of.EnhancedCurrentHue), 16384, "EnhancedCurrentHue")


@check("invalid color requests have the right status", clusters=(COLOR,))
async def refused(target):
    await on(target)
    cases = [
        (To.MoveColorTemperature(Color.Enums.MoveModeEnum.kUp, 0, 0, 0, 0, 0), Status.InvalidCommand),
        (To.StepColorTemperature(Color.Enums.StepModeEnum.kUp, 0, 0, 0, 0, 0, 0), Status.InvalidCommand),
        (To.MoveToColorTemperature(65280, 0, 0, 0), Status.ConstraintError),
        (To.MoveToColorTemperature(200, 65535, 0, 0), Status.ConstraintError),
    ]
    if await has(target, HUE):
        cases += [
            (To.MoveToHue(255, 0, 0, 0, 0), Status.ConstraintError), (To.MoveToHue(1, 9, 0, 0, 0), Status.InvalidCommand),
            (To.MoveHue(Color.Enums.MoveModeEnum.kUp, 0, 0, 0), Status.InvalidCommand),
            (To.StepSaturation(Color.Enums.StepModeEnum.kUp, 0, 0, 0, 0), Status.InvalidCommand),
            (To.MoveToColor(65280, 0, 0, 0, 0), Status.ConstraintError),
            (To.StepColor(0, 0, 0, 0, 0), Status.InvalidCommand),
            (To.ColorLoopSet(0, 7, 0, 0, 0, 0, 0), Status.InvalidCommand),
        ]
    for command, wanted in cases:
        expect_equal(await status_of(target.send(command)), wanted, f"{command}")


@check("options control color commands while off", clusters=(COLOR,))
async def options(target):
    await on(target)
    await target.send(To.MoveToColorTemperature(200, 0, 0, 0))
    await target.send(OnOff.Commands.Off())
    await target.send(To.MoveToColorTemperature(300, 0, 0, 0))
    expect_equal(await target.read(Of.ColorTemperatureMireds), 200, "ColorTemperatureMireds while off")
    await target.send(To.MoveToColorTemperature(300, 0, 1, 1))
    expect_equal(await target.read(Of.ColorTemperatureMireds), 300, "ColorTemperatureMireds with the override")
