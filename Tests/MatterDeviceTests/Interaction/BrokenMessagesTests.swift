import MatterClusters
import MatterModel
import MatterProtocol
import Testing

@testable import MatterDevice

/// Requests of each kind with all their optional parts.
private let samples: [(InteractionOpcode, [UInt8])] = [
  (
    .invokeRequest,
    InvokeRequest([
      CommandData(OnOff.on.path(on: 1), ref: 1), CommandData(GeneralDiagnostics.timeSnapshot.path(on: 0), ref: 2),
    ]).encoded
  ),
  (
    .readRequest,
    ReadRequest(
      attributePaths: [AttributePath(OnOff.onOff.path(on: 1))], eventPaths: [EventPath(endpoint: 0, cluster: 0x28)],
      eventFilters: [EventFilter(eventMin: 1)],
      dataVersionFilters: [DataVersionFilter(ClusterPath(1, 6), dataVersion: 7)]
    ).encoded
  ),
  (
    .writeRequest,
    WriteRequest([
      AttributeWrite(BasicInformation.nodeLabel.path(on: 0), value: "Desk".tlv),
      AttributeWrite(
        AttributePath(GroupKeyManagement.groupKeyMap.path(on: 0)), .append,
        value: GroupKeyManagement.GroupKeyMapStruct(groupId: 1, groupKeySetID: 1).tlv),
    ]).encoded
  ),
  (
    .subscribeRequest,
    SubscribeRequest(
      minIntervalFloor: 1, maxIntervalCeiling: 60, attributePaths: [AttributePath(endpoint: 1)],
      eventPaths: [EventPath(isUrgent: true)]
    ).encoded
  ),
  (.timedRequest, TimedRequest(timeoutMilliseconds: 300).encoded),
]

extension Lab {
  /// Sends a raw payload and closes the exchange.
  fileprivate mutating func sendRaw(_ opcode: InteractionOpcode, _ payload: [UInt8], on session: SessionID) throws {
    let opened = administrators[0].core.openExchange(on: session, at: now)
    let exchange = try #require(opened)
    administrators[0].answers = []
    administrators[0].core.send(opcode.rawValue, payload: payload, on: exchange, then: .keepOpen, at: now)
    settle()
    administrators[0].core.close(exchange, at: now)
    settle()
  }
}

@Test(arguments: samples.indices)
func rejectsTruncatedAndCorruptedRequests(_ index: Int) throws {
  var lab = try Lab()
  try lab.addAdministrator()
  let session = try lab.commission()
  let (opcode, payload) = samples[index]
  for count in payload.indices {
    try lab.sendRaw(opcode, Array(payload[..<count]), on: session)
    let answer = try #require(lab.administrators[0].answers.first)
    #expect(try StatusResponse(decoding: answer.bytes).status == .invalidAction)
  }
  for position in payload.indices {
    for bit in 0..<8 {
      var broken = payload
      broken[position] ^= 1 << UInt8(bit)
      try lab.sendRaw(opcode, broken, on: session)
    }
    // Accidental subscriptions and unconfirmed reports time out.
    lab.advance(by: .seconds(40))
  }
  #expect(try lab.status(OnOff.toggle, NoFields(), endpoint: 1, on: session) == .success)
  #expect(lab.device.interactions.isEmpty)
}
