import Foundation
import Glibc
import HearthHome
import HomeStore
import NIOCore
import NIOPosix
import Synchronization
import Testing
import WebClient

@testable import CloudLink
@testable import HomeAutomation

/// HTTP requests to clouds and webhooks, and the limits for their answers.
@Suite("Web transport", .timeLimit(.minutes(5))) struct WebTransportTests {
  private func post(_ server: OneAnswer, limit: Int = 1 << 20) async throws -> CloudReply {
    try await WebTransport().post(
      Array("{\"a\":1}".utf8), to: "http://127.0.0.1:\(server.port)/fulfillment", token: "secret", limit: limit)
  }

  @Test func sendsTokenAndJSON() async throws {
    let server = try OneAnswer("HTTP/1.1 401 No\r\nContent-Length: 4\r\nConnection: close\r\n\r\nno!\n")
    defer { server.close() }
    let reply = try await post(server)
    #expect(reply == CloudReply(status: 401, body: Array("no!\n".utf8)))
    let request = try #require(server.requests.first)
    #expect(request.hasPrefix("POST /fulfillment HTTP/1.1\r\n") && request.hasSuffix("\r\n\r\n{\"a\":1}"))
    #expect(request.contains("Authorization: Bearer secret\r\n"))
    #expect(request.contains("Content-Type: application/json\r\n"))
  }

  @Test func readsRetryAfter() async throws {
    let server = try OneAnswer(
      "HTTP/1.1 503 Later\r\nRetry-After: 120\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
    defer { server.close() }
    #expect(try await post(server) == CloudReply(status: 503, body: [], retryAfter: "120"))
  }

  @Test func parsesRetryAfter() {
    let date: Int64 = 784_111_777_000_000
    func timeout(_ field: String, at time: Int64 = date) -> Duration? { CloudExchange.pause(field, at: time) }
    #expect(timeout(" 120 ") == .seconds(120) && timeout("0") == .zero)
    #expect(timeout("99999999999999999999") == .seconds(3600) && timeout("4000") == .seconds(3600))
    let field = "Sun, 06 Nov 1994 08:49:37 GMT"
    #expect(timeout(field, at: date - 90_000_000) == .seconds(90))
    #expect(timeout(field, at: 0) == .seconds(3600))
    #expect(timeout(field) == nil && timeout(field, at: .max) == nil)
    for nonsense in ["", "-1", "1.5", "soon", "Sun, 06 Nov 1994", "٣"] { #expect(timeout(nonsense) == nil) }
  }

  /// The token must not reach another address.
  @Test(arguments: [301, 302, 307, 308]) func followsNoRedirection(_ status: Int) async throws {
    let other = try OneAnswer("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}")
    let server = try OneAnswer(
      "HTTP/1.1 \(status) There\r\nLocation: http://127.0.0.1:\(other.port)/x\r\nContent-Length: 0\r\n"
        + "Connection: close\r\n\r\n")
    defer {
      other.close()
      server.close()
    }
    let reply = try? await post(server)
    #expect(reply?.status ?? status == status)
    #expect(server.requests.count == 1 && other.requests.isEmpty)
  }

  private func deliver(_ server: OneAnswer) async -> String? {
    let anchor = Anchor(log: 1, sequence: 1)
    return await DeliveryRun.deliver(
      DeliveryNotice(observer: 1, type: .all, after: anchor, until: anchor, attempt: 1),
      to: .webhook("http://127.0.0.1:\(server.port)/hook"), of: "/nowhere",
      on: MultiThreadedEventLoopGroup.singleton.any())
  }

  @Test func followsNoRedirectionOfAWebhook() async throws {
    let other = try OneAnswer("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}")
    let server = try OneAnswer(
      "HTTP/1.1 307 There\r\nLocation: http://127.0.0.1:\(other.port)/x\r\nContent-Length: 0\r\n"
        + "Connection: close\r\n\r\n")
    defer {
      other.close()
      server.close()
    }
    #expect(await deliver(server) != nil)
    #expect(server.requests.count == 1 && other.requests.isEmpty)
  }

  @Test func limitsTheAnswerOfAWebhook() async throws {
    let server = try OneAnswer("HTTP/1.1 200 OK\r\nContent-Length: 90000000\r\n\r\n", filling: 20_000_000)
    defer { server.close() }
    #expect(await deliver(server)?.contains("more than 1 MB") == true)
  }

  @Test func limitsTheAnswerOfACloud() async throws {
    let server = try OneAnswer("HTTP/1.1 200 OK\r\nContent-Length: 300000000\r\n\r\n", filling: 300_000_000)
    defer { server.close() }
    await #expect(throws: CloudTransportError.tooLarge) { try await post(server, limit: 100_000) }
    // The rest is not received, apart from what the buffers of the sockets hold.
    #expect(await eventually { server.isDone })
    #expect(server.filled < 30_000_000)
  }

  @Test func reportsRefusedConnection() async throws {
    let server = try OneAnswer("")
    server.close()
    let error = await #expect(throws: CloudTransportError.self) { try await post(server) }
    #expect("\(error as Any)".contains("Connection refused"))
    await #expect(throws: CloudTransportError.self) {
      try await WebTransport().post([], to: "http://[", token: "t", limit: 10)
    }
    for address in ["ftp://127.0.0.1/", "http://127.0.0.1:70000/", "http://me:secret@127.0.0.1/"] {
      await #expect(throws: CloudTransportError.unreachable("“\(address)” is not an HTTP address without a user")) {
        try await WebTransport().post([], to: address, token: "t", limit: 10)
      }
    }
  }

  @Test func cancelsRequest() async throws {
    let server = try OneAnswer("", holding: true)
    defer { server.close() }
    let waiting = Task { try await post(server) }
    #expect(await eventually { !server.requests.isEmpty })
    waiting.cancel()
    await #expect(throws: CloudTransportError.self) { try await waiting.value }
  }
}

/// An HTTP server on loopback that gives every request the same answer.
private final class OneAnswer: Sendable {
  let port: Int
  private let listener: Int32
  private let received = Mutex<[String]>([])
  private let progress = Mutex((filled: 0, isDone: false))

  /// - Parameters:
  ///   - filling: number of bytes sent after the answer.
  ///   - holding: whether the server keeps the connection open without answering.
  init(_ answer: String, filling: Int = 0, holding: Bool = false) throws {
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
    Thread.detachNewThread { [self] in serve(Array(answer.utf8), filling, holding) }
  }

  var requests: [String] { received.withLock { $0 } }
  /// The number of bytes sent after the first answer.
  var filled: Int { progress.withLock(\.filled) }
  /// Whether the first answer was sent, or the client closed the connection.
  var isDone: Bool { progress.withLock(\.isDone) }

  func close() {
    // The thread closes it: another socket could get its number while the thread accepts connections.
    _ = shutdown(listener, Int32(SHUT_RDWR))
  }

  private func serve(_ answer: [UInt8], _ filling: Int, _ holding: Bool) {
    while true {
      let connection = accept(listener, nil, nil)
      guard connection >= 0 else {
        _ = Glibc.close(listener)
        return
      }
      if let request = Self.request(connection) {
        received.withLock { $0.append(request) }
        if holding {
          // Wait until the client closes the connection.
          var byte: UInt8 = 0
          while recv(connection, &byte, 1, 0) > 0 {}
        }
        _ = send(connection, answer, answer.count, Int32(MSG_NOSIGNAL))
        let block = [UInt8](repeating: 32, count: 65536)
        while filled < filling, send(connection, block, block.count, Int32(MSG_NOSIGNAL)) > 0 {
          progress.withLock { $0.filled += block.count }
        }
        progress.withLock { $0.isDone = true }
      }
      _ = Glibc.close(connection)
    }
  }

  private static func request(_ connection: Int32) -> String? {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4096)
    while true {
      let text = String(decoding: bytes, as: UTF8.self)
      if text.contains("\r\n\r\n"), text.hasSuffix("}") { return text }
      let count = recv(connection, &buffer, buffer.count, 0)
      guard count > 0 else { return nil }
      bytes += buffer[..<count]
    }
  }
}
