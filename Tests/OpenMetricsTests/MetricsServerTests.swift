import NIOCore
import NIOPosix
import Testing

@testable import OpenMetrics

@Suite("The server of metrics", .timeLimit(.minutes(2))) struct MetricsServerTests {
  /// Sends bytes to a server and returns all that it answers until it closes the connection.
  private func exchange(_ request: String, with server: MetricsServer) async throws -> String {
    let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton).connect(
      host: "127.0.0.1", port: server.port
    ) { channel in
      channel.eventLoop.makeCompletedFuture {
        try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
      }
    }
    return try await channel.executeThenClose { inbound, outbound in
      try await outbound.write(ByteBuffer(string: request))
      var answer = ""
      for try await part in inbound { answer += String(buffer: part) }
      return answer
    }
  }

  private func withServer<R>(_ body: (MetricsServer) async throws -> R) async throws -> R {
    let server = try await MetricsServer.open(
      host: "127.0.0.1", port: 0, on: MultiThreadedEventLoopGroup.singleton
    ) { [.init("a", .gauge, "A number.", 7)] }
    do {
      let result = try await body(server)
      await server.close()
      return result
    } catch {
      await server.close()
      throw error
    }
  }

  @Test("serves the metrics with their media type") func metrics() async throws {
    try await withServer { server in
      for path in ["/metrics", "/metrics?format=text"] {
        let answer = try await exchange("GET \(path) HTTP/1.1\r\nHost: a\r\n\r\n", with: server)
        let parts = answer.split(separator: "\r\n\r\n", maxSplits: 1)
        #expect(parts.count == 2 && parts[0].hasPrefix("HTTP/1.1 200 OK\r\n"), "\(answer)")
        #expect(
          parts[0].contains("Content-Type: application/openmetrics-text; version=1.0.0; charset=utf-8\r\n"), "\(answer)"
        )
        let families = try OpenMetricsParser.parse(String(parts.last ?? ""))
        #expect(families == [.init(name: "a", type: "gauge", unit: nil, help: "A number.", samples: ["": 7])])
      }
      let head = try await exchange("HEAD /metrics HTTP/1.1\r\nHost: a\r\n\r\n", with: server)
      #expect(head.hasPrefix("HTTP/1.1 200 OK\r\n") && head.hasSuffix("\r\n\r\n"), "\(head)")
    }
  }

  @Test(
    "refuses other requests",
    arguments: [
      ("GET / HTTP/1.1\r\nHost: a\r\n\r\n", "404"), ("GET /metrics/ HTTP/1.1\r\nHost: a\r\n\r\n", "404"),
      ("GET http://a/metrics HTTP/1.1\r\nHost: a\r\n\r\n", "404"),
      ("POST /metrics HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nab", "405"), ("nonsense\r\n\r\n", "400"),
    ]) func refusals(_ request: String, _ status: String) async throws
  {
    let answer = try await withServer { try await exchange(request, with: $0) }
    #expect(answer.split(separator: " ").dropFirst().first.map { String($0.prefix(3)) } == status, "\(answer)")
  }

  @Test("answers the first of several requests, and only after its end") func pipelined() async throws {
    let request = "GET /metrics HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n"
    let answer = try await withServer { try await exchange(request + "ab" + request, with: $0) }
    #expect(answer.split(separator: "HTTP/1.1 200").count == 1, "\(answer)")
  }
}
