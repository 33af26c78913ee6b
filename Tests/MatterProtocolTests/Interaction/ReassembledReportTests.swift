import MatterModel
import MatterTLV
import Testing

@testable import MatterProtocol

@Suite struct ReassembledReportTests {
  private let first = ConcreteAttributePath(1, 0x1D, 0)
  private let second = ConcreteAttributePath(0, 0x1D, 1)
  private let plain = ConcreteAttributePath(1, 6, 0)

  private func report(_ data: [AttributeData], more: Bool) -> ReportData {
    ReportData(attributeReports: data.map { .data($0) }, moreChunkedMessages: more)
  }

  /// Replacing entries costs a walk over the list each time: a peer gets only so many of them.
  @Test func replacingIsNotForEver() throws {
    var whole = ReassembledReport(maximumSize: 100_000)
    var list: [UInt8] = [0x16]
    for _ in 0..<1000 { list += [4, 1] }
    try whole.append(report([.init(first, dataVersion: 1, value: list + [0x18])], more: true))
    let again = report([.init(first, .item(999), dataVersion: 1, value: [4, 2])], more: true)
    for _ in 0..<40 { try whole.append(again) }
    #expect(throws: InteractionError.tooLarge) { for _ in 0..<10 { try whole.append(again) } }
  }

  @Test func listsThatAlternate() throws {
    var whole = ReassembledReport()
    try whole.append(
      report(
        [
          .init(first, dataVersion: 1, value: hex("16 18")), .init(second, dataVersion: 2, value: hex("16 0409 18")),
          .init(first, .append, dataVersion: 1, value: [4, 1]),
        ], more: true))
    #expect(!whole.isComplete)
    try whole.append(
      report(
        [
          .init(plain, dataVersion: 3, value: [0x09]), .init(second, .append, dataVersion: 2, value: [4, 8]),
          .init(first, .append, dataVersion: 1, value: hex("15 240001 18")),
        ], more: false))
    #expect(whole.isComplete)
    #expect(
      whole.attributes == [
        .init(first, dataVersion: 1, value: hex("16 0401 15 240001 18 18")),
        .init(second, dataVersion: 2, value: hex("16 0409 0408 18")), .init(plain, dataVersion: 3, value: [0x09]),
      ])
    #expect(whole[plain]?.value == [0x09] && whole[plain]?.dataVersion == 3)
    #expect(whole[ConcreteAttributePath(9, 9, 9)] == nil)
    #expect(throws: InteractionError.unexpected(.reportData)) { try whole.append(ReportData()) }
  }

  @Test func entriesByIndexAndWithoutAList() throws {
    var whole = ReassembledReport()
    try whole.append(
      report(
        [
          .init(first, .append, dataVersion: 1, value: [4, 1]), .init(first, .item(1), dataVersion: 2, value: [4, 2]),
          .init(first, .item(0), dataVersion: 3, value: hex("050001")),
          .init(first, .item(9), dataVersion: 3, value: [0x14]),
          .init(second, dataVersion: 4, value: hex("16 0401 18")), .init(second, dataVersion: 5, value: hex("16 18")),
        ], more: false))
    #expect(whole[first]?.value == hex("16 050001 0402 14 18") && whole[first]?.dataVersion == 3)
    #expect(whole[second]?.value == hex("16 18"))
  }

  /// Entries with an index may come in any order.
  @Test func entriesOutOfOrder() throws {
    func whole(_ order: [UInt8], moreAfterEach: Bool) throws -> ReassembledReport {
      var whole = ReassembledReport()
      let data = order.map { AttributeData(first, .item(UInt16($0)), dataVersion: 1, value: [4, $0 + 10]) }
      if moreAfterEach {
        for (number, entry) in data.enumerated() {
          try whole.append(report([entry], more: number + 1 < data.count))
        }
      } else {
        try whole.append(report(data, more: false))
      }
      return whole
    }
    for order in [[0, 1, 2], [1, 0, 2], [2, 1, 0], [2, 0, 1], [1, 2, 0], [0, 2, 1]] as [[UInt8]] {
      for more in [true, false] {
        #expect(try whole(order, moreAfterEach: more)[first]?.value == hex("16 040A 040B 040C 18"), "\(order) \(more)")
      }
    }
    // One that never comes leaves no hole, and one that comes again counts.
    #expect(try whole([3, 1], moreAfterEach: true)[first]?.value == hex("16 040B 040D 18"))
    var again = ReassembledReport()
    try again.append(
      report(
        [
          .init(first, .item(1), dataVersion: 1, value: [4, 1]), .init(first, .item(1), dataVersion: 1, value: [4, 2]),
          .init(second, .item(4), dataVersion: 1, value: [4, 1]),
          .init(second, dataVersion: 1, value: hex("16 0407 18")),
          .init(first, .item(0), dataVersion: 1, value: [4, 0]),
        ], more: false))
    #expect(again[first]?.value == hex("16 0400 0402 18"))
    #expect(again[second]?.value == hex("16 0407 18"), "a list that replaces all forgets what waited")
  }

  /// An entry for what is no list spoils that attribute, and no other.
  @Test func entriesForNoList() throws {
    var whole = ReassembledReport()
    try whole.append(
      report(
        [
          .init(first, dataVersion: 1, value: [0x14]), .init(second, dataVersion: 1, value: hex("16 18")),
          .init(first, .append, dataVersion: 1, value: [4, 1]), .init(plain, dataVersion: 1, value: [9]),
          .init(plain, .item(0), dataVersion: 1, value: [9]),
        ], more: true))
    try whole.append(report([.init(second, .append, dataVersion: 1, value: [4, 2])], more: false))
    #expect(whole.attributes.map(\.path) == [second])
    #expect(whole[second]?.value == hex("16 0402 18") && whole[first] == nil && whole[plain] == nil)
    #expect(whole.statuses.map(\.path) == [AttributePath(first), AttributePath(plain)])
    #expect(whole.statuses.allSatisfy { $0.status.code == .invalidDataType })
    // It is whole again if it comes whole again.
    whole = ReassembledReport()
    try whole.append(
      report(
        [
          .init(first, dataVersion: 1, value: [0x14]), .init(first, .append, dataVersion: 1, value: [4, 1]),
          .init(first, dataVersion: 2, value: hex("16 18")), .init(first, .append, dataVersion: 2, value: [4, 3]),
        ], more: false))
    #expect(whole[first]?.value == hex("16 0403 18") && whole.statuses.isEmpty)
  }

  @Test func refusals() throws {
    var whole = ReassembledReport()
    whole = ReassembledReport()
    try whole.append(ReportData(subscriptionID: 1, moreChunkedMessages: true))
    #expect(throws: InteractionError.unexpected(.reportData)) { try whole.append(ReportData(subscriptionID: 2)) }
    whole = ReassembledReport(maximumSize: 100)
    try whole.append(report([.init(first, dataVersion: 1, value: hex("16 18"))], more: true))
    #expect(throws: InteractionError.tooLarge) {
      for _ in 0..<3 { try whole.append(report([.init(first, .append, dataVersion: 1, value: [4, 1])], more: true)) }
    }
  }

  @Test func statusesAndEventTimes() throws {
    var whole = ReassembledReport()
    try whole.append(Samples.report)
    #expect(whole.subscriptionID == 0x1234_5678 && whole.statuses.count == 2)
    let times = whole.events.compactMap { if case .data(let data) = $0 { data.timestamp } else { nil } }
    #expect(times == [.epoch(1_700_000_000_000), .system(12), .system(12), .deltaEpoch(3)])
    #expect(EventTimestamp.deltaEpoch(3).resolved(after: .epoch(4)) == .epoch(7))
    #expect(EventTimestamp.deltaSystem(3).resolved(after: nil) == .deltaSystem(3))
  }
}
