package import HearthHome
internal import MatterClusters

extension HomeRegistry {
  /// Resolves a text to a device with its active source, or with the named one: `room/name`, an unambiguous name, a
  /// node id, `NODE/ENDPOINT`, or an unambiguous beginning of a name. An endpoint may follow a name: `kitchen/lamp/2` or
  /// `kitchen/lamp.2`.
  ///
  /// - Throws: `notFound` with similar names, or `unreachable` in a stored home; `ambiguousTarget` with all matches;
  ///   `badArguments` for an empty text.
  package func resolve(_ text: String) throws(HomeError) -> Target {
    if let device = try exact(text) { return Target(device) }
    if let (name, number) = DottedPath.endpoint(of: text, separators: "./"), let found = try exact(name) {
      let endpoint = EndpointID(number)
      // An endpoint of a bridge may belong to a bridged device.
      let device = part(endpoint, of: found)
      guard device.endpoints.isEmpty || device.source.endpoint(endpoint) != nil else {
        var error = HomeError(
          .notFound,
          "no endpoint \(endpoint); expected \(device.endpoints.map { "\($0.id)" }.joined(separator: ", "))",
          device: device.name)
        if Self.isBridge(device) { error.hint = Self.bridgeHint }
        throw error
      }
      return Target(device, endpoint: endpoint)
    }
    if let several = try several(text) { throw oneExpected(text, several) }
    guard !text.isEmpty else { throw HomeError(.badArguments, "the target is empty; name a device, a room or a group") }
    let prefix = text.lowercased()
    let matches = devices.filter { device in
      [device.name, device.fullName].contains { $0.lowercased().hasPrefix(prefix) }
    }
    if let device = try one(matches, text) { return Target(device) }
    guard !devices.isEmpty else { throw noDevices }
    var error = HomeError.unknown(
      "there is no device “\(text)”", text, in: unique(devices.map(\.name) + devices.map(\.fullName)))
    if isStored { (error.code, error.message) = (.unreachable, "“\(text)” is not known here\(Self.withoutHub)") }
    if !isStored, devices.contains(where: Self.isBridge) { error.hint = Self.bridgeHint }
    throw error
  }

  /// The remedy for a device that was added to a bridge while no process followed the home.
  private static let bridgeHint = "`hearth devices` asks the bridges for new devices"

  private static func isBridge(_ device: DeviceRecord) -> Bool {
    device.endpoints.contains { $0.deviceTypes.contains(DeviceTypes.aggregator.id) }
  }

  private static let withoutHub = ", and the hub can't be reached"

  var noDevices: HomeError {
    isStored
      ? HomeError(.unreachable, "no devices are known here\(Self.withoutHub)")
      : HomeError(.notFound, "no devices yet; pair one with `hearth pair CODE`")
  }

  /// Returns the device with exactly this id, node id or name. The node id of one device may be the name of another.
  /// - Throws: `ambiguousTarget` with all matches.
  package func exact(_ text: String) throws(HomeError) -> DeviceRecord? {
    // A device keeps its id when its sources change, so the id may also be that of a source of another device.
    let named = devices.first { $0.id == text && ($0.isBridged || $0.id.contains("/") || SourceID(text) == nil) }
    let bySource = SourceID(text).flatMap { $0.isBridged || named != nil ? device($0) : nil }
    let byNode = named == nil ? UInt64(numeral: text).flatMap { device(NodeID($0)) } : nil
    let byName = devices.filter { HomeNames.same($0.fullName, text) || HomeNames.same($0.name, text) }
    return try one(unique([named, bySource, byNode].compactMap(\.self) + byName, by: \.id), text)
  }

  private func one(_ found: [DeviceRecord], _ text: String) throws(HomeError) -> DeviceRecord? {
    guard found.count > 1 else { return found.first }
    // Rooms of different structures may have the same name, and so may devices in them.
    let names = found.map { $0.fullName.lowercased() }
    throw HomeError(
      .ambiguousTarget, "“\(text)” matches \(found.count) devices; name one of them",
      candidates: found.map { device in
        let isUnique = names.count { $0 == device.fullName.lowercased() } == 1
        return device.room != nil && isUnique ? device.fullName : numbered(device)
      })
  }

  /// `room/name`, with the node if another device has the same room and name.
  package func name(of device: DeviceRecord) -> String {
    devices.count { HomeNames.same($0.fullName, device.fullName) } == 1 ? device.fullName : numbered(device)
  }

  /// `Lamp (node 20)`, with a number that identifies the device.
  package func numbered(_ device: DeviceRecord) -> String {
    // The number of the source may be the id of another device, and the result may be the name of another device.
    let source = "\(device.source.id)"
    let number = devices.contains { $0.id == source && $0.id != device.id } ? device.id : source
    let isName = devices.contains { $0.id != device.id && [$0.name, $0.fullName].contains(number) }
    let plain =
      "0x\(String(device.nodeID.rawValue, radix: 16))" + (device.isBridged ? "/\(device.mainEndpoint)" : "")
    return "\(device.fullName) (node \(isName ? plain : number))"
  }
}

/// Returns the elements without duplicates, in order.
func unique<Element, Key: Hashable>(_ elements: [Element], by key: (Element) -> Key) -> [Element] {
  var seen: Set<Key> = []
  return elements.filter { seen.insert(key($0)).inserted }
}

func unique<Element: Hashable>(_ elements: [Element]) -> [Element] { unique(elements) { $0 } }
