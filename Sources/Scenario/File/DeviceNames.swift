internal import HearthHome
internal import MatterClusters
internal import MatterModel
internal import VirtualDevices

/// Resolves names in a scenario file to devices of the home, including bridged ones and parts.
struct DeviceNames: Sendable {
  struct Miss: Error {
    /// The paths of the matching devices if the name is ambiguous, otherwise empty.
    var candidates: [String]
  }

  private(set) var devices: [DeviceDefinition] = []
  /// The positions of the devices by path and by name, in lower case.
  private var positions: (paths: [String: [Int]], names: [String: [Int]]) = ([:], [:])
  /// The rooms of the definition, and those that steps add.
  private(set) var rooms: [String] = []
  /// The path of the bridge, or of the whole device, by the path of the bridged device or the part.
  private var bridges: [String: String] = [:]

  init() {}

  init(_ home: HomeDefinition) {
    rooms = home.rooms
    for device in home.devices {
      add(device)
      for bridged in device.bridged { add(bridged, behind: device.path) }
    }
  }

  /// Returns the path of the bridge that serves the device, or of the device that it is a part of; nil if it is a node.
  func bridge(of path: String) -> String? { bridges[path] }

  /// The devices as a home knows them.
  var identities: DeviceIdentities { DeviceIdentities(devices) }

  /// Problems for devices whose name is reserved for the machine that runs the home.
  var hubs: [DefinitionProblem] {
    devices.filter { $0.name.lowercased() == ScenarioReader.hub }.map {
      DefinitionProblem(
        at: $0.mark, found: "a device with the name “\($0.name)”",
        expected: "another name: in a scenario it is the machine that the home runs on")
    }
  }

  /// The names of a device's buttons, if it has several.
  func buttons(of path: String) -> [String] { devices.first { $0.path == path }?.buttons ?? [] }

  /// Returns whether a device is a switch, with buttons or with bindings.
  func hasButtons(_ path: String) -> Bool {
    let buttons: [DeviceKind] = [.genericSwitch, .doorbell]
    return devices.first { $0.path == path }.map { buttons.contains($0.kind) || $0.kind.isBoundControl } ?? false
  }

  /// Finds a device, ignoring case.
  /// - Parameter name: `room/name`, or the name alone if it is unique.
  func find(_ name: String) -> Result<DeviceDefinition, Miss> {
    let wanted = name.lowercased()
    let found = positions.paths[wanted] ?? positions.names[wanted] ?? []
    if let first = found.first, found.count == 1 { return .success(devices[first]) }
    return .failure(Miss(candidates: found.map { devices[$0].path }))
  }

  /// - Parameter bridge: the path of the bridge that serves the device, if any.
  mutating func add(_ device: DeviceDefinition, behind bridge: String? = nil) {
    positions.paths[device.path.lowercased(), default: []].append(devices.count)
    positions.names[device.name.lowercased(), default: []].append(devices.count)
    devices.append(device)
    if let bridge { bridges[device.path] = bridge }
  }

  mutating func addRoom(_ name: String) { rooms.append(name) }

  /// Returns the room of this name, ignoring case.
  func room(_ name: String) -> String? { rooms.first { $0.lowercased() == name.lowercased() } }

  func suggestions(for name: String) -> [String] {
    // Without duplicates: names may repeat, and the path of a device without a room is its name.
    var known: Set<String> = []
    let names = (devices.map(\.name) + devices.map(\.path)).filter { known.insert($0).inserted }
    return NearestName.suggestions(for: name, in: names)
  }

  /// Returns the attributes of a device with this name.
  func attributes(of device: DeviceDefinition, cluster: String?, _ name: String) -> [AttributePlace] {
    clusters(of: device, named: cluster)
      .compactMap {
        cluster in
        cluster.attribute(named: name).map { info in
          var place = AttributePlace(cluster.id, info.id)
          if cluster.id == LevelControl.id { place.levels = device.levels }
          return place
        }
      }
  }

  /// Returns the events of a device with this name.
  func events(of device: DeviceDefinition, cluster: String?, _ name: String) -> [(cluster: ClusterID, event: EventInfo)]
  {
    clusters(of: device, named: cluster).flatMap {
      cluster in
      cluster.events.filter { NormalizedName($0.name) == NormalizedName(name) }.map { (cluster.id, $0) }
    }
  }

  /// Returns the commands of a device with this name.
  func commands(
    of device: DeviceDefinition, cluster: String?, _ name: String
  ) -> [(cluster: ClusterID, command: CommandInfo)] {
    clusters(of: device, named: cluster).flatMap {
      cluster in
      cluster.commands.filter { NormalizedName($0.name) == NormalizedName(name) }.map { (cluster.id, $0) }
    }
  }

  func commandNames(of device: DeviceDefinition) -> [String] {
    clusters(of: device).flatMap { $0.commands.map { NormalizedName.camelCase($0.name) } }
  }

  func eventNames(of device: DeviceDefinition) -> [String] {
    clusters(of: device).flatMap { $0.events.map { NormalizedName.camelCase($0.name) } }
  }

  func attributeNames(of device: DeviceDefinition) -> [String] {
    clusters(of: device).flatMap { $0.attributes.map(\.name) }
  }

  /// The clusters of the root that have to be named, because attributes of the application have the same names.
  private static let rootClusters: [any Cluster.Type] = [BasicInformation.self, OtaSoftwareUpdateRequestor.self]

  /// Returns the clusters of a device with this name; nil for all of the application.
  private func clusters(of device: DeviceDefinition, named name: String?) -> [any Cluster.Type] {
    guard let name else { return clusters(of: device) }
    let root = bridges[device.path] == nil ? Self.rootClusters : []
    return (clusters(of: device) + root).filter { NormalizedName($0.name) == NormalizedName(name) }
  }

  private func clusters(of device: DeviceDefinition) -> [any Cluster.Type] {
    let names = SimulatedDevice.clusterNames(of: device.kind)
    return names.compactMap { name in ClusterCatalogue.standard.first { $0.name == name } }
      + device.makers.compactMap { ClusterCatalogue.cluster($0.cluster.id) }
      + (device.sleep == nil ? [] : [IcdManagement.self])
  }
}

extension DeviceDefinition {
  /// The levels that its first initial values of MinLevel and MaxLevel give it.
  var levels: LevelRange {
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
