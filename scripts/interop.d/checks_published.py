"""Runs the published integration tests of matter-python-client against the hub: see published_helpers.py."""

import asyncio
import os
import re
import signal
import subprocess
import xml.etree.ElementTree as ElementTree

from harness import Report, expect, run_one

LABEL = "published"
TESTS = os.path.join("tests", "test_integration.py")
# Tests that only matter.js passes, with reasons.
DIFFERENT = {
    "test_02_server_info_command": "sdk_version names this server, not matter.js",
    "test_05_vendor_names_no_filter": "the list of all vendors is on the internet; the hub knows those of its devices",
    "test_17d_ota_upload_id_is_single_use": "the hub is not an OTA provider; it answers “OTA is disabled”, as the API provides",
}


def names(folder: str) -> list[str]:
    """Returns the names of the checks in their order; none if the tests are not installed."""
    if not folder:
        return []
    with open(os.path.join(folder, TESTS)) as file:
        return [f"{LABEL}: {name}" for name in re.findall(r"async def (test_\w+)", file.read())]


async def run_published(report: Report, arguments):
    """Runs all tests, since they depend on each other, and reports the selected ones."""
    chosen = [name for name in names(arguments.published) if name in arguments.selection]
    if not chosen:
        return
    directory = os.path.join(arguments.directory, "published")
    os.makedirs(directory, exist_ok=True)
    results = os.path.join(directory, "results.xml")

    async def run():
        with open(os.path.join(directory, "tests.log"), "ab") as log:
            # In a process group with its hub and its device.
            process = await asyncio.create_subprocess_exec(
                arguments.client_python, "-m", "pytest", "-p", "no:cacheprovider", f"--junitxml={results}", TESTS,
                cwd=arguments.published, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
                env={**os.environ, "HEARTH": arguments.hearth, "LAB": arguments.lab, "LOG": directory})
            try:
                status = await process.wait()
            finally:
                try:
                    os.killpg(process.pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
        expect(status in (0, 1), f"pytest ended with status {status}; see {log.name}")

    if not await run_one(report, f"{LABEL}: the tests run", run, 180):
        return
    cases = {f"{LABEL}: {case.get('name')}": case for case in ElementTree.parse(results).iter("testcase")}
    for name in chosen:
        case, different = cases.get(name), DIFFERENT.get(name.removeprefix(f"{LABEL}: "))
        if case is None:
            report.not_ok(name, "it did not run")
            continue
        outcome = next((child for child in case if child.tag in ("failure", "error", "skipped")), None)
        if outcome is None and different:
            report.not_ok(name, "it passes, but is listed as different")
        elif outcome is None:
            report.ok(name, float(case.get("time", 0)))
        elif different and outcome.tag == "failure":
            report.note(f"{name} fails: {different}")
        else:
            report.not_ok(name, f"{outcome.tag}: {outcome.get('message')}")
