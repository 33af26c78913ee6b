import CBench
import MatterController
import MatterModel
import MatterProtocol
import NIOCore
import Runtime

/// Measures over sockets. The speed of the machine drifts, so the baseline and the rows compared with it are measured
/// in turns.
func loopbackRows(_ report: inout Report, _ options: Options, _ sizes: DatagramSizes) throws {
  let loops = Loops()
  defer { loops.close() }
  let floor = try BlockingEcho(request: sizes.request, response: sizes.response)
  defer { floor.close() }
  let echo = try HostEcho(loops, sizes)
  defer { echo.close() }
  let household = Result { try Household(loops) }
  defer { if case .success(let household) = household { household.close() } }
  let commissioned = Result { try commissionLights(try household.get()) }
  let controller = (try? commissioned.get()).flatMap { _ in try? household.get().controller }

  let clients = [hearth_thread_id(), try loops.client.submit { hearth_thread_id() }.wait()]
  let servers = [floor.serverThread, try loops.server.submit { hearth_thread_id() }.wait()]
  for placement in Placement.possible {
    try placement.place(clients: clients, servers: servers)
    var turns = Turns(floor: floor, echo: echo, controller: controller, server: loops.server)
    try turns.run(options)
    report.add("UDP echo, blocking sockets (the floor), \(placement.name)", turns.floors, ratio: 1)
    report.add("UDP echo, engines that do nothing, \(placement.name)", turns.echoes, ratio: median(turns.echoRatios))
    guard controller != nil else { continue }
    let ratio = median(turns.invokeRatios)
    let isMet = ratio <= 2.3 && turns.invokes.allocations ?? 0 <= 12
    report.add(
      "an on/off invoke, \(placement.name)", turns.invokes, ratio: ratio,
      target: placement == .oneCPU ? .init(text: "2.3 times the floor, 12 allocations", isMet: isMet) : nil)
  }
  report.notes.append(
    """
    One round trip at a time, from the call to the answer. Left to the scheduler, the threads of the blocking echo mostly
    share a CPU, and ends that think before they answer often come apart on an idle machine, so that each message has
    to wake a sleeping CPU: the target is checked where both are placed alike.
    """)

  report.add(Row(name: "UDP echoes, engines that do nothing, 64 outstanding", rate: try rate(of: echo.client, options)))
  let (nodes, times) = try commissioned.get()
  if let controller {
    let all = try rate(of: controller, options)
    report.add(Row(name: "on/off invokes on one session, 64 outstanding", rate: all))
    try Placement.oneCPU.place(clients: clients, servers: servers)
    let one = try rate(of: controller, options)
    report.add(
      Row(
        name: "the same, both ends on one CPU", rate: one,
        target: .init(text: "50,000/s (20 µs each)", isMet: one >= 50_000)))
    try Placement.unpinned.place(clients: clients, servers: servers)
    try household.get().prepareToggling(nodes)
    let many = try rate(of: controller, options)
    report.add(
      Row(
        name: "on/off invokes on \(nodes.count) devices, 64 outstanding", rate: many,
        target: .init(text: "60,000/s", isMet: many >= 60_000)))
  }
  report.add(
    "commissioning a device, from its address to complete", times,
    target: .init(text: "30 ms", isMet: times.median <= 30_000_000))
}

/// Invokes on one light after the other, both ends on one CPU, for the profiler.
func invokes(window: Int, lights: Int, seconds: Int) throws {
  let loops = Loops()
  defer { loops.close() }
  let household = try Household(loops)
  defer { household.close() }
  try household.prepareToggling(try commissionLights(household, count: lights).nodes)
  let threads = try [loops.client, loops.server].map { try $0.submit { hearth_thread_id() }.wait() }
  try Placement.oneCPU.place(clients: [threads[0]], servers: [threads[1]])
  let end = HostClock.now() + .seconds(Int64(seconds))
  var batches: [Double] = []
  while HostClock.now() < end {
    let start = HostClock.now()
    _ = try household.controller.measure(2_000, window: window)
    batches.append(Double((HostClock.now() - start).nanoseconds) / 2_000_000)
  }
  print("\(median(batches)) µs each")
}

/// Commissions new lights with the same controller.
/// - Returns: their node IDs, the last one prepared for toggling, and the times.
private func commissionLights(
  _ household: Household, count: Int = 64
) throws -> (nodes: [NodeID], times: Measured) {
  var result = Measured(isEach: true)
  var nodes: [NodeID] = []
  for _ in 0..<count {
    let (node, time) = try household.commission(try household.addLight())
    result.times.append(time)
    nodes.append(node)
  }
  try household.prepareToggling(nodes.suffix(1))
  return (nodes, result)
}

/// Measures the baseline and the rows compared with it in turns.
private struct Turns {
  let floor: BlockingEcho
  let echo: HostEcho
  /// The client; nil if no light was commissioned.
  let controller: NIOLoopBound<LoopClient<ControllerEngine>>?
  /// The loop of the light.
  let server: any EventLoop
  var floors = Measured(isEach: true)
  var echoes = Measured(isEach: true)
  var invokes = Measured(isEach: true)
  var echoRatios: [Double] = []
  var invokeRatios: [Double] = []

  mutating func run(_ options: Options) throws {
    let size = options.scaled(500)
    _ = try floor.run(size)
    _ = try echo.client.measure(size)
    _ = try controller?.measure(size)
    for _ in 0..<40 {
      let base = try floor.run(size)
      floors.times += base.times
      let echo = try echo.client.measure(size)
      echoes.times += echo.times
      echoes.allocations = echo.allocations
      echoRatios.append(echo.median / base.median)
      guard let controller else { continue }
      // Also count the allocations of the light's loop.
      let (invoke, others) = try allocations(on: server) { try controller.measure(size) }
      invokes.times += invoke.times
      invokes.allocations = invoke.allocations.map { $0 + others / Double(size) }
      invokeRatios.append(invoke.median / base.median)
    }
  }
}

/// Returns the rate per second with 64 concurrent operations.
private func rate<E: Engine & SendableMetatype>(
  of client: NIOLoopBound<LoopClient<E>>, _ options: Options
) throws -> Double {
  let count = options.scaled(4_000)
  var rates: [Double] = []
  for _ in 0..<5 {
    let start = HostClock.now()
    _ = try client.measure(count, window: 64)
    rates.append(Double(count) * 1e9 / Double((HostClock.now() - start).nanoseconds))
  }
  return median(rates)
}
