"""The two namespaces of the lab and the processes in them."""

import json
import os
import signal
import subprocess
import time

HERE = os.path.dirname(os.path.abspath(__file__))


class Failed(Exception):
    """A failed expectation with the reason to print."""


def expect(condition, reason: str):
    if not condition:
        raise Failed(reason)


def wait_for(condition, seconds: float, reason: str):
    """Calls `condition` until it returns a true value; returns this value."""
    end = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            raise Failed(f"{reason} within {seconds:g} s")
        time.sleep(0.05)


class Side:
    """One namespace with its own D-Bus daemon and, at times, an Avahi daemon."""

    def __init__(self, lab: str, letter: str, hearth: str, directory: str):
        self.namespace, self.letter, self.hearth, self.directory = f"{lab}-{letter}", letter, hearth, directory
        self.interface = f"veth-{letter}"
        self.bus_path = os.path.join(directory, f"bus-{letter}")
        self.running: list[subprocess.Popen] = []
        self.bus = self.avahi = None
        self.count = 0

    def command(self, arguments):
        return ["ip", "netns", "exec", self.namespace, *arguments]

    def environment(self):
        return dict(os.environ, DBUS_SYSTEM_BUS_ADDRESS=f"unix:path={self.bus_path}", LC_ALL="C.UTF-8")

    def start(self, *arguments, name: str) -> subprocess.Popen:
        """Starts a background process with its output in a file, see `output`."""
        self.count += 1
        path = os.path.join(self.directory, f"{self.letter}-{self.count:02}-{name}.log")
        with open(path, "wb") as file:
            # A process group, because `ip netns exec` and a shell may be processes of their own.
            process = subprocess.Popen(
                self.command(arguments), stdin=subprocess.DEVNULL, stdout=file, stderr=subprocess.STDOUT,
                env=self.environment(), start_new_session=True)
        process.log = path
        self.running.append(process)
        return process

    def run(self, *arguments, timeout: float = 15) -> subprocess.CompletedProcess:
        return subprocess.run(
            self.command(arguments), stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=timeout,
            env=self.environment())

    def stop(self, process, number=signal.SIGTERM, timeout: float = 10):
        if process is None:
            return
        if process.poll() is None:
            os.killpg(process.pid, number)
            try:
                process.wait(timeout)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        if process in self.running:
            self.running.remove(process)

    # The daemons

    def start_bus(self):
        if os.path.exists(self.bus_path):
            os.unlink(self.bus_path)
        self.bus = self.start(
            "dbus-daemon", f"--config-file={HERE}/bus.conf", f"--address=unix:path={self.bus_path}", "--nofork",
            "--nopidfile", name="dbus")
        wait_for(lambda: os.path.exists(self.bus_path), 5, "the D-Bus daemon did not start")

    def start_avahi(self, limits=""):
        """`limits` are lines for the [server] section; default: those of Avahi."""
        if self.bus is None:
            self.start_bus()
        configuration = os.path.join(self.directory, f"avahi-{self.letter}.conf")
        with open(configuration, "w", encoding="utf-8") as file:
            file.write(
                f"[server]\nhost-name=home-{self.letter}\nallow-interfaces={self.interface}\nuse-ipv4=yes\nuse-ipv6=yes\n"
                f"enable-dbus=yes\n{limits}[publish]\npublish-workstation=no\n[wide-area]\nenable-wide-area=no\n")
        # The pid file has a fixed path, so it gets a mount in the namespace of `ip netns exec`.
        self.avahi = self.start(
            "sh", "-c",
            "mount -t tmpfs none /run && mkdir /run/avahi-daemon"
            f" && exec avahi-daemon --no-drop-root --no-chroot --no-proc-title -f {configuration}", name="avahi")
        wait_for(
            lambda: "Server startup complete" in self.output(self.avahi), 10, "the Avahi daemon did not start")

    def stop_avahi(self, number=signal.SIGTERM):
        self.stop(self.avahi, number)
        self.avahi = None

    def stop_bus(self, number=signal.SIGTERM):
        self.stop(self.bus, number)
        self.bus = None

    def close(self):
        for process in reversed(list(self.running)):
            self.stop(process)

    @staticmethod
    def output(process) -> str:
        with open(process.log, encoding="utf-8", errors="replace") as file:
            return file.read()

    # Commands

    def state(self, name: str) -> str:
        return os.path.join(self.directory, f"state-{self.letter}-{name}")

    def devices(self, definition: str, name: str, *options: str, fresh=True, timeout: float = 30):
        """Starts virtual devices on the interface of this side, and waits until they are ready."""
        path = os.path.join(self.directory, f"{name}.yaml")
        with open(path, "w", encoding="utf-8") as file:
            file.write(definition)
        ready = os.path.join(self.directory, f"{name}.ready")
        if os.path.exists(ready):
            os.unlink(ready)
        process = self.start(
            self.hearth, "run", path, "--interface", self.interface, "--state", self.state(name), "--ready-file", ready,
            "-v", *options, *(["--fresh"] if fresh else []), name=f"run-{name}")
        wait_for(
            lambda: os.path.exists(ready) or process.poll() is not None, timeout, "the devices were not ready")
        expect(process.poll() is None, f"hearth run ended: {self.output(process)[-300:]}")
        return process

    def ps(self, name: str) -> list:
        result = self.run(self.hearth, "sim", "ps", "--json", "--state", self.state(name))
        expect(result.returncode == 0, f"hearth sim ps: {result.stderr}")
        return json.loads(result.stdout)["data"]

    def call(self, *arguments, state="home", timeout: float = 30) -> subprocess.CompletedProcess:
        """Runs a command of hearth on the interface of this side."""
        return self.run(
            self.hearth, *arguments, "--interface", self.interface, "--state", self.state(state), timeout=timeout)

    def pair(self, mdns: str):
        """Commissions the lamp of the definitions of the checks."""
        paired = self.call("pair", "--passcode", "20240713", "--discriminator", "1234", "--mdns", mdns)
        expect(paired.returncode == 0, f"pair: {paired.stderr[-300:]}")

    def discovered(self, *options: str) -> list:
        result = self.call("discover", "--json", *options)
        return json.loads(result.stdout)["data"] if result.returncode == 0 else []

    def browse(self, type_: str, timeout: float = 15) -> list:
        """Returns the services that avahi-browse resolves: (interface, family, instance, host, address, port, texts)."""
        result = self.run("avahi-browse", "-rpt", type_, timeout=timeout)
        found = []
        for line in result.stdout.splitlines():
            parts = line.split(";", 9)
            if parts[0] == "=" and len(parts) == 10:
                texts = [text.strip('"') for text in parts[9].split('" "')]
                found.append((parts[1], parts[2], parts[3], parts[6], parts[7], int(parts[8]), texts))
        return found

    def packets(self) -> tuple:
        """Returns the numbers of packets that the interface has received and sent."""
        result = self.run("cat", f"/proc/self/net/dev")
        for line in result.stdout.splitlines():
            if line.strip().startswith(self.interface + ":"):
                fields = line.split(":")[1].split()
                return int(fields[1]), int(fields[9])
        raise Failed(f"no counters for {self.interface}")


class Watch:
    """A running avahi-browse and its output."""

    def __init__(self, side: Side, type_: str):
        self.side = side
        self.process = side.start("avahi-browse", "-p", type_, name="browse")

    def lines(self, prefix: str, instance: str) -> int:
        wanted = f"{prefix};"
        return sum(1 for line in self.side.output(self.process).splitlines()
                   if line.startswith(wanted) and f";{instance};" in line)

    def stop(self):
        self.side.stop(self.process)


class Goodbyes:
    """Records the goodbyes on the network. Avahi removes a record only after the second of RFC 6762 § 10.1, in which other
    hosts can object."""

    def __init__(self, side: Side):
        self.side = side
        self.process = side.start(
            "python3", "-B", f"{HERE}/packets.py", side.interface, "10.77.0.2", "goodbyes", name="goodbyes")
        wait_for(lambda: "listening" in side.output(self.process), 5, "the listener did not start")

    def wait(self, instance: str, seconds: float = 1):
        wait_for(lambda: f"\n{instance}." in self.side.output(self.process), seconds, f"no goodbye of {instance} was received")
