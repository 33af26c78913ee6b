import HearthHome
import MatterClusters
import MatterController
import MatterCrypto
import MatterDevice
import MatterModel
import MatterProtocol

extension FuzzTarget {
  /// A commissioned device that reports extreme values to a home: event numbers, data versions, timestamps,
  /// intervals, list sizes. The home stores them, and is reopened occasionally.
  static let hostileNode = FuzzTarget(name: "hostile-node", seeds: { HostileNode.seeds }) { input in
    do {
      var node = try HostileNode(input)
      try node.run()
    } catch {
      finding("the home failed: \(error)")
    }
  }
}

/// The first report of a device to the home that commissioned it.
private struct HomeStage {
  let paired: ControllerStage.Paired
  /// The home's updates from the report.
  let updates: [HomeUpdate]
  /// The home after it has requested its subscription, and the node with the exchange of the request.
  let subscribing: (home: HomeEngine, device: NodeCore, request: ExchangeID?)

  nonisolated(unsafe) static let shared: HomeStage = {
    do { return try HomeStage() } catch { FuzzTarget.finding("the home could not be created: \(error)") }
  }()

  private init() throws {
    paired = try ControllerStage.pair()
    var home = try Self.home(paired, StoredHome?.none, at: Parties.now)
    var light = paired.light
    var updates: [HomeUpdate] = []
    for _ in 0..<2_000 {
      var isQuiet = true
      while let effect = home.nextEffect() {
        isQuiet = false
        if case .send(let bytes, _) = effect {
          light.handle(.datagram(bytes, from: Parties.clientAddress), at: Parties.now)
        }
        if case .emit(.updated(let update)) = effect { updates.append(update) }
      }
      while let effect = light.nextEffect() {
        isQuiet = false
        if case .send(let bytes, _) = effect {
          home.handle(.datagram(bytes, from: Parties.serverAddress), at: Parties.now)
        }
      }
      if isQuiet { break }
    }
    self.updates = updates
    guard home.reducer.state.devices.count == 1 else {
      throw HomeError(.notFound, "the light is not a device of the home")
    }
    guard let anchor = Anchor("h1-0") else { throw HomeError(.notFound, "there is no anchor") }
    subscribing = try Self.subscribe(paired, StoredHome(state: home.reducer.state, anchor: anchor), at: Parties.now)
    guard subscribing.request != nil else { throw HomeError(.notFound, "the home does not subscribe to the node") }
  }

  /// Opens a home with stored state, and runs it until it sends a request to the node.
  static func subscribe(
    _ paired: ControllerStage.Paired, _ stored: StoredHome, at now: Instant
  ) throws -> (home: HomeEngine, device: NodeCore, request: ExchangeID?) {
    var home = try Self.home(paired, stored, at: now)
    var device = NodeCore(
      random: SeededRandomSource(seed: 43), signatures: DeterministicSignatures(), fabrics: [paired.fabric])
    var request: ExchangeID?
    for _ in 0..<100 {
      var isQuiet = true
      while let effect = home.nextEffect() {
        isQuiet = false
        if case .send(let bytes, _) = effect { device.receive(bytes, from: Parties.clientAddress, at: now) }
      }
      while let output = device.nextOutput() {
        isQuiet = false
        if case .send(let bytes, _) = output { home.handle(.datagram(bytes, from: Parties.serverAddress), at: now) }
        if case .message(let message) = output { request = message.exchange }
      }
      if isQuiet { break }
    }
    return (home, device, request)
  }

  static func home(_ paired: ControllerStage.Paired, _ stored: StoredHome?, at now: Instant) throws -> HomeEngine {
    var controller = try ControllerEngine(
      paired.configuration, state: paired.state, random: SeededRandomSource(seed: 41))
    controller.setAddress(Parties.serverAddress, of: paired.node)
    var home = HomeEngine(
      controller, HomeConfiguration(), state: stored?.state ?? HomeState(), contacts: stored?.contacts ?? [:],
      versions: stored?.versions ?? [:], trials: stored?.trials ?? [:], epoch: 1_790_000_000_000_000, at: now)
    home.follow(at: now)
    return home
  }
}

private struct HostileNode {
  private var input: Extremes
  private var home = HomeStage.shared.subscribing.home
  private var device = HomeStage.shared.subscribing.device
  /// The exchange in which the home requested its subscription.
  private var request = HomeStage.shared.subscribing.request
  private var now = Parties.now
  /// Updates that are not in the database yet.
  private var updates = HomeStage.shared.updates
  private var database: HomeDatabase?
  private static let subscription: UInt32 = 7

  init(_ input: [UInt8]) throws { self.input = Extremes(input) }

  mutating func run() throws {
    for _ in 0..<12 where !input.isAtEnd {
      switch input.byte() % 8 {
      case 0, 1: report(on: request)
      case 2: respond()
      case 3, 4: report(on: nil)
      case 5: wait()
      case 6: send(StatusResponse(StatusCode(rawValue: input.byte())), on: request)
      default: try restart()
      }
      carry()
    }
    for _ in 0..<12 {
      now += .seconds(10)
      home.advance(to: now)
      carry()
    }
    // The resulting state must be usable for opening a home.
    guard let anchor = Anchor("h1-0") else { return }
    _ = try HomeStage.home(
      HomeStage.shared.paired, StoredHome(state: home.reducer.state, contacts: home.reducer.contacts, anchor: anchor),
      at: now)
  }

  private mutating func restart() throws {
    carry()
    let database = try database ?? open()
    self.database = database
    try database.commit(updates, contacts: home.reducer.contacts)
    updates = []
    guard case .samples = try database.samples(after: nil) else { FuzzTarget.finding("the log does not begin") }
    (home, device, request) = try HomeStage.subscribe(HomeStage.shared.paired, try database.load(), at: now)
  }

  private func open() throws -> HomeDatabase {
    InMemoryHomes.remove(below: "/hearth-fuzz")
    return try HomeDatabase.open(
      "/hearth-fuzz/home/home.sqlite", isInMemory: true, random: SeededRandomSource(seed: 42))
  }

  private mutating func wait() {
    let seconds: [Int64] = [0, 1, 61, 3600, 86_400 * 366, Int64(Int32.max)]
    if input.flag() {
      home.noteClock(Int64(bitPattern: input.number()), at: now)
    } else {
      now += .seconds(input.pick(seconds) ?? 0)
      home.advance(to: now)
    }
  }

  private mutating func respond() {
    send(SubscribeResponse(subscriptionID: Self.subscription, maxInterval: input.number(as: UInt16.self)), on: request)
  }

  private mutating func report(on exchange: ExchangeID?) {
    var report = ReportData(subscriptionID: Self.subscription)
    for _ in 0..<Int(input.byte() % 8) { report.attributeReports.append(.data(attribute())) }
    for _ in 0..<Int(input.byte() % 8) { report.eventReports.append(.data(event())) }
    report.moreChunkedMessages = input.byte() % 8 == 7
    guard report.encoded.count <= InteractionLimits.maximumPayload else { return }
    guard exchange == nil else { return send(report, on: exchange) }
    let session = device.sessions.first { $0.kind == .case }?.id
    send(report, on: session.flatMap { device.openExchange(on: $0, at: now) })
  }

  /// Generates an attribute of a known cluster, or an unknown one.
  private mutating func attribute() -> AttributeData {
    let version = input.number(as: UInt32.self)
    let endpoint = EndpointID(input.flag() ? UInt16(input.byte() % 3) : input.number(as: UInt16.self))
    guard !input.flag(), let cluster = input.pick(ClusterCatalogue.standard),
      let attribute = input.pick(cluster.allAttributes)
    else {
      let path = ConcreteAttributePath(
        endpoint, ClusterID(input.number(as: UInt32.self)), AttributeID(input.number(as: UInt32.self)))
      return AttributeData(path, dataVersion: version, value: input.value(.any))
    }
    let path = ConcreteAttributePath(endpoint, cluster.id, attribute.id)
    return AttributeData(path, dataVersion: version, value: input.value(attribute.schema))
  }

  private mutating func event() -> EventData {
    let time = input.number()
    let timestamp = input.pick([EventTimestamp.epoch(time), .system(time), .deltaEpoch(time), .deltaSystem(time)])
    let endpoint = EndpointID(input.flag() ? UInt16(input.byte() % 3) : input.number(as: UInt16.self))
    let priority = input.pick([EventPriority.debug, .info, .critical]) ?? .info
    let number = input.number()
    guard !input.flag(), let cluster = input.pick(ClusterCatalogue.standard), let event = input.pick(cluster.events)
    else {
      let path = ConcreteEventPath(
        endpoint, ClusterID(input.number(as: UInt32.self)), EventID(input.number(as: UInt32.self)))
      return EventData(
        path, number: number, priority: priority, timestamp: timestamp ?? .epoch(time), payload: [0x15, 0x18])
    }
    return EventData(
      ConcreteEventPath(endpoint, cluster.id, event.id), number: number, priority: priority,
      timestamp: timestamp ?? .epoch(time), payload: input.value(event.payload))
  }

  private mutating func send(_ message: some InteractionMessage, on exchange: ExchangeID?) {
    guard let exchange else { return }
    device.send(type(of: message).opcode.rawValue, payload: message.encoded, on: exchange, then: .keepOpen, at: now)
  }

  private mutating func carry() {
    for _ in 0..<400 {
      var isQuiet = true
      while let effect = home.nextEffect() {
        isQuiet = false
        switch effect {
        case .send(let bytes, _): device.receive(bytes, from: Parties.clientAddress, at: now)
        case .emit(.updated(let update)): updates.append(update)
        default: break
        }
      }
      while let output = device.nextOutput() {
        isQuiet = false
        switch output {
        case .send(let bytes, _): home.handle(.datagram(bytes, from: Parties.serverAddress), at: now)
        case .message(let message) where message.opcode == InteractionOpcode.subscribeRequest.rawValue:
          request = message.exchange
        default: break
        }
      }
      if isQuiet { break }
    }
    guard let deadline = home.nextDeadline, deadline <= now else { return }
    home.advance(to: now)
    if let deadline = home.nextDeadline, deadline <= now {
      // A deadline may lead to another one that is due at once.
      for _ in 0..<100 {
        home.advance(to: now)
        while home.nextEffect() != nil {}
        guard let deadline = home.nextDeadline, deadline <= now else { return }
      }
      FuzzTarget.finding("a home does not become idle")
    }
  }

  static let seeds: [[UInt8]] = {
    // An event with the largest number, before the home is reopened.
    let event: [UInt8] = [0, 0, 1, 7, 0, 1, 1, 1, 7, 0, 2, 0, 0, 0]
    let attribute: [UInt8] = [0, 1, 7, 1, 1, 0, 2, 0, 1, 1, 1, 0, 0]
    return [
      event + [2, 7, 7, 7], attribute + [2, 4, 5, 0, 4, 7], event + attribute + event, [2, 7, 5, 1, 7, 5, 0, 5],
    ]
  }()
}
