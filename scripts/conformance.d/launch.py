"""Runs one certification script, in namespace b. Writes what each of its tests came to, and how many steps really ran.

    launch.py OVERLAY RESULTS SOCKET SCRIPT ARGUMENTS…
"""

import json
import os
import runpy
import socket
import sys

overlay, results_path, socket_path, script, *arguments = sys.argv[1:]

import chip  # noqa: E402

# The wheel has `chip`, the checkout `chip.testing`.
chip.__path__.append(os.path.join(overlay, "chip"))

import chip.testing.matter_testing as matter_testing  # noqa: E402
import chip.testing.runner as runner  # noqa: E402
from mobly import records  # noqa: E402

tests: list[dict] = []
steps = {"begun": 0, "skipped": 0, "defined": 0}
prompts: list[str] = []


class Hooks(runner.InternalTestRunnerHooks):
    """Counts."""

    def test_start(self, filename, name, count, steps=[]):  # noqa: B006 (the signature is the SDK's)
        super().test_start(filename, name, count, steps)
        reset(count)

    def step_start(self, name):
        super().step_start(name)
        steps["begun"] += 1

    def step_skipped(self, name, expression):
        super().step_skipped(name, expression)
        steps["skipped"] += 1


def reset(count: int):
    steps.update(begun=0, skipped=0, defined=count)
    prompts.clear()


def save():
    with open(results_path, "w") as file:
        json.dump(tests, file)


add_record = records.TestResult.add_record


def recording(self, record):
    add_record(self, record)
    signal = record.termination_signal
    tests.append({
        "class": record.test_class, "test": record.test_name, "result": record.result,
        "details": str(record.details or ""), "begun": steps["begun"], "skipped": steps["skipped"],
        "defined": steps["defined"], "seconds": ((record.end_time or 0) - (record.begin_time or 0)) / 1000,
        "where": (signal.stacktrace or "")[-2000:] if signal else "", "prompts": list(prompts),
    })
    save()
    reset(0)


def ask(request: dict) -> dict:
    """What a person at the device would do: the runner does it."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(60)
        connection.connect(socket_path)
        connection.sendall(json.dumps(request).encode() + b"\n")
        answer = connection.makefile().readline()
    return json.loads(answer)


def answered(self, prompt_msg="", prompt_msg_placeholder="", default_value="y", **others):
    text = prompt_msg or others.get("promt_msg", "")
    prompts.append(text)
    answer = ask({"prompt": text, "default": default_value})
    return answer.get("answer")


def to_device(self, command_dict, app_pipe=None):
    answer = ask({"command": command_dict})
    if "error" in answer:
        raise matter_testing.TestError(answer["error"])


records.TestResult.add_record = recording
runner.InternalTestRunnerHooks = Hooks
matter_testing.MatterBaseTest.wait_for_user_input = answered
matter_testing.MatterBaseTest.write_to_app_pipe = to_device

save()
sys.argv = [script, *arguments]
sys.path.insert(0, os.path.dirname(script))
runpy.run_path(script, run_name="__main__")
