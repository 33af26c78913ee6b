internal import MatterClusters

/// The response to a cloud-to-cloud SYNC request: the devices of a home with their identity, so that a device seen
/// through the cloud and through Matter can be matched. See <doc:TheHomeModel>, “Objects”.
package enum CloudSync {
  /// - Parameters:
  ///   - requestID: the id of the answered request.
  ///   - agentUserID: the agent's id of the user, the same for each request.
  ///   - devices: the devices of one home. Devices without a cloud equivalent are omitted; see `CloudMapping.swift`.
  ///   - rooms: all rooms that the devices may be in.
  ///   - agentID: the agent of `otherDeviceIds`; nil omits it.
  package static func response(
    requestID: String, agentUserID: String, devices: some Sequence<HomeDevice>, rooms: some Sequence<Room>,
    agentID: String? = nil
  ) -> JSONValue {
    let names = Dictionary(rooms.map { ($0.id, $0.name) }, uniquingKeysWith: { first, _ in first })
    let all = devices.flatMap { device in
      self.devices(of: device, room: device.roomID.flatMap { names[$0] }, agentID: agentID)
    }
    return [
      "payload": ["agentUserId": .string(agentUserID), "devices": .array(all)], "requestId": .string(requestID),
    ]
  }

  /// A device in the cloud.
  private struct Part {
    /// The suffix of the id that distinguishes the cloud devices of one device; empty for the first.
    var suffix: String
    var type: String
    var mapping: CloudMapping
  }

  /// Returns the cloud devices of a device: none, one or several.
  ///
  /// The cloud protocol has no endpoints. A sensor with other traits is merged with the previous one: temperature and
  /// humidity are one sensor. Each other endpoint is a separate device: an outlet of a power strip, the light of a fan.
  private static func devices(of device: HomeDevice, room: String?, agentID: String?) -> [JSONValue] {
    var parts: [Part] = []
    for type in device.types where type.isPrimaryOfEndpoint {
      guard let cloudType = CloudMapping.type(of: type.id.type, type.traits) else { continue }
      let mapping = CloudMapping(of: type.id.type, type.matterTraits)
      guard !mapping.traits.isEmpty else { continue }
      if cloudType == "SENSOR",
        let index = parts.firstIndex(where: {
          $0.type == cloudType && $0.mapping.traits.isDisjoint(with: mapping.traits)
        })
      {
        parts[index].mapping.merge(mapping)
      } else {
        parts.append(Part(suffix: parts.isEmpty ? "" : ":\(type.endpoint)", type: cloudType, mapping: mapping))
      }
    }
    if !parts.isEmpty { parts[0].mapping.addBattery(of: device) }
    return parts.map { json($0, of: device, room: room, agentID: agentID) }
  }

  private static func json(_ part: Part, of device: HomeDevice, room: String?, agentID: String?) -> JSONValue {
    let identity = device.identity
    func text(_ text: String?) -> JSONValue? { text.map { .string($0) } }
    func array(_ texts: some Sequence<String>) -> JSONValue { .array(texts.map { .string($0) }) }
    let label = identity.nodeLabel.flatMap { $0.isEmpty || $0 == device.name ? nil : $0 }
    let product = identity.productLabel ?? identity.productName
    // The local sources of the device, so that each belongs to one cloud device only.
    let others = device.entry.sources.filter { !$0.id.isCloud }.map { source in
      JSONValue.present(["agentId": text(agentID), "deviceId": .string("\(source.id)\(part.suffix)")])
    }
    return .present([
      "attributes": .object(part.mapping.attributes.sorted { $0.key < $1.key }.map { .init($0.key, $0.value) }),
      "deviceInfo": .present([
        "hwVersion": text(device.basicInformation?.attributes.hardwareVersionString),
        "manufacturer": text(identity.vendorName), "model": text(identity.productName),
        "swVersion": text(identity.softwareVersion),
      ]),
      "id": .string(device.id + part.suffix),
      "matterOriginalProductId": .string(identity.matterOriginalProductID),
      "matterOriginalVendorId": .string(identity.matterOriginalVendorID),
      "matterUniqueId": identity.matterUniqueID.isEmpty ? nil : .string(identity.matterUniqueID),
      "name": [
        "defaultNames": array([product].compactMap { $0 }), "name": .string(device.name),
        "nicknames": array([label].compactMap { $0 }),
      ],
      "otherDeviceIds": .array(others), "roomHint": text(room),
      "traits": array(part.mapping.traits.map { "action.devices.traits.\($0)" }.sorted()),
      "type": .string("action.devices.types.\(part.type)"), "willReportState": true,
    ])
  }
}
