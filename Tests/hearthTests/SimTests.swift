import Foundation
import Glibc
import Testing

/// What is seen of running devices from outside the protocol.
@Suite("hearth sim", .serialized) struct SimTests {
  @Test(.timeLimit(.minutes(10))) func dropsAreShownByReason() async throws {
    let hearth = Hearth()
    defer { hearth.cleanUp() }
    let fleet = try await Fleet(hearth, lamp: "Target " + UUID().uuidString.prefix(8))
    defer { fleet.stop() }
    #expect(try hearth("sim", "drops", "Target").output == "none\n")
    let shown = try hearth("sim", "ps", "--json").output
    let digits = shown.split(separator: "\"port\":", maxSplits: 1).last?.prefix { $0.isNumber } ?? ""
    let port = try #require(UInt16(digits))
    // No header, and a session that there is not.
    for _ in 0..<3 { shout([0x00, 0x01], to: port) }
    shout([0x00, 0x77, 0x77, 0x00, 1, 0, 0, 0] + [UInt8](repeating: 9, count: 40), to: port)
    var table: [Substring] = []
    for _ in 0..<50 where table.count < 3 {
      table = try hearth("sim", "drops", "Target").output.split(separator: "\n")
      try await Task.sleep(for: .milliseconds(50))
    }
    #expect(
      table.map { $0.split(separator: " ") } == [
        ["REASON", "MESSAGES"], ["malformedHeader", "3"], ["unknownSession", "1"],
      ])
    let json = try hearth("sim", "drops", "Target", "--json").output
    #expect(json == #"{"ok":true,"data":{"malformedHeader":3,"unknownSession":1}}"# + "\n")
    #expect(try hearth("sim", "drops", "Nobody").status == 3)
  }

  private func shout(_ bytes: [UInt8], to port: UInt16) {
    let descriptor = socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)
    defer { close(descriptor) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    _ = withUnsafePointer(to: address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        sendto(descriptor, bytes, bytes.count, 0, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
  }
}
