internal import HomeModel
package import MatterModel

/// A device of a cloud account, with the custom data for requests about it.
package struct CloudPart: Hashable, Sendable, Codable {
  package var device: CloudDevice
  /// `customData` of the SYNC response, which requests return unmodified.
  var customData: CloudJSON?

  /// Whether clusters of Matter correspond to it.
  var hasClusters: Bool { !device.matter.clusters.isEmpty }

  /// The device in a request.
  package var request: CloudJSON {
    var members: [String: CloudJSON] = ["id": .text(device.id)]
    members["customData"] = customData
    return .object(members)
  }
}

/// A node of a cloud account: a device, or several devices of one product, such as a power strip.
package struct CloudNode: Hashable, Sendable {
  package var node: NodeID
  package var parts: [EndpointID: CloudPart] = [:]
  /// The maximum number of devices of a node.
  static let mostParts: UInt16 = 64

  /// Whether a cluster corresponds to any of its parts; else it is not a device of the home.
  package var isDevice: Bool { parts.values.contains(where: \.hasClusters) }

  /// The endpoint whose device reports the battery of the node; others are ignored, because they may contradict it.
  var batteryEndpoint: EndpointID? { orderedParts.first { $0.part.device.has("EnergyStorage") }?.endpoint }

  package func without(_ ids: [String]) -> CloudNode {
    CloudNode(node: node, parts: parts.filter { !ids.contains($0.value.device.id) })
  }

  /// The parts in the order of their endpoints.
  var orderedParts: [(endpoint: EndpointID, part: CloudPart)] {
    parts.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
  }
}

extension CloudPart {
  /// Limits for one device, so that a cloud can't fill the database.
  private static let longestID = 256, longestCustomData = 4096, mostTraits = 64

  /// Decodes a device of a SYNC response. The id, type, traits and name are required; other members may be missing or
  /// invalid.
  init(_ json: CloudJSON) throws(CloudDeviceProblem) {
    guard let id = json["id"]?.text, !id.isEmpty, id.utf8.count <= Self.longestID else {
      throw CloudDeviceProblem(device: json["name"]?["name"]?.text ?? "a device", "it has no id")
    }
    guard let type = json["type"]?.text, let traits = json["traits"]?.texts else {
      throw CloudDeviceProblem(device: id, "it has no type or no traits")
    }
    guard let name = json["name"]?["name"]?.text ?? json["name"]?["defaultNames"]?.texts?.first else {
      throw CloudDeviceProblem(device: id, "it has no name")
    }
    device = CloudDevice(
      id: id, type: type, traits: Array(traits.prefix(Self.mostTraits)), name: name,
      attributes: json["attributes"].flatMap { CloudAttributes.lenient($0.normalized) } ?? CloudAttributes())
    device.roomHint = json["roomHint"]?.text
    device.willReportState = json["willReportState"]?.isTrue ?? false
    let info = json["deviceInfo"]
    device.deviceInfo = .init(
      manufacturer: info?["manufacturer"]?.text, model: info?["model"]?.text, hwVersion: info?["hwVersion"]?.text,
      swVersion: info?["swVersion"]?.text)
    device.matterOriginalVendorID = json["matterOriginalVendorId"]?.text ?? ""
    device.matterOriginalProductID = json["matterOriginalProductId"]?.text ?? ""
    device.matterUniqueID = json["matterUniqueId"]?.text.flatMap { $0.isEmpty ? nil : $0 }
    customData = json["customData"].flatMap { $0.bytes.count <= Self.longestCustomData ? $0 : nil }
  }

  /// Whether both are parts of one product.
  package func isSameDevice(as other: CloudPart) -> Bool { device.identity.isSameDevice(as: other.device.identity) }
}

/// The reason why a device of a SYNC response is ignored.
struct CloudDeviceProblem: Error, CustomStringConvertible {
  package var device: String
  var reason: String

  init(device: String, _ reason: String) { (self.device, self.reason) = (device, reason) }

  var description: String { "\(device): \(reason)" }
}

extension CloudDevice {
  package init(id: String, type: String, traits: [String], name: String, attributes: CloudAttributes) {
    (self.id, self.type, self.traits, self.attributes) = (id, type, traits, attributes)
    self.name = Name(name: name, defaultNames: [], nicknames: [])
    willReportState = false
    deviceInfo = Info()
    (matterOriginalVendorID, matterOriginalProductID, otherDeviceIDs) = ("", "", [])
  }

  /// Whether it has a trait: `OnOff`.
  package func has(_ trait: String) -> Bool { traits.contains("action.devices.traits.\(trait)") }

  /// `LIGHT` of `action.devices.types.LIGHT`.
  package var kind: String { type.split(separator: ".").last.map { String($0) } ?? type }
}

extension CloudJSON {
  /// The attributes of a device in the current form: some clouds use outdated forms, or omit members.
  fileprivate var normalized: CloudJSON {
    guard var members = object else { return self }
    if let modes = members["availableThermostatModes"]?.text {
      members["availableThermostatModes"] = .array(modes.split(separator: ",").map { .text(String($0)) })
    }
    if var range = members["colorTemperatureRange"]?.object, !range.isEmpty {
      // Common limits of lamps, if one is missing.
      range["temperatureMinK"] = range["temperatureMinK"] ?? .number(2000)
      range["temperatureMaxK"] = range["temperatureMaxK"] ?? .number(6500)
      members["colorTemperatureRange"] = .object(range)
    }
    return .object(members)
  }
}
