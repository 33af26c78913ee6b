"""A virtual device in its own network, and `hearth sim` for it."""

import json
import os
import re
import shutil
import subprocess
import time
from typing import Optional

SCRIPTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

# Not the codes of the SDK's examples, which the tests of setup codes detect.
PASSCODE, DISCRIMINATOR = 34970112, 1789
ENABLE_KEY = "000102030405060708090a0b0c0d0e0f"
DEVICE = "Device"  # the name in the definition files


class Failed(Exception):
    """A failure of the environment: the test could not be run."""


def known_types(hearth: str) -> dict[str, list[str]]:
    """Returns the device types that can be simulated with their clusters, and the variants of them that have a definition file
    next to the tables."""
    answer = subprocess.run([hearth, "types", "--json"], capture_output=True, text=True, timeout=30)
    types = {entry["name"]: entry["clusters"] for entry in json.loads(answer.stdout)["data"]}
    files = {name.replace("/", "-").replace(" ", "-") + ".yaml" for name in types}
    for name in sorted(os.listdir(os.path.join(SCRIPTS, "conformance-data"))):
        with open(os.path.join(SCRIPTS, "conformance-data", name)) as file:
            kind = re.search(r"^home:.*^    type: ([^\n]*)", file.read(), re.M | re.S)
        if name not in files and kind is not None:
            types[name[:-5].replace("-", " ")] = types[kind[1]]
    return types


class Bench:
    """Two network namespaces, with the device in a and the tests in b, and a directory for state and logs."""

    def __init__(self, hearth: str, name: str, directory: str):
        self.hearth, self.name, self.directory = hearth, name, directory
        self.process: Optional[subprocess.Popen] = None
        self.kind = ""
        self.environment = dict(os.environ, HEARTH_LAB=name)
        self.extra: list[str] = []

    # The network

    def __enter__(self):
        self.lab("up")
        return self

    def __exit__(self, *_):
        self.stop()
        subprocess.run([os.path.join(SCRIPTS, "lab"), "down"], env=self.environment, check=False)

    def lab(self, *arguments: str):
        done = subprocess.run([os.path.join(SCRIPTS, "lab"), *arguments], env=self.environment, capture_output=True,
                              text=True)
        if done.returncode != 0:
            raise Failed(f"scripts/lab {' '.join(arguments)}: {done.stderr.strip()}")

    def run(self, command: list[str], log: str, seconds: float, environment: Optional[dict] = None,
            folder: Optional[str] = None) -> Optional[int]:
        """Runs a command in b with a private `/data`; returns its exit status, or None after a timeout."""
        data = os.path.join(self.directory, "data")
        os.makedirs(data, exist_ok=True)
        mounted = ["ip", "netns", "exec", f"{self.name}-b", "sh", "-c",
                   'mount --bind "$0" /data && exec "$@"', data, *command]
        with open(log, "ab") as file:
            process = subprocess.Popen(mounted, stdin=subprocess.DEVNULL, stdout=file, stderr=file, cwd=folder,
                                       env={**self.environment, **(environment or {})})
            try:
                return process.wait(seconds)
            except subprocess.TimeoutExpired:
                return None
            finally:
                if process.poll() is None:
                    process.kill()
                    process.wait()

    # The device

    def enter(self, directory: str):
        """Stops the device and creates the directory of the next test."""
        self.stop()
        self.directory = directory
        os.makedirs(directory, exist_ok=True)
        if os.path.exists(self.log):
            os.remove(self.log)

    @property
    def state(self) -> str:
        return os.path.join(self.directory, "state")

    @property
    def log(self) -> str:
        return os.path.join(self.directory, "device.log")

    @property
    def pipe(self) -> str:
        """The named pipe for commands of scripts."""
        return os.path.join(self.directory, "pipe")

    def refused_commands(self) -> list[str]:
        """Returns the commands that the device could not perform, with reasons."""
        with open(self.log, errors="replace") as file:
            return [line.split("app pipe: ", 1)[1].strip() for line in file if "app pipe: " in line]

    def start_new(self, kind: str, extra: Optional[list[str]] = None, number: int = 1, provisional: bool = False):
        """Starts an uncommissioned device of a type, or several with derived codes."""
        self.stop()
        self.kind, self.extra = kind, extra or []
        shutil.rmtree(self.state, ignore_errors=True)
        definition = os.path.join(self.directory, "device.yaml")
        own = os.path.join(SCRIPTS, "conformance-data", kind.replace("/", "-").replace(" ", "-") + ".yaml")
        if os.path.exists(own):
            text = open(own).read()
        else:
            text = f"home: Conformance\ndevices:\n  - name: {DEVICE}\n    room: Bench\n    type: {kind}\n"
        codes = f"    passcode: {PASSCODE}\n    discriminator: {DISCRIMINATOR}\n" if number == 1 else f"    count: {number}\n"
        text = text.replace("    type:", f"{codes}    enableKey: \"{ENABLE_KEY}\"\n    type:", 1)
        if provisional:
            text = re.sub(r"^(    type:)", r"    provisional: true\n\1", text, count=1, flags=re.M)
            text = re.sub(r"^(      - {) name:", r"\1 provisional: true, name:", text, flags=re.M)
        with open(definition, "w") as file:
            file.write(text)
        self.start()

    def start(self, seconds: float = 60):  # for a busy machine
        ready = os.path.join(self.directory, "ready")
        if os.path.exists(ready):
            os.remove(ready)
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                ["ip", "netns", "exec", f"{self.name}-a", self.hearth, "run",
                 os.path.join(self.directory, "device.yaml"), "--interface", "veth-a", "--state", self.state,
                 "--ready-file", ready, "--mdns", "builtin", "--app-pipe", self.pipe, *self.extra],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        end = time.monotonic() + seconds
        while not os.path.exists(ready):
            if self.process.poll() is not None:
                raise Failed(f"the device stopped with exit status {self.process.returncode} before it was ready")
            if time.monotonic() > end:
                raise Failed(f"the device was not ready in {seconds} s")
            time.sleep(0.02)

    def stop(self):
        process, self.process = self.process, None
        if process is None or process.poll() is not None:
            return
        process.terminate()
        try:
            process.wait(5)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def restart(self):
        """Restarts the device like a power cut, with its state."""
        self.stop()
        self.start()

    def factory_reset(self):
        self.stop()
        shutil.rmtree(self.state, ignore_errors=True)
        self.start()

    @property
    def has_crashed(self) -> bool:
        return self.process is not None and self.process.poll() is not None

    def listing(self) -> dict:
        """Returns the status of the device."""
        return self.listings()[0]

    def listings(self) -> list[dict]:
        return json.loads(self.sim("ps", "--json"))["data"]

    def set(self, *changes: str):
        """Changes attributes or parts of the device, as with `hearth sim set`."""
        for change in changes:
            self.sim("set", f"{DEVICE}.{change}")

    def sim(self, *arguments: str) -> str:
        """Runs `hearth sim …` for the device."""
        done = subprocess.run([self.hearth, "sim", *arguments, "--state", self.state], capture_output=True, text=True,
                              timeout=30)
        if done.returncode != 0:
            raise Failed(f"hearth sim {' '.join(arguments)}: {done.stderr.strip()}")
        return done.stdout
