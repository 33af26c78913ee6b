import MatterClusters
import MatterModel
import MatterProtocol
import Testing

@testable import MatterDevice

@Test func testEventsNeedTheKey() throws {
  var lab = try Lab()
  try lab.addAdministrator()
  let session = try lab.commission()
  let command = GeneralDiagnostics.testEventTrigger
  func status(_ key: [UInt8], _ trigger: UInt64) throws -> StatusCode {
    try lab.status(command, .init(enableKey: OctetString(key), eventTrigger: trigger), on: session).code
  }
  #expect(try lab.read(GeneralDiagnostics.testEventTriggersEnabled, on: session))
  #expect(try status(Lab.enableKey, 0xFFFF_FFFF_FFF1_0000) == .success)
  #expect(try status(Lab.enableKey, 0xFFFF_FFFF_FFFF_FFFF) == .invalidCommand)
  #expect(try status([UInt8](repeating: 0, count: 16), 0xFFFF_FFFF_FFF1_0000) == .constraintError)
  #expect(try status(Lab.enableKey.reversed(), 0xFFFF_FFFF_FFF1_0000) == .constraintError)
  #expect(try status([1], 0xFFFF_FFFF_FFF1_0000) == .constraintError)
}

@Test func payloadsAreSentForTests() throws {
  var lab = try Lab()
  try lab.addAdministrator()
  let session = try lab.commission()
  let command = GeneralDiagnostics.payloadTestRequest
  func request(_ count: UInt16, key: [UInt8] = Lab.enableKey) -> GeneralDiagnostics.PayloadTestRequest {
    .init(enableKey: OctetString(key), value: 0x41, count: count)
  }
  #expect(try lab.call(command, request(0), on: session).payload.bytes == [])
  #expect(try lab.call(command, request(800), on: session).payload.bytes == [UInt8](repeating: 0x41, count: 800))
  #expect(try lab.status(command, request(1281), on: session).code == .resourceExhausted)
  #expect(try lab.status(command, request(2049), on: session).code == .constraintError)
  #expect(try lab.status(command, request(1, key: []), on: session).code == .constraintError)
}

@Test func theHoursOfOperationAreKept() throws {
  var lab = try Lab(isCommissionable: false)
  lab.advance(by: .seconds(3 * 3600))
  #expect(lab.device.value(GeneralDiagnostics.totalOperationalHours, on: 0) == 3)
  lab.crash()
  lab.advance(by: .seconds(3600))
  #expect(lab.device.value(GeneralDiagnostics.totalOperationalHours, on: 0) == 4)
}

@Test func packetsAreCountedUntilTheyAreReset() throws {
  typealias Ethernet = EthernetNetworkDiagnostics
  var lab = try Lab()
  try lab.addAdministrator()
  let session = try lab.commission()
  let (received, sent) = (
    try lab.read(Ethernet.packetRxCount, on: session), try lab.read(Ethernet.packetTxCount, on: session)
  )
  #expect(received > 5 && sent > 5)
  #expect(try lab.read(Ethernet.packetRxCount, on: session) > received)
  lab.advance(by: .seconds(2))
  #expect(try lab.status(Ethernet.resetCounts, NoFields(), on: session) == .success)
  #expect(try lab.read(Ethernet.packetRxCount, on: session) < 5)
  #expect(try lab.read(Ethernet.timeSinceReset, on: session) == 0)
}

@Test func theNetworkIsTheOneThatItIsOn() throws {
  var lab = try Lab()
  #expect(lab.device.value(NetworkCommissioning.lastNetworkingStatus, on: 0) == .value(.success))
  #expect(lab.device.value(NetworkCommissioning.lastNetworkID, on: 0) == .value(OctetString(Array("eth0".utf8))))
}
