import MatterClusters
import MatterModel
import MatterProtocol
import Testing

@testable import MatterDevice

@Test func requiresEnableKeyForTestEvents() throws {
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

@Test func causesTestEventsOfClusters() throws {
  let alarm = EndpointDefinition(
    1, deviceTypes: [DeviceTypes.smokeCoAlarm], servers: [SmokeCoAlarmServer.make(), SensorServers.occupancySensing()])
  var lab = try Lab(endpoints: [alarm])
  try lab.addAdministrator()
  let session = try lab.commission()
  func status(_ key: [UInt8], _ trigger: UInt64) throws -> StatusCode {
    try lab.status(
      GeneralDiagnostics.testEventTrigger, .init(enableKey: OctetString(key), eventTrigger: trigger), on: session
    ).code
  }
  #expect(try status(Lab.enableKey.reversed(), 0x005C_0000_0000_0090) == .constraintError)
  #expect(lab.device.value(SmokeCoAlarm.smokeState, on: 1) == .normal)
  #expect(try status(Lab.enableKey, 0x005C_0000_0000_0090) == .success)
  #expect(lab.device.value(SmokeCoAlarm.smokeState, on: 1) == .warning)
  #expect(try status(Lab.enableKey, 0x005C_0001_0000_00A0) == .success)
  #expect(lab.device.value(SmokeCoAlarm.smokeState, on: 1) == .normal)
  #expect(try status(Lab.enableKey, 0x0406_0001_0000_0000) == .success)
  #expect(lab.device.value(OccupancySensing.occupancy, on: 1) == .occupied)
  #expect(try status(Lab.enableKey, 0x005C_0000_0000_0001) == .invalidCommand)
  #expect(try status(Lab.enableKey, .max) == .invalidCommand)

  var disabled = try Lab(endpoints: [alarm]) { $0.enableKey = nil }
  #expect(disabled.device.value(GeneralDiagnostics.testEventTriggersEnabled, on: 0) == false)
}

@Test func respondsToPayloadTest() throws {
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

@Test func restoresOperationalHours() throws {
  var lab = try Lab(isCommissionable: false)
  lab.advance(by: .seconds(3 * 3600))
  #expect(lab.device.value(GeneralDiagnostics.totalOperationalHours, on: 0) == 3)
  lab.crash()
  lab.advance(by: .seconds(3600))
  #expect(lab.device.value(GeneralDiagnostics.totalOperationalHours, on: 0) == 4)
}

@Test func accumulatesOperationalHours() throws {
  var lab = try Lab(isCommissionable: false)
  func run(_ minutes: Int64) {
    lab.advance(by: .seconds(minutes * 60))
    lab.device.shutDown(at: lab.now)
    lab.settle()
    lab.crash()
  }
  for _ in 0..<6 { run(9) }
  #expect(lab.device.value(GeneralDiagnostics.totalOperationalHours, on: 0) == 0)
  // Ten of the fifteen minutes were already stored at shutdown.
  run(15)
  #expect(lab.device.value(GeneralDiagnostics.totalOperationalHours, on: 0) == 1)
  for _ in 0..<5 { run(10) }
  #expect(lab.device.value(GeneralDiagnostics.totalOperationalHours, on: 0) == 1)
  run(1)
  #expect(lab.device.value(GeneralDiagnostics.totalOperationalHours, on: 0) == 2)
}

@Test func reportsBootReason() throws {
  var lab = try Lab()
  try lab.addAdministrator()
  func expect(_ reason: GeneralDiagnostics.BootReason, _ what: Comment) throws {
    let opened = lab.openCASE()
    let session = try #require(opened)
    #expect(try lab.read(GeneralDiagnostics.bootReason, on: session) == reason, what)
    let paths = [
      EventPath(endpoint: 0, cluster: GeneralDiagnostics.id, event: GeneralDiagnostics.bootReasonEvent.id),
      EventPath(endpoint: 0, cluster: BasicInformation.id, event: BasicInformation.startUp.id),
    ]
    let events = try lab.read(ReadRequest(eventPaths: paths), on: session).flatMap(\.eventReports)
      .compactMap { if case .data(let data) = $0 { data } else { nil } }
    #expect(events.map(\.path.cluster).sorted() == [BasicInformation.id, GeneralDiagnostics.id], what)
    let payload = try #require(events.first { $0.path.cluster == GeneralDiagnostics.id }?.payload)
    #expect(try GeneralDiagnostics.BootReasonEvent(tlv: payload).bootReason == reason, what)
    #expect(lab.store[StoreKey.shutDown] == nil, what)
  }
  _ = try lab.commission()
  try expect(.powerOnReboot, "first start")
  lab.crash()
  try expect(.powerOnReboot, "after a loss of power")
  lab.device.shutDown(at: lab.now)
  lab.settle()
  #expect(lab.store[StoreKey.shutDown] != nil)
  lab.crash()
  try expect(.softwareReset, "after an orderly shutdown")
  lab.crash()
  try expect(.powerOnReboot, "only the start after the shutdown")
  lab.device.factoryReset(at: lab.now)
  lab.settle()
  _ = try lab.commission()
  try expect(.softwareReset, "after a factory reset")
  lab.crash()
  try expect(.powerOnReboot, "after another loss of power")
}

@Test func countsPacketsUntilReset() throws {
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

@Test func reportsCurrentNetwork() throws {
  var lab = try Lab()
  #expect(lab.device.value(NetworkCommissioning.lastNetworkingStatus, on: 0) == .value(.success))
  #expect(lab.device.value(NetworkCommissioning.lastNetworkID, on: 0) == .value(OctetString(Array("eth0".utf8))))
}
