import MatterModel
import Testing

@testable import MatterDevice

/// Expects that a server has the mandatory elements, and valid initial values.
func expectConformance(of server: ClusterServer, sourceLocation: SourceLocation = #_sourceLocation) {
  #expect(server.violations.isEmpty, "\(server.cluster.name): \(server.violations)", sourceLocation: sourceLocation)
  for (id, served) in server.attributes {
    #expect(throws: Never.self, "\(server.cluster.name).\(served.info.name)", sourceLocation: sourceLocation) {
      try server.check(initial: #require(server.initial(of: id)), for: id)
    }
  }
}
