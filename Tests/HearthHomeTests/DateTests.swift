import Foundation
import HearthHome
import HomeModel
import HomeStore
import MatterModel
import MatterProtocol
import Testing

/// Times of the public API are dates.
@Suite("Dates") struct DateTests {
  private let microseconds: Int64 = 1_700_000_000_123_456
  private let date = Date(timeIntervalSince1970: 1_700_000_000.123456)

  private func isEqual(_ other: Date?) -> Bool { other.map { abs($0.timeIntervalSince(date)) < 0.000_01 } ?? false }

  @Test func convertsMicroseconds() {
    #expect(isEqual(Contact(last: microseconds).lastDate) && Contact(last: microseconds).nextReportDate == nil)
    #expect(isEqual(Contact(nextReport: microseconds).nextReportDate))
    #expect(isEqual(HomeUpdate([], at: microseconds).date))
    #expect(isEqual(SourceStatus(.unknown, lastContact: microseconds).lastContactDate))
  }

  @Test func samplesHaveDates() async throws {
    let open = try await OpenHome(.lamp(5))
    let before = Date()
    let anchor = try await open.home.anchor()
    _ = try await open.home.addRoom("Hall")
    let sample = try #require(try await open.home.results(of: AnchoredQuery(.all, after: anchor)).added.first)
    #expect(abs(sample.startDate.timeIntervalSince(before)) < 600)
    await open.home.close()
  }
}
