import MatterClusters
import MatterModel
import MatterProtocol

/// The Meter Identification server of a utility meter. Application Clusters, Meter Identification.
public enum MeterIdentificationServer {
  private typealias Meter = MeterIdentification

  /// The values before the first test event, and the number of test events since.
  private struct Test: Sendable {
    var limit: Nullable<PowerThresholdStruct>
    var point: Nullable<String>
    var count: Int64 = 0
  }

  /// Returns the server.
  /// - Parameters:
  ///   - serialNumber: At most 64 bytes.
  ///   - limit: The power that the contract allows in milliwatts; nil for no limit.
  public static func make(serialNumber: String, limit: Int64?) -> ClusterServer {
    ClusterServer(Meter.self, features: [Meter.powerThresholdFeature])
      .initial(Meter.meterType, .value(.utility))
      .initial(Meter.pointOfDelivery, .null)
      .initial(Meter.meterSerialNumber, .value(serialNumber))
      .initial(
        Meter.powerThreshold,
        Nullable(limit.map { .init(powerThreshold: $0, powerThresholdSource: .value(.contract)) })
      )
      .onTest(0, "fakeData") { context in
        var test =
          context[scratch: Test.self]
          ?? Test(limit: context[Meter.powerThreshold], point: context[Meter.pointOfDelivery])
        test.count = test.count.saturatingAdd(1)
        context[scratch: Test.self] = test
        // One watt more each time.
        context[Meter.powerThreshold] = .value(
          .init(
            powerThreshold: test.count.saturatingMultiply(1000).saturatingAdd(5_000_000),
            powerThresholdSource: .value(.equipment)))
        context[Meter.pointOfDelivery] = .value("TEST-\(test.count)")
      }
      .onTest(1, "clear") { context in
        guard let test = context[scratch: Test.self] else { return }
        context[scratch: Test.self] = nil
        context[Meter.powerThreshold] = test.limit
        context[Meter.pointOfDelivery] = test.point
      }
  }
}
