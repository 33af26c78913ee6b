internal import Home
internal import MatterClusters
internal import MatterModel
internal import VirtualDevices

/// The devices of a home, those behind bridges too, by the names that a scenario may use.
struct DeviceNames: Sendable {
  struct Miss: Error {
    /// What it may have meant, if it may have meant several.
    var candidates: [String]
  }

  private(set) var devices: [DeviceDefinition] = []
  /// By what is behind it.
  private var bridges: [String: String] = [:]

  init() {}

  init(_ home: HomeDefinition) {
    devices = home.devices.flatMap { [$0] + $0.bridged }
    for device in home.devices { for bridged in device.bridged { bridges[bridged.path] = device.path } }
  }

  /// The path of the bridge that a device is behind; nil: it is behind none.
  func bridge(of path: String) -> String? { bridges[path] }

  /// What tells them from all others, by their paths.
  var uniqueIDs: [String: String] {
    Dictionary(devices.map { ($0.path, $0.uniqueID) }, uniquingKeysWith: { first, _ in first })
  }

  /// What is wrong about devices that have the name of the machine that the home runs on.
  var hubs: [DefinitionProblem] {
    devices.filter { $0.name.lowercased() == ScenarioReader.hub }.map {
      DefinitionProblem(
        at: $0.mark, found: "a device with the name “\($0.name)”",
        expected: "another name: in a scenario it is the machine that the home runs on")
    }
  }

  /// The names of a device's buttons, if it has several.
  func buttons(of path: String) -> [String] { devices.first { $0.path == path }?.buttons ?? [] }

  /// Whether a device has buttons, or is a switch that is pressed to control others.
  func hasButtons(_ path: String) -> Bool {
    let switches: [DeviceKind] = [.genericSwitch, .onOffLightSwitch, .dimmerSwitch, .colorDimmerSwitch]
    return devices.first { $0.path == path }.map { switches.contains($0.kind) } ?? false
  }

  /// - Parameter name: `room/name`, or the name where only one device has it; any case.
  func find(_ name: String) -> Result<DeviceDefinition, Miss> {
    let wanted = name.lowercased()
    let exact = devices.filter { $0.path.lowercased() == wanted }
    let found = exact.isEmpty ? devices.filter { $0.name.lowercased() == wanted } : exact
    if let device = found.first, found.count == 1 { return .success(device) }
    return .failure(Miss(candidates: found.map(\.path)))
  }

  func suggestions(for name: String) -> [String] {
    // A name is known twice where two devices have it, or one that is in no room.
    var known: Set<String> = []
    let names = (devices.map(\.name) + devices.map(\.path)).filter { known.insert($0).inserted }
    return NearestName.suggestions(for: name, in: names)
  }

  /// Where a device has an attribute of this name.
  func attributes(of device: DeviceDefinition, cluster: String?, _ name: String) -> [AttributePlace] {
    clusters(of: device).filter { cluster == nil || SpokenName($0.name) == SpokenName(cluster ?? "") }.compactMap {
      cluster in
      cluster.attribute(named: name).map { info in
        var place = AttributePlace(cluster.id, info.id)
        if cluster.id == LevelControl.id { place.levels = device.levels }
        return place
      }
    }
  }

  /// Where a device has an event of this name.
  func events(of device: DeviceDefinition, cluster: String?, _ name: String) -> [(cluster: ClusterID, event: EventInfo)]
  {
    clusters(of: device).filter { cluster == nil || SpokenName($0.name) == SpokenName(cluster ?? "") }.flatMap {
      cluster in
      cluster.events.filter { SpokenName($0.name) == SpokenName(name) }.map { (cluster.id, $0) }
    }
  }

  /// Where a device has a command of this name.
  func commands(
    of device: DeviceDefinition, cluster: String?, _ name: String
  ) -> [(cluster: ClusterID, command: CommandInfo)] {
    clusters(of: device).filter { cluster == nil || SpokenName($0.name) == SpokenName(cluster ?? "") }.flatMap {
      cluster in
      cluster.commands.filter { SpokenName($0.name) == SpokenName(name) }.map { (cluster.id, $0) }
    }
  }

  func commandNames(of device: DeviceDefinition) -> [String] {
    clusters(of: device).flatMap { $0.commands.map { SpokenName.camelCase($0.name) } }
  }

  func eventNames(of device: DeviceDefinition) -> [String] {
    clusters(of: device).flatMap { $0.events.map { SpokenName.camelCase($0.name) } }
  }

  func attributeNames(of device: DeviceDefinition) -> [String] {
    clusters(of: device).flatMap { $0.attributes.map(\.name) }
  }

  private func clusters(of device: DeviceDefinition) -> [any Cluster.Type] {
    let names = SimulatedDevice.clusterNames(of: device.kind)
    return names.compactMap { name in ClusterCatalogue.all.first { $0.name == name } }
  }
}

extension DeviceDefinition {
  /// The levels that its first initial values of MinLevel and MaxLevel give it.
  fileprivate var levels: LevelRange {
    func value(_ attribute: AttributeID) -> UInt8? {
      let found = initialValues.first { $0.target?.cluster == LevelControl.id && $0.target?.attribute == attribute }
      guard case .integer(let number)? = found?.value else { return nil }
      return UInt8(exactly: number)
    }
    return LevelRange(
      lowest: value(LevelControl.minLevel.id) ?? LevelRange.standard.lowest,
      highest: value(LevelControl.maxLevel.id) ?? LevelRange.standard.highest)
  }
}
