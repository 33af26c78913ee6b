"""The controller of the Matter SDK with two fabrics, each with its own root. A call raises an error unless it succeeds."""

import asyncio
import statistics
import time
from typing import Any, Optional

import chip.clusters as Clusters
import chip.native
from chip import CertificateAuthority, ChipStack
from chip.ChipDeviceCtrl import ChipDeviceController
from chip.clusters import Attribute
from chip.clusters.Attribute import AttributePath, ValueDecodeFailure
from chip.discovery import DiscoveryType, FilterType
from chip.exceptions import ChipStackError, ChipStackException
from chip.interaction_model import InteractionModelError, Status
from chip.setup_payload import SetupPayload

from harness import Failed

__all__ = [
    "AttributePath", "ChipStackError", "ChipStackException", "Clusters", "Fabric", "FilterType", "InteractionModelError",
    "SDKController", "Status", "ValueDecodeFailure", "decode_code", "status_of",
]

# One counter for both fabrics: the SDK stores sessions and addresses by node ID, so no ID is used twice.
_next_node = iter(range(0x1001, 0xFFFF))


class Fabric:
    """A fabric: its certificate authority and one controller node, an administrator."""

    def __init__(self, sdk: "SDKController", name: str, fabric_id: int, vendor_id: int = 0xFFF1):
        self.name = name
        self._sdk = sdk
        self.authority = sdk.authorities.NewCertificateAuthority()
        self._admin = self.authority.NewFabricAdmin(vendorId=vendor_id, fabricId=fabric_id)
        self.controller: ChipDeviceController = self._admin.NewController(nodeId=0x100, paaTrustStorePath=sdk.trust_store)

    def another_node(self) -> "Fabric":
        """Creates another controller node of the same fabric, without an access control entry."""
        other = object.__new__(Fabric)
        other.name, other._sdk, other._admin = f"{self.name}'", self._sdk, self._admin
        other.authority = self.authority
        node = max(controller.nodeId for controller in self._admin._activeControllers) + 1
        other.controller = self._admin.NewController(nodeId=node, paaTrustStorePath=self._sdk.trust_store)
        return other

    # Commissioning

    async def commission_by_passcode(self, passcode: int, discriminator: int) -> int:
        return await self._timed(lambda node: self.controller.CommissionOnNetwork(
            node, passcode, FilterType.LONG_DISCRIMINATOR, discriminator, discoveryTimeoutMsec=10000))

    async def commission_by_code(self, code: str) -> int:
        return await self._timed(lambda node: self.controller.CommissionWithCode(
            code, node, DiscoveryType.DISCOVERY_NETWORK_ONLY))

    async def _timed(self, commission, tries: int = 4) -> int:
        node = next(_next_node)
        begin = time.monotonic()
        try:
            await commission(node)
        except BaseException as error:
            # The SDK can't cancel a commissioning and refuses the next one until it ends, so use a new controller.
            self._renew()
            # It filters its query but not the answers, so a search by discriminator accepts any device that is announced
            # meanwhile. When all announcements are over it finds the right one.
            if tries > 1 and isinstance(error, ChipStackError) and "Incorrect state" in str(error):
                await asyncio.sleep(1.5)
                return await self._timed(commission, tries - 1)
            raise
        self._sdk.commissioning_times.append(time.monotonic() - begin)
        return node

    def _renew(self):
        node = self.controller.nodeId
        self.controller.Shutdown()
        self.controller = self._admin.NewController(nodeId=node, paaTrustStorePath=self._sdk.trust_store)

    async def discover(self, discriminator: int, seconds: float = 5):
        """Returns the commissionable node with the long discriminator, or None after a timeout."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            found = await self.controller.DiscoverCommissionableNodes(
                FilterType.LONG_DISCRIMINATOR, discriminator, stopOnFirst=True, timeoutSecond=left)
            # The SDK filters its query, not the answers: an announcement of another device also ends the search.
            for node in found or []:
                if node.longDiscriminator == discriminator:
                    return node
        return None

    async def unpair(self, node: int):
        await self.controller.UnpairDevice(node)

    async def establish_pase(self, code: str) -> int:
        """Establishes a PASE session. The caller sends the commands of commissioning, and calls `abandon`."""
        for left in reversed(range(4)):
            node = next(_next_node)
            try:
                await self.controller.EstablishPASESession(code, node)
                return node
            except ChipStackError as error:
                # As in `_timed`: the SDK may have selected another device.
                if left == 0 or "Incorrect state" not in str(error):
                    raise
                self._renew()
                await asyncio.sleep(1.5)

    def abandon(self):
        """Discards a commissioning that the caller started."""
        self._renew()

    # Interactions

    async def read(self, node: int, endpoint: int, attribute) -> Any:
        """Returns the value of an attribute; a status raises InteractionModelError."""
        path = AttributePath.from_attribute(endpoint, attribute)
        response = await self.controller.Read(node, [path])
        try:
            raw = response.tlvAttributes[endpoint][attribute.cluster_id][attribute.attribute_id]
            value = raw if isinstance(raw, ValueDecodeFailure) else \
                response.attributes[endpoint][Attribute._ClusterIndex[attribute.cluster_id]][attribute]
        except KeyError:
            raise Failed(f"no report for {attribute.__qualname__} of endpoint {endpoint}") from None
        if isinstance(value, ValueDecodeFailure):
            raise value.Reason
        return value

    async def read_path(self, node: int, endpoint: int, cluster: int, attribute: int) -> Any:
        """Like `read`, by numbers, also for attributes that the SDK does not define; returns the value as plain TLV."""
        response = await self.controller.Read(node, [AttributePath(endpoint, cluster, attribute)])
        try:
            value = response.tlvAttributes[endpoint][cluster][attribute]
        except KeyError:
            raise Failed(f"no report for {endpoint}/{cluster:#x}/{attribute:#x}") from None
        if isinstance(value, ValueDecodeFailure):
            raise value.Reason
        return value

    async def write(self, node: int, endpoint: int, attribute_value, **options):
        """Writes one attribute; a status other than success raises InteractionModelError."""
        for result in await self.controller.WriteAttribute(node, [(endpoint, attribute_value)], **options):
            if result.Status != Status.Success:
                raise InteractionModelError(Status(result.Status))

    async def send(self, node: int, endpoint: int, command, **options):
        """Invokes one command and returns its response, if it has one."""
        return await self.controller.SendCommand(node, endpoint, command, **options)

    async def subscribe(self, node: int, paths: list, minimum: int, maximum: int, keep: bool = False) -> "Subscription":
        """Subscribes; replaces this controller's other subscriptions to the node unless they are to be kept."""
        response = await self.controller.Read(node, paths, reportInterval=(minimum, maximum), keepSubscriptions=keep)
        return Subscription(response)


class Subscription:
    """Collects the reports of a subscription with their arrival times."""

    def __init__(self, transaction):
        self.transaction = transaction
        self.changes: asyncio.Queue = asyncio.Queue()
        self.lost: list[int] = []
        loop = asyncio.get_running_loop()

        # The SDK calls on its own thread during a report: read the value now, and enqueue it on the loop.
        def changed(path: AttributePath, transaction):
            value = transaction.GetTLVAttribute(path)
            loop.call_soon_threadsafe(
                self.changes.put_nowait, (time.monotonic(), path.EndpointId, path.ClusterId, path.AttributeId, value))

        def attempted(transaction, cause: int, next_milliseconds: int):
            self.lost.append(cause)

        transaction.SetAttributeUpdateCallback(None)
        transaction.SetRawAttributeUpdateCallback(changed)
        transaction.SetResubscriptionAttemptedCallback(attempted)

    @property
    def intervals(self) -> tuple[int, int]:
        return self.transaction.GetReportingIntervalsSeconds()

    async def next(self, endpoint: int, attribute, seconds: float = 3, where=lambda value: True):
        """Waits for a report of this attribute that satisfies the condition; returns its time and the value."""
        wanted = (endpoint, attribute.cluster_id, attribute.attribute_id)
        seen = []
        try:
            async with asyncio.timeout(seconds):
                while True:
                    moment, *path, value = await self.changes.get()
                    if tuple(path) == wanted:
                        if where(value):
                            return moment, value
                        seen.append(value)
        except TimeoutError:
            raise Failed(f"no report of {attribute.__qualname__} in {seconds} s (values seen: {seen})") from None

    def drain(self) -> list:
        found = []
        while not self.changes.empty():
            found.append(self.changes.get_nowait())
        return found

    def close(self):
        # The device is not notified; it detects the end with its next report. The SDK crashes if the subscription has ended.
        if self.transaction._readTransaction._pReadClient is not None:
            self.transaction.Shutdown()


class SDKController:
    """The stack of the SDK, with fabrics A and B."""

    def __init__(self, directory: str, trust_store: str):
        chip.native.Init()
        self.trust_store = trust_store
        self.commissioning_times: list[float] = []
        self.stack = ChipStack.ChipStack(persistentStoragePath=f"{directory}/controller.json", enableServerInteractions=True)
        self.authorities = CertificateAuthority.CertificateAuthorityManager(self.stack, self.stack.GetStorageManager())
        self.a = Fabric(self, "A", 1)
        self.b = Fabric(self, "B", 2, vendor_id=0xFFF2)
        self._node_without_access: Optional[Fabric] = None
        self._others: list[Fabric] = []

    def node_without_access(self) -> Fabric:
        """Returns a node of fabric A without an access control entry; created once."""
        if self._node_without_access is None:
            self._node_without_access = self.a.another_node()
        return self._node_without_access

    def others(self, count: int) -> list[Fabric]:
        """Returns further fabrics besides A and B, each with its own root; created once."""
        while len(self._others) < count:
            number = len(self._others) + 3
            self._others.append(Fabric(self, chr(ord("A") + number - 1), number))
        return self._others[:count]

    def figures(self) -> Optional[str]:
        times = self.commissioning_times
        if not times:
            return None
        return (f"commissioning, discovery included: median {statistics.median(times):.3f} s, "
                f"{min(times):.3f} to {max(times):.3f} s, {len(times)} times")


def decode_code(qr: str) -> dict[str, str]:
    """Returns the fields that the SDK decodes from a QR code."""
    return dict(SetupPayload().ParseQrCode(qr).attributes)


async def status_of(call) -> Status:
    """Returns the status of a call: Success, or that of the InteractionModelError that it raises."""
    try:
        await call
    except InteractionModelError as error:
        return error.status
    return Status.Success
