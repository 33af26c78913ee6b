import MatterModel
import MatterProtocol
import NIOCore
import Runtime
import Synchronization

/// Collects datagrams of one byte, in the order of arrival.
final class Collector: Sendable {
  let bytes = Mutex<[UInt8]>([])

  /// Waits for a byte.
  func has(_ byte: UInt8) async -> Bool { await eventually { bytes.withLock { $0.contains(byte) } } }
}

/// Sockets that record the calls and the sent datagrams, and count accesses to their loop.
final class RecordingSockets: DatagramTransport {
  static let somewhere = MatterProtocol.SocketAddress(.loopback4, port: 5540)

  private let loop: any EventLoop
  private let sent: Collector
  let port: UInt16
  private(set) var loopAccesses = 0
  private(set) var calls: [String] = []
  var onDatagram: ((consuming [UInt8], MatterProtocol.SocketAddress) -> Void)?

  init(_ loop: any EventLoop, _ sent: Collector = Collector(), port: UInt16 = 5540) {
    (self.loop, self.sent, self.port) = (loop, sent, port)
  }

  var eventLoop: any EventLoop {
    loopAccesses += 1
    return loop
  }
  var addresses: [MatterProtocol.SocketAddress] { [] }
  var counters: UDPTransport.Counters { UDPTransport.Counters() }
  func send(_ bytes: [UInt8], to _: MatterProtocol.SocketAddress) { sent.bytes.withLock { $0 += bytes } }
  func join(_: IPAddress, port: UInt16) -> [NetworkError] {
    calls.append("join \(port)")
    return []
  }
  func leave(_: IPAddress) { calls.append("leave") }
  func follow(_: [NetworkInterface]) -> [NetworkError] { [] }
  func close() { calls.append("close") }
}

/// A discovery that finds its service at once and records the requests.
final class RecordingDiscovery: NodeDiscovery {
  static let service = MatterService(
    kind: .commissionable(instance: 7), hostName: "0011223344FF", port: 5540, text: [])

  private let loop: any EventLoop
  private let requests = Mutex<[String]>([])
  private let published = Mutex<MatterService?>(nil)
  init(_ loop: any EventLoop) { self.loop = loop }

  /// The requests since the last read.
  var newRequests: [String] {
    requests.withLock { requests in
      defer { requests = [] }
      return requests
    }
  }

  /// The service that was published last.
  var lastPublished: MatterService? { published.withLock(\.self) }

  private func note(_ what: String) { requests.withLock { $0.append(what) } }

  func publish(_ service: MatterService, on _: (any EventLoop)?, onConflict _: (@Sendable (ServiceConflict) -> Void)?) {
    note("publish")
    published.withLock { $0 = service }
  }
  func withdraw(_: MatterService, silently: Bool) { note(silently ? "hide" : "withdraw") }
  func browse(
    _: DiscoveryQuery, on _: any EventLoop, _ handler: @escaping @Sendable (ServiceDiscovery.Event) -> Void
  ) -> ServiceDiscovery.Browse {
    note("browse")
    handler(.found(Self.service))
    return ServiceDiscovery.Browse(number: 1)
  }
  func stop(_: ServiceDiscovery.Browse) { note("stop") }
  func follow(_: [NetworkInterface]) { note("follow") }
  func stop() -> EventLoopFuture<Void> { loop.makeSucceededVoidFuture() }
}
