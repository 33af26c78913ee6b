"""Measurements. They are printed and don't affect the result."""

import statistics
import time

from sdk_controller import Clusters

OnOff = Clusters.OnOff


async def invokes_a_second(target, count: int = 300) -> str:
    """Measures on/off commands on an established session, one at a time."""
    commands = (OnOff.Commands.On(), OnOff.Commands.Off())
    for index in range(20):
        await target.send(commands[index % 2])
    begin = time.monotonic()
    for index in range(count):
        await target.send(commands[index % 2])
    each = (time.monotonic() - begin) / count
    return f"on/off commands, one at a time: {1 / each:.0f} a second ({each * 1000:.2f} ms each), {target.label}"


async def commissioning(target, count: int = 5) -> str:
    """Measures commissioning by a first and by a second fabric, including discovery."""
    times: dict[str, list[float]] = {"first": [], "second": []}

    async def timed(fabric, which: str) -> int:
        begin = time.monotonic()
        node = await fabric.commission_by_code(target.qr)
        times[which].append(time.monotonic() - begin)
        return node

    for _ in range(count):
        await target.leave_all()
        target.node = await timed(target.a, "first")
        await target.send(Clusters.AdministratorCommissioning.Commands.OpenBasicCommissioningWindow(180), 0,
                          timedRequestTimeoutMs=1000)
        target.other_fabrics.append((target.b, await timed(target.b, "second")))
    await target.leave_other_fabrics()
    figures = ", ".join(f"{which} fabric {statistics.median(found):.3f} s ({min(found):.3f} to {max(found):.3f} s)"
                        for which, found in times.items())
    return f"commissioning by QR code, discovery included, {count} times: {figures}, {target.label}"


async def circuit_matter(device, pair, count: int = 20) -> str:
    """Measures Hearth's controller with a CircuitMatter device: commissioning, and commands that read an attribute."""
    if device.node is None:
        await pair(device)
    times = []
    for _ in range(count):
        begin = time.monotonic()
        await device.read_one(1, "6/0")
        times.append(time.monotonic() - begin)
    return (f"commissioning by QR code: {device.paired_in:.3f} s; one attribute: {statistics.median(times):.3f} s; "
            "each with the start of `hearth` and of a session, circuitmatter")
