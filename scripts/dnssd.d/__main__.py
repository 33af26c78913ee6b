"""Runs the checks of checks_*.py concurrently, each in its own lab, and prints `ok`, `not ok` and the totals."""

import argparse
import fnmatch
import os
import queue
import sys
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import checks_avahi  # noqa: E402
import checks_own  # noqa: E402
from lab import Failed, Side  # noqa: E402


def run(check, lab: str, options) -> str:
    """Runs a check in a lab; returns the line to print."""
    number = 1 + sum(name.startswith("check-") for name in os.listdir(options.directory))
    directory = os.path.join(options.directory, f"check-{number:02}-{check.__name__}")
    os.makedirs(directory, exist_ok=True)
    sides = [Side(lab, letter, options.hearth, directory) for letter in "ab"]
    start = time.monotonic()
    try:
        note = check(*sides)
        return f"ok {check.title} ({note + ', ' if note else ''}{time.monotonic() - start:.1f} s)"
    except Exception as error:  # pylint: disable=broad-except
        reason = str(error) if isinstance(error, Failed) else repr(error)
        return f"not ok {check.title}: {reason}"
    finally:
        for side in sides:
            side.close()


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--hearth")
    parser.add_argument("--lab", action="append", default=[])
    parser.add_argument("--directory")
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    checks = [check for module in (checks_own, checks_avahi) for check in module.CHECKS]
    if options.list:
        print("\n".join(check.title for check in checks))
        return 0
    wanted = [check for check in checks
              if not options.only or any(fnmatch.fnmatchcase(check.title, pattern) for pattern in options.only)]
    # The longest first: they are at the end of the lists.
    waiting: queue.Queue = queue.Queue()
    for check in sorted(wanted, key=lambda check: -getattr(check, "weight", 1)):
        waiting.put(check)
    results = []
    printing = threading.Lock()

    def work(lab: str):
        while True:
            try:
                check = waiting.get_nowait()
            except queue.Empty:
                return
            line = run(check, lab, options)
            with printing:
                results.append(line.startswith("ok"))
                print(line, flush=True)

    workers = [threading.Thread(target=work, args=(lab,)) for lab in options.lab]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    passed, failed = results.count(True), results.count(False)
    print(f"{passed} passed, {failed} failed")
    return 0 if passed and not failed else 1


sys.exit(main())
