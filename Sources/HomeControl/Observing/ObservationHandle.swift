/// A handle of an observation, which ends at ``cancel()``, or when the handle is released.
public final class ObservationHandle: Sendable {
  private let task: Task<Void, Never>

  /// - Parameter task: the task of the observation.
  init(_ task: Task<Void, Never>) { self.task = task }

  deinit { cancel() }

  /// Ends the observation. A call in progress completes, and no other begins. May be repeated.
  public func cancel() { task.cancel() }
}

#if !canImport(Combine)
  /// The name of the handle in Combine.
  public typealias AnyCancellable = ObservationHandle
#endif

extension ObservationHandle: Hashable {
  public static func == (left: ObservationHandle, right: ObservationHandle) -> Bool { left === right }
  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }

  /// Adds the handle to a set, whose release ends the observation.
  public func store(in set: inout Set<ObservationHandle>) { set.insert(self) }
}
