import Foundation
import Glibc
import HearthHome
import MatterController
import MatterModel
import MatterProtocol
import NIOCore
import NIOPosix
import Runtime

/// Measures reports of devices over the network: encrypted datagrams of the devices' subscriptions through UDP sockets of
/// the loopback interface, the home, the database, and WebSocket frames over TLS 1.3 on TCP.
struct NetworkReports {
  static let devices = 10, clients = 4, rate = 1_000
  private static let path = "1/1026/0"
  /// The limit for the last reports, in milliseconds.
  private static let timeout = 3_000

  /// - Parameter milliseconds: the duration of the measurement.
  static func run(for milliseconds: Int) throws -> ReportTimes.Result {
    let state = StateDirectory(
      FileManager.default.temporaryDirectory.appendingPathComponent("hearth-bench-" + UUID().uuidString).path)
    defer { try? FileManager.default.removeItem(atPath: state.root) }
    let loops = Loops()
    defer { loops.close() }
    let sensors = try Sensors(devices, on: loops.server, in: state.devices)
    defer { sensors.close() }
    let (home, nodes) = try waitFor { [addresses = sensors.addresses] in try await open(state, addresses) }
    defer { try? waitFor { await home.close() } }
    let (hub, address, trust, token) = try waitFor { try await serve(home) }
    defer { try? waitFor { await hub.close() } }
    // Warm-up.
    for time in [200, milliseconds] {
      let times = ReportTimes(devices: devices, clients: clients)
      let channels = try connect(to: address, trust, token, nodes, times, on: loops.client)
      defer { for channel in channels { try? channel.close().wait() } }
      try report(sensors, times, for: time)
      if time == milliseconds { return times.result }
    }
    throw BenchError("no reports")
  }

  /// Opens a home with the devices, all of which are online.
  private static func open(
    _ state: StateDirectory, _ addresses: [MatterProtocol.SocketAddress]
  ) async throws -> (Home, [UInt64: Int]) {
    let home = try await Home(StoredDevices.options(state))
    var nodes: [UInt64: Int] = [:]
    for (index, address) in addresses.enumerated() {
      let device = try await home.pair(Nodes.commissioning(of: address), name: "Sensor \(index)")
      nodes[device.result.nodeID.rawValue] = index
    }
    try await home.follow()
    for await devices in home.devices().batched() {
      let online = devices.count { $0.sourceConnectivity.connectivityState == .online }
      if online == addresses.count { break }
    }
    return (home, nodes)
  }

  private static func serve(_ home: Home) async throws -> (HubServer, HubAddress, HubTrust, token: String) {
    var options = HubServer.Options(logger: quiet)
    options.addresses = [.host("127.0.0.1", port: 0)]
    // No pings during a measurement.
    options.heartbeat = .seconds(600)
    let hub = try await HubServer.open(home, options)
    let status = await hub.status
    let address = try status.addresses.map { text throws(HomeError) in try HubAddress(text) }
      .first { if case .host = $0 { true } else { false } }
    guard let address, let fingerprint = status.fingerprint else { throw BenchError("the hub has no TLS port") }
    let trust = HubTrust(fingerprint: try CertificateFingerprint(fingerprint))
    let token = try await home.invite("Bench", .member).token
    return (hub, address, trust, token)
  }

  /// Connects clients that note the arrivals of values.
  private static func connect(
    to address: HubAddress, _ trust: HubTrust, _ token: String, _ nodes: [UInt64: Int], _ times: ReportTimes,
    on loop: any EventLoop
  ) throws -> [any Channel] {
    guard case .host(let host, let port) = address, let tls = try ClientTLS(address, trust) else {
      throw BenchError("the hub has no TLS port")
    }
    return try (0..<clients).map { client in
      let listening = loop.makePromise(of: Void.self)
      let channel = try ClientBootstrap(group: loop)
        .channelInitializer { channel in
          channel.eventLoop.makeCompletedFuture {
            let pipeline = channel.pipeline.syncOperations
            try pipeline.addHandler(tls.makeHandler())
            try pipeline.addHandler(
              NetworkClient(token: token, path: path, listening) { node, value in
                if let device = nodes[node] { times.noteArrival(at: client, of: device, value, at: HostClock.now()) }
              })
          }
        }
        .connect(host: host, port: port).wait()
      try listening.futureResult.wait()
      return channel
    }
  }

  /// Changes the values of the sensors in turn, and waits until the clients have received them.
  private static func report(_ sensors: Sensors, _ times: ReportTimes, for milliseconds: Int) throws {
    let start = HostClock.now()
    for number in 0..<rate * milliseconds / 1_000 {
      while HostClock.now() < start + .nanoseconds(1_000_000_000 / rate) * number { usleep(100) }
      let (sensor, value) = (number % devices, (number / devices + 1) % Sensors.values.count)
      sensors.measure(value, by: sensor) { times.noteChange(of: sensor, to: value, at: HostClock.now()) }
    }
    for _ in 0..<timeout / 10 {
      if times.outstanding == 0 { return }
      usleep(10_000)
    }
    throw BenchError("the clients did not receive \(times.outstanding) reports")
  }
}
