import Foundation
import Glibc
import MatterProtocol
import Runtime
import Synchronization

/// Sends packets to a port of the loopback interface, from a thread and four sockets of its own.
final class FloodStream: Sendable {
  /// The rate in packets per second.
  static let rate = 20_000

  private let accepted = Atomic<Int>(0)
  private let rejected = Atomic<Int>(0)
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
  /// The number of packets that the system accepted.
  var sent: Int { accepted.load(ordering: .relaxed) }
  /// The number of packets that the system rejected.
  var failures: Int { rejected.load(ordering: .relaxed) }
  var milliseconds: Int64 { elapsed.load(ordering: .relaxed) }
  /// The average rate so far, in packets per second.
  var perSecond: Int { Int(Int64(sent) * 1000 / max(1, milliseconds)) }

  func wait() { while isRunning { usleep(10_000) } }

  func stop() {
    isStopping.store(true, ordering: .relaxed)
    wait()
  }

  /// Waits until `count` packets have been sent.
  func wait(for count: Int) { while isRunning && sent < count { usleep(1000) } }

  /// Sends a few packets per millisecond, and more if the thread is late.
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
      accepted.add(number - before - failed, ordering: .relaxed)
      rejected.add(failed, ordering: .relaxed)
      usleep(1000)
    }
  }
}
