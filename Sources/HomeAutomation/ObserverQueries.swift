package import HomeModel
package import NIOCore
package import Runtime

/// The executed observer queries of a home: a projection of its stream. Confined to the event loop.
package struct ObserverQueries {
  /// In the order of execution.
  package private(set) var signals: [QuerySignal] = []
  private let limits: DeliverySchedule.Limits
  private let eventLoop: any EventLoop
  private let machine: any Machine

  /// - Parameter limits: the timeout of a completion, and the delay of a retry.
  package init(_ limits: DeliverySchedule.Limits, on eventLoop: any EventLoop, _ machine: any Machine) {
    (self.limits, self.eventLoop, self.machine) = (limits, eventLoop, machine)
  }

  /// Executes a query. Its handler is first called once, for all earlier changes; only with an error if the query was
  /// already executed.
  package mutating func execute(_ query: ObserverQuery) {
    guard query.execute(on: machine) else { return }
    let signal = QuerySignal(query, limits, on: eventLoop, machine)
    signals.append(signal)
    signal.signal()
  }

  /// Stops a query, whose handler is not called again.
  package mutating func stop(_ query: ObserverQuery) {
    guard let index = signals.firstIndex(where: { $0.query === query }) else { return }
    signals.remove(at: index).stop()
  }

  package mutating func stopAll() {
    for signal in signals { signal.stop() }
    signals = []
  }

  /// Calls the handlers of the queries that match a published batch.
  /// - Parameter state: the state that includes the batch.
  package func note(_ update: HomeUpdate, _ state: HomeState) {
    for signal in signals where update.matches(signal.query.predicate, state) { signal.signal() }
  }

  package func signalAll() {
    for signal in signals { signal.signal() }
  }
}
