public import Home
internal import MatterClusters
internal import MatterDevice
internal import MatterModel
internal import MatterProtocol
internal import Runtime
internal import Simulation
internal import VirtualDevices

/// Where a home is wrong about a device.
public struct Disagreement: Hashable, Sendable, CustomStringConvertible {
  public var device: String
  /// What is not as it is.
  public var what: String

  public var description: String { "\(device): \(what)" }
}

extension SimulatedHome {
  /// What a device does and what it is called; the rest are facts that don't change, or the device's own books.
  private static let clusters: [(id: ClusterID, unreported: Set<AttributeID>)] = [
    clusterFacts(OnOff.self), clusterFacts(LevelControl.self), clusterFacts(ColorControl.self),
    clusterFacts(Switch.self), clusterFacts(BridgedDeviceBasicInformation.self), clusterFacts(Descriptor.self),
  ]

  /// Where the home says another value than the device has: the first attribute of each device.
  /// - Parameter state: what the home says.
  func staleValues(_ state: HomeState) -> [Disagreement] {
    // Told by the unique id: that is how both know it.
    var nodes: [String: NodeID] = [:]
    for entry in state.devices.values {
      for source in entry.sources where !source.id.isBridged {
        if let id = source.identity.uniqueID { nodes[id] = source.id.node }
      }
    }
    return parts.map(\.device).compactMap { device in
      guard let host = device.host, let node = nodes[device.definition.uniqueID], let known = state.values[node] else {
        return nil
      }
      let what = host.perform { engine, now -> String? in
        for endpoint in known.endpointIDs {
          for cluster in Self.clusters {
            for entry in known[endpoint, cluster.id]?.entries ?? [] where !cluster.unreported.contains(entry.attribute)
            {
              let path = ConcreteAttributePath(endpoint, cluster.id, entry.attribute)
              guard let value = engine.value(of: path, at: now), value != entry.value else { continue }
              return "\(path) is \(hexadecimal(value)), and the home has \(hexadecimal(entry.value))"
            }
          }
        }
        return nil
      }
      return what.map { Disagreement(device: device.definition.path, what: $0) }
    }
  }

  /// Where the home and the devices that can be reached don't agree: connectivity first, then values.
  public func disagreements() async throws(HomeError) -> [Disagreement] {
    let home = try home
    let said = try await states(home)
    var result: [Disagreement] = []
    for truth in truth() {
      guard let state = said[truth.uniqueID] else {
        result.append(Disagreement(device: truth.path, what: "it is not in the home"))
        continue
      }
      if truth.isReachable != (state == .online) {
        result.append(
          Disagreement(
            device: truth.path, what: "it is \(truth.isReachable ? "there" : "away"), and the home says \(state)"))
      }
    }
    return result + staleValues(await home.state)
  }

  /// What the home says of each device, by its unique id. A bridge is there when it answers, whatever is behind it.
  func states(_ home: Home) async throws(HomeError) -> [String: ConnectivityState] {
    var states: [String: ConnectivityState] = [:]
    for device in try await home.devices().list() {
      let bridge = device.source.map { !$0.id.isBridged && device.types.contains(AggregatorDeviceType.self) } ?? false
      states[device.identity.matterUniqueID] =
        bridge
        ? device.source?.status.connectivity.connectivityState : device.sourceConnectivity.connectivityState
    }
    return states
  }
}

/// A cluster's id, and what a device need not report of it: the home can't know that.
private func clusterFacts<C: Cluster>(_: C.Type) -> (id: ClusterID, unreported: Set<AttributeID>) {
  let unreported = C.attributes.filter { $0.quality.contains(.changesOmitted) }
  return (C.id, Set(unreported.map(\.id)))
}

private func hexadecimal(_ bytes: [UInt8]) -> String {
  bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
}
