import MakersClusters
import MatterClusters
package import MatterDevice
package import MatterModel
import MatterProtocol
import Runtime

// The endpoints of a device and their composition. Matter Core § 9.2 and § 9.12.
extension DeviceAssembly {
  /// Returns the application endpoints of a device, with the initial values of its definition.
  /// - Parameter clock: the start of the device's behaviors.
  static func endpoints(
    of device: DeviceDefinition, _ numbers: inout EndpointNumbers, _ clock: BehaviorClock = .zero
  ) -> [EndpointDefinition] {
    let root = root(of: device, clock)
    guard device.kind == .bridge else {
      let own = parts(of: device, clock) { EndpointID(UInt16($0 + 1)) }
      guard !device.bridged.isEmpty else { return own + root }
      numbers.reserve(through: UInt16(clamping: own.count))
      let others = device.bridged.flatMap { part in
        let ids = numbers.endpoints(part: part)
        return parts(of: part, clock) { ids[$0] }
      }
      let all = own + others
      let inner = Set(all.flatMap(\.parts))
      return tagged(all.filter { !inner.contains($0.id) }) + all.filter { inner.contains($0.id) } + root
    }
    var aggregator = EndpointDefinition(
      1, deviceTypes: types(device),
      servers: labels(device) + makers(device, position: 0).map { initial($0, device, position: 0) })
    var behind: [EndpointDefinition] = []
    for bridged in device.bridged { behind += endpoints(bridged: bridged, &numbers, clock) }
    // A flat list: an aggregator lists all endpoints below it, at any depth.
    aggregator.parts = behind.map(\.id).sorted()
    let inner = Set(behind.flatMap(\.parts))
    return [aggregator] + tagged(behind.filter { !inner.contains($0.id) }) + behind.filter { inner.contains($0.id) }
      + root
  }

  /// Returns the servers that the engine adds to the root endpoint, except Descriptor.
  static func rootServers(of device: DeviceDefinition) -> [ClusterServer] {
    configuration(of: device, identity: DeviceIdentity(checking: device), port: 0).rootServers
  }

  /// Returns the servers of each endpoint of a device, by its number within the device.
  /// - Parameter whole: the bridge in front of the device, or the device that it is a part of; nil for a node.
  static func servers(of device: DeviceDefinition, in whole: DeviceDefinition?) -> [[ClusterServer]] {
    var node = whole ?? device
    if whole != nil { node.bridged = [device] }
    var numbers = EndpointNumbers()
    let all = endpoints(of: node, &numbers)
    let place =
      whole == nil ? VirtualDevice.Place(node: device) : VirtualDevice.Place(device, in: node, &numbers)
    return ([place.node] + place.application).map { id in
      // The engine adds a Descriptor to each endpoint. Whether it has tags depends on the other endpoints.
      all.filter { $0.id == id }.flatMap(\.servers) + (id == .root ? rootServers(of: node) : [])
        + [ClusterServer(Descriptor.self, features: [Descriptor.tagListFeature])]
    }
  }

  /// Returns the root endpoint if it has servers that depend on the definition.
  private static func root(of device: DeviceDefinition, _ clock: BehaviorClock) -> [EndpointDefinition] {
    let power = powerSource(of: device, clock)
    let servers = [power, device.sleep.map { IcdManagementServer.make($0) }].compactMap(\.self)
    guard !servers.isEmpty else { return [] }
    return [EndpointDefinition(.root, deviceTypes: power == nil ? [] : [DeviceTypes.powerSource], servers: servers)]
  }

  /// Returns the endpoints of a device that is not bridged, or of one of its buttons.
  package static func endpoints(of device: DeviceDefinition) -> [EndpointDefinition] {
    var numbers = EndpointNumbers()
    return endpoints(of: device, &numbers)
  }

  /// Returns one endpoint that is both the bridged node and the application, or one for the node with its parts below
  /// it.
  private static func endpoints(
    bridged device: DeviceDefinition, _ numbers: inout EndpointNumbers, _ clock: BehaviorClock
  ) -> [EndpointDefinition] {
    let (node, ids) = numbers.endpoints(bridged: device)
    var facts = BridgedDeviceFacts(
      vendorName: device.vendorName, vendorID: VendorID(device.vendorID), productName: device.productName,
      productID: device.productID, nodeLabel: clipped(device.name, to: 32), serialNumber: device.serialNumber,
      uniqueID: device.uniqueID)
    facts.servesProvisional = device.servesProvisional
    let information = BridgedDeviceServer.make(facts)
    var parts = parts(of: device, clock) { ids[$0] }
    let own = initial(information, device, position: 0)
    let power = powerSource(of: device, clock, supplying: Set([node] + ids).sorted())
    let types = [DeviceTypes.bridgedNode] + (power == nil ? [] : [DeviceTypes.powerSource])
    if ids.first == node {
      parts[0].deviceTypes += types
      parts[0].servers += [own] + (power.map { [$0] } ?? [])
      return parts
    }
    let labels = labels(device)
    for index in parts.indices {
      parts[index].servers.removeAll { server in labels.contains { $0.id == server.id } }
    }
    return [
      EndpointDefinition(node, deviceTypes: types, servers: [own] + labels + (power.map { [$0] } ?? []), parts: ids)
    ] + parts
  }

  // MARK: One device

  /// Returns the application endpoints of a device.
  private static func parts(
    of device: DeviceDefinition, _ clock: BehaviorClock, number: (Int) -> EndpointID
  ) -> [EndpointDefinition] {
    let units = units(of: device)
    return units.enumerated().map { position, unit in
      let servers = unit.servers
        .map { behaving(initial($0, device, position: position), device, position: position, clock) }
        .map { $0.connected(toRoomOf: device, clock).followingDaylight(of: device, clock).drawing(device, clock) }
        .map { $0.interconnected(device, clock) }
      let isWhole = position == 0 && units.dropFirst().contains(where: \.isPart)
      return EndpointDefinition(
        number(position), deviceTypes: (unit.type.map { [$0] } ?? []) + unit.utilities,
        servers: servers + (unit.isPart ? [] : labels(device)), clients: unit.type?.clients ?? [],
        parts: isWhole ? units.indices.dropFirst().map(number) : [], tags: unit.tags)
    }
  }

  /// An application endpoint of a device.
  struct Unit {
    var type: DeviceType?
    var servers: [ClusterServer]
    /// Utility device types of the endpoint.
    var utilities: [DeviceType] = []
    var tags: [SemanticTagStruct] = []
    /// Whether the endpoint is a part of the first one.
    var isPart = false
  }

  /// Returns the application endpoints of a device, one for each of its `endpointNames`.
  static func units(of device: DeviceDefinition) -> [Unit] {
    var units: [Unit]
    if let own = ownUnits(of: device.kind, device) {
      units = own
    } else {
      let type = DeviceTypes.named(device.kind.deviceType)
      let servers = servers(of: device)
      units = device.endpointNames.map { Unit(type: type, servers: servers, tags: $0.map { [SwitchTag.of($0)] } ?? []) }
    }
    for position in units.indices { units[position].servers += makers(device, position: position) }
    return units
  }

  /// Returns the application endpoints of a kind with a composition of its own; nil for other kinds.
  /// - Parameter device: the device that determines them; nil for the usual ones.
  static func ownUnits(of kind: DeviceKind, _ device: DeviceDefinition? = nil) -> [Unit]? {
    if let appliance = Appliance.of(kind) { return appliance.units(device?.program ?? appliance.program) }
    return energyUnits(
      of: kind, device?.energy ?? EnergyDefinition(), isProvisional: device?.servesProvisional ?? false,
      serialNumber: device?.serialNumber ?? "")
      ?? climateUnits(of: kind, device?.climate ?? ClimateDefinition()) ?? mediaUnits(of: kind, device)
      ?? closureUnits(of: kind, device)
  }

  /// Returns the servers of manufacturers' clusters on an endpoint.
  private static func makers(_ device: DeviceDefinition, position: Int) -> [ClusterServer] {
    device.makers.filter { Int($0.endpoint.rawValue) == position + 1 }.map { .makers($0.cluster, serving: $0.names) }
  }

  private static func types(_ device: DeviceDefinition) -> [DeviceType] {
    DeviceTypes.named(device.kind.deviceType).map { [$0] } ?? []
  }

  private static func labels(_ device: DeviceDefinition) -> [ClusterServer] {
    guard !device.labels.isEmpty else { return [] }
    return [
      FixedLabelServer.make(device.labels.map { .init(label: $0.label, value: $0.value) }), UserLabelServer.make(),
    ]
  }

  /// Returns the server of a device's battery, which belongs to the endpoint of the node.
  private static func powerSource(
    of device: DeviceDefinition, _ clock: BehaviorClock, supplying endpoints: [EndpointID] = []
  ) -> ClusterServer? {
    battery(of: device).map {
      let server = initial(PowerSourceServer.make($0, endpoints: endpoints), device, position: 0)
      return behaving(server, device, position: 0, clock)
    }
  }

  private static func initial(_ server: ClusterServer, _ device: DeviceDefinition, position: Int) -> ClusterServer {
    device.initialValues.reduce(server) { server, value in
      guard Int(value.endpoint.rawValue) == position + 1, let target = value.target, target.cluster == server.id,
        let bytes = value.tlv
      else { return server }
      return server.initial(encoded: bytes, for: target.attribute)
    }
  }

  private static func behaving(
    _ server: ClusterServer, _ device: DeviceDefinition, position: Int, _ clock: BehaviorClock
  ) -> ClusterServer {
    device.behaviors.reduce(server) { server, behavior in
      guard Int(behavior.attribute.endpoint.rawValue) == position + 1, behavior.attribute.target?.cluster == server.id
      else { return server }
      return server.following(behavior, of: device, clock)
    }
    .sharing(clock.rooms.attributes, of: device, on: EndpointID(UInt16(clamping: position + 1)))
  }

  /// Returns whether a device has an attribute whose changes are known.
  static func notesChanges(of attribute: InitialValue, _ device: DeviceDefinition) -> Bool {
    let battery = battery(of: device).map { [PowerSourceServer.make($0)] } ?? []
    guard let target = attribute.target, let server = server(of: attribute, units(of: device), node: battery)
    else { return false }
    return initial(server, device, position: Int(attribute.endpoint.rawValue) - 1).notesChanges(of: target.attribute)
  }

  /// Returns the server of an attribute among those of the units; the first one also has the servers of the node.
  private static func server(of value: InitialValue, _ units: [Unit], node: [ClusterServer]) -> ClusterServer? {
    let position = Int(value.endpoint.rawValue) - 1
    guard units.indices.contains(position) else { return nil }
    return (units[position].servers + (position == 0 ? node : [])).first { $0.id == value.target?.cluster }
  }

  /// Returns the problems of the initial values and faults that a device or one of its bridged devices or parts can't have.
  /// Endpoints are numbered within each device.
  static func problems(_ device: DeviceDefinition) -> [DefinitionProblem] {
    let node = battery(of: device).map { [PowerSourceServer.make($0)] } ?? []
    return device.faults.problems(of: device, in: nil) + problems(device, node: node)
      + device.bridged.flatMap { other in
        let faults = other.faults.problems(of: other, in: device)
        guard device.kind == .bridge else { return faults + problems(other, node: []) }
        let power = battery(of: other).map { [PowerSourceServer.make($0)] } ?? []
        return faults + problems(other, node: [ClusterServer(BridgedDeviceBasicInformation.self)] + power)
      }
  }

  /// - Parameter node: The servers of the node on the first endpoint of the definition.
  private static func problems(_ device: DeviceDefinition, node: [ClusterServer]) -> [DefinitionProblem] {
    let units = units(of: device)
    let values = device.initialValues + device.behaviors.flatMap(\.values)
    let problems = values.compactMap { value -> DefinitionProblem? in
      guard let target = value.target, let server = server(of: value, units, node: node),
        value.mismatch != nil || value.tlv.map({ server.accepts(initial: $0, for: target.attribute) }) == true
      else {
        return DefinitionProblem(
          at: value.mark, found: value.path,
          expected: "an attribute that the device has" + endpointHint(value.endpoint, among: units))
      }
      // Checked with all initial values of the cluster.
      let complete = initial(server, device, position: Int(value.endpoint.rawValue) - 1)
      if let bytes = value.tlv, (try? complete.check(initial: bytes, for: target.attribute)) != nil { return nil }
      return DefinitionProblem(
        at: value.valueMark, found: value.text, expected: expected(target, of: complete, or: value.mismatch))
    }
    guard problems.isEmpty else { return problems }
    let makers = device.makers.flatMap { makers -> [DefinitionProblem] in
      guard units.indices.contains(Int(makers.endpoint.rawValue) - 1) else {
        return [
          DefinitionProblem(
            at: makers.mark, found: "endpoint \(makers.endpoint)", expected: "an endpoint from 1 to \(units.count)")
        ]
      }
      let server = ClusterServer.makers(makers.cluster, serving: makers.names)
      return server.violations.map {
        DefinitionProblem(
          at: makers.mark, found: makers.cluster.name, expected: "features and elements that conform to it: \($0)")
      }
    }
    guard makers.isEmpty else { return makers }
    return units.enumerated().flatMap { position, unit in
      unit.servers.flatMap { server -> [DefinitionProblem] in
        let ignored = ignored(server, device, position: position)
        guard ignored.isEmpty else { return ignored }
        return violations(initial(server, device, position: position), device, position: position)
      }
    }
  }

  /// Lists the endpoints of a device, for the message about an attribute of another endpoint; empty if it has that one.
  static func endpointHint(_ endpoint: EndpointID, among units: [Unit]) -> String {
    guard !units.indices.contains(Int(endpoint.rawValue) - 1) else { return "" }
    return "; \(EndpointList.clause(1...max(1, units.count)))"
  }

  /// Returns the initial values of a cluster that have no effect.
  private static func ignored(
    _ server: ClusterServer, _ device: DeviceDefinition, position: Int
  ) -> [DefinitionProblem] {
    func own(_ values: [InitialValue]) -> [InitialValue] {
      values.filter { Int($0.endpoint.rawValue) == position + 1 && $0.target?.cluster == server.id }
    }
    func source(_ value: InitialValue) -> AttributeSource {
      value.target.map { server.source(of: $0.attribute) } ?? .definition
    }
    let values = own(device.initialValues)
    let computed = (values + own(device.behaviors.map(\.attribute))).filter { source($0) == .attributes }
    let reset = values.filter { source($0) == .start }
    // The first of these settings that a fan has determines the others.
    let settings = [FanControl.percentSetting.id, FanControl.speedSetting.id, FanControl.fanMode.id]
    let fan = values.filter { value in
      server.id == FanControl.id && settings.contains { $0 == value.target?.attribute }
    }
    // Not a limit of the server, since a client gets another status.
    let sounds = server.initial(of: Chime.installedChimeSounds.id).flatMap { try? [Chime.ChimeSoundStruct](tlv: $0) }
    let unknown = values.filter { value in
      guard server.id == Chime.id, value.target?.attribute == Chime.selectedChime.id else { return false }
      let selected = value.tlv.flatMap { try? UInt8(tlv: $0) }
      return sounds?.contains { $0.chimeID == selected } != true
    }
    let ignored = [
      (unknown[...], "the number of one of its \(sounds?.count ?? 0) sounds, from 0 on"),
      (computed[...], "an attribute that does not follow from others"),
      (reset[...], "an attribute that keeps its value at the start; “behave” can change it"),
      (fan.dropFirst(), "only one of percentSetting, speedSetting and fanMode"),
    ]
    return ignored.flatMap { values, expected in
      values.map { DefinitionProblem(at: $0.mark, found: $0.path, expected: expected) }
    }
  }

  /// Returns the violations of a cluster's conformance that the initial values cause, at the value of the element or at
  /// the first one of the cluster.
  private static func violations(
    _ server: ClusterServer, _ device: DeviceDefinition, position: Int
  ) -> [DefinitionProblem] {
    let values = device.initialValues.filter {
      Int($0.endpoint.rawValue) == position + 1 && $0.target?.cluster == server.id
    }
    guard let first = values.first else { return [] }
    if server.id == Thermostat.id,
      let message = Thermostat.deadBandProblem(features: server.features, server.initial(of:))
    {
      // The last one in the file is most likely the one that contradicts the others.
      let limits = Thermostat.deadBandAttributes
      let value = values.last { $0.target.map { limits.contains($0.attribute) } ?? false } ?? first
      return [DefinitionProblem(at: value.valueMark, found: value.path, expected: message)]
    }
    return server.violations.map { violation in
      let value = values.first { $0.target.map { .attribute($0.attribute) } == violation.element } ?? first
      return DefinitionProblem(
        at: value.mark, found: value.path,
        expected: "values with which the cluster conforms to the standard: \(violation)")
    }
  }

  /// Returns the values that an attribute may have.
  private static func expected(_ target: InitialValue.Target, of server: ClusterServer, or other: String?) -> String {
    let unit = target.unit
    let range = server.range(of: target.attribute).map { range in
      let ends = [range.lowerBound, range.upperBound].map { unit?.text($0) ?? "\($0)" }
      let steps = server.step(of: target.attribute).map { " in steps of \($0), or 100" } ?? ""
      return "a number from \(ends.joined(separator: " to "))\(steps)"
    }
    guard let known = target.schema.namedValues(among: server.values(of: target.attribute)) ?? range else {
      return other ?? "a value that the attribute may have"
    }
    if case .nullable = target.schema { return known + ", or null" }
    return known
  }

  // MARK: Tags

  /// Adds number tags to siblings of the same device type that have no tags of their own or the same ones.
  private static func tagged(_ siblings: [EndpointDefinition]) -> [EndpointDefinition] {
    var counts: [DeviceTypeID: Int] = [:]
    for type in siblings.flatMap(\.deviceTypes) { counts[type.id, default: 0] += 1 }
    let same = Dictionary(grouping: siblings.map(\.tags), by: \.self).mapValues(\.count)
    var given: [DeviceTypeID: Int] = [:]
    return siblings.sorted { $0.id < $1.id }.map { endpoint in
      guard
        let type = endpoint.deviceTypes.first(where: {
          $0.id != DeviceTypes.bridgedNode.id && $0.id != DeviceTypes.powerSource.id
        }),
        counts[type.id, default: 0] > 1, endpoint.tags.isEmpty || same[endpoint.tags, default: 0] > 1
      else { return endpoint }
      var endpoint = endpoint
      given[type.id, default: 0] += 1
      endpoint.tags.append(NumberTag.of(given[type.id, default: 0]))
      return endpoint
    }
  }
}

extension DeviceDefinition {
  /// The parts of the device with their endpoints on a new node; empty for a bridge.
  package var partEndpoints: [(part: DeviceDefinition, endpoints: [EndpointID])] {
    guard kind != .bridge else { return [] }
    var numbers = EndpointNumbers()
    numbers.reserve(through: UInt16(clamping: endpointNames.count))
    return bridged.map { ($0, numbers.endpoints(part: $0)) }
  }

  /// The names of the application endpoints within the device; nil for the endpoint of the device itself.
  var endpointNames: [String?] {
    if buttons.count > 1 { return buttons }
    return [nil] + (Appliance.of(kind).map { (program ?? $0.program).cabinets.map(\.name) } ?? [])
      + DeviceAssembly.energyParts(of: kind) + DeviceAssembly.climateParts(of: kind)
      + DeviceAssembly.mediaParts(of: kind) + DeviceAssembly.closureParts(of: self)
  }
}

/// Tags of the standard namespace “Common Number”. Standard Namespaces § 8.
private enum NumberTag {
  static func of(_ number: Int) -> SemanticTagStruct {
    // The namespace names numbers up to thirty; higher ones use “row” with a label.
    number <= 30
      ? SemanticTagStruct(mfgCode: .null, namespaceID: 0x07, tag: UInt8(number))
      : SemanticTagStruct(mfgCode: .null, namespaceID: 0x08, tag: 0x05, label: .value("\(number)"))
  }
}

/// Tags of the standard namespace “Switches”. Standard Namespaces § 17.
private enum SwitchTag {
  private static let named: [String: UInt8] = [
    "on": 0, "off": 1, "toggle": 2, "up": 3, "down": 4, "next": 5, "previous": 6, "enter": 7, "ok": 7, "select": 7,
  ]

  static func of(_ button: String) -> SemanticTagStruct {
    // The label distinguishes buttons with the same tag, and names buttons without one.
    SemanticTagStruct(
      mfgCode: .null, namespaceID: 0x43, tag: named[button.lowercased()] ?? 8, label: .value(button))
  }
}

/// The endpoints of bridged devices and of parts. A device keeps its endpoint, and an endpoint is never reused for another
/// device. Matter Core § 9.12.
struct EndpointNumbers: Sendable {
  private static let prefix = "bridge/endpoint/", nextKey = "bridge/next"
  private var numbers: [String: UInt16] = [:]
  /// The next free endpoint; 1 is the aggregator or the device with the parts.
  private var next: UInt16 = 2
  /// The changes to store before the device runs.
  private(set) var changes: [StoreChange] = []

  init() {}

  init(_ stored: StoredState) {
    for (key, value) in stored where key.hasPrefix(Self.prefix) {
      numbers[String(key.dropFirst(Self.prefix.count))] = try? UInt16(tlv: value)
    }
    if let value = stored[Self.nextKey], let number = try? UInt16(tlv: value) { next = number }
  }

  /// Forgets the changes after they were stored.
  mutating func commit() { changes = [] }

  /// Keeps the first endpoints for the device itself: it may have fewer in a definition that ran earlier.
  mutating func reserve(through last: UInt16) {
    next = max(next, last.saturatingAdd(1))
    numbers = numbers.filter { $0.value > last }
  }

  /// Returns the endpoints of a part: one for each of its `endpointNames`.
  mutating func endpoints(part device: DeviceDefinition) -> [EndpointID] {
    device.endpointNames.map { number(of: $0.map { "\(device.uniqueID)/\($0.lowercased())" } ?? device.uniqueID) }
  }

  /// Returns the endpoint of a bridged node, and those of its application.
  mutating func endpoints(bridged device: DeviceDefinition) -> (node: EndpointID, application: [EndpointID]) {
    (number(of: device.uniqueID), endpoints(part: device))
  }

  /// Returns the endpoint of a device or of a part of it, and assigns a new one if needed.
  private mutating func number(of name: String) -> EndpointID {
    if let known = numbers[name] { return EndpointID(known) }
    let number = next
    // There are fewer devices than numbers; beyond that, devices would share the last one.
    if next < 0xFFFE { next += 1 }
    numbers[name] = number
    changes = changes.filter { $0.key != Self.nextKey }
    changes += [StoreChange(Self.prefix + name, number.tlv), StoreChange(Self.nextKey, next.tlv)]
    return EndpointID(number)
  }
}
