"""The package `tests.helpers` for the integration tests of matter-python-client, with Hearth's hub and device.

The source distribution of the client contains the tests without their helpers, which start matter.js; scripts/interop
installs this file instead. HEARTH is the executable, LAB the pair of namespaces, and LOG the directory of the logs.
"""

import asyncio
import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
from dataclasses import dataclass
from typing import Any, Callable

import aiohttp
from matter_server.client import MatterClient
from matter_server.common.errors import MatterError

SERVER_PORT, DEVICE_PORT = 5580, 5540
SERVER_WS_URL = f"ws://127.0.0.1:{SERVER_PORT}/ws"
MANUAL_PAIRING_CODE = "34970112332"
# The device with the names, codes and labels that the tests expect.
DEVICE = """
devices:
  - name: Test Light
    type: on/off light
    passcode: 20202021
    discriminator: 3840
    port: 5540
    vendorName: Test Vendor
    productName: Test Light
    serial: TEST-001
    labels: { room: bedroom }
"""
HEARTH, LAB, LOG = os.environ["HEARTH"], os.environ["LAB"], os.environ["LOG"]


def create_temp_storage_paths() -> tuple[str, str]:
    return tempfile.mkdtemp(prefix="published-server-"), tempfile.mkdtemp(prefix="published-device-")


def cleanup_temp_storage(*paths: str):
    for path in paths:
        shutil.rmtree(path, ignore_errors=True)


def start(name: str, side: str, storage: str, *arguments: str) -> subprocess.Popen:
    with open(os.path.join(LOG, f"{name}.log"), "ab") as log:
        process = subprocess.Popen(
            ["ip", "netns", "exec", f"{LAB}-{side}", HEARTH, *arguments, "--interface", f"veth-{side}", "--mdns", "builtin",
             "--state", os.path.join(storage, "state"), "--ready-file", os.path.join(storage, "ready")],
            stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    process.ready_file = os.path.join(storage, "ready")
    return process


def start_server(storage_path: str, enable_test_net_dcl: bool = True) -> subprocess.Popen:
    return start("hub", "b", storage_path, "hub", "run", "--websocket", str(SERVER_PORT))


def start_test_device(storage_path: str) -> subprocess.Popen:
    definition = os.path.join(storage_path, "light.yaml")
    with open(definition, "w") as file:
        file.write(DEVICE)
    return start("device", "a", storage_path, "run", definition)


async def wait_for_port(port: int, timeout: float = 30):
    async with asyncio.timeout(timeout), aiohttp.ClientSession() as session:
        while True:
            with contextlib.suppress(aiohttp.ClientError):
                async with session.get(f"http://127.0.0.1:{port}/health") as response:
                    if response.status == 200:
                        return
            await asyncio.sleep(0.1)


async def wait_for_device_ready(process: subprocess.Popen, timeout: float = 30):
    async with asyncio.timeout(timeout):
        while not os.path.exists(process.ready_file):
            assert process.poll() is None, f"the device ended with status {process.returncode}"
            await asyncio.sleep(0.05)


def kill_process(process: subprocess.Popen | None, timeout: float = 5):
    if process is None or process.poll() is not None:
        return
    process.send_signal(signal.SIGINT)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(timeout)
        return
    process.kill()
    process.wait()


@dataclass
class Event:
    event: str
    data: Any


class MatterTestClient(MatterClient):
    """The client, with a record of its events."""

    def __init__(self, url: str, session: aiohttp.ClientSession):
        super().__init__(url, session)
        self.events: list[Event] = []
        self.changed = asyncio.Event()
        self.subscribe_events(self.record)

    def record(self, event, data):
        self.events.append(Event(event.value, data))
        self.changed.set()

    def clear_events(self):
        self.events.clear()

    def get_events(self) -> list[Event]:
        return list(self.events)

    async def wait_for_event(
        self, event_type: str, matcher: Callable[[Any], bool] | None = None, timeout: float = 10
    ) -> Event:
        async with asyncio.timeout(timeout):
            while True:
                for event in self.events:
                    if event.event == event_type and (matcher is None or matcher(event.data)):
                        return event
                self.changed.clear()
                await self.changed.wait()

    async def connect_and_get_server_info(self):
        await self.connect()
        return self.server_info

    async def start_listening_and_get_nodes(self):
        ready = asyncio.Event()
        task = asyncio.create_task(self.start_listening(ready))
        await asyncio.wait_for(ready.wait(), 30)
        return self.get_nodes(), task

    async def fetch_server_info(self):
        return await self.send_command("server_info")

    async def send_command_expect_error(self, command: str, args: dict | None = None) -> dict:
        try:
            result = await self.send_command(command, **(args or {}))
        except MatterError as error:
            return {"error_code": error.error_code, "details": str(error)}
        raise AssertionError(f"{command} succeeded with {result!r}")

    async def close(self):
        await self.disconnect()
