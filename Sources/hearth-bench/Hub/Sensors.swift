import Foundation
import MatterClusters
import MatterCrypto
import MatterDevice
import MatterModel
import MatterProtocol
import NIOCore
import Runtime

/// Temperature sensors on one event loop, with sockets of the loopback interface and their state on disk.
final class Sensors {
  /// The values that a sensor measures in turn.
  static let values = 0..<8_000
  static let endpoint: EndpointID = 1

  private let loop: any EventLoop
  private let directory: String
  private let hosts: [NIOLoopBound<EngineHost<DeviceEngine>>]
  let addresses: [MatterProtocol.SocketAddress]

  init(_ count: Int, on loop: any EventLoop, in directory: String) throws {
    (self.loop, self.directory) = (loop, directory)
    var (hosts, addresses) = ([NIOLoopBound<EngineHost<DeviceEngine>>](), [MatterProtocol.SocketAddress]())
    for number in 0..<count {
      let sockets = try BoundSockets(.loopback)
      guard let address = sockets.addresses.first(where: { !$0.ip.isIPv6 }) else {
        throw BenchError("the loopback interface has no IPv4 address")
      }
      addresses.append(address)
      var configuration = try Nodes.lightConfiguration(port: sockets.port)
      (configuration.serialNumber, configuration.uniqueID) = ("S\(number)", "bench-sensor-\(number)")
      let host = try loop.submit { [configuration] in
        let endpoint = EndpointDefinition(
          Sensors.endpoint, deviceTypes: [DeviceTypes.temperatureSensor],
          servers: [IdentifyServer.make(.none), SensorServers.temperature()])
        let engine = DeviceEngine(
          configuration, endpoints: [endpoint], random: SystemRandomSource(), at: HostClock.now())
        let host = EngineHost(
          engine, transport: UDPTransport(sockets, on: loop),
          store: try StateStore(directory: directory + "/sensor-\(number)"), logger: quiet)
        host.start()
        return host.bound
      }.wait()
      hosts.append(host)
    }
    (self.hosts, self.addresses) = (hosts, addresses)
  }

  /// Changes the value of a sensor on the event loop, and calls the closure before.
  func measure(_ value: Int, by sensor: Int, _ willChange: @escaping @Sendable () -> Void) {
    let host = hosts[sensor]
    loop.execute {
      host.value.perform { engine, now in
        willChange()
        try? engine.act(
          set: TemperatureMeasurement.measuredValue, .value(Int16(value)), on: Sensors.endpoint, at: now)
      }
    }
  }

  func close() { for host in hosts { try? loop.submit { host.value.stop() }.wait() } }
}
