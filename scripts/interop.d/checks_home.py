"""Checks a home with a hub and a CircuitMatter device: the view of its clients, and outages of the device. See the article
“The home model”, “Connectivity and locality” and “Routes”.
"""

import asyncio
import json
import os
import signal
import subprocess
import time

from harness import Failed, expect, expect_equal
from circuit_matter import CircuitMatterDevice, DeviceCheck

LABEL, PORT = "hub", 5745
HOME_CHECKS: list[DeviceCheck] = []
THROUGH = "--hub", "here"


def home_check(name: str, limit: float = 20):
    """Registers a check on a home with a running hub and the commissioned device."""

    def register(body):
        HOME_CHECKS.append(DeviceCheck(f"{LABEL}: {name}", body, True, limit))
        return body

    return register


class Watch:
    """`hearth watch`: its output with the time of each line."""

    def __init__(self, process: asyncio.subprocess.Process):
        self.process, self.changes = process, []

    async def next(self, seconds: float = 5, **wanted) -> tuple[dict, float]:
        """Returns the next change with all these values, and skips others."""
        try:
            async with asyncio.timeout(seconds):
                while line := await self.process.stdout.readline():
                    print("watch:", line.decode().rstrip(), flush=True)
                    entry = json.loads(line)["data"]
                    self.changes.append(entry)
                    if wanted.items() <= entry.items():
                        return entry, time.monotonic()
        except TimeoutError:
            pass
        raise Failed(f"no change with {wanted}; received: {self.changes}")

    async def rest(self) -> list:
        """Returns all changes until the process ends."""
        output, _ = await asyncio.wait_for(self.process.communicate(), 10)
        print("watch:", output.decode(), flush=True)
        return [json.loads(line)["data"] for line in output.splitlines()]

    async def close(self):
        if self.process.returncode is None:
            self.process.terminate()
        await self.process.wait()


class HubHome(CircuitMatterDevice):
    """The device, and a hub with a home that contains it."""

    def __init__(self, hearth: str, lab: str, directory: str):
        super().__init__(hearth, lab, directory, label=LABEL, port=PORT)
        self.hub = None

    async def join(self):
        """Commissions the device and starts the hub."""
        self.refused_to_pair = True
        result = await self.do("pair", self.codes["qrCode"], "--name", "lights", "--room", "lab")
        await self.run_hub()
        self.node, self.refused_to_pair = result["nodeID"], False

    async def run_hub(self):
        ready = os.path.join(self.directory, "hub.ready")
        line = self.command("hub run", ("--ready-file", ready), "home")
        print("$", *line, flush=True)
        self.hub = await asyncio.create_subprocess_exec(*line, stdin=asyncio.subprocess.DEVNULL,
                                                        stdout=asyncio.subprocess.DEVNULL)
        await self.until_exists(ready)
        os.remove(ready)

    @staticmethod
    async def until_exists(file: str):
        """Waits for a file of another process."""
        end = time.monotonic() + 10
        while not os.path.exists(file):
            expect(time.monotonic() < end, f"{file} was not written in 10 s")
            await asyncio.sleep(0.05)

    async def end_hub(self):
        """Stops the process like Ctrl-C."""
        self.hub.send_signal(signal.SIGINT)
        expect_equal(await asyncio.wait_for(self.hub.wait(), 10), 130, "exit status of the hub")
        self.hub = None

    def observe(self, *arguments: str):
        """Adds an observer of the log."""
        subprocess.run([self.hearth, "observe", "add", "--state", os.path.join(self.directory, "home"), *arguments],
                       check=True, timeout=10, stdout=subprocess.DEVNULL)

    def stop_device(self):
        super().stop()

    def stop(self):
        self.stop_device()
        if self.hub is not None:
            self.hub.kill()
            self.hub = None

    async def watch(self, *arguments) -> Watch:
        line = self.command("watch", (*THROUGH, *arguments), "home")
        print("$", *line, flush=True)
        return Watch(await asyncio.create_subprocess_exec(
            *line, stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE, stderr=None))

    async def watch_from_now_on(self) -> tuple[Watch, str]:
        """Starts a watch; returns it and the anchor after its first change."""
        watch = await self.watch()
        for level in range(2, 42):
            await self.perform(f"2 {level}")
            try:
                change, _ = await watch.next(0.25, path=f"{self.node}/2/8/0", value=level)
                watch.changes = []
                return watch, change["anchor"]
            except Failed:
                continue
        await watch.close()
        raise Failed("a watch receives no change in 10 s")


@home_check("clients of the hub read and control the device")
async def seen(home):
    entry, = await home.do("devices", *THROUGH)
    expect_equal((entry["name"], entry["room"], entry["types"]), ("lights", "lab", ["On/Off Light", "Dimmable Light"]),
                 "name, room, types")
    expect_equal((entry["connectivityState"], entry["dataSourceLocality"]), ("online", "local"), "connectivity")
    await home.do("on", "lights/1", *THROUGH)
    expect_equal((await home.state(1))["onOff"], True, "OnOff at the device")
    await home.do("level", "lights/2", "40%", *THROUGH)
    expect_equal((await home.state(2))["currentLevel"], 102, "CurrentLevel at the device")


@home_check("a watch receives changes of the device and of other clients once and in order")
async def watched(home):
    await home.do("off", "lights/1", *THROUGH)
    watch, anchor = await home.watch_from_now_on()
    try:
        await home.perform("1 on")
        await watch.next(path=f"{home.node}/1/6/0", value=True)
        levels = [11, 77, 201]
        for level in levels:
            await home.perform(f"2 {level}")
            await watch.next(path=f"{home.node}/2/8/0", value=level)
        await home.do("off", "lights/1", *THROUGH)
        await watch.next(path=f"{home.node}/1/6/0", value=False)
    finally:
        await watch.close()
    later = await home.watch("--since", anchor, "--for", "0s")
    expect_equal(await later.rest(), watch.changes, "changes in the log")


@home_check("twelve concurrent commands are all executed")
async def concurrent_commands(home):
    before = (await home.state(1))["onOff"]
    for done in await asyncio.gather(*(home.do("toggle", "lights/1", *THROUGH) for _ in range(12))):
        expect_equal(done["name"], "lights", "name")
    expect_equal((await home.state(1))["onOff"], before, "OnOff at the device after an even number of toggles")
    await home.do("wait", "lights/1", "--for", f"onOff={str(before).lower()}", "--timeout", "5s", *THROUGH)


@home_check("a device without answers becomes offline, and online within 2 s of its announcement", limit=40)
async def offline_and_online(home):
    watch, _ = await home.watch_from_now_on()
    try:
        await home.perform("2 123")
        await watch.next(path=f"{home.node}/2/8/0", value=123)
        home.stop_device()
        await home.refused(5, "on", "lights/1", *THROUGH)
        change, _ = await watch.next(change="connectivity", connectivityState="offline", dataSourceLocality="local")
        expect(change["connectivityReason"] in ("subscription lost", "timed out"), f"the reason is wrong: {change}")
        entry, = await home.do("devices", "--offline", *THROUGH)
        expect_equal((entry["online"], entry["state"]["isLast"]), (False, True), "online, and whether its values are old")
        expect_equal(entry["state"]["parts"][1]["currentLevel"], 123, "its last level")
        await home.start()
        announced = time.monotonic()
        _, online = await watch.next(8, change="connectivity", connectivityState="online", dataSourceLocality="local")
        expect(online - announced < 2, f"it took {online - announced:.1f} s")
        await home.perform("2 124")
        await watch.next(path=f"{home.node}/2/8/0", value=124)
        await home.do("off", "lights/1", *THROUGH)
    finally:
        await watch.close()


@home_check("a restart before the next report is detected within 2 s of the announcement", limit=40)
async def restart_detected(home):
    watch, _ = await home.watch_from_now_on()
    try:
        await home.perform("2 201")
        await watch.next(path=f"{home.node}/2/8/0", value=201)
        watch.changes = []
        home.stop_device()
        await home.start()
        announced = time.monotonic()
        await home.perform("2 202")
        _, reported = await watch.next(8, path=f"{home.node}/2/8/0", value=202)
        expect(reported - announced < 2, f"it took {reported - announced:.1f} s")
        connectivity = [change for change in watch.changes if change["change"] == "connectivity"]
        expect_equal(connectivity, [], "changes of connectivity")
    finally:
        await watch.close()


@home_check("an observer command is run, and changes without a running hub are not lost", limit=40)
async def delivered(home):
    marker = os.path.join(home.directory, "observed")
    home.observe("--attribute", "--device", "lights", "--run", "touch", marker)
    await home.perform("1 on")
    await home.until_exists(marker)
    watch, anchor = await home.watch_from_now_on()
    await watch.close()
    await home.end_hub()
    await home.perform("1 off")
    await home.perform("2 55")
    os.remove(marker)
    await home.run_hub()
    await home.until_exists(marker)
    await home.do("wait", "lights/2", "--for", "currentLevel=55", "--timeout", "5s", *THROUGH)
    later = await home.watch("--since", anchor, "--for", "0s")
    changes = [(entry["path"], entry["value"]) for entry in await later.rest() if entry["type"] == "attribute"]
    expect_equal(changes, [(f"{home.node}/1/6/0", False), (f"{home.node}/2/8/0", 55)], "changes without a hub")
