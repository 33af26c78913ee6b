import MatterCrypto

@testable import MatterProtocol

/// Two connected cores in virtual time, with latency and packet loss.
///
/// In most tests core 0 is the initiator and core 1 the responder.
struct CorePair {
  /// A sent datagram, delivered or lost.
  struct Packet {
    let number: Int
    let sender: Int
    let sentAt: Instant
    let bytes: [UInt8]
    let isLost: Bool
  }
  /// An output of a core that is not a datagram.
  struct Report {
    let core: Int
    let at: Instant
    let output: NodeOutput
  }
  /// Thrown if the cores exchange messages without end.
  struct Livelock: Error {}

  var now = Instant.zero
  var cores: [NodeCore]
  var packets: [Packet] = []
  var reports: [Report] = []
  var latency: Duration = .milliseconds(5)
  /// The numbers of the packets to lose.
  var losses: Set<Int> = []
  /// Additionally decides by sender and bytes whether a packet is lost.
  var isLost: (Int, [UInt8]) -> Bool = { _, _ in false }
  /// Handles the messages that core 1 receives.
  var serve: (inout NodeCore, InboundMessage, Instant) -> Void = CorePair.echo
  var steps = 0

  private var flying: [(at: Instant, number: Int, to: Int, bytes: [UInt8])] = []

  static let addresses = [SocketAddress(.loopback6, port: 5540), SocketAddress(.loopback6, port: 5541)]

  init(
    seed: UInt64 = 1, configurations: [NodeConfiguration] = [.init(), .init()], fabrics: [[Fabric]] = [[], []]
  ) {
    cores = [0, 1].map { index in
      NodeCore(
        configurations[index], random: SeededRandomSource(seed: seed &* 2 &+ UInt64(index)),
        signatures: DeterministicSignatures(), fabrics: fabrics[index])
    }
  }

  /// Responds with the reversed payload and opcode 9, and closes the exchange.
  static func echo(_ core: inout NodeCore, _ message: InboundMessage, _ now: Instant) {
    core.send(
      9, payload: message.bytes[message.payload].reversed(), on: message.exchange, then: .close, at: now)
  }

  /// Drains the outputs of a core: sends datagrams and records the others.
  mutating func drain(_ index: Int) {
    while let output = cores[index].nextOutput() {
      switch output {
      case .send(let bytes, let address):
        let number = packets.count
        let lost = losses.contains(number) || isLost(index, bytes) || address != Self.addresses[1 - index]
        packets.append(Packet(number: number, sender: index, sentAt: now, bytes: bytes, isLost: lost))
        if !lost { flying.append((now + latency, number, 1 - index, bytes)) }
      default:
        reports.append(Report(core: index, at: now, output: output))
        guard case .message(let message) = output else { continue }
        // The response to core 0 ends its exchange.
        if index == 1 {
          serve(&cores[1], message, now)
        } else if !message.isFirst {
          cores[0].close(message.exchange, at: now)
        }
      }
    }
  }

  /// Calls `body` with a core, then drains its outputs.
  mutating func on<Result>(_ index: Int, _ body: (inout NodeCore, Instant) -> Result) -> Result {
    let result = body(&cores[index], now)
    drain(index)
    return result
  }

  /// The time of the next delivery or timer.
  var nextEvent: Instant? {
    .earlier(flying.map(\.at).min(), .earlier(cores[0].nextDeadline, cores[1].nextDeadline))
  }

  /// Advances the clock to the next event and handles it.
  mutating func step() throws {
    guard let next = nextEvent else { return }
    steps += 1
    guard steps < 200_000 else { throw Livelock() }
    now = max(now, next)
    let landed = flying.filter { $0.at <= now }.sorted { ($0.at, $0.number) < ($1.at, $1.number) }
    flying.removeAll { $0.at <= now }
    for packet in landed {
      cores[packet.to].receive(packet.bytes, from: Self.addresses[1 - packet.to], at: now)
      drain(packet.to)
    }
    for index in 0...1 {
      if let deadline = cores[index].nextDeadline, deadline <= now {
        cores[index].advance(to: now)
        drain(index)
      }
    }
  }

  /// Runs until there are no more events.
  mutating func settle() throws { while nextEvent != nil { try step() } }

  /// Runs for a duration of virtual time.
  mutating func run(for time: Duration) throws {
    let end = now + time
    while let next = nextEvent, next <= end { try step() }
    now = end
  }

  // MARK: Results

  func outputs(of core: Int) -> [NodeOutput] { reports.filter { $0.core == core }.map(\.output) }

  func established(_ core: Int) -> [SessionID] {
    outputs(of: core).compactMap { if case .sessionEstablished(let id, _) = $0 { id } else { nil } }
  }

  func handshakeErrors(_ core: Int) -> [HandshakeError] {
    outputs(of: core).compactMap { if case .handshakeFailed(_, let error) = $0 { error } else { nil } }
  }

  func messages(_ core: Int) -> [InboundMessage] {
    outputs(of: core).compactMap { if case .message(let message) = $0 { message } else { nil } }
  }

  func failures(_ core: Int) -> [(at: Instant, failure: ExchangeFailure)] {
    reports.compactMap {
      if $0.core == core, case .exchangeFailed(_, let failure) = $0.output { ($0.at, failure) } else { nil }
    }
  }

  func closures(_ core: Int) -> [SessionCloseReason] {
    outputs(of: core).compactMap { if case .sessionClosed(_, _, let reason) = $0 { reason } else { nil } }
  }

  func sent(by core: Int) -> [Packet] { packets.filter { $0.sender == core } }
}

extension InboundMessage {
  var content: [UInt8] { Array(bytes[payload]) }
}
