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

  /// Returns the bridge that serves the device, or the device that it is a part of; nil if it is a node.
  func whole(of path: String) -> DeviceDefinition? {
    bridges[path].flatMap { whole in devices.first { $0.path == whole } }
  }

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

  func isDevice(_ name: String) -> Bool {
    if case .success = find(name) { true } else { false }
  }

  // MARK: Elements of devices

  /// An attribute, event or command of a device, by its name.
  struct Element {
    var device: DeviceDefinition
    /// The number of the endpoint within the device; nil for any.
    var endpoint: UInt16?
    /// The name of the cluster; nil for any of the application.
    var cluster: String?
    var name: String

    /// Returns the same element on an endpoint.
    func on(_ endpoint: UInt16) -> Element { modified(self) { $0.endpoint = endpoint } }

    /// The path without the device.
    var text: String {
      [endpoint.map { "\($0)" }, cluster, name].compactMap(\.self).joined(separator: ".")
    }
  }

  /// Returns the attributes of a device with this name.
  func attributes(of element: Element) -> [AttributePlace] {
    all(element) { cluster -> [AttributePlace] in
      guard let info = cluster.attribute(named: element.name) else { return [] }
      var place = AttributePlace(cluster.id, info.id, on: element.endpoint)
      if cluster.id == LevelControl.id { place.levels = element.device.levels }
      return [place]
    }
  }

  /// Returns the events of a device with this name.
  func events(of element: Element) -> [(cluster: ClusterID, event: EventInfo)] {
    all(element) { cluster in
      cluster.events.filter { NormalizedName($0.name) == NormalizedName(element.name) }.map { (cluster.id, $0) }
    }
  }

  /// Returns the commands of a device with this name.
  func commands(of element: Element) -> [(cluster: ClusterID, command: CommandInfo)] {
    all(element) { cluster in
      cluster.commands.filter { NormalizedName($0.name) == NormalizedName(element.name) }.map { (cluster.id, $0) }
    }
  }

  enum ElementKind: String { case attribute, event, command }

  /// Returns whether a device has an element of this kind and name.
  func has(_ element: Element, _ kind: ElementKind) -> Bool {
    switch kind {
    case .attribute: !attributes(of: element).isEmpty
    case .event: !events(of: element).isEmpty
    case .command: !commands(of: element).isEmpty
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

  /// The numbers of a device's endpoints.
  func endpoints(of device: DeviceDefinition) -> [UInt16] {
    Array(0...UInt16(clamping: SimulatedDevice.clusters(of: device).count))
  }

  /// Returns the elements of the clusters that a path means. Those of the first application endpoint hide others of the
  /// same name unless the cluster or the endpoint is named.
  private func all<Found>(_ element: Element, _ find: (any Cluster.Type) -> [Found]) -> [Found] {
    let device = element.device
    let units = SimulatedDevice.clusters(of: device)
    let first = units.first ?? []
    let (plain, named) = nodeClusters(of: device)
    let all = units.flatMap(\.self) + plain
    let scopes: [[any Cluster.Type]]
    switch element.endpoint {
    case nil: scopes = element.cluster == nil ? [first, all] : [all + named]
    case 0?: scopes = [plain + named + first.filter { bridges[device.path] != nil || $0.id == Descriptor.id }]
    case let number?: scopes = units.indices.contains(Int(number) - 1) ? [units[Int(number) - 1]] : []
    }
    for scope in scopes {
      let found = Self.unique(scope).filter { cluster in
        element.cluster.map { NormalizedName(cluster.name) == NormalizedName($0) } ?? true
      }.flatMap(find)
      if !found.isEmpty { return found }
    }
    return []
  }

  /// Returns the clusters of all application endpoints, and those of the node that need not be named.
  private func clusters(of device: DeviceDefinition) -> [any Cluster.Type] {
    Self.unique(SimulatedDevice.clusters(of: device).flatMap(\.self) + nodeClusters(of: device).plain)
  }

  /// Returns the clusters of a device's node in two groups. Attributes of the second group are found only together with the
  /// name of their cluster, because attributes of the application have the same names.
  private func nodeClusters(of device: DeviceDefinition) -> (plain: [any Cluster.Type], named: [any Cluster.Type]) {
    let power: [any Cluster.Type] = SimulatedDevice.hasBattery(device) ? [PowerSource.self] : []
    guard let whole = whole(of: device.path) else {
      return (
        power + (device.sleep == nil ? [] : [IcdManagement.self]), SimulatedDevice.rootClusters(of: device)
      )
    }
    // The node of a part is that of the whole device.
    return whole.kind == .bridge ? (power, [BridgedDeviceBasicInformation.self]) : ([], [])
  }

  private static func unique(_ clusters: [any Cluster.Type]) -> [any Cluster.Type] {
    var seen: Set<ClusterID> = []
    return clusters.filter { seen.insert($0.id).inserted }
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
