"""Runs the certification tests; see scripts/conformance."""

import argparse
import os
import queue
import shutil
import signal
import sys
import tempfile
import threading
import traceback
from fnmatch import fnmatchcase

import python_tests
from checkout import Checkout
from devices import Bench, known_types
from table import FAIL, SKIP, Result, Table

try:
    import yaml_tests
except ImportError:
    yaml_tests = None

SUITES = {"python": python_tests} | ({"yaml": yaml_tests} if yaml_tests else {})


def options():
    parser = argparse.ArgumentParser(prog="conformance")
    parser.add_argument("--sdk", required=True)
    parser.add_argument("--hearth", required=True)
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--type", action="append", default=[])
    parser.add_argument("--suite", choices=list(SUITES))
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--log")
    return parser.parse_args()


def matches(job, patterns: list[str]) -> bool:
    if not patterns:
        return True
    names = [job.name, f"{job.name} {job.where}", *(f"{job.name} {test}" for test in getattr(job, "tests", []))]
    return any(fnmatchcase(name, pattern) for name in names for pattern in patterns)


def work(number: int, jobs: queue.Queue, table: Table, hearth: str, checkout: Checkout, directory: str):
    """A worker: runs tests one after another in its own network."""
    with Bench(hearth, f"conf-{os.getpid()}-{number}", directory) as bench:
        while True:
            try:
                job = jobs.get_nowait()
            except queue.Empty:
                return
            try:
                for result in SUITES[job.suite].run(job, bench, checkout, directory):
                    table.add(result)
            except Exception as error:
                traceback.print_exc()
                table.add(Result(job.name, job.where, FAIL, f"could not be run: {error}"))


def main():
    given = options()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    types = known_types(given.hearth)
    for wanted in given.type:
        if wanted not in types:
            sys.exit(f"conformance: unknown device type '{wanted}'; expected one of {', '.join(types)}")
    directory = os.path.abspath(given.log) if given.log else tempfile.mkdtemp(prefix="hearth-conformance.")
    os.makedirs(directory, exist_ok=True)
    scratch = tempfile.mkdtemp(prefix="hearth-conformance-sdk.")
    table, status = Table(sys.stdout), 1
    try:
        checkout = Checkout(given.sdk, scratch)
        suites = [SUITES[given.suite]] if given.suite else list(SUITES.values())
        jobs = [job for suite in suites for job in suite.plan(checkout, types, given.type) if matches(job, given.only)]
        if given.list:
            for job in jobs:
                print(f"{job.name:<42} {job.where:<24} {'skip: ' + job.reason if job.reason else 'run'}")
            status = 0
            return
        waiting: queue.Queue = queue.Queue()
        for job in jobs:
            if job.reason:
                table.add(Result(job.name, job.where, SKIP, job.reason))
            else:
                waiting.put(job)
        if not waiting.empty():
            checkout.prepare()
        # Daemon threads: when this thread is stopped, their namespaces are removed below.
        workers = [threading.Thread(target=work, args=(number, waiting, table, given.hearth, checkout, directory), daemon=True)
                   for number in range(min(given.jobs, waiting.qsize()))]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        print(table.summary(), flush=True)
        status = 0 if table.is_good else 1
    finally:
        for number in range(given.jobs):
            bench = Bench(given.hearth, f"conf-{os.getpid()}-{number}", directory)
            bench.__exit__()
        shutil.rmtree(scratch, ignore_errors=True)
        if status == 0 and not given.log:
            shutil.rmtree(directory, ignore_errors=True)
        elif not given.list:
            print(f"conformance: logs are in {directory}", file=sys.stderr)
    sys.exit(status)


main()
