import MatterClusters
import MatterController
import MatterCrypto
import MatterDevice
import MatterModel
import MatterProtocol

extension FuzzTarget {
  /// An administrator of the device's own fabric that sends extreme values: times, intervals, counters, list sizes,
  /// event numbers. The device is restarted occasionally with its stored state.
  static let hostileAdmin = FuzzTarget(name: "hostile-admin", seeds: { HostileAdministrator.seeds }) { input in
    var administrator = HostileAdministrator(input)
    administrator.run()
  }
}

private struct HostileAdministrator {
  private var input: Extremes
  private var device = DeviceStage.shared.device
  private var client = DeviceStage.shared.client
  private var session = DeviceStage.shared.session
  private var stored = DeviceStage.shared.stored
  private var now = Parties.now

  init(_ input: [UInt8]) { self.input = Extremes(input) }

  /// The clusters that the device serves, with their endpoints.
  private static let clusters: [(endpoint: EndpointID, cluster: any Cluster.Type)] = {
    let light: [ClusterID] = [Identify.id, Groups.id, ScenesManagement.id, OnOff.id, LevelControl.id]
    return ClusterCatalogue.standard.flatMap { cluster in
      light.contains(cluster.id) ? [(EndpointID(1), cluster)] : [(EndpointID.root, cluster)]
    }
  }()

  mutating func run() {
    for _ in 0..<12 where !input.isAtEnd {
      switch input.byte() % 8 {
      case 0, 1: invoke()
      case 2, 3: write()
      case 4: subscribe()
      case 5: read()
      case 6: wait()
      default: restart()
      }
      FuzzTarget.carry(&device, &client, now) { stored[$0.key] = $0.value }
    }
    FuzzTarget.settle(&device, from: now)
  }

  private mutating func invoke() {
    guard let (endpoint, cluster) = input.pick(Self.clusters), let command = input.pick(cluster.commands) else {
      return
    }
    let fields = input.value(command.request)
    let isTimed = command.quality.contains(.timed) || input.flag()
    if isTimed { send(TimedRequest(timeoutMilliseconds: input.number(as: UInt16.self))) }
    let data = CommandData(CommandPath(endpoint: endpoint, cluster: cluster.id, command: command.id), fields: fields)
    send(InvokeRequest([data], isTimed: isTimed), opens: !isTimed)
  }

  private mutating func write() {
    guard let (endpoint, cluster) = input.pick(Self.clusters),
      let attribute = input.pick(cluster.attributes.filter { $0.write != nil })
    else { return }
    let path = ConcreteAttributePath(endpoint, cluster.id, attribute.id)
    send(WriteRequest([AttributeWrite(path, value: input.value(attribute.schema))]))
  }

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
    let seconds: [Int64] = [0, 1, 61, 3600, 86_400 * 366, Int64(Int32.max)]
    if input.flag() {
      device.noteClock(epoch: Int64(bitPattern: input.number()), at: now)
    } else {
      now += .seconds(input.pick(seconds) ?? 0)
      device.advance(to: now)
    }
  }

  private mutating func restart() {
    FuzzTarget.carry(&device, &client, now) { stored[$0.key] = $0.value }
    let configuration = device.configuration
    device = DeviceEngine(
      configuration, endpoints: [DeviceStage.light], stored: stored, random: SeededRandomSource(seed: 31),
      signatures: DeterministicSignatures(), at: now)
    client = DeviceStage.shared.initialClient
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
      seeds.append([0, UInt8(cluster), 0, 1, 2, 3, 4, 5, 6, 7, 8, 6, 0, 1])
      seeds.append([2, UInt8(cluster), 0, 3, 1, 2, 3, 4, 5, 6, 7, 8, 7, 4, 7, 7])
    }
    // Two time zones, the second valid from 2^64 - 1, and a time near that.
    let commands = TimeSynchronization.commands
    if let place = clusters.firstIndex(where: { $0.cluster.id == TimeSynchronization.id }),
      let zone = commands.firstIndex(where: { $0.id == TimeSynchronization.setTimeZone.id }),
      let time = commands.firstIndex(where: { $0.id == TimeSynchronization.setUTCTime.id })
    {
      seeds.append(
        [0, UInt8(place), UInt8(zone), 2, 0, 0, 0, 0, 7, 0, 0] + [0, UInt8(place), UInt8(time), 7, 3, 0, 0, 6, 0, 1])
    }
    seeds.append([4, 0, 7, 7, 7, 7, 5, 7, 7, 7, 6, 0, 5])
    return seeds
  }()
}
