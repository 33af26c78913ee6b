internal import HearthHome
internal import HomeText
internal import MatterModel
internal import MatterProtocol
internal import MatterTLV
internal import Synchronization

/// The events that a home received during a run. Thread-safe.
final class EventLog: Sendable {
  /// An event and the node it came from.
  struct Entry: Sendable {
    let node: NodeID
    let event: EventData
  }

  private struct State {
    var entries: [Entry] = []
    /// The number of evicted entries.
    var dropped = 0
  }

  /// The largest number of entries.
  private static let limit = 10_000
  private let state = Mutex(State())

  func add(_ changes: [HomeChange]) {
    for case .event(let node, let event) in changes {
      state.withLock { state in
        state.entries.append(Entry(node: node, event: event))
        guard state.entries.count > Self.limit else { return }
        state.entries.removeFirst(Self.limit / 2)
        state.dropped += Self.limit / 2
      }
    }
  }

  /// The number of events received so far, including evicted ones.
  var count: Int { state.withLock { $0.dropped + $0.entries.count } }

  /// Returns the events received after the first `count`.
  func all(from count: Int) -> [Entry] {
    state.withLock { Array($0.entries.dropFirst(max(0, count - $0.dropped))) }
  }
}

extension HomeView {
  /// Returns whether a matching event was received, and otherwise the last one of the same kind.
  func check(
    _ condition: Claim.EventCondition, of source: DeviceSource, _ device: String
  ) -> DeviceCondition.Finding {
    var endpoints = source.endpoints.filter { $0.servers.contains(condition.cluster) }.map(\.id)
    if let number = condition.endpoint {
      do throws(HomeError) {
        let named = try identities.endpoint(number, of: device, source)
        endpoints.removeAll { $0 != named }
      } catch { return .init(false, error.message) }
    }
    if let button = condition.button { endpoints = endpoints.indices.contains(button) ? [endpoints[button]] : [] }
    let same = events.filter {
      $0.node == source.id.node && endpoints.contains($0.event.path.endpoint)
        && $0.event.path.cluster == condition.cluster && $0.event.path.event == condition.event
    }
    if same.contains(where: { condition.matches($0.event) }) { return .init(true, "received") }
    guard let last = same.last else { return .init(false, "not received") }
    return .init(false, last.event.text)
  }
}

extension Claim.EventCondition {
  fileprivate func matches(_ event: EventData) -> Bool {
    if fields.isEmpty { return true }
    guard let payload = try? TLVElement(decoding: event.payload ?? [0x15, 0x18]) else { return false }
    return fields.allSatisfy { id, wanted in
      payload[id]?.value == (try? TLVElement(decoding: wanted))?.value
    }
  }
}

extension EventData {
  /// The fields as shown in reports.
  var text: String {
    AttributeUnits.text(event: path.event, of: path.cluster, payload: payload ?? [0x15, 0x18])
  }
}
