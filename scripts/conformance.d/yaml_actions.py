"""Commands of the YAML suites to the test bench, which the SDK's runner does not support."""

import asyncio
from typing import Any

import chip.yaml.runner as sdk
from chip.clusters import OperationalCredentials
from chip.clusters.Attribute import AttributePath, ValueDecodeFailure
from chip.exceptions import ChipStackError
from chip.interaction_model import InteractionModelError
from matter.yamltests.pseudo_clusters.clusters.commissioner_commands import CommissionerCommands
from matter.yamltests.pseudo_clusters.clusters.delay_commands import DelayCommands
from matter.yamltests.pseudo_clusters.clusters.discovery_commands import DiscoveryCommands
from matter.yamltests.pseudo_clusters.clusters.equality_commands import EqualityCommands
from matter.yamltests.pseudo_clusters.clusters.log_commands import LogCommands
from matter.yamltests.pseudo_clusters.clusters.system_commands import SystemCommands
from matter.yamltests.pseudo_clusters.pseudo_clusters import PseudoClusters

# Clusters of the test bench, not of the device: their steps test nothing.
BENCH = {"DelayCommands", "EqualityCommands", "LogCommands", "SystemCommands"}


def values_of(step) -> dict[str, Any]:
    return {item["name"]: item["value"] for item in (step.arguments or {}).get("values", [])}


class Delays(DelayCommands):
    async def WaitForMs(self, request):
        # The SDK's runner would block here, and delay reports.
        await asyncio.sleep(int(values_of(request)["ms"]) / 1000)


class System(SystemCommands):
    """Requests reboots and resets from the process that runs the device."""

    def __init__(self, request_action):
        self.request_action = request_action

    async def Reboot(self, request):
        await self.request_action("restart")

    async def FactoryReset(self, request):
        await self.request_action("factory_reset")

    async def Start(self, request):
        await self.request_action("start")

    async def Stop(self, request):
        await self.request_action("stop")


def bench(request_action) -> PseudoClusters:
    return PseudoClusters([
        CommissionerCommands(), Delays(), DiscoveryCommands(), EqualityCommands(), LogCommands(), System(request_action),
    ])


class ReadById(sdk.BaseAction):
    """AnyCommands ReadById: reads an attribute by ID."""

    def __init__(self, step):
        super().__init__(step)
        values = values_of(step)
        self.node, self.endpoint = step.node_id, step.endpoint
        self.cluster, self.attribute = int(values["ClusterId"]), int(values["AttributeId"])

    async def run_action(self, controller):
        try:
            response = await controller.Read(self.node, [AttributePath(self.endpoint, self.cluster, self.attribute)])
        except InteractionModelError as error:
            return sdk._ActionResult(status=sdk._ActionStatus.ERROR, response=error)
        value = response.tlvAttributes[self.endpoint][self.cluster][self.attribute]
        if isinstance(value, ValueDecodeFailure):
            return sdk._ActionResult(status=sdk._ActionStatus.ERROR, response=value.Reason)
        return sdk._ActionResult(status=sdk._ActionStatus.SUCCESS, response={"value": value})


class RootCertificate(sdk.BaseAction):
    """CommissionerCommands GetCommissionerRootCertificate: of the last issued chain."""

    def __init__(self, step, chains: dict):
        super().__init__(step)
        self.chains = chains

    async def run_action(self, controller):
        chain = self.chains.get(self.identity)
        if chain is None:
            return sdk._ActionResult(status=sdk._ActionStatus.ERROR, response=None)
        return sdk._ActionResult(status=sdk._ActionStatus.SUCCESS, response={"value": {"RCAC": chain.rcacBytes}})


class IssueChain(sdk.BaseAction):
    """CommissionerCommands IssueNocChain."""

    def __init__(self, step, chains: dict):
        super().__init__(step)
        self.values, self.chains = values_of(step), chains

    async def run_action(self, controller):
        request = OperationalCredentials.Commands.CSRResponse(NOCSRElements=self.values["Elements"])
        chain = self.chains[self.identity] = await controller.IssueNOCChain(request, self.values["nodeId"])
        return sdk._ActionResult(status=sdk._ActionStatus.SUCCESS, response={"value": {
            "NOC": chain.nocBytes, "ICAC": chain.icacBytes, "RCAC": chain.rcacBytes, "IPK": chain.ipkBytes}})


class Runner(sdk.ReplTestRunner):
    """The SDK's runner with controllers that use the attestation roots."""

    def __init__(self, definitions, controllers):
        super().__init__(definitions, None, controllers("alpha"))
        self.controllers = controllers
        self.chains: dict = {}

    def _get_dev_ctrl(self, action):
        return self.controllers(action.identity or "alpha")

    def encode(self, request):
        if request.cluster == "AnyCommands" and request.command == "ReadById":
            return ReadById(request)
        if request.cluster == "CommissionerCommands" and request.command == "GetCommissionerRootCertificate":
            return RootCertificate(request, self.chains)
        if request.cluster == "CommissionerCommands" and request.command == "IssueNocChain":
            return IssueChain(request, self.chains)
        return super().encode(request)

    async def execute(self, action):
        try:
            return await super().execute(action)
        except ChipStackError as error:
            # For example no answer. The SDK's runner accepts this as the result of a read only.
            return sdk._ActionResult(status=sdk._ActionStatus.ERROR, response=error)

    def decode(self, result):
        # No device was found; the SDK's runner returns a text.
        decoded = {"error": "FAILURE"} if isinstance(result.response, str) else super().decode(result)
        return (decoded if len(decoded) else [{}]), []
