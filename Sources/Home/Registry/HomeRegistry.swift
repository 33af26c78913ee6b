public import MatterModel

/// The names in a home at one moment: its rooms, and its devices with their rooms, to find what a text means.
///
/// Names keep the case they were given in and are compared without it.
public struct HomeRegistry: Hashable, Sendable {
  /// The names of the rooms, in the order they were added.
  public private(set) var rooms: [String] = []
  /// Node by node; what is behind a bridge comes behind it.
  public private(set) var devices: [DeviceRecord] = []

  public init() {}

  /// The names in a home as it is now, the devices in the order of their nodes.
  public init(_ state: HomeState) {
    rooms = state.rooms.map(\.name)
    devices = state.orderedDevices.compactMap { entry in
      DeviceRecord(entry, room: entry.roomID.flatMap { state.room($0)?.name })
    }
  }

  /// The device that a node is, by this way; of a bridge, the bridge itself.
  public func device(_ node: NodeID) -> DeviceRecord? { device(SourceID(node)) }

  /// The device that is found there, by this way.
  func device(_ source: SourceID) -> DeviceRecord? {
    for device in devices { if let found = device.by(where: { $0.id == source }) { return found } }
    return nil
  }

  static func same(_ left: String, _ right: String) -> Bool { HomeNames.same(left, right) }
}
