import Foundation
import Glibc
import MatterClusters
import MatterController
import MatterCrypto
import MatterDevice
import MatterModel
import MatterProtocol
import NIOCore
import Runtime
import Synchronization

/// `hearth-bench flood [SECONDS]`: strangers shout at a light, on the loopback interface only, and its administrator goes on
/// switching it; then they shout at one that is still to be commissioned, and it is. Ends by itself.
enum Flood {
  /// Packets in a second.
  static let rate = 20_000
  /// What the process, both ends in it, may grow by meanwhile, in bytes.
  private static let growthLimit = 64 << 20
  /// The longest a switch may take while it lasts, in nanoseconds: MRP gets a lost message through within this.
  private static let latencyLimit = 10e9
  /// How long after the flood at the latest a right passcode has to get in, in seconds: a handshake that came to nothing may
  /// hold its place as long. Matter Core § 4.14.1.1.
  private static let lockoutLimit = 60.0

  /// - Returns: whether the lights held.
  static func run(seconds: Int) throws -> Bool {
    let loops = Loops()
    defer { loops.close() }
    let household = try Household(loops)
    defer { household.close() }
    let switching = try switching(household, seconds)
    let commissioning = try commissioning(household, seconds)
    print(switching && commissioning ? "the lights held" : "A LIGHT DID NOT HOLD")
    return switching && commissioning
  }

  private static func switching(_ household: Household, _ seconds: Int) throws -> Bool {
    let address = try household.addLight()
    let (node, _) = try household.commission(address)
    try household.prepareToggling(node)
    let overheard = try household.nextToggle(node)
    _ = try household.controller.measure(50)
    let usual = try household.controller.measure(200)
    let fabric = try household.fabric()
    var packets = random() + passcodeStarts() + [[UInt8]](repeating: overheard, count: 64)
    for seed in 0..<64 {
      var core = NodeCore(random: SeededRandomSource(seed: UInt64(seed)), fabrics: [fabric])
      _ = core.establishCASE(fabric: fabric.index, peer: node, to: address, parameters: .own, at: HostClock.now())
      if case .send(let bytes, _)? = core.nextOutput() { packets.append(bytes) }
    }
    let memory = residentMemory()
    let flood = try Stream(packets, to: address.port, seconds)
    var times = Measured(isEach: true)
    while flood.isRunning { times.times += try household.controller.measure(5).times }
    let growth = residentMemory() - memory
    let worst = times.times.max() ?? .nan
    print("switching a light: \(flood.sent / seconds) packets a second for \(seconds) s, from 4 ports")
    print("  without them a switch took \(milliseconds(usual.median))")
    print("  with them \(milliseconds(times.median)), at worst \(milliseconds(worst)), \(times.times.count) switches")
    print("  memory grew by \(growth >> 10) KiB")
    print("  dropped: \(try household.drops())")
    return !times.times.isEmpty && worst <= latencyLimit && growth <= growthLimit
  }

  private static func commissioning(_ household: Household, _ seconds: Int) throws -> Bool {
    let address = try household.addLight()
    let flood = try Stream(passcodeStarts(), to: address.port, seconds)
    let start = HostClock.now()
    var end: Instant?
    var attempts = 0
    while true {
      attempts += 1
      let result = Result { try household.commission(address) }
      let now = HostClock.now()
      if !flood.isRunning && end == nil { end = now }
      let elapsed = Double((now - start).milliseconds) / 1000
      if case .success = result {
        print(
          "commissioning a light that others begin to, \(flood.sent / max(1, Int(elapsed))) times a second from 4 ports"
        )
        print("  took \(elapsed) s and \(attempts) attempts; dropped: \(try household.drops())")
        flood.wait()
        return true
      }
      if elapsed > Double(seconds) + lockoutLimit {
        print("commissioning a light that others begin to: not within \(elapsed) s: \(result)")
        return false
      }
    }
  }

  private static func random() -> [[UInt8]] {
    var source = SeededRandomSource(seed: 1)
    return (0..<128).map { source.bytes(20 + $0) }
  }

  /// What somebody sends who wants to commission, each somebody else.
  private static func passcodeStarts() -> [[UInt8]] {
    (0..<128).compactMap { seed in
      var core = NodeCore(random: SeededRandomSource(seed: UInt64(1000 + seed)))
      _ = core.establishPASE(
        passcode: 20_202_021, to: SocketAddress(.loopback4, port: 1), parameters: .own, at: HostClock.now())
      guard case .send(let bytes, _)? = core.nextOutput() else { return nil }
      return bytes
    }
  }

  private static func milliseconds(_ nanoseconds: Double) -> String {
    "\((nanoseconds / 10_000).rounded() / 100) ms"
  }

  /// Of this process, in bytes.
  private static func residentMemory() -> Int {
    let text = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)) ?? ""
    let pages = text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
    return pages * Int(sysconf(Int32(_SC_PAGESIZE)))
  }

  /// Packets on their way, from a thread and sockets of their own.
  private final class Stream: Sendable {
    private let count = Atomic<Int>(0)
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
    var sent: Int { count.load(ordering: .relaxed) }
    func wait() { while isRunning { usleep(10_000) } }

    /// A handful each millisecond, and more where the thread was late.
    private func send(_ packets: [[UInt8]], _ sockets: [CInt], _ port: UInt16, _ seconds: Int) {
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      address.sin_port = port.bigEndian
      address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
      let start = HostClock.now()
      var number = 0
      while true {
        let elapsed = (HostClock.now() - start).milliseconds
        if elapsed >= Int64(seconds) * 1000 { return }
        while number < Int(elapsed) * rate / 1000 {
          let packet = packets[number % packets.count]
          let socket = sockets[number % sockets.count]
          _ = withUnsafePointer(to: address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
              sendto(socket, packet, packet.count, 0, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
          }
          number += 1
        }
        count.store(number, ordering: .relaxed)
        usleep(1000)
      }
    }
  }
}
