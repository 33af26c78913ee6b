"""Checks the hub's WebSocket API with the Python client of Home Assistant's Matter server: see matter_client.py."""

import asyncio
import json
import os
import re
import subprocess
import sys

from devices import DeviceProcess
from harness import Report, expect, run_one

LABEL = "matter server"
SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "matter_client.py")


def names(python: str) -> list[str]:
    """Returns the names of the checks in their order; none if the client is not installed."""
    if not python:
        return []
    return subprocess.run([python, SCRIPT, "--list"], check=True, capture_output=True, text=True).stdout.splitlines()


class Hub:
    """A hub of an empty home, in the namespace of this process."""

    def __init__(self, hearth: str, directory: str):
        self.hearth, self.directory = hearth, directory
        self.process = None

    async def start(self):
        updates = os.path.join(self.directory, "updates")
        os.makedirs(updates, exist_ok=True)
        # A download of several blocks may be over before the next report, which then skips the state Downloading.
        payload = os.path.join(self.directory, "payload")
        with open(payload, "wb") as file:
            file.truncate(4 << 20)
        subprocess.run(
            [self.hearth, "ota", "create", os.path.join(updates, "light-2.ota"), "--vendor", "0xFFF1", "--product", "0x8001",
             "--number", "2", "--notes", "https://example.org/2", "--payload", payload], check=True, capture_output=True)
        self.process = await asyncio.create_subprocess_exec(
            self.hearth, "hub", "run", "--websocket", "0", "--json", "--interface", "veth-b", "--mdns", "builtin",
            "--updates", updates,
            "--state", os.path.join(self.directory, "home"), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
        line = (await asyncio.wait_for(self.process.stdout.readline(), 20)).decode()
        addresses = [address for address in json.loads(line)["data"]["addresses"] if address.startswith("ws:")]
        expect(addresses and re.fullmatch(r"ws://127\.0\.0\.1:\d+/ws", addresses[0]), f"the addresses are {addresses}")
        self.url = addresses[0]

    async def stop(self):
        if self.process is not None and self.process.returncode is None:
            self.process.terminate()
            try:
                await asyncio.wait_for(self.process.wait(), 10)
            except TimeoutError:
                self.process.kill()
                await self.process.wait()


async def run_matter_server(report: Report, arguments):
    """Runs the checks on separate devices, in a process with the client's environment."""
    chosen = [name for name in names(arguments.client_python) if name in arguments.selection]
    if not chosen:
        return
    directory = os.path.join(arguments.directory, "matter-server")
    os.makedirs(directory, exist_ok=True)
    folder = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), "devices")
    files = [os.path.join(folder, name) for name in ("light.yaml", "bridge.yaml")]
    processes = DeviceProcess(arguments.hearth, files, arguments.lab, directory)
    hub = Hub(arguments.hearth, directory)
    client = None

    async def start():
        processes.start()
        await hub.start()

    try:
        if not await run_one(report, f"{LABEL}: the devices and the hub start", start, 30):
            return
        client = await asyncio.create_subprocess_exec(
            arguments.client_python, SCRIPT, "--hearth", arguments.hearth, "--devices", processes.state, "--url", hub.url,
            *chosen, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=sys.stderr.fileno())
        left = set(chosen)
        while line := await client.stdout.readline():
            result = json.loads(line)
            left.discard(result["name"])
            if result["reason"] is None:
                report.ok(result["name"], result["seconds"])
            else:
                report.not_ok(result["name"], result["reason"])
        status = await client.wait()
        if status != 0 or left:
            report.not_ok(f"{LABEL}: the client", f"ended with status {status} before {sorted(left) or 'its end'}")
        if not processes.alive or hub.process.returncode is not None:
            report.not_ok(f"{LABEL}: the devices and the hub still run", "a process ended unexpectedly")
    finally:
        if client is not None and client.returncode is None:
            client.kill()
            await client.wait()
        await hub.stop()
        processes.stop()
