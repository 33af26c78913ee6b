import MatterModel
import MatterProtocol
import Testing

@testable import MatterController

/// The registration for Check-In messages, and the timing of nodes with a long idle time.
@Suite struct CheckInRegistrationTests {
  private static let key = [UInt8](1...16)

  /// Whether each of the counters is accepted, one after the other.
  private func accepts(_ counters: [UInt32], _ registration: inout CheckInRegistration) -> [Bool] {
    counters.map { registration.accept(CheckInMessage(counter: $0)) }
  }

  @Test func acceptsEachCounterOnce() {
    var registration = CheckInRegistration(7, key: Self.key, start: 100)
    // The counter of the registration was used before.
    let accepted = accepts([100, 101, 101, 110, 105], &registration)
    #expect(accepted == [false, true, false, true, false])
    #expect(!registration.needsNewKey)
  }

  @Test func wrapsCounter() {
    var registration = CheckInRegistration(7, key: Self.key, start: .max - 1)
    let accepted = accepts([.max, 0, .max, 1], &registration)
    #expect(accepted == [true, true, false, true])
  }

  @Test func needsNewKeyAfterHalfOfCounters() {
    var registration = CheckInRegistration(7, key: Self.key, start: 5)
    let accepted = accepts([0x8000_0005], &registration)
    #expect(accepted == [true])
    #expect(registration.needsNewKey)
  }

  @Test func survivesStorage() throws {
    var registration = CheckInRegistration(0x1234, key: Self.key, start: 5)
    _ = accepts([9], &registration)
    let change = registration.stored(isNew: true)
    #expect(change.key == "checkin/0000000000001234" && change.isDurable)
    let bytes = try #require(change.value)
    #expect(CheckInRegistration(tlv: bytes) == registration)
    #expect(CheckInRegistration.registrations(in: [change.key: bytes, "peer/1": [1]]) == [0x1234: registration])
    for count in 0..<bytes.count { #expect(CheckInRegistration(tlv: Array(bytes.prefix(count))) == nil) }
  }

  @Test func storesTimingOfNode() {
    var record = PeerRecord(7)
    #expect(PeerRecord(tlv: record.tlv)?.longIdle == nil)
    record.longIdle = LongIdleTiming(idleDuration: .seconds(900), activeThreshold: .milliseconds(5500))
    #expect(PeerRecord(tlv: record.tlv) == record)
    #expect(record.longIdle?.reachableTime == .seconds(5))
  }
}
