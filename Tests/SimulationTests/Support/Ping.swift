import MatterProtocol
import Simulation

/// A simple engine: sends a number to its peer every second, answers each number with the next one up to ten, and
/// stores how many it received.
struct Ping: Engine {
  enum Event: Hashable, Sendable {
    case got(UInt8)
    case found(MatterService.Kind)
    case lost(MatterService.Kind)
  }

  var peer: SocketAddress?
  var interval: Duration = .seconds(1)
  var next: Instant?
  var effects: [Effect<Event>] = []
  var count: UInt8 = 0

  init(_ boot: Boot, sendsTo peer: SocketAddress?) {
    self.peer = peer
    count = boot.state["count"]?.first ?? 0
    if peer != nil { next = boot.now + interval }
  }

  mutating func handle(_ input: Input, at now: Instant) {
    switch input {
    case .datagram(let bytes, let from):
      let number = bytes.first ?? 0
      count &+= 1
      effects.append(.store([StoreChange("count", [count])]))
      effects.append(.emit(.got(number)))
      if number % 10 != 0 { effects.append(.send([number + 1], to: from)) }
    case .serviceFound(let service): effects.append(.emit(.found(service.kind)))
    case .serviceLost(let service): effects.append(.emit(.lost(service.kind)))
    case .serviceConflict: break
    }
  }

  mutating func advance(to now: Instant) {
    guard let due = next, due <= now, let peer else { return }
    effects.append(.send([1], to: peer))
    next = due + interval
  }

  var nextDeadline: Instant? { next }

  mutating func nextEffect() -> Effect<Event>? { effects.isEmpty ? nil : effects.removeFirst() }
}

extension World {
  /// Adds a host that sends pings and one that only answers.
  func addPair() -> (pinger: SimulatedHost<Ping>, ponger: SimulatedHost<Ping>) {
    let ponger = add("ponger") { Ping($0, sendsTo: nil) }
    let address = ponger.address
    return (add("pinger") { Ping($0, sendsTo: address) }, ponger)
  }
}

extension SimulatedHost<Ping> {
  /// Searches for commissionable devices, instead of sending pings.
  func browse() {
    command { engine, _ in
      engine.next = nil
      engine.effects = [.browse(.commissionable())]
    }
  }
}
