internal import Runtime

/// Tasks that run one after another.
struct SerialWork {
  private let machine: any Machine
  private var last: Task<Void, Never>?

  init(_ machine: any Machine) { self.machine = machine }

  mutating func add(_ body: @escaping @Sendable () async -> Void) {
    let previous = last
    last = machine.task {
      await previous?.value
      await body()
    }
  }

  /// Returns the last task, for a caller that waits for it; nil if none was added since.
  mutating func takeLast() -> Task<Void, Never>? { last.take() }
}
