import Foundation
import MatterProtocol
import NIOCore
import NIOPosix
import Testing

@testable import Runtime

@Suite(.serialized) struct EchoMeasurementTests {
  @Test func completesMeasurement() async throws {
    let loops = MultiThreadedEventLoopGroup.singleton
    #expect(try EchoMeasurement.blocking(rounds: 50) > .zero)
    #expect(try await EchoMeasurement.hosts(rounds: 50, outstanding: 4, on: loops.next(), and: loops.next()) > .zero)
  }

  /// Measures in a release build: `HEARTH_MEASURE=1 swift test -c release -Xswiftc -enable-testing --filter Echo`.
  @Test(.enabled(if: ProcessInfo.processInfo.environment["HEARTH_MEASURE"] != nil))
  func hostEchoTakesLessThanTwiceABlockingEcho() async throws {
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 2)
    let (first, second) = (group.next(), group.next())
    let rounds = 20_000
    var ratios: [Double] = []
    for _ in 0..<7 {
      let floor = try EchoMeasurement.blocking(rounds: rounds)
      let apart = try await EchoMeasurement.hosts(rounds: rounds, on: first, and: second)
      let together = try await EchoMeasurement.hosts(rounds: rounds, on: first, and: first)
      let many = try await EchoMeasurement.hosts(rounds: rounds * 4, outstanding: 64, on: first, and: second)
      ratios.append(Double(apart.nanoseconds) / Double(floor.nanoseconds))
      print(
        "ns: blocking \(floor.nanoseconds), hosts \(apart.nanoseconds), one loop \(together.nanoseconds), 64 \(many.nanoseconds)"
      )
    }
    print("ratios \(ratios)")
    #expect(ratios.sorted()[3] < 2)
    try await group.shutdownGracefully()
  }
}
