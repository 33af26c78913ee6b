"""Performs the manual steps of the scripts."""

import json
import os
import re
import socket
import threading
import traceback

from devices import DEVICE, Bench

# The prompts of the scripts and the actions that they require. An action returns the answer, or None for the default of the
# prompt.
PROMPTS = [
    (re.compile(r"factory.?reset", re.I), lambda bench: bench.factory_reset()),
    (re.compile(r"reboot|restart|power.?cycle", re.I), lambda bench: bench.restart()),
    # A robot.
    (re.compile(r"put the device in the running state", re.I), lambda bench: bench.set("rvcRunMode.currentMode=1")),
    (re.compile(r"pause running due to an error", re.I), lambda bench: bench.set("bin=full")),
    (re.compile(r"clear the error", re.I), lambda bench: bench.set("bin=empty")),
    (re.compile(r"whether the device has stopped operating", re.I), lambda bench: "n" if is_running(bench) else "y"),
]


def is_running(robot: Bench) -> bool:
    return robot.sim("get", f"{DEVICE}.rvcOperationalState.operationalState").strip() == "Running"


class PhysicalActions:
    """Serves requests on a socket while a script runs."""

    def __init__(self, bench: Bench):
        self.bench = bench
        self.path = os.path.join(bench.directory, "actions")
        self.unknown: list[str] = []
        if os.path.exists(self.path):
            os.remove(self.path)
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(self.path)
        self.listener.listen()
        threading.Thread(target=self._serve, daemon=True).start()

    def close(self):
        self.listener.close()
        if os.path.exists(self.path):
            os.remove(self.path)

    def _serve(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            with connection:
                try:
                    answer = self._perform(json.loads(connection.makefile().readline()))
                except Exception as error:
                    traceback.print_exc()
                    answer = {"error": str(error)}
                connection.sendall(json.dumps(answer).encode() + b"\n")

    def _perform(self, request: dict) -> dict:
        for pattern, action in PROMPTS:
            if pattern.search(request["prompt"]):
                answer = action(self.bench)
                return {"answer": request["default"] if answer is None else answer}
        # No answer, as with a closed standard input.
        self.unknown.append(request["prompt"])
        return {"answer": None}
