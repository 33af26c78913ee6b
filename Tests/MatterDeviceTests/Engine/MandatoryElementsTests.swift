import MatterClusters
import MatterModel
import MatterProtocol
import MatterTLV
import Testing

@testable import MatterDevice

/// What the standard demands of a server with its features is served, and holds more than nobody's zero.
struct MandatoryElementsTests {
  /// Attributes of the node's own servers for which the plainest value is the right one, though no declaration says so.
  private static let trulyZero: Set<String> = [
    "AccessControl.ACL", "GroupKeyManagement.GroupKeyMap",
    // The device of these tests has no name, and no test event triggers.
    "BasicInformation.NodeLabel", "GeneralDiagnostics.TestEventTriggersEnabled",
    // Nothing is known of the network interfaces of a test's device.
    "GeneralDiagnostics.NetworkInterfaces", "GeneralDiagnostics.BootReason",
    // It has not run for an hour.
    "GeneralDiagnostics.TotalOperationalHours",
  ]

  @Test func theNodesOwnServersAreComplete() throws {
    var lab = try Lab()
    for cluster in lab.device.context.node.clusters {
      let server = cluster.server
      let name = server.cluster.name
      #expect(cluster.path.endpoint != 0 || server.missingCommands.isEmpty, "\(name): \(server.missingCommands)")
      for element in server.cluster.elements {
        switch element.info {
        case .attribute(let info)
        where !info.quality.contains(.provisional) && info.conformance.requires(server.features):
          #expect(server.attributes[info.id] != nil, "\(name).\(info.name)")
        case .event(let info) where info.conformance.requires(server.features):
          #expect(server.events[info.id] != nil, "\(name).\(info.name)")
        default: break
        }
      }
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
      #expect(value != info.schema.zero || Self.trulyZero.contains(name), "\(name) was never given a value")
    }
  }

  /// MatterProtocol may not import the clusters' facts, so what handshakes state is written there once more.
  @Test func handshakesAndBasicInformationStateTheSameVersion() {
    #expect(SessionParameters.own.specificationVersion == SpecificationVersion.current)
    #expect(SessionParameters.own.dataModelRevision == SpecificationVersion.dataModelRevision)
  }

  /// Whoever reads an attribute that nobody set gets the zero of its type, so that must be one of its values.
  @Test func everyTypeHasAZero() {
    for cluster in ClusterCatalogue.all {
      for info in cluster.allAttributes { #expect(info.isWellFormed(info.schema.zero), "\(cluster.name).\(info.name)") }
    }
  }
}
