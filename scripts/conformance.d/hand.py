"""Physical actions: performs manual steps of the scripts and their commands to the SDK's example apps."""

import json
import os
import re
import socket
import threading
import traceback

import appliances
import buttons
from devices import Bench, Failed

# The prompts of the scripts and the actions that they require. The answer is the default of the prompt.
PROMPTS = [
    (re.compile(r"factory.?reset", re.I), lambda bench: bench.factory_reset()),
    (re.compile(r"reboot|restart|power.?cycle", re.I), lambda bench: bench.restart()),
]


class Hand:
    """Serves a socket while a script runs."""

    def __init__(self, bench: Bench):
        self.bench = bench
        self.path = os.path.join(bench.directory, "hand")
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
                    answer = self._do(json.loads(connection.makefile().readline()))
                except Exception as error:
                    traceback.print_exc()
                    answer = {"error": str(error)}
                connection.sendall(json.dumps(answer).encode() + b"\n")

    def _do(self, request: dict) -> dict:
        if "command" in request:
            self._command(request["command"])
            return {}
        for pattern, act in PROMPTS:
            if pattern.search(request["prompt"]):
                act(self.bench)
                return {"answer": request["default"]}
        # No answer, as with a closed standard input.
        self.unknown.append(request["prompt"])
        return {"answer": None}

    def _command(self, command: dict):
        """Performs the out-of-band commands of the example apps with `hearth sim`."""
        if buttons.press(self.bench, command) or appliances.perform(self.bench, command):
            return
        name = command.get("Name")
        if name == "SimulateConfigurationVersionChange":
            path = f"{buttons.DEVICE}.0.basicInformation.configurationVersion"
            self.bench.sim("set", f"{path}={int(self.bench.sim('get', path)) + 1}")
            return
        if name == "SetOccupancy":
            self.bench.sim("set", f"{buttons.DEVICE}.occupancySensing.occupancy={command['Occupancy']}")
            return
        raise Failed(f"the runner does not know the out-of-band command {name}: {command}")
