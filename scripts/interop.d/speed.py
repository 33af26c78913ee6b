"""Figures, measured and printed; they decide nothing."""

import time

from partner import Clusters

OnOff = Clusters.OnOff


async def invokes_a_second(target, count: int = 300) -> str:
    """On/off commands on one warm session, one at a time."""
    commands = (OnOff.Commands.On(), OnOff.Commands.Off())
    for index in range(20):
        await target.send(commands[index % 2])
    begin = time.monotonic()
    for index in range(count):
        await target.send(commands[index % 2])
    each = (time.monotonic() - begin) / count
    return f"on/off commands, one at a time: {1 / each:.0f} a second ({each * 1000:.2f} ms each), {target.label}"
