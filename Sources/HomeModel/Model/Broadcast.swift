internal import Synchronization

/// Elements for any number of readers, each at its own pace. Handing one over costs the same for one reader as for a
/// hundred: it is put behind the last, where all of them find it.
///
/// The elements are a list whose last place is still empty. Each reader holds the place that it reads next; what all have
/// read nobody holds any more.
package final class Broadcast<Element: Sendable>: Sendable {
  /// The empty place behind all that was sent.
  private let last = Mutex(Place())
  /// Runs what wakes the readers that wait: with many of them that takes longer than whoever sends should be held up.
  private let wake: @Sendable (@escaping @Sendable () -> Void) -> Void

  package init(wake: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void = { $0() }) { self.wake = wake }

  package func send(_ element: Element) {
    let next = Place()
    let place = last.withLock { last in
      defer { last = next }
      return last
    }
    place.fill(.element(element, next), wake)
  }

  /// Ends it for everybody, behind what was sent.
  package func finish() { last.withLock { $0 }.fill(.end, wake) }

  /// Lets a reader begin here.
  /// - Parameters:
  ///   - place: where the reader waits.
  ///   - element: what it gets first.
  package func attach(_ place: Place, with element: Element) {
    place.fill(.element(element, last.withLock { $0 }), wake)
  }

  /// A place for an element: empty, or filled once and for all.
  package final class Place: Sendable {
    package enum Content: Sendable {
      case element(Element, Place)
      case end
    }

    package init() {}

    private struct State: Sendable {
      var content: Content?
      var waiters: [Int: CheckedContinuation<Content, Never>] = [:]
      var lastWaiter = 0
    }

    private let state = Mutex(State())
    /// So many are woken where the element is sent.
    private static var few: Int { 4 }

    package func fill(_ content: Content, _ wake: (@escaping @Sendable () -> Void) -> Void = { $0() }) {
      let waiters = state.withLock { state -> [CheckedContinuation<Content, Never>] in
        guard state.content == nil else { return [] }
        state.content = content
        defer { state.waiters = [:] }
        // The first comes first: a run of a simulation is the same each time.
        return state.waiters.sorted { $0.key < $1.key }.map(\.value)
      }
      if waiters.count <= Self.few {
        for waiter in waiters { waiter.resume(returning: content) }
      } else {
        wake { for waiter in waiters { waiter.resume(returning: content) } }
      }
    }

    /// What is in it, as soon as something is; the end where the task is cancelled before.
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
            // The handler below runs before this where the task was cancelled already.
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

    /// A reader that was slow lets go of a long list: one place after the other, not each within the one before.
    deinit {
      var next = state.withLock { Self.takeNext(&$0) }
      while isKnownUniquelyReferenced(&next) { next = next?.state.withLock { Self.takeNext(&$0) } }
    }

    private static func takeNext(_ state: inout State) -> Place? {
      guard case .element(_, let next)? = state.content else { return nil }
      state.content = nil
      return next
    }
  }
}
