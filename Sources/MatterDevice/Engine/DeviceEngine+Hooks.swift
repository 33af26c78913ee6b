package import MatterModel
package import MatterProtocol

/// A request whose execution a hook delays.
struct DelayedRequest: Sendable {
  let message: InboundMessage
  let due: Instant
}

// Replaced decisions of a running device.
extension DeviceEngine {
  /// The replaced decisions.
  package var hooks: DeviceHooks { context.node.hooks }

  /// Replaces decisions of the running device, until the next start. All sessions are dropped if an interval is given.
  package mutating func install(_ hooks: DeviceHooks, _ node: NodeHooks, at now: Instant) {
    advance(to: now)
    let old = context.node.hooks.violations
    (configuration.hooks, configuration.limits.hooks, core.hooks) = (hooks, node, node)
    // Subscribers get the changed values.
    for path in Set(old.keys).union(hooks.violations.keys).sorted() where old[path] != hooks.violations[path] {
      context.node.markChanged(path)
      if [old[path], hooks.violations[path]].contains(.missing) {
        context.node.markChanged(.init(path.endpoint, path.cluster, GlobalAttribute.attributeList))
      }
    }
    dropSessions()
    settle()
  }

  /// Returns whether the attribute is served.
  package func serves(_ path: ConcreteAttributePath) -> Bool { context.info(path) != nil }

  // MARK: Sessions

  /// Drops all CASE sessions without notifying the peers, if a hook sets an interval.
  private mutating func dropSessions() {
    nextSessionDrop = hooks.sessionDropInterval.map { now + max($0, .seconds(1)) }
    guard nextSessionDrop != nil else { return }
    for session in core.sessions where session.kind == .case {
      core.close(session.id, notifyingPeer: false, at: now)
    }
  }

  // MARK: Delays

  /// Executes a message now, or later if a hook delays requests.
  mutating func admit(_ message: InboundMessage) {
    let opcode = InteractionOpcode(message.opcode)
    let delay = context.node.hooks.responseDelay
    guard delay > .zero, message.protocolID == .interactionModel, opcode.isRequest else {
      return receive(message)
    }
    delayed.append(DelayedRequest(message: message, due: now + delay))
  }

  var hookDeadline: Instant? { .earlier(nextSessionDrop, delayed.map(\.due).min()) }

  /// Executes the delayed requests that are due, and drops the sessions if that is due.
  mutating func advanceHooks() {
    let now = now
    let due = delayed.filter { $0.due <= now }
    delayed.removeAll { $0.due <= now }
    for request in due.sorted(by: { $0.due < $1.due }) { receive(request.message) }
    if let next = nextSessionDrop, next <= now { dropSessions() }
  }
}

extension InteractionOpcode {
  fileprivate var isRequest: Bool {
    [.readRequest, .subscribeRequest, .writeRequest, .invokeRequest, .timedRequest].contains(self)
  }
}

extension NodeState {
  /// Returns whether a hook makes the table full.
  func isFull(_ table: DeviceTable) -> Bool { hooks.fullTables.contains(table) }

  /// Returns whether a hook hides the attribute from clients.
  func isHidden(_ path: ConcreteAttributePath) -> Bool { hooks.violations[path] == .missing }
}
