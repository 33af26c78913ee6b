"""The YAML suites of src/app/tests/suites/certification, their devices and results."""

import json
import os
import select
import subprocess
import sys
import time
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from typing import Optional

import yaml_suites
from checkout import Checkout
from devices import DISCRIMINATOR, ENABLE_KEY, SCRIPTS, Bench, Failed
from targets import DATA, OTHERS, Targets, load
from table import FAIL, PASS, SKIP, Result, target_name
from yaml_pics import Facts
from yaml_suites import Suite

IN_FULL = bool(os.environ.get("CONFORMANCE_SLOW"))
OUTCOMES = {"pass": PASS, "fail": FAIL, "skip": SKIP}


@dataclass
class Job:
    """One suite on one endpoint of one device."""

    name: str
    path: str
    device: str
    reason: str = ""  # why it is skipped
    endpoint: int = 1
    limit: float = 0
    suite = "yaml"

    @property
    def where(self) -> str:
        return target_name(self.device, self.endpoint)


# Selection


def plan(checkout: Checkout, types: dict[str, list[str]], wanted_types: list[str]) -> list[Job]:
    """Returns all suites of the checkout: those of the root node on a few devices, the others on all devices with their
    cluster."""
    skips = {pattern: reason for group in load("skips.yaml").get("yaml", []) for pattern, reason in group.items()}
    facts, known = Facts(os.path.join(DATA, "pics.yaml")), Targets(types)
    jobs = []
    # The longest first, so that none runs alone at the end.
    for suite in sorted(yaml_suites.find(checkout.path), key=lambda suite: -suite.waits):
        reason = matching(suite.name, skips)
        if reason and "CONFORMANCE_SLOW" in reason and IN_FULL:
            reason = None
        reason = reason or suite.not_runnable()
        targets = [] if reason else targets_of(suite, wanted_types, facts, known)
        if not targets:
            name = facts.names.get(suite.cluster or "", suite.cluster)
            jobs.append(Job(suite.name, suite.path, "-", reason or f"none of our devices serves {name}"))
        limit = suite.config.get("timeout", 90) + 600
        for device, endpoint in targets:
            name = f"{suite.name} {target_name(device, endpoint)}"
            jobs.append(Job(suite.name, suite.path, device,
                            matching(name, skips) or too_slow(suite, device, endpoint, known), endpoint, limit))
    if not wanted_types:
        jobs.append(Job("all suites of the root node", "", OTHERS, known.table["root"]["reason"]))
        jobs += [Job("all suites of its clusters", "", device, reason, endpoint)
                 for device, endpoints in known.table["left_out"].items() for endpoint, reason in endpoints.items()]
    return jobs


def matching(name: str, table: dict[str, str]) -> Optional[str]:
    """Returns the reason of the first matching pattern."""
    return next((text for pattern, text in table.items() if fnmatchcase(name, pattern)), None)


def too_slow(suite: Suite, device: str, endpoint: int, known: Targets) -> str:
    """Returns the reason to omit a long suite, unless all run."""
    slow = known.table["slow"]
    if IN_FULL or suite.endpoint == 0 or endpoint not in slow["endpoints"].get(device, []) or suite.waits <= slow["seconds"]:
        return ""
    return (f"it waits for {suite.waits:.0f} s and runs on devices by themselves, which have the same servers; here with "
            "CONFORMANCE_SLOW=1")


def targets_of(suite: Suite, wanted_types: list[str], facts: Facts, known: Targets) -> list[tuple[str, int]]:
    """Returns the devices and endpoints of a suite."""
    if suite.endpoint == 0:
        return [(kind, 1) for kind in known.types if kind in (wanted_types or known.table["root"]["devices"])]
    return [(kind, endpoint) for kind, endpoint in known.serving(facts.names.get(suite.cluster or ""))
            if not wanted_types or kind in wanted_types]


# Running


class Session:
    """A process that runs suites one after another in the network of a bench."""

    def __init__(self, bench: Bench, checkout: Checkout, directory: str):
        self.bench = bench
        home = os.path.join(directory, f"yaml {bench.name}".replace(" ", "-"))
        self.home = home
        data, temporary = os.path.join(home, "data"), os.path.join(home, "tmp")
        os.makedirs(data, exist_ok=True)
        os.makedirs(temporary, exist_ok=True)
        command = ["ip", "netns", "exec", f"{bench.name}-b", "sh", "-c", 'mount --bind "$0" /data && exec "$@"', data,
                   sys.executable, "-X", "faulthandler", os.path.join(SCRIPTS, "conformance.d", "yaml_session.py"),
                   "--directory", home, "--sdk", checkout.path, "--trust-store", checkout.trust_store,
                   "--facts", os.path.join(DATA, "pics.yaml")]
        environment = {**bench.environment, "PYTHONPATH": checkout.python_path, "TMPDIR": temporary}
        # Unbuffered, because `select` does not see buffered data.
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0, env=environment)
        self.pending = b""

    @property
    def is_alive(self) -> bool:
        return self.process.poll() is None

    def close(self):
        if self.is_alive:
            self.process.kill()
        self.process.wait()

    def write(self, message: dict):
        self.process.stdin.write(json.dumps(message).encode() + b"\n")

    def read(self, end: float) -> Optional[dict]:
        """Returns the next line of the session, or None after a timeout or its end."""
        while b"\n" not in self.pending:
            left = end - time.monotonic()
            if left <= 0 or not select.select([self.process.stdout], [], [], left)[0]:
                return None
            if not (more := self.process.stdout.read(65536)):
                return None
            self.pending += more
        line, self.pending = self.pending.split(b"\n", 1)
        return json.loads(line)

    def run(self, job: dict, limit: float) -> dict:
        end = time.monotonic() + limit
        self.write(job)
        while (answer := self.read(end)) is not None:
            if "action" not in answer:
                return answer
            try:
                getattr(self.bench, answer["action"])()
                self.write({})
            except Failed as error:
                self.write({"error": str(error)})
        if time.monotonic() >= end:
            self.close()
            return {"outcome": "fail", "reason": f"not over after {limit:.0f} s"}
        try:
            # Its output ends a moment before the process does.
            self.process.wait(5)
        except subprocess.TimeoutExpired:
            self.close()
        return {"outcome": "fail", "reason": f"the SDK's controller ended unexpectedly (status {self.process.returncode}): "
                + self.last_words(job["folder"])}

    def last_words(self, folder: str) -> str:
        """Returns the last line of the log of a suite, or of the session if it ended before the suite began."""
        for path in (os.path.join(folder, "suite.log"), os.path.join(self.home, "session.log")):
            if os.path.exists(path) and os.path.getsize(path) > 0:
                with open(path, errors="replace") as file:
                    return [line.strip() for line in file if line.strip()][-1]
        return "it wrote no log"


_sessions: dict[str, Session] = {}


def run(job: Job, bench: Bench, checkout: Checkout, directory: str) -> list[Result]:
    """Runs a suite on a reset device."""
    begin = time.monotonic()
    folder = os.path.join(directory, f"{job.name} {job.device} {job.endpoint}".replace("/", "-").replace(" ", "_"))
    bench.enter(folder)
    table = load("suites.yaml")
    bench.start_new(job.device)
    bench.set(*table["set"].get(job.name, {}).get(job.device, []))
    session = _sessions.get(bench.name)
    if session is None or not session.is_alive:
        session = _sessions[bench.name] = Session(bench, checkout, directory)
    values = table["values"].get(job.name, {}).get(job.device, {})
    answer = session.run({"suite": job.path, "endpoint": job.endpoint, "folder": folder, "values": values, **described(bench)},
                         job.limit)
    if answer["outcome"] == "pass" and bench.has_crashed:
        answer = {"outcome": "fail", "reason": "the device's process ended"}
    if answer["outcome"] == "fail":
        # An aborted commissioning blocks the controller.
        session.close()
    bench.stop()
    with open(os.path.join(folder, "result.json"), "w") as file:
        json.dump(answer, file, indent=1)
    reason = answer["reason"]
    if len(answer.get("failures", [])) > 1:
        reason = f"{len(answer['failures'])} steps, first {reason}"
    if answer["outcome"] == "skip" and (instead := matching(job.name, table["instead"])):
        reason = f"{reason}; {instead}"
    return [Result(job.name, job.where, OUTCOMES[answer["outcome"]], reason, time.monotonic() - begin)]


def described(bench: Bench) -> dict:
    """Returns the parameters of the label and the announcement of the device."""
    data = json.loads(bench.sim("ps", "--json"))["data"]
    entry = (data if isinstance(data, list) else data["devices"])[0]
    vendor, product = entry["vendorID"], entry["productID"]
    ids = type_ids(bench.hearth)
    # The standard calls a bridge an aggregator, and has one type for all variants of generic switches.
    kind = bench.kind if bench.kind in ids else entry["type"].lower()
    made = subprocess.run([bench.hearth, "code", "make", "--json", "--passcode", str(yaml_suites.WINDOW_PASSCODE),
                           "--discriminator", str(yaml_suites.WINDOW_DISCRIMINATOR), "--vendor", str(vendor),
                           "--product", str(product)], capture_output=True, text=True, timeout=30)
    return {"qr": entry["qrCode"], "windowCode": json.loads(made.stdout)["data"]["qrCode"], "vendorId": vendor,
            "enableKey": f"hex:{ENABLE_KEY}", "discriminator": DISCRIMINATOR, "productId": product,
            "deviceType": ids[kind]}


@cache
def type_ids(hearth: str) -> dict[str, int]:
    answer = subprocess.run([hearth, "types", "--json"], capture_output=True, text=True, timeout=30)
    return {entry["name"]: int(entry["id"], 0) for entry in json.loads(answer.stdout)["data"]}
