import MatterModel
import MatterProtocol
import Testing

@testable import MatterController

@Suite struct PeerTests {
  private let address = SocketAddress(.loopback6, port: 5540)

  @Test func storesChangedAddress() {
    var peer = Peer(PeerRecord(7))
    let first = peer.setAddress(address)
    #expect(first == [StoreChange("peer/0000000000000007", peer.record.tlv)])
    let second = peer.setAddress(address)
    #expect(second.isEmpty, "unchanged")
    let third = peer.setAddress(address, SessionParameters(idleInterval: .seconds(3), maximumPathsPerInvoke: 9))
    #expect(third.count == 1)
    #expect(peer.record.parameters.idleInterval == .seconds(3))
    #expect(peer.record.parameters.maximumPathsPerInvoke == 1, "only the timing is stored")
  }

  @Test func storesDeviceWhenItIsConfirmed() {
    var peer = Peer(PeerRecord(7))
    peer.isStored = false
    let changes = peer.setAddress(address)
    #expect(changes.isEmpty && peer.record.address == address)
    let confirmed = peer.confirm()
    #expect(confirmed == [StoreChange("peer/0000000000000007", peer.record.tlv, isDurable: true)])
    #expect(peer.isStored)
  }

  @Test func limitsCache() {
    func value(_ number: Int, _ value: UInt8 = 0) -> AttributeData {
      AttributeData(ConcreteAttributePath(1, 6, AttributeID(rawValue: UInt32(number))), dataVersion: 1, value: [value])
    }
    var peer = Peer(PeerRecord(7))
    peer.store((0...Peer.maximumCachedValues).map { value($0) })
    #expect(peer.cache.count == Peer.maximumCachedValues)
    // Known attributes are still updated.
    peer.store([value(Peer.maximumCachedValues), value(3, 9)])
    #expect(peer.cache.count == Peer.maximumCachedValues)
    #expect(peer.cache[value(3).path]?.value == [9])
    #expect(peer.cache[value(Peer.maximumCachedValues).path] == nil)
  }

  @Test func returnsWaitingOperationsOnce() {
    var peer = Peer(PeerRecord(7))
    peer.waiting = [OperationID(3), OperationID(1)]
    let first = peer.takeWaiting()
    let second = peer.takeWaiting()
    #expect(first == [OperationID(3), OperationID(1)] && second.isEmpty)
  }
}
