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

  /// Each replacement scans the list, so the number of replacements is limited.
  @Test func limitsReplacements() throws {
    var reassembled = ReassembledReport(maximumSize: 100_000)
    var list: [UInt8] = [0x16]
    for _ in 0..<1000 { list += [4, 1] }
    try reassembled.append(report([.init(first, dataVersion: 1, value: list + [0x18])], more: true))
    let again = report([.init(first, .item(999), dataVersion: 1, value: [4, 2])], more: true)
    for _ in 0..<40 { try reassembled.append(again) }
    #expect(throws: InteractionError.tooLarge) { for _ in 0..<10 { try reassembled.append(again) } }
  }

  @Test func mergesAlternatingLists() throws {
    var reassembled = ReassembledReport()
    try reassembled.append(
      report(
        [
          .init(first, dataVersion: 1, value: hex("16 18")), .init(second, dataVersion: 2, value: hex("16 0409 18")),
          .init(first, .append, dataVersion: 1, value: [4, 1]),
        ], more: true))
    #expect(!reassembled.isComplete)
    try reassembled.append(
      report(
        [
          .init(plain, dataVersion: 3, value: [0x09]), .init(second, .append, dataVersion: 2, value: [4, 8]),
          .init(first, .append, dataVersion: 1, value: hex("15 240001 18")),
        ], more: false))
    #expect(reassembled.isComplete)
    #expect(
      reassembled.attributes == [
        .init(first, dataVersion: 1, value: hex("16 0401 15 240001 18 18")),
        .init(second, dataVersion: 2, value: hex("16 0409 0408 18")), .init(plain, dataVersion: 3, value: [0x09]),
      ])
    #expect(reassembled[plain]?.value == [0x09] && reassembled[plain]?.dataVersion == 3)
    #expect(reassembled[ConcreteAttributePath(9, 9, 9)] == nil)
    #expect(throws: InteractionError.unexpected(.reportData)) { try reassembled.append(ReportData()) }
  }

  @Test func appliesIndexedEntries() throws {
    var reassembled = ReassembledReport()
    try reassembled.append(
      report(
        [
          .init(first, .append, dataVersion: 1, value: [4, 1]), .init(first, .item(1), dataVersion: 2, value: [4, 2]),
          .init(first, .item(0), dataVersion: 3, value: hex("050001")),
          .init(first, .item(9), dataVersion: 3, value: [0x14]),
          .init(second, dataVersion: 4, value: hex("16 0401 18")), .init(second, dataVersion: 5, value: hex("16 18")),
        ], more: false))
    #expect(reassembled[first]?.value == hex("16 050001 0402 14 18") && reassembled[first]?.dataVersion == 3)
    #expect(reassembled[second]?.value == hex("16 18"))
  }

  /// Entries with an index may arrive in any order.
  @Test func ordersIndexedEntries() throws {
    func reassembled(_ order: [UInt8], moreAfterEach: Bool) throws -> ReassembledReport {
      var reassembled = ReassembledReport()
      let data = order.map { AttributeData(first, .item(UInt16($0)), dataVersion: 1, value: [4, $0 + 10]) }
      if moreAfterEach {
        for (number, entry) in data.enumerated() {
          try reassembled.append(report([entry], more: number + 1 < data.count))
        }
      } else {
        try reassembled.append(report(data, more: false))
      }
      return reassembled
    }
    for order in [[0, 1, 2], [1, 0, 2], [2, 1, 0], [2, 0, 1], [1, 2, 0], [0, 2, 1]] as [[UInt8]] {
      for more in [true, false] {
        #expect(
          try reassembled(order, moreAfterEach: more)[first]?.value == hex("16 040A 040B 040C 18"), "\(order) \(more)")
      }
    }
    // A missing entry leaves no gap, and a repeated entry replaces the earlier one.
    #expect(try reassembled([3, 1], moreAfterEach: true)[first]?.value == hex("16 040B 040D 18"))
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
    #expect(again[second]?.value == hex("16 0407 18"), "replacing the list discards pending entries")
  }

  /// A list entry for an attribute that is not a list invalidates only that attribute.
  @Test func rejectsEntriesOfNonLists() throws {
    var reassembled = ReassembledReport()
    try reassembled.append(
      report(
        [
          .init(first, dataVersion: 1, value: [0x14]), .init(second, dataVersion: 1, value: hex("16 18")),
          .init(first, .append, dataVersion: 1, value: [4, 1]), .init(plain, dataVersion: 1, value: [9]),
          .init(plain, .item(0), dataVersion: 1, value: [9]),
        ], more: true))
    try reassembled.append(report([.init(second, .append, dataVersion: 1, value: [4, 2])], more: false))
    #expect(reassembled.attributes.map(\.path) == [second])
    #expect(reassembled[second]?.value == hex("16 0402 18") && reassembled[first] == nil && reassembled[plain] == nil)
    #expect(reassembled.statuses.map(\.path) == [AttributePath(first), AttributePath(plain)])
    #expect(reassembled.statuses.allSatisfy { $0.status.code == .invalidDataType })
    // Replacing the value makes the attribute valid again.
    reassembled = ReassembledReport()
    try reassembled.append(
      report(
        [
          .init(first, dataVersion: 1, value: [0x14]), .init(first, .append, dataVersion: 1, value: [4, 1]),
          .init(first, dataVersion: 2, value: hex("16 18")), .init(first, .append, dataVersion: 2, value: [4, 3]),
        ], more: false))
    #expect(reassembled[first]?.value == hex("16 0403 18") && reassembled.statuses.isEmpty)
  }

  @Test func rejectsInvalidReports() throws {
    var reassembled = ReassembledReport()
    reassembled = ReassembledReport()
    try reassembled.append(ReportData(subscriptionID: 1, moreChunkedMessages: true))
    #expect(throws: InteractionError.unexpected(.reportData)) { try reassembled.append(ReportData(subscriptionID: 2)) }
    reassembled = ReassembledReport(maximumSize: 100)
    try reassembled.append(report([.init(first, dataVersion: 1, value: hex("16 18"))], more: true))
    #expect(throws: InteractionError.tooLarge) {
      for _ in 0..<3 {
        try reassembled.append(report([.init(first, .append, dataVersion: 1, value: [4, 1])], more: true))
      }
    }
  }

  @Test func collectsStatusesAndResolvesEventTimes() throws {
    var reassembled = ReassembledReport()
    try reassembled.append(Samples.report)
    #expect(reassembled.subscriptionID == 0x1234_5678 && reassembled.statuses.count == 2)
    let times = reassembled.events.compactMap { if case .data(let data) = $0 { data.timestamp } else { nil } }
    #expect(times == [.epoch(1_700_000_000_000), .system(12), .system(12), .deltaEpoch(3)])
    #expect(EventTimestamp.deltaEpoch(3).resolved(after: .epoch(4)) == .epoch(7))
    #expect(EventTimestamp.deltaSystem(3).resolved(after: nil) == .deltaSystem(3))
  }
}
