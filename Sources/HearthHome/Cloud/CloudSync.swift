package import CloudLink
package import HomeModel

/// The response to a cloud-to-cloud SYNC request: the devices of a home with their identity, so that a device seen
/// through the cloud and through Matter can be matched. See <doc:TheHomeModel>, “Objects”.
///
/// It encodes to the JSON that Google's cloud-to-cloud integrations expect.
package struct CloudSync: Hashable, Sendable, Codable {
  /// The id of the answered request.
  package var requestID: String
  package var payload: Payload

  /// The user and the devices.
  package struct Payload: Hashable, Sendable, Codable {
    /// The agent's id of the user.
    package var agentUserID: String
    package var devices: [CloudDevice]

    package enum CodingKeys: String, CodingKey {
      case agentUserID = "agentUserId"
      case devices
    }
  }

  package enum CodingKeys: String, CodingKey {
    case requestID = "requestId"
    case payload
  }

  /// - Parameters:
  ///   - requestID: the id of the answered request.
  ///   - agentUserID: the agent's id of the user, the same for each request.
  ///   - devices: the devices of one home. Devices without a cloud equivalent are omitted; see `CloudMapping.swift`.
  ///   - rooms: all rooms that the devices may be in.
  ///   - agentID: the agent for ``CloudDevice/otherDeviceIDs``; nil omits them.
  package init(
    requestID: String, agentUserID: String, devices: some Sequence<HomeDevice>, rooms: some Sequence<Room>,
    agentID: String? = nil
  ) {
    self.requestID = requestID
    let names = Dictionary(rooms.map { ($0.id, $0.name) }, uniquingKeysWith: { first, _ in first })
    payload = Payload(
      agentUserID: agentUserID,
      devices: devices.flatMap { device in
        CloudDevice.all(of: device, room: device.roomID.flatMap { names[$0] }, agentID: agentID)
      })
  }
}
