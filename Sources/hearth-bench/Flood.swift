import Foundation
import Glibc
import MatterController
import MatterCrypto
import MatterModel
import MatterProtocol
import Runtime

/// `hearth-bench flood [SECONDS]`: floods a light with hostile packets, on the loopback interface only, while its
/// controller switches it over an existing session and over new ones. Then floods an uncommissioned light while it is
/// commissioned.
enum Flood {
  /// The intended rate in packets per second, and the lowest that counts as a flood if the machine is too busy.
  private static let wantedRate = 19_000, leastRate = 15_000
  /// The limit of memory growth in the second half, in bytes, when all tables are full. Both ends run in this process.
  private static let growthLimit = 4 << 20
  /// The longest time a switch may take, including a new session, in seconds: MRP retransmits a lost message within it.
  private static let latencyLimit = 10.0
  /// The time within which the right passcode must succeed, in seconds: an unfinished handshake occupies its slot as
  /// long. Matter Core § 4.14.1.1.
  private static let lockoutLimit = 60

  /// - Returns: whether the lights withstood the flood.
  static func run(seconds: Int) throws -> Bool {
    let loops = Loops()
    defer { loops.close() }
    let household = try Household(loops)
    defer { household.close() }
    let address = try household.addLight()
    let (node, _) = try household.commission(address)
    var faults: [String] = []
    for attempt in 1...2 {
      let rate: Int
      (rate, faults) = try switching(household, node, address, seconds)
      if rate >= leastRate { break }
      if attempt == 2 { faults.append("no flood: \(rate) packets a second were sent") }
    }
    faults += try commissioning(household)
    for fault in faults { print("FAULT: \(fault)") }
    print(faults.isEmpty ? "the lights held" : "A LIGHT DID NOT HOLD")
    return faults.isEmpty
  }

  private static func switching(
    _ household: Household, _ node: NodeID, _ address: MatterProtocol.SocketAddress, _ seconds: Int
  ) throws -> (rate: Int, faults: [String]) {
    try household.prepareToggling([node])
    let overheard = try household.nextToggle(node)
    _ = try household.controller.measure(50)
    let usual = try household.controller.measure(200)
    let usualResumed = try household.toggleFromRestartedController(node, isResuming: true),
      usualFull = try household.toggleFromRestartedController(node)
    let packets =
      try random() + passcodeStarts() + [[UInt8]](repeating: overheard, count: 64)
      + sigma1s(household.fabric(), node, address)
    let before = try household.account()
    let memory = residentMemory()
    var halfway: Int?
    let flood = try FloodStream(packets, to: address.port, seconds)
    var times = Measured(isEach: true), resumed = times, full = times
    while flood.isRunning {
      times.times += try household.controller.measure(5).times
      resumed.times.append(try household.toggleFromRestartedController(node, isResuming: true))
      full.times.append(try household.toggleFromRestartedController(node))
      if halfway == nil, flood.milliseconds > Int64(seconds) * 500 { halfway = residentMemory() }
    }
    let end = residentMemory()
    let account = try household.account(since: before)
    print("switching a light, from 4 ports: \(flood.perSecond) packets a second for \(seconds) s")
    if flood.perSecond < wantedRate { print("  the machine has too much else to do to send \(FloodStream.rate)") }
    for (name, without, with) in [
      ("a switch", usual.median, times), ("a switch over a session resumed", usualResumed, resumed),
      ("a switch over a session from certificates", usualFull, full),
    ] {
      print(
        "  \(name) took \(milliseconds(without)) before, then \(milliseconds(with.median)), at worst "
          + "\(milliseconds(with.times.max() ?? .nan)), \(with.times.count) times")
    }
    let middle = halfway ?? end
    print("  memory grew by \((middle - memory) / 1024) KiB in the first half, by \((end - middle) / 1024) KiB then")
    print("  \(account)")
    var faults = account.faults(flood)
    for measured in [times, resumed, full] where !((measured.times.max() ?? .nan) <= latencyLimit * 1e9) {
      faults.append("a switch took longer than \(latencyLimit) s")
    }
    if halfway.map({ end - $0 > growthLimit }) ?? true { faults.append("memory keeps growing") }
    return (flood.perSecond, faults)
  }

  private static func commissioning(_ household: Household) throws -> [String] {
    let address = try household.addLight()
    let before = try household.account()
    let flood = try FloodStream(passcodeStarts(), to: address.port, lockoutLimit + 5)
    flood.wait(for: 1000)
    let start = HostClock.now()
    var attempts = 0
    var failure: (any Error)?
    var elapsed = 0.0
    repeat {
      attempts += 1
      let result = Result { try household.commission(address) }
      elapsed = Double((HostClock.now() - start).milliseconds) / 1000
      failure = if case .failure(let error) = result { error } else { nil }
    } while failure != nil && flood.isRunning
    let isInTime = failure == nil && flood.isRunning && elapsed <= Double(lockoutLimit)
    let rate = flood.perSecond
    flood.stop()
    let account = try household.account(since: before)
    print("commissioning a light that others begin to, \(rate) times a second from 4 ports")
    print("  took \(elapsed) s and \(attempts) attempts")
    print("  \(account)")
    var faults = account.faults(flood)
    if !isInTime { faults.append("not commissioned while others tried: \(failure.map { "\($0)" } ?? "too late")") }
    return faults
  }

  private static func random() -> [[UInt8]] {
    var source = SeededRandomSource(seed: 1)
    return (0..<128).map { source.bytes(20 + $0) }
  }

  /// Returns the first messages of PASE handshakes, each from a different initiator.
  private static func passcodeStarts() -> [[UInt8]] {
    (0..<128).compactMap { seed in
      var core = NodeCore(random: SeededRandomSource(seed: UInt64(1000 + seed)))
      _ = core.establishPASE(
        passcode: 20_202_021, to: SocketAddress(.loopback4, port: 1), parameters: .own, at: HostClock.now())
      guard case .send(let bytes, _)? = core.nextOutput() else { return nil }
      return bytes
    }
  }

  /// Returns Sigma1 messages from a member of the fabric.
  private static func sigma1s(
    _ fabric: Fabric, _ node: NodeID, _ address: MatterProtocol.SocketAddress
  ) -> [[UInt8]] {
    (0..<64).compactMap { seed in
      var core = NodeCore(random: SeededRandomSource(seed: UInt64(seed)), fabrics: [fabric])
      _ = core.establishCASE(fabric: fabric.index, peer: node, to: address, parameters: .own, at: HostClock.now())
      guard case .send(let bytes, _)? = core.nextOutput() else { return nil }
      return bytes
    }
  }

  private static func milliseconds(_ nanoseconds: Double) -> String {
    "\((nanoseconds / 10_000).rounded() / 100) ms"
  }

  /// The resident memory of this process, in bytes.
  private static func residentMemory() -> Int {
    let text = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)) ?? ""
    let pages = text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
    return pages * Int(sysconf(Int32(_SC_PAGESIZE)))
  }
}

extension Household.Account {
  /// Checks the counters: the light read each packet or the system dropped it, and each packet that was read was
  /// accepted or counted as dropped. The tolerance covers the controller's packets.
  fileprivate func faults(_ flood: FloodStream) -> [String] {
    var faults: [String] = []
    let seen = received + overflowed
    if seen < flood.sent || seen > flood.sent + flood.sent / 20 + 1000 {
      faults.append("\(flood.sent) packets were sent, but \(received) read and \(overflowed) thrown away")
    }
    let dropped = drops.reduce(0) { $0 + $1.count }
    if dropped > received || dropped < received - received / 20 - 1000 {
      faults.append("\(received) packets were read, but \(dropped) dropped")
    }
    if flood.failures * 20 > flood.sent { faults.append("the system refused to send \(flood.failures) packets") }
    return faults
  }
}
