import MatterModel

@testable import Home

/// A home with two rooms and names that are easy to mix up.
enum Samples {
  static func registry() throws -> HomeRegistry {
    var registry = HomeRegistry()
    try registry.put(light(1, "Ceiling", room: "Kitchen"))
    try registry.put(light(2, "Lamp", room: "Kitchen"))
    try registry.put(light(3, "Lamp", room: "Bedroom"))
    try registry.put(light(4, "Desk v2.0"))
    try registry.put(light(77, "5"))
    try registry.put(plug(9, "Strip", room: "Attic"))
    return registry
  }

  static func light(_ node: UInt64, _ name: String, room: String? = nil) -> DeviceRecord {
    DeviceRecord(
      nodeID: NodeID(node), name: name, room: room,
      endpoints: [
        .init(id: 0, deviceTypes: [0x16], servers: [0x1D, 0x28], parts: [1]),
        .init(id: 1, deviceTypes: [0x101], servers: [0x03, 0x06, 0x08, 0x1D]),
      ])
  }

  /// A power strip: two outlets.
  static func plug(_ node: UInt64, _ name: String, room: String? = nil) -> DeviceRecord {
    DeviceRecord(
      nodeID: NodeID(node), name: name, room: room,
      endpoints: [
        .init(id: 0, deviceTypes: [0x16], servers: [0x1D]), .init(id: 1, deviceTypes: [0x10A], servers: [0x06]),
        .init(id: 2, deviceTypes: [0x10A], servers: [0x06]),
      ])
  }
}

/// What `body` throws.
func failure(_ body: () throws(HomeError) -> Void) -> HomeError? {
  do throws(HomeError) {
    try body()
    return nil
  } catch {
    return error
  }
}
