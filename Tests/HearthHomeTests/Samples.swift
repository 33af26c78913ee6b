import HearthHome
import HomeModel
import MatterModel

/// A home with three rooms and similar names.
enum Samples {
  static func registry() throws -> HomeRegistry { HomeRegistry(state()) }

  static func state() -> HomeState {
    var state = HomeState()
    state.apply(.structureAdded(HomeReducer.firstStructure))
    for room in ["Kitchen", "Bedroom", "Attic"] {
      state.apply(.roomAdded(Room(id: room.lowercased(), name: room, structureID: "home")))
    }
    add(1, "Ceiling", room: "kitchen", light, to: &state)
    add(2, "Lamp", room: "kitchen", light, to: &state)
    add(3, "Lamp", room: "bedroom", light, to: &state)
    add(4, "Desk v2.0", light, to: &state)
    add(77, "5", light, to: &state)
    add(9, "Strip", room: "attic", strip, to: &state)
    return state
  }

  static func add(
    _ node: UInt64, _ name: String, room: String? = nil, _ endpoints: [DeviceEndpoint], to state: inout HomeState
  ) {
    let source = SourceID(NodeID(node))
    state.apply(.deviceAdded(id: "\(source)", name: name, roomID: room, structureID: "home"))
    state.apply(.sourceAdded(source, device: "\(source)"))
    state.apply(.topology(source, endpoints, DeviceIdentity()))
  }

  static let light: [DeviceEndpoint] = [
    .init(id: 0, deviceTypes: [0x16], servers: [0x1D, 0x28], parts: [1]),
    .init(id: 1, deviceTypes: [0x101], servers: [0x03, 0x06, 0x08, 0x1D]),
  ]

  /// A power strip with two outlets.
  static let strip: [DeviceEndpoint] = [
    .init(id: 0, deviceTypes: [0x16], servers: [0x1D]), .init(id: 1, deviceTypes: [0x10A], servers: [0x06]),
    .init(id: 2, deviceTypes: [0x10A], servers: [0x06]),
  ]
}

/// Returns the error that `body` throws, or nil.
func failure(_ body: () throws(HomeError) -> Void) -> HomeError? {
  do throws(HomeError) {
    try body()
    return nil
  } catch {
    return error
  }
}
