"""The scripts of src/python_testing, their devices and results."""

import json
import os
import re
import shlex
import time
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Optional

import yaml

from checkout import Checkout
from devices import DISCRIMINATOR, ENABLE_KEY, PASSCODE, SCRIPTS, Bench
from physical_actions import PhysicalActions
from targets import OTHERS, Targets, load
from table import FAIL, PASS, SKIP, Result, target_name

# Arguments for the build of the SDK and its example app.
DROPPED = {"--trace-to", "--storage-path", "--discriminator", "--passcode", "--manual-code", "--qr-code", "--PICS",
           "--commissioning-method", "--app-pipe", "--endpoint", "--tests", "--test-case", "--hex-arg"}


@dataclass
class Job:
    """One run of a script on one device."""

    name: str
    script: str
    device: str
    reason: str = ""  # why it is skipped
    parts: dict[str, str] = field(default_factory=dict)  # which of its tests are skipped, and why
    failing: dict[str, str] = field(default_factory=dict)  # which of its tests fail on this device, and why that is expected
    tests: list[str] = field(default_factory=list)
    endpoint: Optional[int] = None
    arguments: list[str] = field(default_factory=list)
    options: dict = field(default_factory=dict)
    suite = "python"

    @property
    def where(self) -> str:
        return target_name(self.device, self.endpoint)


def plan(checkout: Checkout, types: dict[str, list[str]], wanted_types: list[str]) -> list[Job]:
    """Returns all scripts of the checkout, once per device, sorted by name."""
    table, targets = load("tests.yaml"), Targets(types)
    all_skips = {pattern: reason for group in load("skips.yaml")["python"] for pattern, reason in group.items()}
    skips = {pattern: reason for pattern, reason in all_skips.items() if " " not in pattern}
    jobs = []
    for stem, script in scripts(checkout):
        reason = next((reason for pattern, reason in skips.items() if fnmatchcase(stem, pattern)), "")
        if stem.endswith("/"):
            reason = reason or "skips.yaml has no entry for this folder"
        if reason:
            jobs.append(Job(stem, script, "-", reason))
            continue
        own = table["tests"].get(stem, {})
        options = {**table["default"], **own, "own": own}
        parts = [(pattern.split(" ", 2), reason) for pattern, reason in all_skips.items() if pattern.startswith(f"{stem} ")]
        chosen, left_out = targets.of_script(stem, options)
        if wanted_types:
            left_out = {}
            others = [(kind, options.get("endpoint")) for kind in wanted_types if kind not in {kind for kind, _ in chosen}]
            chosen = [(kind, endpoint) for kind, endpoint in chosen if kind in wanted_types] + others
        for device, wanted_endpoint in chosen:
            if device not in types:
                jobs.append(Job(stem, script, device, f"hearth does not simulate this device type: {device}"))
                continue
            for tests, endpoint, arguments in runs(script):
                if wanted_endpoint is not None:
                    endpoint = wanted_endpoint
                if not options.get("header", True):
                    arguments = []
                skipped, failing = ({words[1]: reason for words, reason in parts if words[2:] == rest} for rest in ([], [device]))
                jobs.append(Job(stem, script, device, "", skipped, failing, options.get("tests", tests), endpoint,
                                arguments + options.get("arguments", []), options))
        jobs += [Job(stem, script, where, reason) for where, reason in left_out.items()]
    if not wanted_types:
        jobs.append(Job("all other scripts", "", OTHERS, table["default"]["reason"]))
    return jobs


def scripts(checkout: Checkout) -> list[tuple[str, str]]:
    """Their names and paths; folders of scripts end in a slash."""
    found = []
    for name in sorted(os.listdir(checkout.scripts)):
        path = os.path.join(checkout.scripts, name)
        if name.endswith(".py"):
            found.append((name[:-3], path))
        elif os.path.isdir(path) and any(file.endswith(".py") for _, _, files in os.walk(path) for file in files):
            found.append((f"{name}/", path))
    return found


def runs(script: str) -> list[tuple[list[str], Optional[int], list[str]]]:
    """Returns the runs in the header of a script: tests (none: all), endpoint and other arguments. Runs that differ only in
    the app and its commissioning are merged."""
    with open(script) as file:
        text = file.read()
    header = re.search(r"=== BEGIN CI TEST ARGUMENTS ===\n(.*?)# === END CI", text, re.S)
    found = []
    if header:
        block = yaml.safe_load("\n".join(line.lstrip("#") for line in header[1].splitlines()))
        for run in block["test-runner-runs"].values():
            words = shlex.split(run.get("script-args") or "")
            tests, endpoint, others, key = [], None, [], None
            for word in words:
                if word.startswith("--"):
                    key = word
                    if key not in DROPPED:
                        others.append(word)
                elif key in ("--tests", "--test-case"):
                    tests.append(word)
                elif key == "--endpoint":
                    # Endpoints above 0 are those of the example app; the application endpoint of a virtual device is 1.
                    endpoint = min(int(word), 1)
                elif key == "--hex-arg" and not word.startswith("enableKey"):
                    others += [key, word]
                elif key not in DROPPED:
                    others.append(word)
            if (tests, endpoint, others) not in found and not (found and not tests and not found[0][0]):
                found.append((tests, endpoint, others))
    return found or [([], None, [])]


def run(job: Job, bench: Bench, checkout: Checkout, directory: str) -> list[Result]:
    """Runs a script on a reset device; returns a result per test."""
    begin = time.monotonic()
    name = f"{job.name} {'+'.join(job.tests)} {job.where}"
    folder = os.path.join(directory, name.replace("/", "-").replace(",", "").replace(" ", "_"))
    bench.enter(folder)
    bench.start_new(job.device, job.options.get("run", []), job.options.get("number", 1),
                job.options.get("provisional", False))
    bench.set(*job.options.get("set", []))
    storage = os.path.join(folder, "storage.json")
    codes = ["--discriminator", str(DISCRIMINATOR), "--passcode", str(PASSCODE)]
    common = ["--storage-path", storage, "--paa-trust-store-path", checkout.trust_store,
              "--logs-path", os.path.join(folder, "mobly"), "--hex-arg", f"enableKey:{ENABLE_KEY}"]
    arguments = list(job.arguments)
    if job.endpoint is not None:
        arguments += ["--endpoint", str(job.endpoint)]
    if job.tests:
        arguments += ["--tests", *job.tests]
    with open(job.script) as file:
        text = file.read()
    method = job.options.get("commission") or ("before" if "BasicCompositionTests" in text else "with")
    limit = job.options.get("limit", 300)
    actions = PhysicalActions(bench)
    try:
        if method == "before":
            # Such a test with the codes also attempts a PASE session, which races.
            launch(bench, checkout, folder, actions, job.script,
                   [*common, *codes, "--commissioning-method", "on-network", "--commission-only"], 60)
        elif method == "with":
            arguments += [*codes, "--commissioning-method", "on-network"]
        elif method == "qr":
            arguments += ["--qr-code", *(entry["qrCode"] for entry in bench.listings())]
        elif method == "codes":
            arguments += [*codes, "--in-test-commissioning-method", "on-network"]
        tests, status = launch(bench, checkout, folder, actions, job.script, [*common, *arguments], limit)
    finally:
        actions.close()
    crashed = bench.has_crashed
    bench.stop()
    whole = time.monotonic() - begin
    results = [result_of(job, test, actions.unknown) for test in tests if test["class"] != "CommissionDeviceTest"]
    for test in tests:
        if test["class"] == "CommissionDeviceTest" and test["result"] != "PASS":
            results.append(Result(job.name, job.where, FAIL, f"commissioning: {test['details']}", whole))
    if refused := bench.refused_commands():
        results.append(Result(job.name, job.where, FAIL, f"a command was refused: {refused[0]}", whole))
    if crashed:
        results.append(Result(job.name, job.where, FAIL, "the device's process ended", whole))
    if status is None:
        results.append(Result(job.name, job.where, FAIL, f"not over after {limit} s", whole))
    elif not results:
        results.append(Result(job.name, job.where, FAIL, f"no test ran (exit status {status}): {last_line(folder)}", whole))
    elif status != 0 and all(result.outcome == PASS for result in results):
        results.append(Result(job.name, job.where, FAIL, f"exit status {status}: {last_line(folder)}", whole))
    return results


def launch(bench: Bench, checkout: Checkout, folder: str, actions: PhysicalActions, script: str, arguments: list[str],
           limit: float):
    results = os.path.join(folder, "results.json")
    if os.path.exists(results):
        os.remove(results)
    temporary = os.path.join(folder, "tmp")
    os.makedirs(temporary, exist_ok=True)
    import sys

    status = bench.run(
        [sys.executable, "-X", "faulthandler", os.path.join(SCRIPTS, "conformance.d", "launch.py"), checkout.overlay, results,
         actions.path, bench.pipe, script, *arguments],
        os.path.join(folder, "script.log"), limit,
        {"PYTHONPATH": checkout.python_path, "TMPDIR": temporary}, checkout.path)
    try:
        with open(results) as file:
            return json.load(file), status
    except (OSError, ValueError):
        return [], status


def last_line(folder: str) -> str:
    with open(os.path.join(folder, "script.log"), errors="replace") as file:
        lines = [line.strip() for line in file if line.strip()]
    return lines[-1] if lines else "nothing was printed"


def result_of(job: Job, test: dict, unknown: list[str]) -> Result:
    name = job.name if test["test"] == f"test_{job.name}" else f"{job.name} {test['test']}"
    really = test["begun"] - test["skipped"]
    details = test["details"]
    if test["result"] == "PASS":
        if test["test"] in job.parts:
            return Result(name, job.where, SKIP, job.parts[test["test"]], test["seconds"])
        if really <= 0:
            return Result(name, job.where, SKIP, f"all of its {test['begun']} steps were skipped: what they test is optional "
                          "and not served", test["seconds"])
        if unknown:
            return Result(name, job.where, FAIL, f"unknown manual step: {unknown[0]}", test["seconds"])
        if test["not_sent"]:
            return Result(name, job.where, SKIP, "all other steps passed; the released Python controller can't send "
                          + ", ".join(test["not_sent"]), test["seconds"])
        return Result(name, job.where, PASS, "" if not test["skipped"] else f"{test['skipped']} of {test['begun']} steps "
                      "skipped", test["seconds"])
    if test["result"] == "SKIP":
        return Result(name, job.where, SKIP, details or "the script skipped it", test["seconds"])
    if test["test"] in job.failing:
        return Result(name, job.where, SKIP, job.failing[test["test"]], test["seconds"])
    return Result(name, job.where, FAIL, details or test["where"], test["seconds"])
