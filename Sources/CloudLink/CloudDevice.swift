package import HomeModel
internal import NIOCore
package import WebClient

/// A device of a cloud account, as a SYNC response describes it.
/// https://developers.home.google.com/cloud-to-cloud/intents/sync
package struct CloudDevice: Hashable, Sendable {
  /// The used members of the description.
  package let json: JSONValue
  package let id: String
  package let name: String
  /// `LIGHT` of `action.devices.types.LIGHT`.
  let kind: String
  private let traits: Set<String>
  /// The clusters of its endpoint; empty if no cluster corresponds.
  package private(set) var clusters: [CloudCluster] = []

  /// Limits for one device, so that a cloud can't fill the database.
  private static let longestID = 256, longestCustomData = 4096, longestDescription = 16_384

  /// Decodes a device of a SYNC response. The id, type, traits and name are required; other members may be missing or
  /// invalid.
  package init(_ description: JSONValue) throws(CloudDeviceProblem) {
    let names = description["name"]
    guard let id = description["id"]?.text, !id.isEmpty, id.utf8.count <= Self.longestID else {
      throw CloudDeviceProblem(device: names?["name"]?.text ?? "a device", reason: "it has no id")
    }
    guard let type = description["type"]?.text, let traits = description["traits"]?.texts else {
      throw CloudDeviceProblem(device: id, reason: "it has no type or no traits")
    }
    guard let name = names?["name"]?.text ?? names?["defaultNames"]?.texts?.first else {
      throw CloudDeviceProblem(device: id, reason: "it has no name")
    }
    json = .object((description.members ?? []).compactMap(Self.used))
    guard json.bytes.readableBytes <= Self.longestDescription else {
      throw CloudDeviceProblem(device: id, reason: "its description is too long")
    }
    (self.id, self.name, self.traits) = (id, name, Set(traits))
    kind = type.split(separator: ".").last.map { String($0) } ?? type
    clusters = makeClusters()
  }

  /// A device whose stored description can't be decoded, until its cloud is queried again.
  init(unreadable id: String) {
    (json, self.id, name, kind, traits) = (["id": .string(id)], id, "", "", [])
  }

  /// Returns a member of a description without its unused parts; nil if it is not used.
  private static func used(_ member: JSONValue.Member) -> JSONValue.Member? {
    switch member.name {
    case "id", "type", "traits", "name", "deviceInfo", "matterOriginalVendorId", "matterOriginalProductId",
      "matterUniqueId":
      member
    case "attributes": .init(member.name, .object((member.value.members ?? []).filter { attributes.contains($0.name) }))
    case "customData" where member.value.bytes.readableBytes <= longestCustomData: member
    default: nil
    }
  }

  private static let attributes: Set<String> = [
    "colorModel", "colorTemperatureRange", "availableThermostatModes", "thermostatTemperatureRange",
    "supportsFanSpeedPercent", "discreteOnlyOpenClose", "queryOnlyOpenClose", "queryOnlyTemperatureControl",
    "queryOnlyHumiditySetting", "sensorStatesSupported", "isRechargeable",
  ]

  /// Whether it has a trait: `OnOff`.
  func has(_ trait: String) -> Bool { traits.contains("action.devices.traits.\(trait)") }

  func attribute(_ name: String) -> JSONValue? { json["attributes"]?[name] }

  /// The device in a request, with `customData` of the SYNC response.
  package var request: JSONValue { .present(["id": .string(id), "customData": json["customData"]]) }

  /// The identity as far as the cloud reports it. Vendor and product ids are texts such as `0xfff1`; some clouds report 0
  /// for unknown ones.
  package var identity: DeviceIdentity {
    func number(_ name: String) -> UInt16? {
      guard let text = json[name]?.text?.lowercased(), text.hasPrefix("0x") else { return nil }
      return UInt16(text.dropFirst(2), radix: 16).flatMap { $0 == 0 ? nil : $0 }
    }
    var identity = DeviceIdentity()
    identity.vendorID = number("matterOriginalVendorId").map { VendorID($0) }
    identity.productID = number("matterOriginalProductId")
    identity.uniqueID = json["matterUniqueId"]?.text.flatMap { $0.isEmpty ? nil : $0 }
    return identity
  }

  var hasColors: Bool { has("ColorSetting") && attribute("colorModel")?.text != nil }

  /// The color temperatures in kelvin; nil: none. A missing limit is a common one of lamps.
  var temperatures: ClosedRange<Double>? {
    guard has("ColorSetting"), let range = attribute("colorTemperatureRange"), range.members?.isEmpty == false,
      let low = (range["temperatureMinK"] ?? 2000).number, let high = (range["temperatureMaxK"] ?? 6500).number
    else { return nil }
    return min(low, high)...max(low, high)
  }

  /// The modes of a thermostat. Some clouds report a text with commas.
  var thermostatModes: [String] {
    let modes = attribute("availableThermostatModes")
    return modes?.texts ?? modes?.text?.split(separator: ",").map { String($0) } ?? []
  }
}

/// The reason why a device of a SYNC response is ignored.
package struct CloudDeviceProblem: Error, CustomStringConvertible {
  var device: String
  var reason: String

  package var description: String { "\(device): \(reason)" }
}
