public import HearthHome
internal import MatterClusters
internal import MatterDevice
internal import MatterModel
internal import MatterProtocol
internal import Runtime
internal import Simulation
internal import VirtualDevices

/// A difference between the state of a home and a device.
public struct Disagreement: Hashable, Sendable, CustomStringConvertible {
  /// The path of the device in the definition: `room/name`.
  public var device: String
  /// A description of the difference.
  public var what: String

  public var description: String { "\(device): \(what)" }
}

extension SimulatedHome {
  /// The attributes to skip, by the clusters to compare. Other clusters hold constants or internal state of the device.
  private static let clusters: [ClusterID: Set<AttributeID>] = [
    OnOff.id: unreported(OnOff.self), LevelControl.id: unreported(LevelControl.self),
    ColorControl.id: unreported(ColorControl.self), Switch.id: unreported(Switch.self),
    BridgedDeviceBasicInformation.id: unreported(BridgedDeviceBasicInformation.self),
    Descriptor.id: unreported(Descriptor.self),
  ]

  /// Returns the first attribute of each device, including bridged ones, whose value in the home is missing or differs.
  /// Compares only devices with changes, on either side, since the last call.
  /// - Parameter state: the state of the home.
  func staleValues(_ state: HomeState) -> [Disagreement] {
    // Devices and home have the unique ID in common.
    var nodes = [String: NodeID](minimumCapacity: state.devices.count)
    for entry in state.devices.values {
      for source in entry.sources where !source.id.isBridged {
        if let id = source.identity.uniqueID { nodes[id] = source.id.node }
      }
    }
    return parts.map(\.device).flatMap { device -> [Disagreement] in
      guard let host = device.host, let node = nodes[device.uniqueID] else { return [] }
      let values = state.values[node] ?? NodeValues()
      let versions = host.perform { engine, _ in engine.dataVersions }
      // None of the compared attributes is computed at each read, so a change of one changes a data version.
      if let last = comparisons[device.uniqueID], last.host === host, last.versions == versions, last.values == values {
        return last.result
      }
      let result = staleValues(of: device, host, values)
      comparisons[device.uniqueID] = ValueComparison(host: host, versions: versions, values: values, result: result)
      return result
    }
  }

  private func staleValues(
    of device: VirtualDevice, _ host: EngineHost<DeviceEngine>, _ values: NodeValues
  ) -> [Disagreement] {
    let definition = device.definition
    var owners: [EndpointID: String] = [:]
    for bridged in definition.bridged where definition.kind == .bridge {
      for endpoint in device.place(named: bridged.path)?.endpoints(nil) ?? [] { owners[endpoint] = bridged.path }
    }
    return host.perform { [owners] engine, now in
      var wrong: [Disagreement] = []
      engine.forEachValue(at: now, without: { Self.clusters[$0] }) { path, value in
        let reported = values[path]
        guard value != reported else { return }
        let owner = owners[path.endpoint] ?? definition.path
        if wrong.contains(where: { $0.device == owner }) { return }
        wrong.append(
          Disagreement(
            device: owner,
            what: "\(path) is \(value.hexadecimal), and the home has \(reported?.hexadecimal ?? "none")"))
      }
      return wrong
    }
  }

  /// Returns the differences between the homes and the reachable devices: connectivity first, then values.
  public func disagreements() async throws(HomeError) -> [Disagreement] {
    var result = try await disagreements(of: try home, truth())
    for other in others {
      guard let home = other.home else {
        result.append(Disagreement(device: other.machine.name, what: "the second home is not open"))
        continue
      }
      let truth = truth(for: home, on: other.machine).filter { other.devices.contains($0.uniqueID) }
      result += try await disagreements(of: home, truth).map {
        Disagreement(device: $0.device, what: "\($0.what) (the second home)")
      }
    }
    return result
  }

  private func disagreements(of home: Home, _ truth: [GroundTruth]) async throws(HomeError) -> [Disagreement] {
    let reported = try await states(home)
    var result: [Disagreement] = []
    for truth in truth {
      guard let state = reported[truth.uniqueID] else {
        result.append(Disagreement(device: truth.path, what: "it is not in the home"))
        continue
      }
      if truth.isReachable != (state == .online) {
        result.append(
          Disagreement(
            device: truth.path, what: "it is \(truth.isReachable ? "there" : "away"), and the home says \(state)"))
      }
    }
    // The home can't know changes of unreachable devices.
    let reachable = Set(truth.filter(\.isReachable).map(\.path))
    return result + staleValues(await home.state).filter { reachable.contains($0.device) }
  }

  /// Returns the connectivity of each device by its unique ID. For a bridge it is that of the bridge's own node.
  func states(_ home: Home) async throws(HomeError) -> [String: ConnectivityState] {
    Self.states(try await home.devices().list())
  }

  static func states(_ devices: [HomeDevice]) -> [String: ConnectivityState] {
    var states: [String: ConnectivityState] = [:]
    for device in devices {
      let bridge = device.source.map { !$0.id.isBridged && device.types.contains(AggregatorDeviceType.self) } ?? false
      states[device.identity.matterUniqueID] =
        bridge
        ? device.source?.status.connectivity.connectivityState : device.sourceConnectivity.connectivityState
    }
    return states
  }
}

/// A comparison of the values of a device with the values that a home knows.
struct ValueComparison {
  let host: EngineHost<DeviceEngine>
  let versions: [UInt32]
  let values: NodeValues
  let result: [Disagreement]
}

/// Returns the attributes whose changes a device need not report.
private func unreported<C: Cluster>(_: C.Type) -> Set<AttributeID> {
  Set(C.attributes.filter { $0.quality.contains(.changesOmitted) }.map(\.id))
}
