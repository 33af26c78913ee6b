import Foundation
import Glibc
import Synchronization
import Testing

/// An account of a vendor cloud, with real processes and a cloud on loopback.
@Suite("A cloud on loopback", .serialized, .processes) struct CloudSessionTests {
  @Test(.timeLimit(.minutes(10))) func addsAndRemovesDevicesWithAccount() async throws {
    let hearth = Hearth()
    let cloud = try LampCloud()
    defer { cloud.close() }
    let address = "http://127.0.0.1:\(cloud.port)/fulfillment"
    try FileManager.default.createDirectory(atPath: hearth.state, withIntermediateDirectories: true)
    let file = hearth.state + "/token"
    try "t0ken-of-ours\n".write(toFile: file, atomically: true, encoding: .utf8)

    #expect(try await hearth("home", "cloud", "list").output.isEmpty)
    // A long wait is reported.
    cloud.pauses(true)
    let adding = try Follower(hearth, "home", "cloud", "add", "Acme", address, "--token-file", file)
    #expect(await adding.reports("waiting for the cloud account Acme to answer SYNC"))
    cloud.pauses(false)
    #expect(await adding.process.end() == .exit(0))
    let added = try await hearth("home", "cloud", "add", "Acme", address, "--token-file", file, "--json")
    #expect(added.status == 0 && added.output.contains(#""devices":["Porch"],"state":"ok""#), "\(added)")
    #expect(cloud.tokens == ["Bearer t0ken-of-ours"])
    let list = try await hearth("home", "cloud", "list", "--json").output
    #expect(list.contains(#""name":"Acme""#) && !list.contains("t0ken"))
    let mode = try FileManager.default.attributesOfItem(atPath: hearth.state + "/home/home.sqlite")
    #expect(mode[.posixPermissions] as? Int == 0o600)
    let devices = try await hearth("devices", "--json").output
    #expect(devices.contains(#""connectivityState":"online""#) && devices.contains(#""dataSourceLocality":"remote""#))
    #expect(try await hearth("toggle", "porch").output == "Porch: on\n")
    #expect(cloud.isOn)
    let refused = try await hearth("remove", "porch")
    #expect(refused.status == 2 && refused.errors.contains("hearth home cloud remove Acme"))
    #expect(try await hearth("share", "porch").status == 8)
    #expect(try await hearth("subscribe", "porch.onOff.onOff").status == 8)

    // Changes by another process take effect in a running hub.
    let hub = try Follower(hearth, "hub", "run", "--json")
    #expect(await hub.waits(for: "hub.sock"))
    #expect(
      try await hearth("wait", "porch", "--for", "connectivity=online", "--hub", "here", "--timeout", "5m").status == 0
    )
    #expect(try await hearth("off", "porch").output == "Porch: off\n")
    #expect(try await hearth("wait", "porch", "--for", "onOff=false", "--hub", "here", "--timeout", "5m").status == 0)
    cloud.refuse()
    #expect(try await hearth("on", "porch").status == 7)
    #expect(try await hearth("home", "cloud", "add", "acme", address, "--token-file", file).status == 0)
    #expect(
      try await hearth("wait", "porch", "--for", "connectivity=offline", "--hub", "here", "--timeout", "5m").status
        == 0)
    #expect(try await hearth("home", "cloud", "list").output.contains("refuses the token (401)"))
    #expect(try await hearth("home", "cloud", "remove", "acme").output == "removed Acme and its devices: Porch\n")
    #expect(
      try await eventuallyByCommands {
        try await hearth("devices", "--hub", "here", "--json").output.contains(#""data":[]"#)
      })
    #expect(try await hearth("home", "cloud", "list").output.isEmpty)
  }
}

/// A cloud with one lamp, on loopback.
private final class LampCloud: Sendable {
  private struct Inside {
    var isOn = false
    var refuses = false
    var isPausing = false
    var tokens: Set<String> = []
  }

  let port: Int
  private let listener: Int32
  private let inside = Mutex(Inside())

  init() throws {
    let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    try #require(listener >= 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let bound = withUnsafeMutableBytes(of: &address) { bytes in
      bytes.withMemoryRebound(to: sockaddr.self) { pointer in
        bind(listener, pointer.baseAddress, length) == 0 && listen(listener, 16) == 0
          && getsockname(listener, pointer.baseAddress, &length) == 0
      }
    }
    try #require(bound)
    port = Int(UInt16(bigEndian: address.sin_port))
    self.listener = listener
    Thread.detachNewThread { [self] in serve() }
  }

  var isOn: Bool { inside.withLock { $0.isOn } }
  var tokens: Set<String> { inside.withLock { $0.tokens } }
  /// Delays all answers while set.
  func pauses(_ isPausing: Bool) { inside.withLock { $0.isPausing = isPausing } }
  func refuse() { inside.withLock { $0.refuses = true } }

  func close() {
    _ = shutdown(listener, Int32(SHUT_RDWR))
    _ = Glibc.close(listener)
  }

  private func serve() {
    while true {
      let connection = accept(listener, nil, nil)
      guard connection >= 0 else { return }
      if let request = Self.request(connection) {
        while inside.withLock({ $0.isPausing }) { usleep(10_000) }
        let (status, body) = inside.withLock { Self.answer(request, &$0) }
        let answer = Array(
          "HTTP/1.1 \(status) Said\r\nContent-Length: \(body.utf8.count)\r\nConnection: close\r\n\r\n\(body)".utf8)
        _ = send(connection, answer, answer.count, Int32(MSG_NOSIGNAL))
      }
      _ = Glibc.close(connection)
    }
  }

  private static func answer(_ request: String, _ inside: inout Inside) -> (Int, String) {
    if let line = request.split(separator: "\r\n").first(where: { $0.hasPrefix("Authorization: ") }) {
      inside.tokens.insert(String(line.dropFirst("Authorization: ".count)))
    }
    guard !inside.refuses else { return (401, "401: Unauthorized") }
    if request.contains("devices.EXECUTE") { inside.isOn = request.contains("\"on\":true") }
    let state = "\"online\":true,\"on\":\(inside.isOn)"
    let payload =
      if request.contains("devices.SYNC") {
        """
        "devices":[{"id":"p","type":"action.devices.types.LIGHT","traits":["action.devices.traits.OnOff"],\
        "name":{"name":"Porch"}}]
        """
      } else if request.contains("devices.QUERY") {
        "\"devices\":{\"p\":{\(state)}}"
      } else {
        "\"commands\":[{\"ids\":[\"p\"],\"status\":\"SUCCESS\",\"states\":{\(state)}}]"
      }
    return (200, "{\"requestId\":\"1\",\"payload\":{\(payload)}}")
  }

  private static func request(_ connection: Int32) -> String? {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4096)
    while true {
      let text = String(decoding: bytes, as: UTF8.self)
      if let end = text.range(of: "\r\n\r\n") {
        let count = text[..<end.lowerBound].lowercased().split(separator: "content-length: ").dropFirst().first
          .flatMap { Int($0.prefix { $0.isNumber }) }
        if text[end.upperBound...].utf8.count >= count ?? 0 { return text }
      }
      let count = recv(connection, &buffer, buffer.count, 0)
      guard count > 0 else { return nil }
      bytes += buffer[..<count]
    }
  }
}
