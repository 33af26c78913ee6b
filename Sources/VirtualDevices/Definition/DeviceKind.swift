public import MatterModel

/// A kind of device that can be simulated, as definition files name it.
public struct DeviceKind: Hashable, Sendable {
  /// The Device Library's name in lower case, as it is written in a definition file.
  public let name: String
  /// Other names for it.
  public let aliases: [String]
  /// The device type of its first application endpoint.
  public let deviceType: DeviceTypeID
  /// The product id of a device whose definition does not give one.
  public let productID: UInt16
  /// One line for people.
  public let summary: String

  public static let onOffLight = DeviceKind(
    name: "on/off light", aliases: ["switchable light"], deviceType: 0x0100, productID: 0x8000,
    summary: "a light that is on or off")
  public static let dimmableLight = DeviceKind(
    name: "dimmable light", aliases: ["dimmer light"], deviceType: 0x0101, productID: 0x8001,
    summary: "a light with a brightness")
  public static let onOffPlugInUnit = DeviceKind(
    name: "on/off plug-in unit", aliases: ["plug", "outlet", "smart plug", "on/off plug", "plug-in unit"],
    deviceType: 0x010A, productID: 0x8002, summary: "a plug between an outlet and an appliance, on or off")

  /// Every kind, in the order of the device type ids.
  public static let all: [DeviceKind] = [.onOffLight, .dimmableLight, .onOffPlugInUnit]

  /// The name as the Device Library writes it: "Dimmable Light", "On/Off Plug-in Unit".
  public var title: String {
    var isStart = true
    return String(
      name.map { character in
        defer { isStart = character == " " || character == "/" }
        return isStart ? Character(character.uppercased()) : character
      })
  }

  /// The kind with this name or alias; case, blanks, hyphens and slashes don't count.
  public static func named(_ text: String) -> DeviceKind? {
    let wanted = NearestName.normalized(text)
    return all.first { kind in ([kind.name] + kind.aliases).contains { NearestName.normalized($0) == wanted } }
  }
}
