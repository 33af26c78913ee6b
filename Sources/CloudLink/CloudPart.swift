internal import HomeModel
package import MatterModel

/// A device of a cloud account, and what its cloud wants to be told whenever it is asked about it.
package struct CloudPart: Hashable, Sendable, Codable {
  package var device: CloudDevice
  /// `customData` of the SYNC response, which is to be sent back as it is.
  var customData: CloudJSON?

  /// Whether there is a word for it in Matter.
  var hasWords: Bool { !device.matter.clusters.isEmpty }

  /// As it is named in a request.
  package var request: CloudJSON {
    var members: [String: CloudJSON] = ["id": .text(device.id)]
    members["customData"] = customData
    return .object(members)
  }
}

/// What of a cloud account is one node to the home: one device or, as a strip of sockets is, several that are one to their maker.
package struct CloudNode: Hashable, Sendable {
  package var node: NodeID
  package var parts: [EndpointID: CloudPart] = [:]
  /// So many of one account may be one to their maker.
  static let mostParts: UInt16 = 64

  /// Whether there is a word for any of it in Matter. What has none is no device of the home.
  package var isDevice: Bool { parts.values.contains(where: \.hasWords) }

  /// Which of its endpoints tells of the battery, which is the node's: two would contradict each other.
  var batteryEndpoint: EndpointID? { orderedParts.first { $0.part.device.has("EnergyStorage") }?.endpoint }

  package func without(_ ids: [String]) -> CloudNode {
    CloudNode(node: node, parts: parts.filter { !ids.contains($0.value.device.id) })
  }

  /// In the order of their endpoints.
  var orderedParts: [(endpoint: EndpointID, part: CloudPart)] {
    parts.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
  }
}

extension CloudPart {
  /// The most that is taken of one device, so that no cloud fills the home.
  private static let longestID = 256, longestCustomData = 4096, mostTraits = 64

  /// Reads a device of a SYNC response: what it is known by, what it is and what it is called has to be there, all else may be
  /// missing, or be something else.
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
      attributes: json["attributes"].flatMap { CloudAttributes.lenient($0.inTodaysForm) } ?? CloudAttributes())
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

  /// Whether a cloud that tells both means one thing by them that its maker made as one.
  package func isSameDevice(as other: CloudPart) -> Bool { device.identity.isSameDevice(as: other.device.identity) }
}

/// Why a device of a SYNC response is left out.
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
  /// Attributes of a device, where some have forms that others don't write any more, or leave a part out.
  fileprivate var inTodaysForm: CloudJSON {
    guard var members = object else { return self }
    if let modes = members["availableThermostatModes"]?.text {
      members["availableThermostatModes"] = .array(modes.split(separator: ",").map { .text(String($0)) })
    }
    if var range = members["colorTemperatureRange"]?.object, !range.isEmpty {
      // What lamps are sold with, where one end is not told.
      range["temperatureMinK"] = range["temperatureMinK"] ?? .number(2000)
      range["temperatureMaxK"] = range["temperatureMaxK"] ?? .number(6500)
      members["colorTemperatureRange"] = .object(range)
    }
    return .object(members)
  }
}
