internal import Synchronization

/// A queue with any number of readers, each at its own pace. The cost of sending doesn't depend on the number of
/// readers.
///
/// The elements are a linked list whose last slot is empty. Each reader retains the slot that it reads next, so an
/// element is released when all readers have read it.
package final class Broadcast<Element: Sendable>: Sendable {
  /// The empty slot at the end of the list.
  private let last = Mutex(Slot())
  /// Runs the resumption of the waiting readers: with many of them, it would block the sender for too long.
  private let wake: @Sendable (@escaping @Sendable () -> Void) -> Void

  package init(wake: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void = { $0() }) { self.wake = wake }

  package func send(_ element: Element) {
    let next = Slot()
    let slot = last.withLock { last in
      defer { last = next }
      return last
    }
    slot.fill(.element(element, next), wake)
  }

  /// Ends the sequence for all readers, after the sent elements.
  package func finish() { last.withLock { $0 }.fill(.end, wake) }

  /// Attaches a reader at the current end of the list.
  /// - Parameters:
  ///   - slot: the slot that the reader waits for.
  ///   - element: its first element.
  package func attach(_ slot: Slot, with element: Element) {
    slot.fill(.element(element, last.withLock { $0 }), wake)
  }

  /// A slot for an element: empty, or filled once.
  package final class Slot: Sendable {
    package enum Content: Sendable {
      case element(Element, Slot)
      case end
    }

    package init() {}

    private struct State: Sendable {
      var content: Content?
      var waiters: [Int: CheckedContinuation<Content, Never>] = [:]
      var lastWaiter = 0
    }

    private let state = Mutex(State())
    /// The maximum number of readers that are resumed by the sender itself.
    private static var inlineLimit: Int { 4 }

    package func fill(_ content: Content, _ wake: (@escaping @Sendable () -> Void) -> Void = { $0() }) {
      let waiters = state.withLock { state -> [CheckedContinuation<Content, Never>] in
        guard state.content == nil else { return [] }
        state.content = content
        defer { state.waiters = [:] }
        // In the order of registration, so that simulations are reproducible.
        return state.waiters.sorted { $0.key < $1.key }.map(\.value)
      }
      if waiters.count <= Self.inlineLimit {
        for waiter in waiters { waiter.resume(returning: content) }
      } else {
        wake { for waiter in waiters { waiter.resume(returning: content) } }
      }
    }

    /// Waits for the content of the slot. Returns the end if the task is canceled before.
    package func content(isolation actor: isolated (any Actor)? = #isolation) async -> Content {
      let number = state.withLock { state -> Int? in
        if state.content != nil { return nil }
        state.lastWaiter += 1
        return state.lastWaiter
      }
      guard let number else { return state.withLock { $0.content } ?? .end }
      return await withTaskCancellationHandler {
        await withCheckedContinuation { continuation in
          let content = state.withLock { state -> Content? in
            if let content = state.content { return content }
            // If the task was canceled before, the handler below has already run.
            if Task.isCancelled { return .end }
            state.waiters[number] = continuation
            return nil
          }
          if let content { continuation.resume(returning: content) }
        }
      } onCancel: {
        state.withLock { $0.waiters.removeValue(forKey: number) }?.resume(returning: .end)
      }
    }

    /// Releases the slots iteratively: the deallocation of a long list would otherwise recurse.
    deinit {
      var next = state.withLock { Self.takeNext(&$0) }
      while isKnownUniquelyReferenced(&next) { next = next?.state.withLock { Self.takeNext(&$0) } }
    }

    private static func takeNext(_ state: inout State) -> Slot? {
      guard case .element(_, let next)? = state.content else { return nil }
      state.content = nil
      return next
    }
  }
}
