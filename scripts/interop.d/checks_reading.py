"""Checks reads: global attributes agree with the served elements, descriptors with the endpoints."""

from devices import TYPES
from harness import check, expect, expect_equal
from sdk_controller import AttributePath, Clusters, Status, ValueDecodeFailure, status_of

GENERATED_COMMANDS, ACCEPTED_COMMANDS, ATTRIBUTES, FEATURES, REVISION = 0xFFF8, 0xFFF9, 0xFFFB, 0xFFFC, 0xFFFD
GLOBAL = {GENERATED_COMMANDS, ACCEPTED_COMMANDS, ATTRIBUTES, FEATURES, REVISION}
# Descriptor, Access Control, Basic Information, General and Network Commissioning, General Diagnostics,
# Administrator Commissioning, Operational Credentials, Group Key Management.
ROOT = {0x1D, 0x1F, 0x28, 0x30, 0x31, 0x33, 0x3C, 0x3E, 0x3F}


@check("wildcard read of all attributes")
async def everything(target):
    response = await target.a.controller.Read(target.node, [()])
    for endpoint, clusters in response.tlvAttributes.items():
        for cluster, attributes in clusters.items():
            where = f"{endpoint}/{cluster:#06x}"
            for attribute, value in attributes.items():
                expect(not isinstance(value, ValueDecodeFailure), f"{where}/{attribute:#06x} reports {value}")
            missing = GLOBAL - set(attributes)
            expect(not missing, f"{where} lacks global attributes {sorted(map(hex, missing))}")
            listed, served = set(attributes[ATTRIBUTES]), set(attributes)
            expect(len(attributes[ATTRIBUTES]) == len(listed), f"{where}: AttributeList has duplicates")
            expect_equal(sorted(map(hex, listed)), sorted(map(hex, served)), f"{where}: AttributeList")
            expect(attributes[REVISION] >= 1, f"{where}: ClusterRevision is {attributes[REVISION]}")
            for commands in (GENERATED_COMMANDS, ACCEPTED_COMMANDS):
                numbers = attributes[commands]
                expect(len(numbers) == len(set(numbers)), f"{where}/{commands:#x} has duplicates")


@check("descriptors match the endpoints")
async def descriptors(target):
    response = await target.a.controller.Read(target.node, [()])
    found = response.tlvAttributes
    parts = found[0][0x1D][3]
    expect_equal(sorted(parts), sorted(set(found) - {0}), "PartsList of the root")
    for endpoint, clusters in found.items():
        expect_equal(sorted(map(hex, clusters[0x1D][1])), sorted(map(hex, clusters)), f"ServerList of endpoint {endpoint}")
        expect(clusters[0x1D][0], f"endpoint {endpoint} has no device type")
    types = {endpoint: [entry[0] for entry in clusters[0x1D][0]] for endpoint, clusters in found.items()}
    expect(0x0016 in types[0], f"the root node's device types are {types[0]}")
    missing = ROOT - set(found[0])
    expect(not missing, f"the root endpoint lacks {sorted(map(hex, missing))}")
    expect(target.type_id in types[target.endpoint], f"device types {types}")
    missing = TYPES[target.type_id][1] - set(found[target.endpoint])
    expect(not missing, f"endpoint {target.endpoint} lacks {sorted(map(hex, missing))}")


@check("every value decodes by the SDK's schema")
async def schema(target):
    response = await target.a.controller.Read(target.node, [()])
    for endpoint, clusters in response.attributes.items():
        for cluster, attributes in clusters.items():
            for attribute, value in attributes.items():
                expect(not isinstance(value, ValueDecodeFailure), f"{endpoint}/{attribute}: {value}")
    response = await target.a.controller.Read(target.node, [()], returnClusterObject=True)
    for endpoint, clusters in response.attributes.items():
        for cluster, value in clusters.items():
            expect(not isinstance(value, ValueDecodeFailure), f"{endpoint}/{cluster.__name__}: {getattr(value, 'Reason', '')}")


@check("states Matter 1.4.2 and its identity")
async def identity(target):
    basic = Clusters.BasicInformation.Attributes
    expect_equal(await target.read(basic.SpecificationVersion, 0), 0x01040200, "SpecificationVersion")
    expect_equal(await target.read(basic.DataModelRevision, 0), 19, "DataModelRevision")
    expect(await target.read(basic.VendorID, 0) in range(0xFFF1, 0xFFF5), "VendorID is not a test vendor")
    expect(await target.read(basic.UniqueID, 0), "UniqueID is empty")
    minima = await target.read(basic.CapabilityMinima, 0)
    expect(minima.caseSessionsPerFabric >= 3, f"CaseSessionsPerFabric is {minima.caseSessionsPerFabric}")
    expect(minima.subscriptionsPerFabric >= 3, f"SubscriptionsPerFabric is {minima.subscriptionsPerFabric}")


@check("wildcards over endpoint, cluster and attribute")
async def wildcards(target):
    response = await target.a.controller.Read(target.node, [Clusters.Descriptor.Attributes.ServerList])
    expect({0, target.endpoint} <= set(response.tlvAttributes), f"ServerList of endpoints {set(response.tlvAttributes)}")
    response = await target.a.controller.Read(target.node, [(target.endpoint, Clusters.OnOff)])
    expect_equal(set(response.tlvAttributes), {target.endpoint}, "endpoints in the report")
    expect_equal(set(response.tlvAttributes[target.endpoint]), {0x0006}, "clusters in the report")
    # A wildcard without a match is not an error.
    response = await target.a.controller.Read(target.node, [Clusters.DoorLock])
    expect_equal(response.tlvAttributes, {}, "report of a cluster that is nowhere")


@check("data version filter omits known values")
async def data_version(target):
    paths = [(target.endpoint, Clusters.OnOff), (target.endpoint, Clusters.Identify)]
    first = await target.a.controller.Read(target.node, paths, returnClusterObject=True)
    version = first.attributes[target.endpoint][Clusters.OnOff].data_version
    filters = [(target.endpoint, Clusters.OnOff, version)]
    second = await target.a.controller.Read(target.node, paths, dataVersionFilters=filters)
    expect_equal(set(second.tlvAttributes[target.endpoint]), {Clusters.Identify.id}, "clusters read with a filter")
    await target.send(Clusters.OnOff.Commands.Toggle())
    third = await target.a.controller.Read(target.node, paths, dataVersionFilters=filters)
    expect(Clusters.OnOff.id in third.tlvAttributes[target.endpoint], "a changed cluster is still filtered out")


@check("status for each unknown path")
async def absent(target):
    read = target.a.read_path
    endpoint = target.endpoint
    expect_equal(await status_of(read(target.node, 99, 0x0006, 0)), Status.UnsupportedEndpoint, "unknown endpoint")
    expect_equal(await status_of(read(target.node, endpoint, 0x0101, 0)), Status.UnsupportedCluster, "unknown cluster")
    # At most 0x4FFF: larger numbers are not attribute IDs, and the SDK drops their status.
    expect_equal(await status_of(read(target.node, endpoint, 0x0006, 0x0777)), Status.UnsupportedAttribute,
                 "unknown attribute")
    # An invalid path does not affect others in the same request.
    response = await target.a.controller.Read(
        target.node, [AttributePath(99, 6, 0), AttributePath(endpoint, 6, 0), AttributePath(0, 0x28, 0)])
    expect(isinstance(response.tlvAttributes[endpoint][6][0], bool), "the good path among bad ones was not read")


@check("data version changes only with the data")
async def version_moves(target):
    async def version():
        response = await target.a.controller.Read(target.node, [(target.endpoint, Clusters.OnOff)], returnClusterObject=True)
        return response.attributes[target.endpoint][Clusters.OnOff].data_version

    await target.send(Clusters.OnOff.Commands.On())
    before = await version()
    expect_equal(await version(), before, "data version without a change")
    await target.send(Clusters.OnOff.Commands.Off())
    expect(await version() != before, "the data version is the same after a change")
