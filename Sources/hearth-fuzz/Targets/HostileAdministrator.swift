import MatterClusters
import MatterController
import MatterCrypto
import MatterDevice
import MatterModel
import MatterProtocol

extension FuzzTarget {
  /// An administrator of the fabric of a bridge with a device of each kind, which sends extreme values: times, intervals,
  /// counters, list sizes, event numbers. Physical actions take place in between, also with extreme values. The bridge
  /// is restarted occasionally with its stored state.
  static let hostileAdmin = FuzzTarget(name: "hostile-admin", seeds: { HostileAdministrator.seeds }) { input in
    var administrator = HostileAdministrator(input)
    administrator.run()
  }
}

private struct HostileAdministrator {
  private var input: Extremes
  private var device = DeviceStage.bridge.device
  private var client = DeviceStage.bridge.client
  private var session = DeviceStage.bridge.session
  private var stored = DeviceStage.bridge.stored
  private var now = Parties.now

  init(_ input: [UInt8]) { self.input = Extremes(input) }

  /// Each cluster with the application endpoints that serve it; with the root endpoint if there are none.
  private static let clusters: [(cluster: any Cluster.Type, endpoints: [EndpointID])] = ClusterCatalogue.standard.map {
    cluster in
    let serving = DeviceStage.bridge.endpoints.filter { $0.servers.contains { $0.id == cluster.id } }
    return (cluster, serving.isEmpty ? [.root] : serving.map(\.id))
  }

  mutating func run() {
    for _ in 0..<12 where !input.isAtEnd {
      switch input.byte() % 16 {
      case 0, 1: invoke()
      case 2, 3: write()
      case 4: subscribe()
      case 5: read()
      case 6: wait()
      case 7: restart()
      case 8, 9, 10: setAttribute()
      case 11, 12: movePart()
      case 13: operateSwitch()
      case 14: if let event = input.pick(device.testEvents) { try? device.cause(event.trigger, at: now) }
      default: switchPower()
      }
      FuzzTarget.carry(&device, &client, now) { stored[$0.key] = $0.value }
    }
    FuzzTarget.settle(&device, from: now, for: .seconds(10))
  }

  private mutating func invoke() {
    guard let (cluster, endpoints) = input.pick(Self.clusters), let command = input.pick(cluster.commands),
      let endpoint = input.pick(endpoints)
    else { return }
    let fields = input.value(command.request)
    let isTimed = command.quality.contains(.timed) || input.flag()
    if isTimed { send(TimedRequest(timeoutMilliseconds: input.number(as: UInt16.self))) }
    let data = CommandData(CommandPath(endpoint: endpoint, cluster: cluster.id, command: command.id), fields: fields)
    send(InvokeRequest([data], isTimed: isTimed), opens: !isTimed)
  }

  private mutating func write() {
    guard let (path, value) = attribute({ $0.write != nil }) else { return }
    send(WriteRequest([AttributeWrite(path, value: value)]))
  }

  /// Returns an attribute that meets a condition, and a value for it.
  private mutating func attribute(_ isMeant: (AttributeInfo) -> Bool) -> (ConcreteAttributePath, [UInt8])? {
    guard let (cluster, endpoints) = input.pick(Self.clusters),
      let attribute = input.pick(cluster.attributes.filter(isMeant)), let endpoint = input.pick(endpoints)
    else { return nil }
    return (ConcreteAttributePath(endpoint, cluster.id, attribute.id), input.value(attribute.schema))
  }

  // MARK: Physical actions

  private mutating func setAttribute() {
    guard let (path, value) = attribute({ _ in true }) else { return }
    try? device.act(set: path, encoded: value, at: now)
  }

  private mutating func movePart() {
    let parts = DeviceStage.bridge.endpoints.flatMap { endpoint in
      device.parts(on: endpoint.id).map { (endpoint.id, $0.name, $0.values) }
    }
    guard let (endpoint, name, values) = input.pick(parts) else { return }
    // A part without named states takes any text, such as a code.
    let state = input.pick(values) ?? String(input.number())
    try? device.act(part: name, state, on: endpoint, at: now)
  }

  private mutating func operateSwitch() {
    var moves: [SwitchMove] = []
    // The control socket takes pauses of up to a day.
    for _ in 0..<Int(input.byte() % 8) {
      moves.append(SwitchMove(to: input.byte() % 3, after: .milliseconds(Int64(input.number() % 86_400_001))))
    }
    let endpoints = Self.clusters.first { $0.cluster.id == Switch.id }?.endpoints ?? []
    guard let endpoint = input.pick(endpoints) else { return }
    try? device.operate(switchOn: endpoint, moves, at: now)
  }

  private mutating func switchPower() {
    let endpoints = Self.clusters.first { $0.cluster.id == BridgedDeviceBasicInformation.id }?.endpoints ?? []
    guard let endpoint = input.pick(endpoints) else { return }
    try? device.power(input.flag(), bridgedOn: endpoint, at: now)
  }

  // MARK: Messages and time

  private mutating func subscribe() {
    var request = SubscribeRequest(
      keepSubscriptions: input.flag(), minIntervalFloor: input.number(as: UInt16.self),
      maxIntervalCeiling: input.number(as: UInt16.self), attributePaths: [AttributePath()], eventPaths: [EventPath()])
    request.eventFilters = [EventFilter(eventMin: input.number())]
    request.dataVersionFilters = [DataVersionFilter(ClusterPath(1, 6), dataVersion: input.number(as: UInt32.self))]
    send(request)
    for _ in 0..<8 { send(StatusResponse(.success), opens: false) }
  }

  private mutating func read() {
    send(
      ReadRequest(
        attributePaths: [AttributePath()], eventPaths: [EventPath()],
        eventFilters: [EventFilter(node: NodeID(input.number()), eventMin: input.number())],
        dataVersionFilters: [DataVersionFilter(ClusterPath(1, 6), dataVersion: input.number(as: UInt32.self))]))
    for _ in 0..<8 { send(StatusResponse(.success), opens: false) }
  }

  private mutating func wait() {
    let seconds: [Int64?] = [0, 1, 61, 3600, 86_400 * 366, Int64(Int32.max), nil]
    if input.flag() {
      device.noteClock(epoch: .milliseconds(Int64(bitPattern: input.number())), at: now)
    } else {
      if let time = input.pick(seconds) ?? nil {
        now += .seconds(time)
      } else {
        now += .milliseconds(Int64(input.number(as: UInt32.self)))
      }
      // Timers at their times first, then one late.
      for _ in 0..<32 {
        guard let deadline = device.nextDeadline, deadline < now else { break }
        device.advance(to: deadline)
      }
      device.advance(to: now)
    }
  }

  private mutating func restart() {
    FuzzTarget.carry(&device, &client, now) { stored[$0.key] = $0.value }
    let configuration = device.configuration
    device = DeviceEngine(
      configuration, endpoints: DeviceStage.bridge.endpoints, stored: stored, random: SeededRandomSource(seed: 31),
      signatures: DeterministicSignatures(), at: now)
    client = DeviceStage.bridge.initialClient
    _ = client.establishCASE(
      fabric: 1, peer: Parties.serverNode, to: Parties.serverAddress, parameters: .own, at: now)
    session = nil
    FuzzTarget.carry(&device, &client, now) {
      stored[$0.key] = $0.value
    } established: {
      session = $0
    }
    exchange = nil
  }

  private var exchange: ExchangeID?

  private mutating func send(_ message: some InteractionMessage, opens: Bool = true) {
    guard let session else { return }
    if opens || exchange == nil { exchange = client.openExchange(on: session, at: now) }
    guard let exchange else { return }
    let payload = message.encoded
    guard payload.count <= InteractionLimits.maximumPayload else { return }
    client.send(type(of: message).opcode.rawValue, payload: payload, on: exchange, then: .keepOpen, at: now)
    FuzzTarget.carry(&device, &client, now) { stored[$0.key] = $0.value }
  }

  static let seeds: [[UInt8]] = {
    var seeds: [[UInt8]] = []
    for cluster in clusters.indices {
      let cluster = UInt8(truncatingIfNeeded: cluster)
      seeds.append(
        [0, cluster, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 6, 0, 1] + [2, cluster, 0, 0, 3, 1, 2, 3, 4, 5, 6, 7, 8, 7, 4, 7, 7]
          + [8, cluster, 0, 0, 7, 6, 0, 1, 8, cluster, 1, 0, 7, 6, 0, 2])
    }
    // Two time zones, the second valid from 2^64 - 1, and a time near that.
    let commands = TimeSynchronization.commands
    if let place = clusters.firstIndex(where: { $0.cluster.id == TimeSynchronization.id }),
      let zone = commands.firstIndex(where: { $0.id == TimeSynchronization.setTimeZone.id }),
      let time = commands.firstIndex(where: { $0.id == TimeSynchronization.setUTCTime.id })
    {
      seeds.append(
        [0, UInt8(place), UInt8(zone), 0, 2, 0, 0, 0, 0, 7, 0, 0]
          + [0, UInt8(place), UInt8(time), 0, 7, 3, 0, 0, 6, 0, 1])
    }
    seeds.append([4, 0, 7, 7, 7, 7, 5, 7, 7, 7, 6, 0, 5])
    for byte in stride(from: 0 as UInt8, to: 64, by: 4) {
      seeds.append([
        11, byte, 0, 7, 12, byte + 1, 1, 14, byte, 6, 0, 2, 15, byte, 0, 14, byte + 2, 6, 0, 1, 15, byte, 1,
      ])
    }
    seeds.append([13, 4, 1, 0, 0, 255, 100, 1, 255, 100, 0, 12, 0, 6, 0, 1])
    return seeds
  }()
}
