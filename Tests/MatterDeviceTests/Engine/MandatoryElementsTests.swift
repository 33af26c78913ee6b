import MatterClusters
import MatterModel
import MatterProtocol
import MatterTLV
import Testing

@testable import MatterDevice

/// Mandatory elements are served, and attributes have meaningful initial values.
struct MandatoryElementsTests {
  /// Attributes of the root endpoint for which zero is correct, though it is not declared as the initial value.
  private static let zeroByDefault: Set<String> = [
    "AccessControl.ACL", "GroupKeyManagement.GroupKeyMap",
    // The test device has no label and no test event triggers.
    "BasicInformation.NodeLabel", "GeneralDiagnostics.TestEventTriggersEnabled",
    // The test device has no information about its network interfaces.
    "GeneralDiagnostics.NetworkInterfaces", "GeneralDiagnostics.BootReason",
    // The device has run for less than an hour.
    "GeneralDiagnostics.TotalOperationalHours",
  ]

  @Test func servesMandatoryElements() throws {
    var lab = try Lab()
    for cluster in lab.device.context.node.clusters {
      // The On/Off server of the test device has some handlers only.
      let violations = cluster.server.violations.filter {
        if case .command = $0.element { cluster.path.endpoint == 0 } else { true }
      }
      #expect(violations.isEmpty, "\(cluster.path): \(violations)")
    }
    for (path, info) in lab.device.attributes where path.endpoint == 0 {
      let name = try #require(ClusterCatalogue.cluster(path.cluster)).name + "." + info.name
      let found = lab.device.value(of: path, at: lab.now)
      let value = try #require(found, "\(name)")
      #expect(info.isWellFormed(value), "\(name)")
      guard
        let served = lab.device.context.node.clusters.first(where: { $0.path == ClusterPath(0, path.cluster) })?
          .server.attributes[path.attribute], served.read == nil, info.initial == nil
      else { continue }
      #expect(value != info.schema.zero || Self.zeroByDefault.contains(name), "\(name) has no initial value")
    }
  }

  /// MatterProtocol may not import MatterClusters, so it declares the version of handshakes separately.
  @Test func advertisesVersionOfBasicInformation() {
    #expect(SessionParameters.own.specificationVersion == SpecificationVersion.current)
    #expect(SessionParameters.own.dataModelRevision == SpecificationVersion.dataModelRevision)
  }

  /// An attribute without an initial value starts with the zero of its type, so that zero must be valid.
  @Test func hasValidZeroForEveryType() {
    for cluster in ClusterCatalogue.standard {
      for info in cluster.allAttributes { #expect(info.isWellFormed(info.schema.zero), "\(cluster.name).\(info.name)") }
    }
  }
}
