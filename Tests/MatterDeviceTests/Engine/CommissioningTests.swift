import MatterClusters
import MatterCrypto
import MatterModel
import MatterProtocol
import Testing

@testable import MatterDevice

@Test func advertisesNewDevice() throws {
  let lab = try Lab()
  #expect(lab.published.count == 1)
  let service = try #require(lab.published.first)
  #expect(service.discriminator == 3840)
  #expect(service.commissioningMode == 1)
  #expect(service.vendorID == 0xFFF1 && service.productID == 0x8000)
  #expect(service.deviceType == 0x0100)
  #expect(service.hostName == "B6A1F0C3D2E4.local")
  #expect(lab.events.last == .windowOpened(isEnhanced: false))
}

@Test func commissionsAndControlsDevice() throws {
  var lab = try Lab()
  try lab.addAdministrator()
  let session = try lab.commission()
  #expect(lab.events.contains(.commissioned(1)))
  #expect(
    lab.published.map(\.kind) == [
      .operational(
        compressedFabricID: lab.administrators[0].core.fabrics[0].compressedFabricID, nodeID: 0x2_0001)
    ])
  #expect(try lab.status(OnOff.on, NoFields(), endpoint: 1, on: session) == .success)
  #expect(try lab.read(OnOff.onOff, endpoint: 1, on: session))
  #expect(lab.store["attribute/1/6/0"] == [0x09])
  #expect(lab.store["fabric/1"] != nil)
  #expect(lab.store["failsafe"] == nil)
}

@Test func restoresStateAfterCrash() throws {
  var lab = try Lab()
  try lab.addAdministrator()
  let session = try lab.commission()
  _ = try lab.status(OnOff.on, NoFields(), endpoint: 1, on: session)
  lab.crash()
  #expect(lab.device.fabrics.count == 1)
  let opened = lab.openCASE()
  let again = try #require(opened)
  #expect(try lab.read(OnOff.onOff, endpoint: 1, on: again))
  #expect(try lab.read(GeneralDiagnostics.rebootCount, on: again) == 2)
}

@Test func rollsBackCommissioningAfterCrash() throws {
  var lab = try Lab()
  try lab.addAdministrator()
  let opened = lab.openPASE()
  let pase = try #require(opened)
  #expect(try lab.addNOC(on: pase).statusCode == .ok)
  #expect(lab.store["fabric/1"] != nil, "stored together with the fail-safe")
  lab.crash()
  #expect(lab.device.fabrics.isEmpty)
  #expect(lab.store["fabric/1"] == nil)
  #expect(lab.store["failsafe"] == nil)
  let list = lab.device.value(AccessControl.acl, on: 0)
  #expect(list == [])
  #expect(lab.published.map(\.commissioningMode) == [1])
}

@Test func rollsBackCommissioningWhenFailSafeExpires() throws {
  var lab = try Lab()
  try lab.addAdministrator()
  let opened = lab.openPASE()
  let pase = try #require(opened)
  #expect(lab.published.isEmpty, "not commissionable during a PASE session")
  #expect(try lab.addNOC(on: pase).statusCode == .ok)
  lab.advance(by: .seconds(61))
  #expect(lab.events.contains(.rolledBack))
  #expect(lab.device.fabrics.isEmpty)
  #expect(lab.store.keys.filter { $0.hasPrefix("fabric/") || $0.hasPrefix("server/") }.isEmpty)
  #expect(lab.published.map(\.commissioningMode) == [1])
  _ = try lab.commission()
}

@Test func keepsCommissioningWhenLingeringSessionCloses() throws {
  var lab = try Lab()
  try lab.addAdministrator()
  let opened = lab.openPASE()
  let first = try #require(opened)
  let disarmed = try lab.call(
    GeneralCommissioning.armFailSafe, .init(expiryLengthSeconds: 0, breadcrumb: 0), on: first)
  #expect(disarmed.errorCode == .ok)
  // The commissioner closes the session without acknowledging the response, so the device retransmits it.
  lab.administrators[0].core.close(first, notifyingPeer: false, at: lab.now)
  lab.advance(by: .seconds(1))
  let reopened = lab.openPASE()
  let second = try #require(reopened)
  #expect(lab.device.core.sessions.count == 2, "the first session lingers")
  lab.advance(by: .seconds(20))
  #expect(lab.device.core.sessions.count == 1)
  #expect(try lab.addNOC(on: second).statusCode == .ok)

  // Closing the current session ends commissioning.
  lab.crash()
  let third = lab.openPASE()
  lab.administrators[0].core.close(try #require(third), notifyingPeer: true, at: lab.now)
  lab.settle()
  #expect(lab.published.map(\.commissioningMode) == [1])
}

@Test func closesWindowAfterTwentyFailedAttempts() throws {
  var lab = try Lab()
  try lab.addAdministrator()
  for attempt in 1...20 {
    #expect(lab.openPASE(passcode: 1) == nil)
    #expect(lab.device.isCommissionable == (attempt < 20))
    lab.advance(by: .seconds(5))
  }
  #expect(lab.published.isEmpty)
  #expect(lab.openPASE() == nil)
}

@Test func commissionsSecondAdministratorThroughWindow() throws {
  var lab = try Lab()
  try lab.addAdministrator()
  try lab.addAdministrator(vendor: 0xFFF2)
  let first = try lab.commission()
  let salt = [UInt8](repeating: 9, count: 32)
  let verifier = try SPAKE2PlusVerifier(passcode: 12_345_670, salt: salt, iterations: 2000)
  let request = AdministratorCommissioning.OpenCommissioningWindowRequest(
    commissioningTimeout: 180, pakePasscodeVerifier: OctetString(verifier.bytes), discriminator: 0x123,
    iterations: 2000, salt: OctetString(salt))
  let command = AdministratorCommissioning.openCommissioningWindow
  #expect(try lab.status(command, request, on: first) == Status(.needsTimedInteraction))
  #expect(try lab.status(command, request, on: first, isTimed: true) == .success)
  #expect(try lab.read(AdministratorCommissioning.windowStatus, on: first) == .enhancedWindowOpen)
  #expect(try lab.read(AdministratorCommissioning.adminFabricIndex, on: first) == .value(1))
  #expect(try lab.status(command, request, on: first, isTimed: true) == Status(.failure, clusterCode: 2))
  #expect(lab.published.contains { $0.commissioningMode == 2 && $0.discriminator == 0x123 })

  let second = try lab.commission(1, passcode: 12_345_670)
  #expect(lab.device.fabrics.map(\.index) == [1, 2])
  #expect(try lab.read(AdministratorCommissioning.windowStatus, on: first) == .windowNotOpen)
  #expect(try lab.read(OperationalCredentials.commissionedFabrics, on: second, 1) == 2)
  #expect(try lab.read(OperationalCredentials.currentFabricIndex, on: second, 1) == 2)
  #expect(try lab.read(OperationalCredentials.fabrics, on: second, 1).map(\.vendorID) == [0xFFF2])

  let removed = try lab.call(OperationalCredentials.removeFabric, .init(fabricIndex: 1), on: second, 1)
  #expect(removed == .init(statusCode: .ok, fabricIndex: 1))
  #expect(lab.events.contains(.fabricRemoved(1)))
  #expect(lab.published.count == 1)
  #expect(lab.openCASE(0) == nil)
  let own = try lab.call(OperationalCredentials.removeFabric, .init(fabricIndex: 2), on: second, 1)
  #expect(own.statusCode == .ok, "the response is still sent")
  #expect(lab.published.map(\.commissioningMode) == [1], "commissionable again without a fabric")
}

@Test func closesExpiredAndRevokedWindows() throws {
  var lab = try Lab()
  try lab.addAdministrator()
  let session = try lab.commission()
  let command = AdministratorCommissioning.openBasicCommissioningWindow
  #expect(
    try lab.status(command, .init(commissioningTimeout: 179), on: session, isTimed: true) == Status(.invalidCommand))
  #expect(try lab.status(command, .init(commissioningTimeout: 180), on: session, isTimed: true) == .success)
  #expect(lab.device.isCommissionable)
  lab.advance(by: .seconds(180))
  #expect(!lab.device.isCommissionable)
  let revoke = AdministratorCommissioning.revokeCommissioning
  #expect(
    try lab.status(revoke, NoFields(), on: session, isTimed: true) == Status(.failure, clusterCode: 4))
  #expect(try lab.status(command, .init(commissioningTimeout: 900), on: session, isTimed: true) == .success)
  #expect(try lab.status(revoke, NoFields(), on: session, isTimed: true) == .success)
  #expect(!lab.device.isCommissionable)
}

@Test("replaces an administrator's window when the last fabric is removed", arguments: [true, false])
func opensFirstWindowInPlaceOfSharedOne(isEnhanced: Bool) throws {
  var lab = try Lab()
  try lab.addAdministrator()
  let session = try lab.commission()
  let salt = [UInt8](repeating: 9, count: 32)
  let verifier = try SPAKE2PlusVerifier(passcode: 12_345_670, salt: salt, iterations: 2000)
  let status =
    if isEnhanced {
      try lab.status(
        AdministratorCommissioning.openCommissioningWindow,
        .init(
          commissioningTimeout: 180, pakePasscodeVerifier: OctetString(verifier.bytes), discriminator: 0x123,
          iterations: 2000, salt: OctetString(salt)), on: session, isTimed: true)
    } else {
      try lab.status(
        AdministratorCommissioning.openBasicCommissioningWindow, .init(commissioningTimeout: 180), on: session,
        isTimed: true)
    }
  #expect(status == .success)
  let removed = try lab.call(OperationalCredentials.removeFabric, .init(fabricIndex: 1), on: session)
  #expect(removed.statusCode == .ok)
  #expect(lab.events.suffix(2) == [.windowClosed, .windowOpened(isEnhanced: false)])
  #expect(lab.published.map(\.discriminator) == [3840])
  // The first window has no end, unlike the replaced one.
  lab.advance(by: .seconds(200))
  #expect(lab.published.map(\.commissioningMode) == [1])
  let again = try lab.commission()
  #expect(try lab.read(OperationalCredentials.commissionedFabrics, on: again) == 1)
}

@Test func renamesOnlyCommissionableServiceOnConflict() throws {
  var lab = try Lab()
  let drawn = try #require(lab.published.first)
  lab.device.handle(.serviceConflict(.instance(drawn.kind)), at: lab.now)
  lab.settle()
  let another = try #require(lab.published.first)
  #expect(lab.published.count == 1 && another.kind != drawn.kind && another.text == drawn.text)
  // A late conflict for a name that is no longer used is ignored.
  lab.device.handle(.serviceConflict(.instance(drawn.kind)), at: lab.now)
  lab.settle()
  #expect(lab.published == [another])
  try lab.addAdministrator()
  _ = try lab.commission()
  let operational = lab.published
  lab.device.handle(.serviceConflict(.instance(try #require(operational.first).kind)), at: lab.now)
  lab.settle()
  #expect(lab.published == operational && !operational.isEmpty)
}

@Test func renamesHostOfAllServicesOnConflict() throws {
  var lab = try Lab()
  try lab.addAdministrator()
  let session = try lab.commission()
  let window = AdministratorCommissioning.openBasicCommissioningWindow
  #expect(try lab.status(window, .init(commissioningTimeout: 900), on: session, isTimed: true) == .success)
  let before = lab.published
  try #require(before.count == 2 && Set(before.map(\.hostName)) == ["B6A1F0C3D2E4.local"])
  // The conflict is reported once per service.
  for _ in before { lab.device.handle(.serviceConflict(.host("B6A1F0C3D2E4.local")), at: lab.now) }
  lab.settle()
  let second = lab.published
  let name = try #require(second.first).hostName
  #expect(name != "B6A1F0C3D2E4.local" && name.hasSuffix(".local") && name.utf8.count == 18)
  #expect(name.prefix(12).allSatisfy { $0.isASCII && $0.isHexDigit && !$0.isLowercase })
  #expect(Set(second.map(\.hostName)) == [name] && Set(second.map(\.kind)) == Set(before.map(\.kind)))
  // The new name also conflicts, followed by a late conflict for the first one.
  lab.device.handle(.serviceConflict(.host(name)), at: lab.now)
  lab.device.handle(.serviceConflict(.host("B6A1F0C3D2E4.local")), at: lab.now)
  lab.settle()
  let third = Set(lab.published.map(\.hostName))
  #expect(third.count == 1 && third.isDisjoint(with: [name, "B6A1F0C3D2E4.local"]))
}
