"""Checks the jobs of scripts/kubernetes-data; see scripts/kubernetes."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree

import kubernetes_validate
import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]
DATA = ROOT / "scripts/kubernetes-data"
# The oldest version in which all fields of the jobs are stable, and the newest that the package knows.
VERSIONS = ("1.33", kubernetes_validate.latest_version())
HEARTH = os.environ["HEARTH"]


def fail(message: str) -> None:
    sys.exit(f"kubernetes: {message}")


def documents(name: str) -> list[dict]:
    """Returns the objects of a manifest, which conform to the schema."""
    found = list(yaml.safe_load_all((DATA / name).read_text()))
    for one in found:
        for version in VERSIONS:
            try:
                kubernetes_validate.validate(one, version, strict=True)
            except kubernetes_validate.ValidationError as error:
                fail(f"{name}: {one.get('kind')}: {'.'.join(map(str, error.path))}: {error.message} ({version})")
    return found


def job(name: str) -> dict:
    """Returns the specification of the job in a manifest."""
    spec = next(one["spec"] for one in documents(name) if one["kind"] == "Job")
    container = spec["template"]["spec"]["containers"][0]
    values = {one["name"]: one["value"] for one in container["env"]}
    if spec["completionMode"] != "Indexed" or values["SHARDS"] != str(spec["completions"]):
        fail(f"{name}: SHARDS is {values['SHARDS']}; expected the completions of an indexed job, {spec['completions']}")
    mounts = {one["name"] for one in container["volumeMounts"]}
    if mounts != {one["name"] for one in spec["template"]["spec"]["volumes"]}:
        fail(f"{name}: the mounts are not those of the volumes")
    return spec


def start(spec: dict, index: int, values: dict[str, str], directory: str) -> subprocess.Popen:
    """Starts the container of an index.

    values: the variables that differ from those in the manifest.
    """
    container = spec["template"]["spec"]["containers"][0]
    environment = {one["name"]: one["value"] for one in container["env"]} | values
    environment |= {"JOB_COMPLETION_INDEX": str(index), "PATH": f"{directory}/bin:/usr/bin:/bin"}
    return subprocess.Popen(
        container["command"] + container["args"], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True)


def finish(processes: list[subprocess.Popen], name: str) -> list[str]:
    """Returns the outputs of containers, which have to end with the status 0."""
    outputs = [process.communicate(timeout=300) for process in processes]
    for index, (process, (output, errors)) in enumerate(zip(processes, outputs)):
        if process.returncode != 0:
            fail(f"{name}: index {index} ended with {process.returncode}:\n{output}{errors}")
    return [output for output, _ in outputs]


def cases(path: pathlib.Path) -> list[tuple[str, str]]:
    """Returns the test cases of a JUnit file, whose numbers are those in its attributes."""
    suites = ElementTree.parse(path).getroot()
    if suites.tag != "testsuites":
        fail(f"{path.name}: the root is {suites.tag}; expected testsuites")
    for suite in [suites, *suites.iter("testsuite")]:
        found = list(suite.iter("testcase"))
        failures = sum(1 for case in found if case.find("failure") is not None)
        if (suite.get("tests"), suite.get("failures")) != (str(len(found)), str(failures)):
            fail(f"{path.name}: the attributes of {suite.get('name', suite.tag)} are not those of its test cases")
    return [(case.get("classname"), case.get("name")) for case in suites.iter("testcase")]


def check_test(directory: str) -> None:
    """The parts of the scenarios are disjoint, and together all of them."""
    spec = job("test.yaml")
    results, scenarios = pathlib.Path(directory, "results"), pathlib.Path(directory, "scenarios")
    results.mkdir()
    scenarios.mkdir()
    for name in ("thermostat.yaml", "window-covering.yaml", "clock-jumps.yaml"):
        (scenarios / name).write_text((ROOT / "devices/scenarios" / name).read_text())
    values = {"SCENARIOS": str(scenarios), "RESULTS": str(results), "SEEDS": "1..3", "HOME": directory}
    finish([start(spec, index, values, directory) for index in range(spec["completions"])], "test.yaml")
    parts = [cases(path) for path in sorted(results.iterdir())]
    whole = pathlib.Path(directory, "whole.xml")
    subprocess.run(
        [HEARTH, "test", *sorted(map(str, scenarios.iterdir())), "--seeds", "1..3", "--junit", str(whole), "--state", directory],
        check=True, stdout=subprocess.DEVNULL)
    merged = [case for part in parts for case in part]
    if len(parts) != spec["completions"] or not all(parts) or sorted(merged) != sorted(cases(whole)):
        fail(f"test.yaml: the parts have {len(merged)} test cases; expected those of the whole run")
    print(f"kubernetes: test.yaml: {len(merged)} runs in {len(parts)} parts")


def check_run(directory: str) -> None:
    """The parts of the devices are disjoint, and together all of them."""
    spec = job("run.yaml")
    devices = str(ROOT / "devices/house.yaml")
    states = [pathlib.Path(directory, f"state-{index}") for index in range(spec["completions"])]
    processes = []
    for index, state in enumerate(states):
        state.mkdir()
        values = {
            "DEVICES": devices, "INTERFACE": "lo", "DURATION": "20s", "STATE": str(state), "XDG_RUNTIME_DIR": str(state)}
        processes.append(start(spec, index, values, directory))
    outputs = finish(processes, "run.yaml")
    if not all((state / "ready").exists() for state in states):
        fail("run.yaml: the devices of a part were not ready in time")
    names = [line.split("  ")[0] for output in outputs for line in output.splitlines()[1:] if line.strip()]
    checked = subprocess.run(
        [HEARTH, "run", devices, "--check", "--json", "--state", directory], check=True, capture_output=True, text=True)
    count = json.loads(checked.stdout)["data"]["devices"]
    if len(names) != count:
        fail(f"run.yaml: {len(names)} devices in all parts; expected {count}")
    print(f"kubernetes: run.yaml: {count} devices in {len(states)} parts")


def check_sources(sources: list[pathlib.Path]) -> None:
    """The sources of a stage exist, and the symbolic links below them point to files that the stage copies as well."""
    for source in sources:
        if not source.exists():
            fail(f"Containerfile: there is no {source.relative_to(ROOT)}")
        for path in source.rglob("*"):
            target = path.resolve()
            if path.is_symlink() and not any(target.is_relative_to(copied) for copied in sources):
                fail(f"Containerfile: {path.relative_to(ROOT)} points to {target}, which the stage does not copy")


def check_image() -> None:
    """The image has the files that the jobs name, and the files that it is built from exist."""
    stages = (DATA / "Containerfile").read_text().split("\nFROM ")[1:]
    targets = {}
    for stage in stages:
        copied = [
            line.split()[1:] for line in stage.splitlines() if line.startswith("COPY ") and "--from" not in line]
        check_sources([ROOT / source for *sources, _ in copied for source in sources])
        targets |= {target: source for source, target in copied}
    for name, variable in (("test.yaml", "SCENARIOS"), ("run.yaml", "DEVICES")):
        path = next(
            one["value"] for one in job(name)["template"]["spec"]["containers"][0]["env"] if one["name"] == variable)
        base = next((target for target in targets if path.startswith(target + "/")), None)
        if base is None or not (ROOT / targets[base] / path.removeprefix(base + "/")).exists():
            fail(f"{name}: {variable} is {path}, which the image lacks")


def main() -> None:
    check_image()
    with tempfile.TemporaryDirectory() as directory:
        os.mkdir(f"{directory}/bin")
        os.symlink(HEARTH, f"{directory}/bin/hearth")
        check_test(directory)
        check_run(directory)


main()
