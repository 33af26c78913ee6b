"""Runs one certification script in namespace b. Writes the result of each test and the number of executed steps.

    launch.py OVERLAY RESULTS SOCKET PIPE SCRIPT ARGUMENTS…
"""

import asyncio
import json
import os
import re
import runpy
import socket
import sys
from concurrent.futures import ThreadPoolExecutor

overlay, results_path, socket_path, pipe_path, script, *arguments = sys.argv[1:]

import chip  # noqa: E402
import released_closures  # noqa: E402
import released_controller  # noqa: E402
import yaml_pics  # noqa: E402

# The wheel has `chip`, the checkout `chip.testing`.
chip.__path__.append(os.path.join(overlay, "chip"))

import chip.testing.matter_testing as matter_testing  # noqa: E402
import chip.testing.runner as runner  # noqa: E402
from chip import ChipDeviceCtrl  # noqa: E402
from mobly import records, signals  # noqa: E402

# Of namespace b, see scripts/lab.
OWN_ADDRESSES = {"10.77.0.2", "fd77::2"}

tests: list[dict] = []
steps = {"begun": 0, "skipped": 0, "defined": 0}
skipped: set[int] = set()  # a script may mark a step several times
prompts: list[str] = []


class Hooks(runner.InternalTestRunnerHooks):
    """Counts the steps."""

    def test_start(self, filename, name, count, steps=[]):  # noqa: B006 (the signature is the SDK's)
        super().test_start(filename, name, count, steps)
        reset(count)

    def step_start(self, name):
        super().step_start(name)
        steps["begun"] += 1

    def step_skipped(self, name, expression):
        super().step_skipped(name, expression)
        skipped.add(steps["begun"])
        steps["skipped"] = len(skipped)


def reset(count: int):
    steps.update(begun=0, skipped=0, defined=count)
    skipped.clear()
    prompts.clear()
    released_controller.not_sent.clear()


def save():
    with open(results_path, "w") as file:
        json.dump(tests, file)


add_record = records.TestResult.add_record


def record_result(self, record):
    add_record(self, record)
    signal = record.termination_signal
    tests.append({
        "class": record.test_class, "test": record.test_name, "result": record.result,
        "details": str(record.details or ""), "begun": steps["begun"], "skipped": steps["skipped"],
        "defined": steps["defined"], "seconds": ((record.end_time or 0) - (record.begin_time or 0)) / 1000,
        "where": (signal.stacktrace or "")[-2000:] if signal else "", "prompts": list(prompts),
        "not_sent": list(released_controller.not_sent),
    })
    save()
    reset(0)


def send(request: dict) -> dict:
    """Requests a physical action from the runner; returns its answer."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(60)
        connection.connect(socket_path)
        connection.sendall(json.dumps(request).encode() + b"\n")
        answer = connection.makefile().readline()
    return json.loads(answer)


def answer_prompt(self, prompt_msg="", prompt_msg_placeholder="", default_value="y", **others):
    text = prompt_msg or others.get("promt_msg", "")
    prompts.append(text)
    return send({"prompt": text, "default": default_value}).get("answer")


def perform_command(self, command_dict, app_pipe=None):
    endpoint = self.matter_test_config.endpoint or 0
    # Scripts do not name the endpoint of a bridged device.
    command = {"EndpointId": endpoint, **command_dict} if endpoint > 1 else command_dict
    write_to_app_pipe(self, command, pipe_path)


def skip_legacy_list(self, *_, **__):
    # Required by the scripts, but missing in the released controller.
    raise signals.TestSkip("the released Python controller can't write lists in the older encoding; all steps with the newer "
                           "one passed before this")


# The released controller is older than the scripts: its commissioning lacks a stage after the 13th.
LAST_COMMON_STAGE = 13
set_stage = ChipDeviceCtrl.ChipDeviceController.SetTestCommissionerPrematureCompleteAfter


def set_stage_of_released_controller(self, stage):
    return set_stage(self, stage - 1 if stage > LAST_COMMON_STAGE else stage)


async def service_of_device(self, service_type, log_output, discovery_timeout_sec, expected_value=None):
    """The scripts use the first service of a type, which may be that of their own controller."""
    found = await get_service(self, service_type, log_output, discovery_timeout_sec, expected_value)
    if found is None or expected_value is not None:
        return found
    others = [entry for entry in self._discovered_services[service_type.value]
              if not OWN_ADDRESSES & set(entry.addresses or [])]
    return others[0] if others else found


async def record_of_device(self, service_name, record_type, **others):
    """The scripts take the last datagram as the answer to a query for an address, but that may be one of their own queries."""
    found = await get_record(self, service_name, record_type, **others)
    if found is not None or record_type not in ADDRESSES:
        return found
    begin = current_time_millis() - QUERY_TIME
    records = self._zc.cache.get_all_by_details(service_name, ADDRESSES[record_type], const._CLASS_IN)
    return next((record for record in records if record.created >= begin), None)


FACTS = yaml_pics.Facts(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "conformance-data",
                                     "pics.yaml"))
parse_arguments = runner.parse_matter_test_args
set_up = matter_testing.MatterBaseTest.setup_test
write_to_app_pipe = matter_testing.MatterBaseTest.write_to_app_pipe


def arguments_with_facts(*given):
    config = parse_arguments(*given)
    config.pics = dict(FACTS.others)
    return config


def set_up_with_pics(self):
    """Provides the PICS of the device to a script."""
    if asks_for_pics and not self.is_commissioning:
        # On a separate thread and loop, because some scripts do this while their loop runs.
        with ThreadPoolExecutor(1) as pool:
            served = pool.submit(
                asyncio.run, yaml_pics.read_served(self.default_controller, self.dut_node_id)).result()
        codes = FACTS.of_target(served, self.matter_test_config.endpoint or 0)
        self.matter_test_config.pics.update({code: True for code in codes})
    set_up(self)


def asks_for_pics_in(path):
    """Whether a script or one of the scripts that it imports asks for PICS of the device."""
    with open(path) as file:
        text = file.read()
    imported = [os.path.join(os.path.dirname(path), name + ".py") for name in re.findall(r"^from (\w+) import", text, re.M)]
    return (re.search(r"check_pics\((?!f?[\"']PICS_)", text) is not None
            or any(asks_for_pics_in(other) for other in imported if os.path.exists(other)))


asks_for_pics = asks_for_pics_in(script)
runner.parse_matter_test_args = arguments_with_facts
matter_testing.MatterBaseTest.setup_test = set_up_with_pics
records.TestResult.add_record = record_result
if not hasattr(ChipDeviceCtrl.ChipDeviceController, "TestOnlyWriteAttributeWithLegacyList"):
    ChipDeviceCtrl.ChipDeviceController.TestOnlyWriteAttributeWithLegacyList = skip_legacy_list
    ChipDeviceCtrl.ChipDeviceController.SetTestCommissionerPrematureCompleteAfter = set_stage_of_released_controller
released_controller.install()
released_closures.install()
runner.InternalTestRunnerHooks = Hooks
matter_testing.MatterBaseTest.wait_for_user_input = answer_prompt
matter_testing.MatterBaseTest.write_to_app_pipe = perform_command

sys.path.insert(0, os.path.dirname(script))
from mdns_discovery.mdns_discovery import DNSRecordType, MdnsDiscovery  # noqa: E402
from zeroconf import const, current_time_millis  # noqa: E402

ADDRESSES = {DNSRecordType.A: const._TYPE_A, DNSRecordType.AAAA: const._TYPE_AAAA}
QUERY_TIME = 3000  # of the scripts, in milliseconds
get_service, get_record = MdnsDiscovery._get_service, MdnsDiscovery.get_service_by_record_type
MdnsDiscovery._get_service, MdnsDiscovery.get_service_by_record_type = service_of_device, record_of_device

save()
sys.argv = [script, *arguments]
runpy.run_path(script, run_name="__main__")
