public import NIOCore
internal import NIOHTTP1
internal import NIOPosix

/// Serves metrics at `/metrics` over HTTP, without authentication.
public final class MetricsServer: Sendable {
  /// Returns the current values.
  public typealias Source = @Sendable () async -> [MetricFamily]

  private let channel: any Channel

  /// The port, also if the system has chosen it.
  public var port: Int { channel.localAddress?.port ?? 0 }

  private init(_ channel: any Channel) { self.channel = channel }

  /// Listens on an address.
  /// - Parameter port: the TCP port; 0: a free one.
  /// - Throws: an error of the system if the address is not available.
  public static func open(
    host: String, port: Int, on group: any EventLoopGroup, _ source: @escaping Source
  ) async throws -> MetricsServer {
    let connections = ConnectionCounter()
    let bootstrap = ServerBootstrap(group: group)
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          let pipeline = channel.pipeline.syncOperations
          try pipeline.configureHTTPServerPipeline(withErrorHandling: true)
          try pipeline.addHandler(MetricsHandler(source, connections))
        }
      }
    return MetricsServer(try await bootstrap.bind(host: host, port: port).get())
  }

  /// Stops listening. Running responses are completed.
  public func close() async { try? await channel.close().get() }
}
