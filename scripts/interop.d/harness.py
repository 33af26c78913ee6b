"""The definition and execution of checks: a name, a function, and the required state of the device."""

import asyncio
import fnmatch
import logging
import os
import time
import traceback
from dataclasses import dataclass
from typing import Awaitable, Callable

LOGGER = logging.getLogger("interop")

# The device type of checks that run once.
FIRST_TYPE = 0x0100

# The required states: without fabrics, or on fabric A only (node ID `target.node`).
FRESH, PAIRED = "fresh", "paired"


class Failed(Exception):
    """A failed expectation with the reason to print."""


def expect(condition, reason: str):
    """Fails the check with the reason unless the condition holds."""
    if not condition:
        raise Failed(reason)


def expect_equal(found, wanted, what: str):
    """Fails the check with the actual value unless both are equal."""
    if found != wanted:
        raise Failed(f"{what} is {found!r}, expected {wanted!r}")


@dataclass(frozen=True)
class Check:
    name: str
    body: Callable[..., Awaitable[None]]
    state: str
    clusters: tuple
    limit: float
    once: bool

    def is_for(self, type_id: int, served: set) -> bool:
        return set(self.clusters) <= served and (not self.once or type_id == FIRST_TYPE)


CHECKS: list[Check] = []


def check(name: str, state: str = PAIRED, clusters: tuple = (), limit: float = 30, once: bool = False):
    """Registers a check. It runs for each device type that has all of `clusters` (cluster IDs) on its endpoint.

    With `once`, only for the first type, for long checks that are independent of the type.
    """

    def register(body):
        CHECKS.append(Check(name, body, state, clusters, limit, once))
        return body

    return register


class Report:
    """Prints and counts the results."""

    def __init__(self, stream):
        self.stream = stream
        self.passed = self.failed = 0

    def line(self, text: str):
        print(text, file=self.stream, flush=True)
        LOGGER.info("==== %s", text)

    def ok(self, name: str, seconds: float, first: str | None = None):
        """Reports a passed check, with the reason of the first failure if this was the second try."""
        self.passed += 1
        self.line(f"ok {name} {seconds:.3f} s" + (f" (second try; the first: {one_line(first)})" if first else ""))

    def not_ok(self, name: str, reason: str):
        self.failed += 1
        self.line(f"not ok {name} {one_line(reason)}")

    def note(self, text: str):
        self.line(f"# {text}")


def one_line(text: str) -> str:
    return " ".join(text.split())[:400]


def reason_of(error: BaseException) -> str:
    """Returns one line with the error and its place in the check."""
    where = ""
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if os.path.dirname(os.path.abspath(__file__)) in frame.filename and frame.name not in ("expect", "expect_equal"):
            where = f" ({os.path.basename(frame.filename)}:{frame.lineno})"
            break
    if isinstance(error, Failed):
        return f"{error}{where}"
    if isinstance(error, (asyncio.TimeoutError, TimeoutError)):
        return f"timed out{where}"
    return f"{type(error).__name__}: {error}{where}"


async def try_once(name: str, body: Callable[[], Awaitable[None]], limit: float) -> tuple[str | None, float]:
    """Runs a check once: the reason why it failed, or None, and the seconds that it took."""
    LOGGER.info("==== begin %s", name)
    begin = time.monotonic()
    try:
        await asyncio.wait_for(body(), limit)
    except (Exception, asyncio.CancelledError) as error:
        LOGGER.exception("check failed")
        return reason_of(error), time.monotonic() - begin
    return None, time.monotonic() - begin


async def run_one(report: Report, name: str, body: Callable[[], Awaitable[None]], limit: float) -> bool:
    reason, seconds = await try_once(name, body, limit)
    if reason is None:
        report.ok(name, seconds)
    else:
        report.not_ok(name, reason)
    return reason is None


@dataclass(frozen=True)
class Selection:
    """The checks that match one of the patterns `only` (none: all) and none of `excluded`."""

    only: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()

    def __contains__(self, name: str) -> bool:
        return (not self.only or self._names(self.only, name)) and not self._names(self.excluded, name)

    @staticmethod
    def _names(patterns: tuple[str, ...], name: str) -> bool:
        return any(fnmatch.fnmatch(name, p) or fnmatch.fnmatch(name, f"*{p}*") for p in patterns)


async def run_target(report: Report, target, selection: Selection):
    """Runs every selected check on one device, and brings the device into the state that each check requires.

    A failed check is repeated on a reset device, and the result says so. Native code and a loaded machine cause about one
    irreproducible failure per thousand checks; a defect of Hearth fails twice.
    """
    for entry in CHECKS:
        name = f"{target.label}: {entry.name}"
        if name not in selection or not entry.is_for(target.type_id, target.clusters):
            continue

        async def body(entry=entry):
            if entry.state == FRESH:
                await target.leave_all()
            else:
                await target.join()
            await entry.body(target)

        reason, seconds = await try_once(name, body, entry.limit)
        if reason is None:
            report.ok(name, seconds)
            continue
        # A failed check leaves an unknown state, so the next one starts with a reset device.
        target.needs_reset = True
        again, seconds = await try_once(name, body, entry.limit)
        if again is None:
            report.ok(name, seconds, first=reason)
        else:
            target.needs_reset = True
            report.not_ok(name, again)
