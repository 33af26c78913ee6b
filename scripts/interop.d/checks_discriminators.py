"""Eight devices with one short discriminator in one process: found and commissioned by their manual codes."""

import os
import statistics
import time

from devices import DeviceProcess
from harness import Report, expect, expect_equal, run_one
from sdk_controller import Clusters, FilterType, SDKController, decode_code

LABEL = "eight lights"
COUNT = 8
# The first of consecutive long discriminators with equal upper four bits.
FIRST = 0xA10
DEFINITION = f"""home: Many
devices:
  - name: Light
    room: Hall
    type: on/off light
    discriminator: {FIRST}
    count: {COUNT}
"""


async def are_discovered(report: Report, processes: DeviceProcess, sdk: SDKController):
    """Checks that the SDK's query for the short discriminator is answered by all devices within a second."""
    # A second may be too short on a busy machine, so there are three attempts.
    for _ in range(3):
        found = await sdk.a.controller.DiscoverCommissionableNodes(
            FilterType.SHORT_DISCRIMINATOR, FIRST >> 8, stopOnFirst=False, timeoutSecond=1)
        numbers = sorted(node.longDiscriminator for node in found or [])
        if len(numbers) == COUNT:
            break
    expect_equal(numbers, list(range(FIRST, FIRST + COUNT)), "the long discriminators found")


async def are_commissioned(report: Report, processes: DeviceProcess, sdk: SDKController):
    """Commissions them one after another with ambiguous codes, then some of them with a second fabric."""
    entries = processes.list()
    nodes = []
    for entry in entries:
        node = await sdk.a.commission_by_code(entry["manualCode"].replace("-", ""))
        nodes.append(node)
        serial = await sdk.a.read(node, 0, Clusters.BasicInformation.Attributes.SerialNumber)
        expect_equal(serial, entry["serialNumber"], f"the serial number of the device with the code {entry['manualCode']}")
        wanted = int(decode_code(entry["qrCode"])["Long discriminator"])
        expect(wanted in range(FIRST, FIRST + COUNT), f"discriminator {wanted}")
    seconds = []
    for entry, node in zip(entries[:4], nodes):
        await sdk.a.send(node, 0, Clusters.AdministratorCommissioning.Commands.OpenBasicCommissioningWindow(180),
                             timedRequestTimeoutMs=1000)
        begin = time.monotonic()
        await sdk.b.commission_by_code(entry["manualCode"].replace("-", ""))
        seconds.append(time.monotonic() - begin)
    report.note(f"a second fabric, by manual code, of {COUNT} devices in one process: {statistics.median(seconds):.3f} s "
                f"({min(seconds):.3f} to {max(seconds):.3f} s)")


DISCRIMINATOR_CHECKS = [
    (f"{LABEL}: all are discovered by their short discriminator", are_discovered, 15),
    (f"{LABEL}: each is commissioned by its manual code", are_commissioned, 90),
]


async def run_discriminators(report: Report, sdk: SDKController, arguments):
    """Runs the checks on separate devices."""
    chosen = [entry for entry in DISCRIMINATOR_CHECKS if entry[0] in arguments.selection]
    if not chosen:
        return
    directory = os.path.join(arguments.directory, "many")
    os.makedirs(directory, exist_ok=True)
    definition = os.path.join(directory, "many.yaml")
    with open(definition, "w") as file:
        file.write(DEFINITION)
    processes = DeviceProcess(arguments.hearth, [definition], arguments.lab, directory)
    try:

        async def start():
            processes.start()

        if not await run_one(report, f"{LABEL}: the devices start", start, 30):
            return
        for name, body, limit in chosen:
            await run_one(report, name, lambda body=body: body(report, processes, sdk), limit)
        if not processes.alive:
            report.not_ok(f"{LABEL}: the devices still run", "the process ended unexpectedly")
    finally:
        processes.stop()
