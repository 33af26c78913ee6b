package import HearthHome
internal import MatterModel

extension HomeRegistry {
  /// Resolves a text to a device with its active source, or with the named one: `room/name`, an unambiguous name, a
  /// node id, `NODE/ENDPOINT`, or an unambiguous beginning of a name. An endpoint may follow a name: `kitchen/lamp/2`.
  ///
  /// - Throws: `notFound` with similar names; `ambiguousTarget` with all matches.
  package func resolve(_ text: String) throws(HomeError) -> Target {
    if let device = try exact(text) { return Target(device) }
    // What stands behind the last stroke may be an endpoint.
    if let stroke = text.lastIndex(of: "/"), let endpoint = UInt16(text[text.index(after: stroke)...]) {
      let front = String(text[..<stroke])
      if let found = try exact(front) {
        let endpoint = EndpointID(endpoint)
        // It may be of a device behind the bridge that was named.
        let device = part(endpoint, of: found)
        guard device.endpoints.isEmpty || device.endpoints.contains(where: { $0.id == endpoint }) else {
          throw HomeError(
            .notFound,
            "no endpoint \(endpoint); expected \(device.endpoints.map { "\($0.id)" }.joined(separator: ", "))",
            device: device.name)
        }
        return Target(device, endpoint: endpoint)
      }
    }
    if let several = try several(text) { throw oneExpected(text, several) }
    if let device = try one(devices.filter { Self.begins($0, text) }, text) { return Target(device) }
    let names = devices.map(\.name) + devices.map(\.fullName)
    throw HomeError(
      .notFound,
      devices.isEmpty ? "no devices yet; pair one with `hearth pair CODE`" : "there is no device “\(text)”",
      candidates: unique(NearestName.suggestions(for: text, in: names)))
  }

  /// The device that has this name or number as a whole. One device may be called what is the number of another.
  package func exact(_ text: String) throws(HomeError) -> DeviceRecord? {
    // What was seen behind a bridge first may be reached another way now, and the other way round: something else is there.
    let named = devices.first { $0.id == text && ($0.isBridged || $0.id.contains("/") || SourceID(text) == nil) }
    let there = SourceID(text).flatMap { $0.isBridged || named != nil ? device($0) : nil }
    let number =
      text.hasPrefix("0x") || text.hasPrefix("0X") ? UInt64(text.dropFirst(2), radix: 16) : UInt64(text)
    let node = named == nil ? number.flatMap { device(NodeID($0)) } : nil
    let called = devices.filter { Self.same($0.fullName, text) || Self.same($0.name, text) }
    var found: [DeviceRecord] = []
    for device in [named, there, node].compactMap(\.self) + called
    where !found.contains(where: { $0.id == device.id }) { found.append(device) }
    return try one(found, text)
  }

  private static func begins(_ device: DeviceRecord, _ text: String) -> Bool {
    let text = text.lowercased()
    return device.name.lowercased().hasPrefix(text) || device.fullName.lowercased().hasPrefix(text)
  }

  private func one(_ found: [DeviceRecord], _ text: String) throws(HomeError) -> DeviceRecord? {
    guard found.count > 1 else { return found.first }
    // Rooms of different structures may have the same name, and devices in them, too.
    let names = found.map { $0.fullName.lowercased() }
    throw HomeError(
      .ambiguousTarget, "“\(text)” matches \(found.count) devices; name one of them",
      candidates: found.map { device in
        let isAlone = names.count { $0 == device.fullName.lowercased() } == 1
        return device.room != nil && isAlone ? device.fullName : numbered(device)
      })
  }

  /// `room/name`, with the node where another device has the same.
  package func name(of device: DeviceRecord) -> String {
    devices.count { Self.same($0.fullName, device.fullName) } == 1 ? device.fullName : numbered(device)
  }

  /// `Lamp (node 20)`.
  package func numbered(_ device: DeviceRecord) -> String {
    // Another one may be known by the number that a bridge has given this one since.
    let isOthers = devices.contains { $0.id == "\(device.way)" && $0.id != device.id }
    let number = isOthers ? device.id : "\(device.way)"
    // And another one may be called as this one's number is.
    let isName = devices.contains { $0.id != device.id && [$0.name, $0.fullName].contains(number) }
    let plain =
      "0x\(String(device.nodeID.rawValue, radix: 16))" + (device.isBridged ? "/\(device.mainEndpoint)" : "")
    return "\(device.fullName) (node \(isName ? plain : number))"
  }

  private func unique(_ names: [String]) -> [String] {
    var seen: Set<String> = []
    return names.filter { seen.insert($0).inserted }
  }
}
