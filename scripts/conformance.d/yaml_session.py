"""Runs YAML suites one after another with the SDK's controller, in namespace b. Started by yaml_tests.py.

Reads one job per line from standard input and answers each with one line of JSON on standard output. In between it may
request an action on the device, `{"action": "restart"}`, and waits for a line. All other output is in the log.
"""

import argparse
import asyncio
import glob
import json
import logging
import os
import sys
import time
import traceback

parser = argparse.ArgumentParser(prog="yaml_session")
parser.add_argument("--directory", required=True, help="the directory of the controller's state")
parser.add_argument("--sdk", required=True, help="the checkout that contains the suites")
parser.add_argument("--trust-store", required=True)
parser.add_argument("--facts", required=True, help="pics.yaml")
arguments = parser.parse_args()

answers = os.fdopen(os.dup(1), "w")


def log_to(path: str):
    """Native code of the SDK also writes to standard output and error."""
    log = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    os.dup2(log, 1)
    os.dup2(log, 2)
    os.close(log)


log_to(os.path.join(arguments.directory, "session.log"))
logging.basicConfig(level=logging.INFO, format="%(asctime)s.%(msecs)03d %(name)s: %(message)s", datefmt="%H:%M:%S")

import chip.native  # noqa: E402
from chip import CertificateAuthority, ChipStack  # noqa: E402
from chip.discovery import DiscoveryType  # noqa: E402
from matter.yamltests import constraints  # noqa: E402
from matter.yamltests.definitions import SpecDefinitionsFromPaths  # noqa: E402
from matter.yamltests.hooks import TestRunnerHooks  # noqa: E402
from matter.yamltests.parser import TestParser, TestParserConfig  # noqa: E402
from matter.yamltests.pseudo_clusters.pseudo_clusters import get_default_pseudo_clusters  # noqa: E402
from matter.yamltests.runner import TestRunner, TestRunnerConfig, TestRunnerOptions  # noqa: E402

import yaml_pics as pics  # noqa: E402
from yaml_actions import BENCH, Runner, bench  # noqa: E402
from yaml_suites import Suite  # noqa: E402

NODE = 0x12344321  # the node ID that all suites expect
MARGIN = 300  # seconds added to the timeout of a suite, for a busy machine
# Attributes that configure others: a step that accesses one does not count as a test of the cluster.
CONFIGURATION = {"Options"}
FABRICS = {"alpha": 1, "beta": 2, "gamma": 3}


async def next_line() -> str:
    return await asyncio.get_running_loop().run_in_executor(None, sys.stdin.readline)


def write(message: dict):
    print(json.dumps(message), file=answers, flush=True)


async def request_action(name: str):
    write({"action": name})
    answer = json.loads(await next_line())
    if "error" in answer:
        raise RuntimeError(answer["error"])


# Types with the names of the standard in some suites, and the names that the SDK's check knows.
TYPES = {"epoch-s": "epoch_s", "energy-mWh": "int64s"}
check_type = constraints._ConstraintType.check_response


def check_named_type(self, value, type_name):
    self._type = TYPES.get(self._type, self._type)
    return check_type(self, value, type_name)


constraints._ConstraintType.check_response = check_named_type


class Steps(TestRunnerHooks):
    """Records the result of each step."""

    def __init__(self, subject: str):
        self.subject = subject.replace(" ", "").replace("/", "")
        # The number of executed steps, and of the ones that test the cluster of the suite instead of preparing other steps.
        self.ran, self.relevant = 0, 0
        self.skipped, self.manual, self.failures = [], 0, []

    def count(self, request):
        if request.cluster in BENCH:
            return
        self.ran += 1
        subject = request.cluster.replace(" ", "").replace("/", "")
        self.relevant += not self.subject or (subject == self.subject and request.attribute not in CONFIGURATION)

    def step_skipped(self, name, expression):
        logging.info("--- skipped: %s (%s)", name, expression)
        self.skipped.append(expression)

    def step_start(self, request):
        logging.info("--- step %d: %s", request.step_index, request.label)

    def step_success(self, logger, logs, duration, request):
        self.count(request)

    def step_failure(self, logger, logs, duration, request, received):
        self.count(request)
        reasons = [f"{entry.message}{f' ({entry.exception})' if entry.exception else ''}"
                   for entry in logger.entries if entry.is_error()]
        text = f"step {request.step_index} ({' '.join((request.label or '').split())[:90]}): {'; '.join(reasons)}"
        logging.error("--- FAILED %s, received %s", text, received)
        self.failures.append(" ".join(text.split()))

    async def step_manual(self, request=None):
        self.manual += 1

    def test_stop(self, *arguments):
        """The SDK declares two parameters and passes one argument."""


class SuiteRunner(TestRunner):
    def __init__(self, runner: Runner):
        self.runner = runner

    async def execute(self, request):
        return await self.runner.execute(request)


class Session:
    def __init__(self):
        chip.native.Init()
        directory = arguments.directory
        self.stack = ChipStack.ChipStack(persistentStoragePath=f"{directory}/controller.json", enableServerInteractions=False)
        self.authorities = CertificateAuthority.CertificateAuthorityManager(self.stack, self.stack.GetStorageManager())
        self.authority = self.authorities.NewCertificateAuthority()
        self.controllers = {}
        models = glob.glob(os.path.join(arguments.sdk, "src/app/zap-templates/zcl/data-model/chip/*.xml"))
        self.definitions = SpecDefinitionsFromPaths(sorted(models), get_default_pseudo_clusters())
        self.facts = pics.Facts(arguments.facts)

    def controller(self, identity: str):
        if identity not in self.controllers:
            admin = self.authority.NewFabricAdmin(vendorId=0xFFF1, fabricId=FABRICS[identity])
            self.controllers[identity] = admin.NewController(paaTrustStorePath=arguments.trust_store)
        return self.controllers[identity]

    async def run(self, job: dict) -> dict:
        """Runs a suite on an uncommissioned device."""
        log_to(os.path.join(job["folder"], "suite.log"))
        suite, endpoint = Suite(job["suite"]), job["endpoint"]
        logging.info("=== %s on endpoint %d", suite.name, endpoint)
        alpha = self.controller("alpha")
        for controller in self.controllers.values():
            controller.ExpireSessions(NODE)
        await alpha.CommissionWithCode(job["qr"], NODE, DiscoveryType.DISCOVERY_NETWORK_ONLY)
        served = await pics.read_served(alpha, NODE)
        with open(os.path.join(job["folder"], "served.json"), "w") as file:
            json.dump({number: sorted(f"{cluster:#06x}" for cluster in clusters) for number, clusters in served.items()}, file)
        groups = pics.endpoints_with(served, pics.GROUPS)
        if suite.endpoint == 0 and groups:
            endpoint = groups[0]  # suites of the root may need an application endpoint
        codes = self.facts.of_target(served, endpoint)
        if refused := suite.refused_by(codes):
            return {"outcome": "skip", "reason": f"needs {refused}, which the device does not have"}
        if suite.commissions_device:
            await request_action("factory_reset")
            alpha.ExpireSessions(NODE)
        codes_file = os.path.join(job["folder"], "pics.txt")
        pics.write(codes, codes_file)
        override = suite.settings(endpoint, groups, job)
        suite_parser = TestParser(suite.path, TestParserConfig(codes_file, self.definitions, override))
        if lacking := self.wrong_assumption(suite_parser, served):
            return {"outcome": "skip", "reason": f"the suite assumes that {lacking}"}
        suite_parser.timeout += MARGIN
        steps = Steps(suite.config.get("cluster", ""))
        runner = Runner(self.definitions, self.controller)
        config = TestRunnerConfig(runner, bench(request_action), TestRunnerOptions(stop_on_error=False), steps)
        try:
            status = await SuiteRunner(runner)._run_with_timeout(suite_parser, config)
        finally:
            runner.shutdown()
        if isinstance(status, BaseException):
            traceback.print_exception(status)
            steps.failures.append(f"{type(status).__name__}: {' '.join(str(status).split())[:300]}")
        counts = f"{steps.ran} steps" + (f", {len(steps.skipped)} more do not apply" if steps.skipped else "")
        if steps.failures:
            return {"outcome": "fail", "reason": steps.failures[0], "failures": steps.failures}
        if steps.relevant == 0:
            lacking = sorted({expression for expression in steps.skipped if expression})
            return {"outcome": "skip", "reason": f"of {len(steps.skipped) + steps.ran} steps {steps.ran} are left, which only "
                    "prepare the others: the device does not have " + ", ".join(lacking)}
        return {"outcome": "pass", "reason": counts}

    def wrong_assumption(self, suite_parser: TestParser, served: pics.Served) -> str:
        """Returns a cluster that steps use without its PICS on an endpoint that lacks it."""
        for step in suite_parser.tests._tests:
            number = self.definitions.get_cluster_id_by_name(step.cluster)
            if not step.is_pics_enabled or number is None or number > 0xFFFF or not isinstance(step.endpoint, int):
                continue
            if step.group_id is not None:
                continue
            expected = any("error" in response for response in step.responses_with_placeholders)
            if step.endpoint in served and number not in served[step.endpoint] and not expected:
                return f"endpoint {step.endpoint} serves {step.cluster}"
        return ""


async def main():
    session = Session()
    while line := await next_line():
        begin = time.monotonic()
        try:
            answer = await session.run(json.loads(line))
        except Exception as error:
            traceback.print_exc()
            answer = {"outcome": "fail", "reason": f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"}
        answer["seconds"] = time.monotonic() - begin
        write(answer)
    # The destructors of the SDK's native library abort, so exit without them.
    os._exit(0)


asyncio.run(main())
