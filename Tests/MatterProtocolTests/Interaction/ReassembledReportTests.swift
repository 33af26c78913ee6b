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

  @Test func refusals() throws {
    var whole = ReassembledReport()
    #expect(throws: InteractionError.self) {
      try whole.append(
        report(
          [.init(plain, dataVersion: 1, value: [9]), .init(plain, .append, dataVersion: 1, value: [9])], more: true))
    }
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
