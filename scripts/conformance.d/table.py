"""Prints the result of each test, and the totals."""

import threading
from dataclasses import dataclass
from typing import Optional, TextIO

PASS, FAIL, SKIP = "pass", "FAIL", "skip"


def target_name(device: str, endpoint: Optional[int]) -> str:
    """Returns the name of an endpoint of a device."""
    return device if endpoint is None or endpoint <= 1 else f"{device}, endpoint {endpoint}"


@dataclass
class Result:
    """The result of a test on a device. A skip and a failure have a reason."""

    test: str
    device: str
    outcome: str
    reason: str = ""
    seconds: Optional[float] = None


class Table:
    """Prints results; thread-safe."""

    def __init__(self, out: TextIO):
        self.out = out
        self.results: list[Result] = []
        self._lock = threading.Lock()

    def add(self, result: Result):
        # A skip requires a reason.
        if result.outcome != PASS and not result.reason:
            result = Result(result.test, result.device, FAIL, "no reason was given", result.seconds)
        with self._lock:
            self.results.append(result)
            time = "" if result.seconds is None else f"{result.seconds:.0f} s"
            reason = " ".join(result.reason.split())
            line = f"{result.outcome}  {result.test:<42} {result.device:<24} {time:>6}  {reason[:300]}"
            print(line.rstrip(), file=self.out, flush=True)

    def count(self, outcome: str) -> int:
        return sum(result.outcome == outcome for result in self.results)

    @property
    def is_good(self) -> bool:
        return self.count(FAIL) == 0 and self.count(PASS) > 0

    def summary(self) -> str:
        return f"{self.count(PASS)} passed, {self.count(FAIL)} failed, {self.count(SKIP)} skipped"
