import MatterCertificates
import MatterClusters
import MatterModel
import MatterProtocol
import Testing

@testable import MatterDevice

private typealias Time = TimeSynchronization
private let second: UInt64 = 1_000_000
/// A time in 2026.
private let start: UInt64 = 835_000_000 * 1_000_000

extension Lab {
  fileprivate mutating func setTime(
    _ time: UInt64, _ granularity: TimeSynchronization.Granularity = .millisecondsGranularity, on session: SessionID
  ) throws -> Status {
    try status(TimeSynchronization.setUTCTime, .init(utcTime: time, granularity: granularity), on: session)
  }

  fileprivate mutating func setSaving(
    _ offsets: [TimeSynchronization.DSTOffsetStruct], on session: SessionID
  ) throws -> StatusCode {
    try status(TimeSynchronization.setDSTOffset, .init(dstOffset: offsets), on: session).code
  }

  fileprivate mutating func events(on session: SessionID) throws -> [EventID] {
    let path = EventPath(endpoint: 0, cluster: TimeSynchronization.id, event: nil)
    return try read(ReadRequest(eventPaths: [path]), on: session).flatMap(\.eventReports).compactMap {
      if case .data(let data) = $0 { data.path.event } else { nil }
    }
  }
}

@Test func hasNoTimeUntilSet() throws {
  var lab = try Lab()
  try lab.addAdministrator()
  let session = try lab.commission()
  #expect(try lab.read(Time.utcTime, on: session) == .null)
  #expect(try lab.read(Time.granularity, on: session) == .noTimeGranularity)
  #expect(try lab.call(GeneralDiagnostics.timeSnapshot, NoFields(), on: session).posixTimeMs == .null)
  #expect(try lab.setTime(start, on: session) == .success)
  lab.advance(by: .seconds(5))
  #expect(try lab.read(Time.utcTime, on: session) == .value(start + 5 * second))
  #expect(try lab.read(Time.granularity, on: session) == .millisecondsGranularity)
  #expect(try lab.read(Time.timeSource, on: session) == .admin)
  let snapshot = try lab.call(GeneralDiagnostics.timeSnapshot, NoFields(), on: session)
  #expect(snapshot.posixTimeMs == .value((835_000_000 + 946_684_800 + 5) * 1000))
  lab.crash()
  #expect(lab.device.value(Time.utcTime, on: 0) == Nullable<UInt64>.null)
}

@Test func usesHostClockUntilSet() throws {
  let unix: UInt64 = (835_000_000 + 946_684_800) * 1000
  var lab = try Lab { $0.epoch = .milliseconds(Int64(unix)) }
  try lab.addAdministrator()
  lab.advance(by: .seconds(3))
  let session = try lab.commission()
  #expect(try lab.read(Time.utcTime, on: session) == .value(start + 3 * second))
  #expect(try lab.read(Time.granularity, on: session) == .minutesGranularity)
  #expect(try lab.read(Time.timeSource, on: session) == .unknown)
  #expect(
    try lab.call(GeneralDiagnostics.timeSnapshot, NoFields(), on: session).posixTimeMs == .value(unix + 3000))
  #expect(try lab.setTime(5, .noTimeGranularity, on: session) == Status(.failure, clusterCode: 2))
  #expect(try lab.setTime(start + 60 * second, .minutesGranularity, on: session) == .success)
  #expect(try lab.read(Time.utcTime, on: session) == .value(start + 60 * second))
  #expect(try lab.read(Time.timeSource, on: session) == .admin)
  lab.crash()
  #expect(lab.device.value(Time.utcTime, on: 0) == .value(start + 3 * second), "the host's time again")
}

/// A host time before 2000 means no time; a later one means a time of unknown source.
@Test func followsHostClockChanges() throws {
  let unix: Int64 = (835_000_000 + 946_684_800) * 1000
  var lab = try Lab { $0.epoch = .milliseconds(unix) }
  try lab.addAdministrator()
  let session = try lab.commission()
  func readClock() throws -> [Nullable<UInt64>] {
    [
      try lab.read(Time.utcTime, on: session), .value(UInt64(try lab.read(Time.granularity, on: session).rawValue)),
      .value(UInt64(try lab.read(Time.timeSource, on: session).rawValue)),
    ]
  }
  let begin = try #require(try readClock()[0].wrapped)
  lab.device.noteClock(epoch: .milliseconds(unix + 3_600_000), at: lab.now)
  #expect(try readClock() == [.value(begin + 3600 * second), .value(1), .value(1)])
  // 1996, 1910, and the minimum.
  for past in [820_454_400_000, -1_893_456_000_000, .min] as [Int64] {
    lab.device.noteClock(epoch: .milliseconds(past), at: lab.now)
    #expect(try readClock() == [.null, .value(0), .value(0)])
  }
  lab.device.noteClock(epoch: .milliseconds(Int64.max), at: lab.now)
  #expect(try readClock()[0] == .null)
  lab.device.noteClock(epoch: .milliseconds(unix), at: lab.now)
  #expect(try readClock() == [.value(begin), .value(1), .value(1)])
  // A time that an administrator set moves by the same step.
  #expect(try lab.setTime(start, on: session) == .success)
  lab.device.noteClock(epoch: .milliseconds(unix - 60_000), at: lab.now)
  #expect(try readClock() == [.value(start - 60 * second), .value(3), .value(2)])
}

@Test func validatesAndSwitchesTimeZones() throws {
  var lab = try Lab()
  try lab.addAdministrator()
  let session = try lab.commission()
  #expect(try lab.setTime(start, on: session) == .success)
  func zone(_ offset: Int32, from: UInt64 = 0, name: String? = nil) -> TimeSynchronization.TimeZoneStruct {
    .init(offset: offset, validAt: from, name: name)
  }
  let bad: [([TimeSynchronization.TimeZoneStruct], StatusCode)] = [
    ([], .constraintError), ([zone(0, from: start)], .constraintError), ([zone(0), zone(0)], .constraintError),
    ([zone(-43_201)], .constraintError), ([zone(50_401)], .constraintError),
    ([zone(0, name: String(repeating: "x", count: 65))], .constraintError),
    ([zone(0), zone(0, from: start), zone(0, from: start)], .resourceExhausted),
  ]
  for (zones, status) in bad {
    #expect(try lab.status(Time.setTimeZone, .init(timeZone: zones), on: session).code == status, "\(zones)")
  }
  let zones = [zone(3600, name: "A"), zone(7200, from: start + 10 * second, name: "B")]
  #expect(try lab.call(Time.setTimeZone, .init(timeZone: zones), on: session).dstOffsetRequired)
  #expect(try lab.read(Time.localTime, on: session) == .null, "daylight saving offsets are unknown")
  #expect(try lab.setSaving([.init(offset: 0, validStarting: 0, validUntil: .null)], on: session) == .success)
  #expect(try lab.read(Time.localTime, on: session) == .value(start + 3600 * second))
  lab.advance(by: .seconds(10))
  #expect(try lab.read(Time.localTime, on: session) == .value(start + 7210 * second))
  #expect(try lab.read(Time.timeZone, on: session) == [zone(7200, name: "B")])
  #expect(try lab.events(on: session) == [Time.dstTableEmpty.id, Time.timeZoneStatus.id, Time.timeZoneStatus.id])
}

@Test func appliesDaylightSaving() throws {
  var lab = try Lab()
  try lab.addAdministrator()
  let session = try lab.commission()
  #expect(try lab.setTime(start, on: session) == .success)
  func saving(_ from: UInt64, _ until: UInt64?, _ offset: Int32 = 3600) -> TimeSynchronization.DSTOffsetStruct {
    .init(
      offset: offset, validStarting: from == 0 ? 0 : start + from * second,
      validUntil: Nullable(until.map { start + $0 * second }))
  }
  let bad: [([TimeSynchronization.DSTOffsetStruct], StatusCode)] = [
    ([saving(10, 20), saving(0, 10)], .constraintError), ([saving(0, 20), saving(10, 30)], .constraintError),
    ([saving(0, nil), saving(10, nil)], .constraintError), ([saving(20, 10)], .constraintError),
    ((0..<5).map { saving($0 * 10 + 1, $0 * 10 + 5) }, .resourceExhausted),
  ]
  for (savings, status) in bad { #expect(try lab.setSaving(savings, on: session) == status, "\(savings)") }
  #expect(try lab.setSaving([saving(0, 10), saving(25, 40, 7200)], on: session) == .success)
  func offset() throws -> Int64? {
    guard let local = try lab.read(Time.localTime, on: session).wrapped,
      let utc = try lab.read(Time.utcTime, on: session).wrapped
    else { return nil }
    return (Int64(local) - Int64(utc)) / 1_000_000
  }
  #expect(try offset() == 3600)
  lab.advance(by: .seconds(15))
  #expect(try offset() == 0)
  #expect(try lab.read(Time.dstOffset, on: session).count == 1)
  lab.advance(by: .seconds(15))
  #expect(try offset() == 7200)
  lab.advance(by: .seconds(15))
  #expect(try offset() == nil)
  #expect(
    try lab.events(on: session) == [
      Time.dstStatus.id, Time.dstStatus.id, Time.dstStatus.id, Time.dstTableEmpty.id, Time.dstStatus.id,
    ])
}

/// The clock for certificate validation: one that an administrator set, or a plausible host clock.
@Test func trustsOnlyPlausibleOrSetClock() throws {
  let unix = Int64(835_000_000 + 946_684_800) * 1000
  #expect(try Lab().device.core.trustedEpoch == nil)
  #expect(try Lab { $0.epoch = .milliseconds(unix) }.device.core.trustedEpoch == 835_000_000)
  #expect(try Lab { $0.epoch = .seconds(1_000_000_000) }.device.core.trustedEpoch == nil, "a clock at 2001")
  var lab = try Lab()
  try lab.addAdministrator()
  let session = try lab.commission()
  #expect(try lab.setTime(1_000 * second, on: session) == .success)
  #expect(lab.device.core.trustedEpoch == 1_000 - lab.now.nanoseconds / 1_000_000_000)
}

@Test func rejectsExpiredCertificateOnceTimeIsKnown() throws {
  var lab = try Lab()
  try lab.addAdministrator(validity: CertificateValidity(notBefore: .seconds(1), notAfter: .seconds(1_000)))
  let session = try lab.commission()
  lab.device.core.forgetResumption(fabric: 1, peer: lab.administrators[0].node)
  lab.administrators[0].core.forgetResumption(fabric: 1, peer: lab.administrators[0].deviceNode)
  let before = lab.openCASE()
  #expect(before != nil)
  #expect(try lab.setTime(2_000 * second, on: session) == .success)
  lab.device.core.forgetResumption(fabric: 1, peer: lab.administrators[0].node)
  lab.administrators[0].core.forgetResumption(fabric: 1, peer: lab.administrators[0].deviceNode)
  let after = lab.openCASE()
  #expect(after == nil)
}

/// A time near the maximum, and a second time zone that is valid from then on.
@Test(arguments: [UInt64.max, UInt64.max - 1, UInt64(Int64.max), UInt64(Int64.max) - 1])
func rejectsTimesNearOverflow(
  _ time: UInt64
) throws {
  var lab = try Lab()
  try lab.addAdministrator()
  let session = try lab.commission()
  let zones = [
    Time.TimeZoneStruct(offset: 0, validAt: 0), Time.TimeZoneStruct(offset: 3600, validAt: .max),
  ]
  let answer = try lab.call(Time.setTimeZone, .init(timeZone: zones), on: session)
  #expect(answer.dstOffsetRequired)
  #expect(try lab.setTime(time, on: session) == Status(.failure, clusterCode: 2))
  #expect(try lab.setTime(start, on: session) == .success)
  #expect(try lab.read(Time.utcTime, on: session) == .value(start))
  // The second zone is never reached.
  var device = lab.device
  for _ in 0..<100 {
    guard let deadline = device.nextDeadline, deadline <= lab.now + .seconds(1) else { break }
    device.advance(to: deadline)
    while device.nextEffect() != nil {}
  }
  #expect(device.nextDeadline ?? Instant(nanoseconds: .max) > lab.now + .seconds(1))
  #expect(try lab.setTime(UInt64(Int64.max) / 2, on: session) == .success)
  lab.advance(by: .seconds(60))
  #expect(try lab.read(Time.utcTime, on: session) == .value(UInt64(Int64.max) / 2 + 60 * second))
}
