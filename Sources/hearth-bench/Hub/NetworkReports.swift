import Foundation
import Glibc
import HearthHome
import MatterController
import MatterModel
import MatterProtocol
import NIOCore
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
    let (hub, invitation) = try waitFor { try await serve(home) }
    defer { try? waitFor { await hub.close() } }
    // Warm-up.
    for time in [200, milliseconds] {
      let times = ReportTimes(devices: devices, clients: clients)
      let channels = try NetworkClient.connect(clients, invitation, path: path, on: loops.client) {
        if let device = nodes[$1] { times.noteArrival(at: $0, of: device, $2, at: HostClock.now()) }
      }
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

  private static func serve(_ home: Home) async throws -> (HubServer, HubInvitation) {
    var options = HubServer.Options(logger: quiet)
    options.addresses = [.host("127.0.0.1", port: 0)]
    // No pings during a measurement.
    options.heartbeat = .seconds(600)
    let hub = try await HubServer.open(home, options)
    let invitation = try await home.invitation("Bench", to: hub)
    return (hub, invitation)
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
