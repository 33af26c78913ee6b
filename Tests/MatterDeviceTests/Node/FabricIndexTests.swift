import MatterClusters
import MatterModel
import MatterProtocol
import Testing

@testable import MatterDevice

extension Lab {
  /// Commissions the device for another administrator through a window that the first one opens.
  fileprivate mutating func commissionAgain(_ administrator: Int, from first: SessionID) throws -> SessionID {
    let window = AdministratorCommissioning.openBasicCommissioningWindow
    #expect(try status(window, .init(commissioningTimeout: 180), on: first, isTimed: true) == .success)
    return try commission(administrator)
  }
}

@Test func doesNotReuseFabricIndexImmediately() throws {
  var lab = try Lab()
  for _ in 0..<3 { try lab.addAdministrator() }
  var first = try lab.commission(0)
  _ = try lab.commissionAgain(1, from: first)
  _ = try lab.commissionAgain(2, from: first)
  #expect(lab.device.fabrics.map(\.index) == [1, 2, 3])
  _ = try lab.call(OperationalCredentials.removeFabric, .init(fabricIndex: 3), on: first)
  _ = try lab.commissionAgain(2, from: first)
  #expect(lab.device.fabrics.map(\.index) == [1, 2, 4])
  // The same across a restart.
  _ = try lab.call(OperationalCredentials.removeFabric, .init(fabricIndex: 4), on: first)
  lab.crash()
  let opened = lab.openCASE()
  first = try #require(opened)
  _ = try lab.commissionAgain(2, from: first)
  #expect(lab.device.fabrics.map(\.index) == [1, 2, 5])
}

@Test func wrapsFabricIndices() {
  var state = CommissioningState()
  state.lastIndex = 254
  #expect(state.freeIndex == 1)
  state.lastIndex = 253
  #expect(state.freeIndex == 254)
}

@Test func reportsRemovalOfFabricThatOpenedWindow() throws {
  var lab = try Lab()
  for _ in 0..<2 { try lab.addAdministrator() }
  let first = try lab.commission(0)
  let second = try lab.commissionAgain(1, from: first)
  let window = AdministratorCommissioning.openBasicCommissioningWindow
  #expect(try lab.status(window, .init(commissioningTimeout: 180), on: second, 1, isTimed: true) == .success)
  let path = AttributePath(AdministratorCommissioning.adminFabricIndex.path(on: 0))
  _ = try lab.subscribe(
    SubscribeRequest(minIntervalFloor: 0, maxIntervalCeiling: 60, attributePaths: [path]), on: first)
  lab.administrators[0].reports = []
  _ = try lab.call(OperationalCredentials.removeFabric, .init(fabricIndex: 2), on: first)
  lab.advance(by: .seconds(1))
  let reports = lab.administrators[0].reports.flatMap(\.attributeReports)
  guard case .data(let data)? = reports.first else {
    Issue.record("nothing was reported")
    return
  }
  #expect(try Nullable<FabricIndex>(tlv: data.value) == .null)
}

@Test func rejectsSixthFabric() throws {
  var lab = try Lab()
  for _ in 0..<6 { try lab.addAdministrator() }
  let first = try lab.commission(0)
  for administrator in 1..<5 { _ = try lab.commissionAgain(administrator, from: first) }
  let window = AdministratorCommissioning.openBasicCommissioningWindow
  #expect(try lab.status(window, .init(commissioningTimeout: 180), on: first, isTimed: true) == .success)
  var opened = lab.openPASE(5)
  var pase = try #require(opened)
  #expect(try lab.addNOC(on: pase, 5).statusCode == .tableFull)
  #expect(lab.device.fabrics.map(\.index) == [1, 2, 3, 4, 5])
  #expect(lab.store[StoreKey.failSafe] == nil)
  let disarm = GeneralCommissioning.ArmFailSafeRequest(expiryLengthSeconds: 0, breadcrumb: 0)
  #expect(try lab.call(GeneralCommissioning.armFailSafe, disarm, on: pase, 5).errorCode == .ok)
  // Removing another fabric frees a slot.
  _ = try lab.call(OperationalCredentials.removeFabric, .init(fabricIndex: 3), on: first)
  opened = lab.openPASE(5)
  pase = try #require(opened)
  #expect(try lab.addNOC(on: pase, 5) == .init(statusCode: .ok, fabricIndex: 6))
}
