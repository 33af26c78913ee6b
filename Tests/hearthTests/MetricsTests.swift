import Foundation
import Testing

/// Metrics of running devices and of a hub, read over HTTP on loopback.
@Suite("Metrics", .serialized, .processes, .timeLimit(.minutes(10))) struct MetricsTests {
  /// Returns the values of samples by their names with labels.
  private func metrics(_ log: String) async throws -> [String: Double] {
    let url = try #require(log.split(separator: "metrics at http://127.0.0.1:").last, "no address in \(log)")
    let port = url.prefix { $0.isNumber }
    let request =
      "exec 3<>/dev/tcp/127.0.0.1/\(port); printf 'GET /metrics HTTP/1.1\\r\\nHost: localhost\\r\\n\\r\\n' >&3; cat <&3"
    let answer = try await Hearth.run(URL(filePath: "/bin/bash"), ["-c", request]).output
    #expect(answer.hasPrefix("HTTP/1.1 200 OK") && answer.hasSuffix("\n# EOF\n"), "\(answer)")
    var values: [String: Double] = [:]
    for line in answer.split(whereSeparator: \.isNewline) where line.hasPrefix("hearth_") {
      let parts = line.split(separator: " ")
      let value = try #require(Double(parts.last ?? ""), "\(line)")
      values[String(parts[0])] = value
    }
    return values
  }

  @Test func devicesServeMetrics() async throws {
    let hearth = Hearth()
    #expect(try await hearth("run", "x.yaml", "--metrics", "nowhere").status == 2)
    let name = "Metered " + UUID().uuidString.prefix(8)
    let fleet = try await Fleet(
      hearth, definition: "devices:\n  - { name: \(name), type: dimmable light }\n", options: ["--metrics", "0"])
    func now() async throws -> [String: Double] {
      try await metrics(String(contentsOf: URL(filePath: hearth.state + "/fleet.err"), encoding: .utf8))
    }
    let log = try String(contentsOf: URL(filePath: hearth.state + "/fleet.err"), encoding: .utf8)
    let port = (log.components(separatedBy: "metrics at http://127.0.0.1:").last ?? "").prefix { $0.isNumber }
    let other = hearth.state + "/other.yaml"
    try "devices:\n  - { name: Other, type: plug }\n".write(toFile: other, atomically: true, encoding: .utf8)
    for (address, reason) in [
      (String(port), "the port is in use; expected"), ("192.0.2.1:0", "not have this address"),
      ("256.1.1.1:80", "can't serve metrics on 256.1.1.1:80: unknown host; expected"),
    ] {
      let refused = try await hearth("run", other, "--metrics", address)
      #expect(refused.status == 2 && refused.errors.contains(reason), "\(refused)")
    }
    // A dimmable light has no latch.
    #expect(try await hearth("sim", "press", name, "latch", "--position", "1").errors.contains("has no latch"))
    let idle = try await now()
    #expect(idle["hearth_devices"] == 1 && idle["hearth_online_devices"] == 1)
    #expect(idle["hearth_sessions"] == 0 && idle["hearth_invokes_total"] == 0)
    #expect(try await hearth("pair", fleet.code, "--name", "Lamp").status == 0)
    let before = try await now()
    #expect(try await hearth("on", "lamp").status == 0)
    let after = try await now()
    #expect(after["hearth_invokes_total"] == (before["hearth_invokes_total"] ?? 0) + 1)
    for direction in ["received", "sent"] {
      let key = "hearth_datagrams_total{direction=\"\(direction)\"}"
      #expect((after[key] ?? 0) > (before[key] ?? .infinity), "\(direction)")
    }
    #expect(try await hearth("sim", "power", name, "off").status == 0)
    let unpowered = try await now()
    #expect(unpowered["hearth_online_devices"] == 0 && unpowered["hearth_sessions"] == 0)
    // Counters never decrease.
    for (key, value) in after where key.contains("_total") { #expect((unpowered[key] ?? -1) >= value, "\(key)") }
    await fleet.stop()
  }

  @Test func hubServesMetrics() async throws {
    let hearth = Hearth()
    let fleet = try await Fleet.lampWithCode(hearth)
    #expect(try await hearth("pair", fleet.code, "--name", "Lamp").status == 0)
    let hub = try Follower(hearth, "hub", "run", "--metrics", "127.0.0.1:0")
    #expect(await hub.waits(for: "hub.sock"))
    let watch = try Follower(hearth, "watch", "--hub", "here")
    #expect(
      try await hearth("wait", "lamp", "--hub", "here", "--for", "connectivity=online", "--timeout", "5m").status == 0)
    #expect(try await hearth("toggle", "lamp", "--hub", "here").status == 0)
    #expect(await watch.waits(for: "onOff.onOff"))
    let values = try await metrics(hub.errors)
    #expect(values["hearth_devices"] == 1 && values["hearth_online_devices"] == 1)
    #expect(values["hearth_hub_clients{role=\"owner\"}"] == 1, "\(values)")
    #expect((values["hearth_hub_delivered_events_total"] ?? 0) > 0, "\(values)")
    #expect((values["hearth_invokes_total"] ?? 0) > 0 && (values["hearth_subscriptions"] ?? 0) > 0, "\(values)")
    #expect(await watch.interrupt() == .exit(130))
    #expect(await hub.interrupt() == .exit(130))
    await fleet.stop()
  }
}
