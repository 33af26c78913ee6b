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
    var commissioning = Commissioning(request, node: id, at: .zero)
    commissioning.attestationFailure = .init("noTrustedRoot", "unknown issuer")
    return UnconfirmedNode(record, commissioning)
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
