"""Runs Hearth's controller in namespace b with a CircuitMatter device in namespace a."""

import asyncio
import json
import os
import re
import subprocess
import sys
import time
from dataclasses import dataclass
from typing import Awaitable, Callable, Optional

from harness import Failed, expect

PORT = 5741  # not a port of the Hearth devices
LABEL = "circuitmatter"


@dataclass(frozen=True)
class DeviceCheck:
    name: str
    body: Callable[..., Awaitable[None]]
    is_paired: bool
    limit: float


CIRCUIT_MATTER_CHECKS: list[DeviceCheck] = []


def circuit_matter_check(name: str, is_paired: bool = True, limit: float = 10):
    """Registers a check on the device, commissioned unless `is_paired` is false."""

    def register(body):
        CIRCUIT_MATTER_CHECKS.append(DeviceCheck(f"{LABEL}: {name}", body, is_paired, limit))
        return body

    return register


class Subscription:
    """`hearth subscribe`: values from standard output, the state of the subscription from standard error in `notes`."""

    def __init__(self, process: asyncio.subprocess.Process, notes: str):
        self.process, self.notes = process, notes

    async def next(self, path: str, value, seconds: float = 3) -> dict:
        """Waits until the path has this value, and skips others."""
        seen = []
        try:
            async with asyncio.timeout(seconds):
                while line := await self.process.stdout.readline():
                    print("subscription:", line.decode().rstrip(), flush=True)
                    entry = json.loads(line).get("data")
                    if entry is None:
                        continue  # the subscription was lost
                    seen.append((entry["path"], entry["value"]))
                    if seen[-1] == (path, value):
                        return entry
        except TimeoutError:
            pass
        raise Failed(f"the subscription does not report {path} as {value!r}; it reported {seen}")

    def noted(self) -> list[str]:
        with open(self.notes) as file:
            return file.read().splitlines()

    async def close(self):
        if self.process.returncode is None:
            self.process.terminate()
        await self.process.wait()
        print("noted:", *self.noted(), sep="\n  ", flush=True)


class CircuitMatterDevice:
    """A CircuitMatter device, and the homes that contain it. With `manufacturer` it has a separate manufacturer."""

    def __init__(self, hearth: str, lab: str, directory: str, label: str = LABEL, port: int = PORT,
                 manufacturer: bool = False):
        self.hearth, self.lab, self.port, self.has_manufacturer = hearth, lab, port, manufacturer
        self.directory = os.path.join(directory, label)
        self.log = os.path.join(directory, f"{label}.log")
        self.process: Optional[subprocess.Popen] = None
        self.codes: dict = {}
        self.node: Optional[str] = None
        self.refused_to_pair = self.has_second_home = False
        self.paired_in = 0.0  # seconds
        os.makedirs(self.directory, exist_ok=True)

    # The device

    async def start(self):
        script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "circuit_device.py")
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                ["ip", "netns", "exec", f"{self.lab}-a", sys.executable, "-u", script, self.directory, "veth-a",
                 str(self.port), *(["manufacturer"] if self.has_manufacturer else [])],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log)
        self.codes = await self.answer()

    def stop(self):
        """Kills the device, which withdraws no service."""
        if self.process is not None:
            stored = self.stored_state()
            self.process.kill()
            self.process.wait()
            self.process = None
            # The device writes its state in place, so a kill may leave a part of it: restore the last complete one.
            if stored is not None and self.stored_state() is None:
                with open(self.state_file, "w") as file:
                    json.dump(stored, file)

    @property
    def state_file(self) -> str:
        return os.path.join(self.directory, "state.json")

    def stored_state(self) -> Optional[dict]:
        """Returns the stored state of the device, or None during a write."""
        for _ in range(20):
            try:
                with open(self.state_file) as file:
                    return json.load(file)
            except (OSError, ValueError):
                if self.process is None:
                    return None
                time.sleep(0.05)
        return None

    async def answer(self) -> dict:
        line = await asyncio.wait_for(asyncio.to_thread(self.process.stdout.readline), 15)
        expect(line, f"the device ended with exit status {self.process.poll()}; see {self.log}")
        return json.loads(line)

    async def perform(self, action: str) -> dict:
        """Performs a physical action. Returns the state of the lights by endpoint."""
        self.process.stdin.write(f"{action}\n".encode())
        self.process.stdin.flush()
        return await self.answer()

    async def state(self, endpoint: int) -> dict:
        return (await self.perform("state"))[str(endpoint)]

    async def until(self, endpoint: int, wanted: dict, seconds: float = 5):
        """Waits until a light has this state."""
        end = time.monotonic() + seconds
        while not wanted.items() <= (found := await self.state(endpoint)).items():
            expect(time.monotonic() < end, f"the light's state is {found}, expected {wanted}")
            await asyncio.sleep(0.05)

    def log_size(self) -> int:
        return os.path.getsize(self.log)

    def log_text(self, since: int) -> str:
        with open(self.log, "rb") as log:
            log.seek(since)
            return log.read().decode(errors="replace")

    def attributes_sent(self, since: int) -> set:
        """Returns the attributes that the device has sent, from its log."""
        text = self.log_text(since)
        found = re.findall(r"^(\d+)/([0-9a-f]+)/([0-9a-f]+) -> [0-9a-f ]+$", text, re.MULTILINE)
        return {(int(endpoint), int(cluster, 16), int(attribute, 16)) for endpoint, cluster, attribute in found}

    # The controller

    def command(self, command: str, arguments: tuple, home: str) -> list:
        state = os.path.join(self.directory, home)
        return [self.hearth, *command.split(), "--interface", "veth-b", "--state", state, "--json", *map(str, arguments)]

    async def run(self, command: str, *arguments, home: str = "home", seconds: float = 20) -> tuple[int, dict]:
        """Runs a command; returns its exit status and JSON."""
        line = self.command(command, arguments, home)
        print("$", *line, flush=True)
        process = await asyncio.create_subprocess_exec(
            *line, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=None)
        try:
            output, _ = await asyncio.wait_for(process.communicate(), seconds)
        except TimeoutError:
            process.kill()
            await process.wait()
            raise Failed(f"{command} {arguments} did not end in {seconds} s") from None
        print(output.decode(errors="replace").rstrip()[:4000], flush=True)
        try:
            return process.returncode, json.loads(output)
        except ValueError:
            raise Failed(f"{command}: exit status {process.returncode}, no JSON: {output[:200]!r}") from None

    async def do(self, command: str, *arguments, **options):
        """Runs a command that must succeed; returns its data."""
        status, document = await self.run(command, *arguments, **options)
        expect(status == 0 and document.get("ok"), f"{command}: exit status {status}, {document}")
        return document["data"]

    async def refused(self, status: int, command: str, *arguments, **options) -> dict:
        """Runs a command that must end with this exit status; returns the error."""
        found, document = await self.run(command, *arguments, **options)
        expect(found == status and document.get("ok") is False, f"{command}: exit status {found}, {document}")
        return document["error"]

    async def read_one(self, endpoint: int, path: str):
        return (await self.do("read", f"{self.node}/{endpoint}/{path}", "--raw"))["value"]

    async def subscribe(self, *paths: str, longest: str = "1min") -> Subscription:
        full = [f"{self.node}/{path}" for path in paths]
        line = self.command("subscribe", (*full, "--raw", "--max", longest), "home")
        print("$", *line, flush=True)
        notes = os.path.join(self.directory, "subscription.notes")
        with open(notes, "wb") as file:
            process = await asyncio.create_subprocess_exec(
                *line, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=file)
        return Subscription(process, notes)
