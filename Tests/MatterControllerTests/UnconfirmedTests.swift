import MatterCertificates
import MatterModel
import MatterProtocol
import Testing

@testable import MatterController

/// Devices that did not answer CommissioningComplete.
@Suite struct UnconfirmedTests {
  private func node(_ id: NodeID, _ request: CommissioningRequest) -> UnconfirmedNode {
    var record = PeerRecord(id)
    record.address = SocketAddress(.loopback6, port: 5540)
    record.attestation = .test
    return UnconfirmedNode(record, request, attestationFailure: .init("noTrustedRoot", "unknown issuer"))
  }

  @Test func roundTripsThroughTLV() throws {
    let known = node(7, CommissioningRequest(passcode: 20_202_021, target: .any))
    #expect(UnconfirmedNode(tlv: known.tlv) == known)
    #expect(UnconfirmedNode(tlv: known.tlv)?.attestationFailure?.explanation == "unknown issuer")
    #expect(UnconfirmedNode(tlv: Array(known.tlv.dropLast())) == nil)
    #expect(UnconfirmedNode(tlv: [0x15, 0x18]) == nil)
  }

  @Test func computesDistinctStableFingerprints() {
    let targets: [CommissioningRequest.Target] = [
      .any, .discriminator(.long(15)), .discriminator(.short(15)), .instance(15), .addresses([]),
      .addresses([SocketAddress(.loopback6, port: 15)]), .addresses([SocketAddress(.loopback4, port: 15)]),
    ]
    let requests = targets.flatMap { target in
      [20_202_021, 20_202_022].map { CommissioningRequest(passcode: $0, target: target) }
    }
    let all = requests.map(UnconfirmedNode.fingerprint)
    #expect(Set(all).count == requests.count)
    #expect(all == requests.map(UnconfirmedNode.fingerprint))
  }

  // MARK: Table

  private let request = CommissioningRequest(passcode: 20_202_021, target: .discriminator(.long(15)))

  @Test("stores a device once, and removes it when its state is known") func addsAndRemoves() throws {
    var table = UnconfirmedTable([:])
    let added = table.add(node(7, request))
    let again = table.add(node(7, request))
    #expect(added.map(\.key) == [UnconfirmedNode.key(7)] && added.first?.isDurable == true && again.isEmpty)
    let restored = UnconfirmedTable([UnconfirmedNode.key(7): try #require(added.first?.value), "peer/7": [1]])
    #expect(restored.ids == [7] && restored.node(of: request) { _ in true } == node(7, request))
    let other = table.remove(8)
    let removed = table.remove(7)
    #expect(other.isEmpty && removed == [StoreChange(UnconfirmedNode.key(7), nil)] && table.ids.isEmpty)
  }

  @Test func evictsOldestDevice() {
    var table = UnconfirmedTable([:])
    let limit = UnconfirmedNode.limit
    for number in 1...limit { _ = table.add(node(NodeID(UInt64(number)), request)) }
    let changes = table.add(node(100, request))
    #expect(changes.map(\.key) == [UnconfirmedNode.key(100), UnconfirmedNode.key(1)])
    #expect(changes.last?.value == nil && table.ids.count == limit && table.ids.first == 2)
  }

  @Test("finds the newest device of a request whose id is free") func findsDevice() {
    var table = UnconfirmedTable([:])
    for id in [3, 9, 5] as [NodeID] { _ = table.add(node(id, request)) }
    _ = table.add(node(20, CommissioningRequest(passcode: 20_202_021, target: .any)))
    func found(_ request: CommissioningRequest, isFree: (NodeID) -> Bool = { _ in true }) -> NodeID? {
      table.node(of: request, isFree: isFree)?.record.nodeID
    }
    #expect(found(request) == 9)
    #expect(found(request) { $0 != 9 } == 5)
    var wanted = request
    wanted.nodeID = 3
    #expect(found(wanted) == 3)
    wanted.nodeID = 4
    #expect(found(wanted) == nil)
    let removed = table.removeAll(of: request)
    #expect(removed.map(\.key) == [3, 5, 9].map { UnconfirmedNode.key($0) } && table.ids == [20])
  }

  /// A device that refuses CommissioningComplete is not stored, and the next attempt starts from discovery.
  @Test func doesNotStoreRefusedDevice() throws {
    var world = try World()
    try world.addDevice()
    world.devices[0].refusals["CommissioningComplete"] = Status(.failure)
    let request = CommissioningRequest(passcode: 20_202_021, target: .discriminator(.long(0xF00)))
    let id = world.controller.commission(request, at: world.now)
    guard case .commissioningFailed(.complete, _)? = world.error(of: id) else {
      Issue.record("the device was commissioned")
      return
    }
    #expect(world.store.keys.filter { $0.hasPrefix(UnconfirmedNode.prefix) }.isEmpty)
  }
}
