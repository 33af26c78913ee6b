import Foundation
import Glibc
import MatterProtocol
import Runtime
import Synchronization

/// Packets on their way to a port of the loopback interface, from a thread and four sockets of their own.
final class FloodStream: Sendable {
  /// Packets in a second.
  static let rate = 20_000

  private let taken = Atomic<Int>(0)
  private let refused = Atomic<Int>(0)
  private let elapsed = Atomic<Int64>(0)
  private let isStopping = Atomic<Bool>(false)
  private let isDone = Atomic<Bool>(false)

  init(_ packets: [[UInt8]], to port: UInt16, _ seconds: Int) throws {
    let sockets = (0..<4).map { _ in socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0) }
    guard sockets.allSatisfy({ $0 >= 0 }) else { throw BenchError("no socket for the flood") }
    Thread { [self] in
      send(packets, sockets, port, seconds)
      for socket in sockets { close(socket) }
      isDone.store(true, ordering: .releasing)
    }.start()
  }

  var isRunning: Bool { !isDone.load(ordering: .acquiring) }
  /// What the system took.
  var sent: Int { taken.load(ordering: .relaxed) }
  /// What the system did not take.
  var failures: Int { refused.load(ordering: .relaxed) }
  var milliseconds: Int64 { elapsed.load(ordering: .relaxed) }
  /// Sent in a second, all in all.
  var perSecond: Int { Int(Int64(sent) * 1000 / max(1, milliseconds)) }

  func wait() { while isRunning { usleep(10_000) } }

  func stop() {
    isStopping.store(true, ordering: .relaxed)
    wait()
  }

  /// Until so many are under way.
  func wait(for count: Int) { while isRunning && sent < count { usleep(1000) } }

  /// A handful each millisecond, and more where the thread was late.
  private func send(_ packets: [[UInt8]], _ sockets: [CInt], _ port: UInt16, _ seconds: Int) {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    let start = HostClock.now()
    var number = 0
    while !isStopping.load(ordering: .relaxed) {
      let time = (HostClock.now() - start).milliseconds
      elapsed.store(time, ordering: .relaxed)
      if time >= Int64(seconds) * 1000 { return }
      var failed = 0
      let before = number
      while number < Int(time) * Self.rate / 1000 {
        let packet = packets[number % packets.count]
        let socket = sockets[number % sockets.count]
        let count = withUnsafePointer(to: address) {
          $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            sendto(socket, packet, packet.count, 0, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
          }
        }
        if count != packet.count { failed += 1 }
        number += 1
      }
      taken.add(number - before - failed, ordering: .relaxed)
      refused.add(failed, ordering: .relaxed)
      usleep(1000)
    }
  }
}
