import ArgumentParser
import Glibc
import HearthHome
import NIOCore
import NIOPosix
import OpenMetrics

/// The option of commands that serve metrics.
struct MetricsOptions: ParsableArguments, Sendable {
  @Option(
    help: ArgumentHelp(
      "Serve metrics in the OpenMetrics format at http://HOST:PORT/metrics, without authentication. Default host: 127.0.0.1.",
      valueName: "[host:]port"))
  var metrics: String?

  private var address: (host: String, port: Int)? {
    get throws(HomeError) {
      guard let metrics else { return nil }
      let (host, port) = try HostAndPort.splitOptionalHost(metrics, example: "9464")
      return (host ?? "127.0.0.1", port)
    }
  }

  /// Throws `badArguments` if the address is not valid.
  func check() throws(HomeError) { _ = try address }

  /// Runs the body while metrics are served, if the option is given.
  func serving<R>(
    _ output: Output, _ source: @escaping MetricsServer.Source, _ body: () async throws -> R
  ) async throws -> R {
    let server = try await open(output, source)
    let result = await Result(catching: body)
    await server?.close()
    return try result.get()
  }

  /// Serves metrics if the option is given, and prints the address.
  private func open(_ output: Output, _ source: @escaping MetricsServer.Source) async throws -> MetricsServer? {
    guard let address = try address else { return nil }
    let group = MultiThreadedEventLoopGroup.singleton
    do {
      let server = try await MetricsServer.open(host: address.host, port: address.port, on: group, source)
      let host = address.host.contains(":") ? "[\(address.host)]" : address.host
      output.progress("metrics at http://\(host):\(server.port)/metrics")
      return server
    } catch {
      throw HomeError(
        .badArguments, "can't serve metrics on \(address.host):\(address.port): \(Self.reason(error))", cause: error)
    }
  }

  private static func reason(_ error: any Error) -> String {
    switch (error as? IOError)?.errnoCode {
    case EADDRINUSE: "the port is in use; expected a free one"
    case EADDRNOTAVAIL: "the host does not have this address; expected one of its own"
    case EACCES: "permission denied; expected a port from 1024 on"
    case let code?: String(cString: strerror(code))
    case nil where error is SocketAddressError || error is SocketAddressError.UnknownHost:
      "unknown host; expected an address of this host"
    case nil: "\(error)"
    }
  }
}
