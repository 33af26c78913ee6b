"""Runs the checks. Called by scripts/interop in namespace b."""

import argparse
import asyncio
import logging
import os
import sys
import traceback

parser = argparse.ArgumentParser(prog="interop")
parser.add_argument("--hearth", required=True)
parser.add_argument("--definition", required=True)
parser.add_argument("--lab", default="hearth-lab")
parser.add_argument("--directory", default="/tmp")
parser.add_argument("--trust-store", required=True)
parser.add_argument("--client-python", required=True)
parser.add_argument("--published", required=True)
parser.add_argument("--only", action="append", default=[])
parser.add_argument("--except", dest="excluded", action="append", default=[])
parser.add_argument("--list", action="store_true")
arguments = parser.parse_args()

# Native code of the SDK also writes to standard output and error. Results get a separate stream, all other output
# is redirected to the log.
results = os.fdopen(os.dup(1), "w")
log_name = os.devnull if arguments.list else os.path.join(arguments.directory, "controller.log")
log = os.open(log_name, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
os.dup2(log, 1)
os.dup2(log, 2)
logging.basicConfig(level=logging.INFO, format="%(asctime)s.%(msecs)03d %(name)s: %(message)s", datefmt="%H:%M:%S")

import checks_commissioning  # noqa: E402,F401  (importing registers the checks, in the order in which they run)
import checks_reading  # noqa: E402,F401
import checks_statuses  # noqa: E402,F401
import checks_control  # noqa: E402,F401
import checks_color  # noqa: E402,F401
import checks_subscriptions  # noqa: E402,F401
import checks_events  # noqa: E402,F401
import checks_groups  # noqa: E402,F401
import checks_groupcast  # noqa: E402,F401
import checks_fabrics  # noqa: E402,F401
import checks_sharing  # noqa: E402,F401
import checks_restart  # noqa: E402,F401
import checks_circuit_matter  # noqa: E402,F401
from checks_manufacturer import LABEL as MANUFACTURER, MANUFACTURER_CHECKS, ManufacturerDevice  # noqa: E402
from checks_home import LABEL as HOME, HOME_CHECKS, HubHome  # noqa: E402
from checks_bridge import BRIDGE_CHECKS, run_bridge  # noqa: E402
from checks_discriminators import DISCRIMINATOR_CHECKS, run_discriminators  # noqa: E402
from checks_matter_server import names as matter_server_names, run_matter_server  # noqa: E402
from checks_published import names as published_names, run_published  # noqa: E402
import speed  # noqa: E402
from devices import TYPES, DeviceProcess, Target  # noqa: E402
from harness import CHECKS, FIRST_TYPE, Report, Selection, expect, reason_of, run_one, run_target  # noqa: E402
from sdk_controller import SDKController  # noqa: E402
from circuit_matter import LABEL, CIRCUIT_MATTER_CHECKS, CircuitMatterDevice  # noqa: E402


arguments.selection = Selection(tuple(arguments.only), tuple(arguments.excluded))


def type_of(entry: dict) -> int | None:
    """Returns the device type of a running device from its name or number in the status."""
    given = entry.get("type", entry.get("deviceType"))
    if isinstance(given, int):
        return given
    name = "".join(letter for letter in str(given).lower() if letter.isalnum())
    names = {"onofflight": 0x0100, "dimmablelight": 0x0101, "onoffplug": 0x010A, "onoffpluginunit": 0x010A,
             "colortemperaturelight": 0x010C, "extendedcolorlight": 0x010D}
    return names.get(name)


def chosen(label: str) -> bool:
    """Returns whether a check of the device type is selected."""
    names = [entry.name for entry in CHECKS] + ["speed"]
    return any(f"{label}: {name}" in arguments.selection for name in names)


async def run(report: Report, processes: DeviceProcess, sdk: SDKController):
    if not any(chosen(label) for label, _ in TYPES.values()):
        return
    if not await run_one(report, "the devices start", lambda: start(processes), 30):
        return
    entries = processes.list()
    measured = []
    for type_id, (label, _) in TYPES.items():
        mine = [entry for entry in entries if type_of(entry) == type_id]
        if not mine:
            report.not_ok(label, f"no such device among {[(entry.get('name'), entry.get('type')) for entry in entries]}")
            continue
        if not chosen(label):
            continue
        target = Target(label, type_id, mine[0], processes, sdk)
        await run_target(report, target, arguments.selection)
        if not processes.alive:
            report.not_ok(f"{label}: the devices still run", "the process ended unexpectedly")
        if type_id == FIRST_TYPE and f"{label}: speed" in arguments.selection:
            try:
                async with asyncio.timeout(60):
                    await target.join()
                    measured.append(await speed.invokes_a_second(target))
                    measured.append(await speed.commissioning(target))
            except Exception as error:
                report.not_ok(f"{label}: speed", reason_of(error))
        try:
            async with asyncio.timeout(10):
                await target.leave_all()
        except Exception:
            traceback.print_exc()
        # The device announces itself at once and after a second. The SDK accepts any announcement during a search by
        # discriminator, so it would mistake this device for the next one.
        await asyncio.sleep(1.5)
    for line in [sdk.figures(), *measured]:
        if line:
            report.note(line)


async def run_all(report: Report, processes: DeviceProcess):
    # The CircuitMatter device first, while no other device is on the network.
    await run_circuit_matter(report)
    sdk = SDKController(arguments.directory, arguments.trust_store)
    await run(report, processes, sdk)
    # One fleet at a time, because devices are found by their announcements.
    processes.stop()
    await run_bridge(report, sdk, arguments)
    await run_matter_server(report, arguments)
    await run_published(report, arguments)
    await run_discriminators(report, sdk, arguments)


async def start(processes: DeviceProcess):
    processes.start()


async def run_circuit_matter(report: Report):
    """Checks Hearth's controller with a CircuitMatter device, with one of an unknown manufacturer, and through a hub."""
    device = CircuitMatterDevice(arguments.hearth, arguments.lab, arguments.directory)
    await run_on_device(report, LABEL, CIRCUIT_MATTER_CHECKS, device, checks_circuit_matter.pair)
    device = ManufacturerDevice(arguments.hearth, arguments.lab, arguments.directory)
    await run_on_device(report, MANUFACTURER, MANUFACTURER_CHECKS, device, ManufacturerDevice.join)
    home = HubHome(arguments.hearth, arguments.lab, arguments.directory)
    await run_on_device(report, HOME, HOME_CHECKS, home, HubHome.join)


async def run_on_device(report: Report, label: str, checks: list, device: CircuitMatterDevice, pair):
    chosen = [entry for entry in checks if entry.name in arguments.selection]
    is_measured = label == LABEL and f"{label}: speed" in arguments.selection
    if not chosen and not is_measured:
        return
    try:
        if not await run_one(report, f"{label}: the device starts", device.start, 20):
            return
        for entry in chosen:

            async def body(entry=entry):
                if entry.is_paired and device.node is None:
                    expect(not device.refused_to_pair, "the device could not be commissioned, so this was not tried")
                    await pair(device)
                await entry.body(device)

            await run_one(report, entry.name, body, entry.limit)
        if is_measured:
            report.note(await speed.circuit_matter(device, pair))
    except Exception as error:
        report.not_ok(f"{label}: speed", reason_of(error))
    finally:
        device.stop()


def main():
    if arguments.list:
        for type_id, (label, served) in TYPES.items():
            for entry in CHECKS:
                if entry.is_for(type_id, served):
                    print(f"{label}: {entry.name}", file=results)
        for entry in [*CIRCUIT_MATTER_CHECKS, *MANUFACTURER_CHECKS, *HOME_CHECKS, *BRIDGE_CHECKS]:
            print(entry.name, file=results)
        for name in [*matter_server_names(arguments.client_python), *published_names(arguments.published)]:
            print(name, file=results)
        for name, _, _ in DISCRIMINATOR_CHECKS:
            print(name, file=results)
        results.flush()
        os._exit(0)
    report = Report(results)
    processes = DeviceProcess(arguments.hearth, [arguments.definition], arguments.lab, arguments.directory)
    try:
        asyncio.run(run_all(report, processes))
    except BaseException as error:
        traceback.print_exc()
        report.not_ok("the run", reason_of(error))
    finally:
        processes.stop()
    print(f"{report.passed} passed, {report.failed} failed", file=results, flush=True)
    sys.stdout.flush()
    sys.stderr.flush()
    # The SDK's native library aborts in its destructors: leave without them.
    os._exit(0 if report.failed == 0 and report.passed > 0 else 1)


main()
