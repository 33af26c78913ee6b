internal import Foundation
internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix
internal import NIOSSL

/// Posts to clouds over HTTP. Redirections are not followed, because the token must be sent to the account's own
/// address only; for the same reason, proxies that the environment names are not used.
package struct WebTransport: CloudTransport {
  package init() {}

  package func post(_ body: [UInt8], to address: String, token: String, limit: Int) async throws -> CloudReply {
    try await Self.post(body, to: address, token: token, limit: limit)
  }

  /// Posts JSON without following redirections. Reading stops at the limit, so the memory for an answer is bounded.
  /// - Parameter limit: the maximum size of the answer in bytes.
  package static func post(
    _ body: [UInt8], to address: String, token: String? = nil, limit: Int
  ) async throws(CloudTransportError) -> CloudReply {
    guard let target = WebAddress(address) else {
      throw CloudTransportError.unreachable("“\(address)” is not an HTTP address without a user")
    }
    var head = HTTPRequestHead(version: .http1_1, method: .POST, uri: target.path)
    head.headers = [
      "Host": target.authority, "Content-Type": "application/json", "Content-Length": "\(body.count)",
      "Connection": "close", "User-Agent": "hearth",
    ]
    if let token { head.headers.add(name: "Authorization", value: "Bearer \(token)") }
    do {
      return try await connect(to: target).executeThenClose { inbound, outbound in
        try await outbound.write(.head(head))
        try await outbound.write(.body(.byteBuffer(ByteBuffer(bytes: body))))
        try await outbound.write(.end(nil))
        return try await reply(inbound, limit: limit)
      }
    } catch let error as CloudTransportError {
      throw error
    } catch {
      throw CloudTransportError.unreachable(reason(of: error))
    }
  }

  private static func reason(of error: any Error) -> String {
    guard let error = error as? NIOConnectionError else { return "\(error)" }
    // The errors of a host name that has no address have no text of their own.
    return error.connectionErrors.first.map { "\($0.error)" } ?? "\(error.host) can't be resolved"
  }

  private typealias Channel = NIOAsyncChannel<HTTPClientResponsePart, HTTPClientRequestPart>

  private static func connect(to target: WebAddress) async throws -> Channel {
    let context = target.isEncrypted ? try NIOSSLContext(configuration: .makeClientConfiguration()) : nil
    return try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
      .connect(host: target.host, port: target.port) { channel in
        channel.eventLoop.makeCompletedFuture {
          if let context {
            try channel.pipeline.syncOperations.addHandler(
              NIOSSLClientHandler(context: context, serverHostname: target.isNumeric ? nil : target.host))
          }
          try channel.pipeline.syncOperations.addHTTPClientHandlers()
          return try Channel(wrappingChannelSynchronously: channel)
        }
      }
  }

  private static func reply(
    _ parts: NIOAsyncChannelInboundStream<HTTPClientResponsePart>, limit: Int
  ) async throws -> CloudReply {
    var head: HTTPResponseHead?
    var body: [UInt8] = []
    for try await part in parts {
      switch part {
      case .head(let received): head = received
      case .body(let bytes):
        guard bytes.readableBytes <= limit - body.count else { throw CloudTransportError.tooLarge }
        body += bytes.readableBytesView
      case .end:
        guard let head else { break }
        return CloudReply(
          status: Int(head.status.code), body: body, retryAfter: head.headers.first(name: "Retry-After"))
      }
    }
    throw CloudTransportError.unreachable("the connection ended before the answer was complete")
  }
}

/// The parts of an `http` or `https` URL that a request needs.
package struct WebAddress {
  /// Without the brackets of an IPv6 address.
  package let host: String
  let port: Int
  package let isEncrypted: Bool
  /// The host as in the URL, with a port if the URL has one.
  let authority: String
  /// With the query.
  let path: String

  /// Returns nil for any other URL, for one with a user, and for a port that does not exist.
  package init?(_ address: String) {
    guard let parts = URLComponents(string: address), let host = parts.host, !host.isEmpty,
      let scheme = parts.scheme?.lowercased(), scheme == "http" || scheme == "https", parts.user == nil,
      (parts.port.map { 1...65535 ~= $0 } ?? true)
    else { return nil }
    isEncrypted = scheme == "https"
    // An IPv6 address is in brackets in a URL only.
    self.host = host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host
    port = parts.port ?? (isEncrypted ? 443 : 80)
    let name = self.host.contains(":") ? "[\(self.host)]" : self.host
    authority = parts.port.map { "\(name):\($0)" } ?? name
    path =
      (parts.percentEncodedPath.isEmpty ? "/" : parts.percentEncodedPath)
      + (parts.percentEncodedQuery.map { "?\($0)" } ?? "")
  }

  /// Whether the host is an IP address. A certificate is then compared with the address instead of a name.
  var isNumeric: Bool { (try? NIOCore.SocketAddress(ipAddress: host, port: port)) != nil }
}
