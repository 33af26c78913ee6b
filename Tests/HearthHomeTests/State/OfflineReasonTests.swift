import Foundation
import HearthHome
import MatterModel
import Testing

/// The form of reasons in the log and on the wire.
@Suite("Offline reasons") struct OfflineReasonTests {
  @Test("keep their names and the status of a refused subscription") func keepValues() throws {
    let statuses = [StatusCode.resourceExhausted, StatusCode(rawValue: 0xFE)]
    let refusals = statuses.map { OfflineReason.subscriptionRefused($0) }
    for reason in OfflineReason.allCases + refusals {
      #expect(OfflineReason(rawValue: reason.rawValue) == reason)
      let json = try JSONEncoder().encode([reason])
      #expect(String(decoding: json, as: UTF8.self) == "[\"\(reason.rawValue)\"]")
      #expect(try JSONDecoder().decode([OfflineReason].self, from: json) == [reason])
    }
    #expect(refusals.map(\.rawValue) == ["subscriptionRefused 137", "subscriptionRefused 254"])
    // The names that earlier versions have stored.
    #expect(OfflineReason(rawValue: "subscriptionRefused") == .subscriptionRefused(nil))
    #expect(OfflineReason(rawValue: "noAddress") == .noAddress)
    for other in ["", "noReason", "subscriptionRefused 256", "subscriptionRefused "] {
      #expect(OfflineReason(rawValue: other) == nil)
    }
  }
}
