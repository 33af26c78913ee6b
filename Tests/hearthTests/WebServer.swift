import Foundation
import Glibc
import Synchronization
import Testing

/// A web server on loopback that records the bodies of POST requests and answers with a status.
final class WebServer: Sendable {
  private struct Inside {
    var status = 200
    var bodies: [String] = []
    var isClosed = false
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

  /// The bodies of the requests, in order.
  var bodies: [String] { inside.withLock { $0.bodies } }

  /// Sets the status of the following answers.
  func answer(_ status: Int) { inside.withLock { $0.status = status } }

  func close() {
    inside.withLock { $0.isClosed = true }
    _ = shutdown(listener, Int32(SHUT_RDWR))
    _ = Glibc.close(listener)
  }

  private func serve() {
    while true {
      let connection = accept(listener, nil, nil)
      guard connection >= 0 else { return }
      if let body = Self.request(connection) {
        let status = inside.withLock { inside in
          inside.bodies.append(body)
          return inside.status
        }
        let answer = Array("HTTP/1.1 \(status) Said\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".utf8)
        _ = send(connection, answer, answer.count, Int32(MSG_NOSIGNAL))
      }
      _ = Glibc.close(connection)
    }
  }

  private static func request(_ connection: Int32) -> String? {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4096)
    while true {
      let text = String(decoding: bytes, as: UTF8.self)
      if let end = text.range(of: "\r\n\r\n") {
        let head = text[..<end.lowerBound].lowercased()
        let count = head.split(separator: "content-length: ").dropFirst().first
          .flatMap { Int($0.prefix { $0.isNumber }) }
        let body = text[end.upperBound...]
        if body.utf8.count >= count ?? 0 { return head.hasPrefix("post /changed ") ? String(body) : nil }
      }
      let count = recv(connection, &buffer, buffer.count, 0)
      guard count > 0 else { return nil }
      bytes += buffer[..<count]
    }
  }
}
