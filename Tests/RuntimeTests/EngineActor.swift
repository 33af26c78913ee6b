import MatterProtocol
import NIOCore

@testable import Runtime

/// The async interface to an engine host: an actor on the engine's own event loop.
///
/// Code that runs on the loop already, and everything on the packet path, uses the host directly.
actor EngineActor<E: Engine & SendableMetatype> {
  nonisolated let eventLoop: any EventLoop
  private nonisolated let bound: NIOLoopBound<EngineHost<E>>

  nonisolated var unownedExecutor: UnownedSerialExecutor { eventLoop.executor.asUnownedSerialExecutor() }

  /// - Parameter host: see ``EngineHost/bound``.
  init(_ host: NIOLoopBound<EngineHost<E>>) {
    eventLoop = host.eventLoop
    bound = host
  }

  /// Creates a host on an event loop, starts it, and returns its actor.
  static func start(
    on eventLoop: any EventLoop, _ make: @escaping @Sendable () throws -> EngineHost<E>
  ) async throws -> EngineActor<E> {
    try await eventLoop.submit {
      let host = try make()
      host.start()
      return EngineActor(host.bound)
    }.get()
  }

  /// The host. To be used on its loop.
  var host: EngineHost<E> { bound.value }

  /// Calls `body` with the engine and the time on the engine's loop, then performs the effects.
  func perform<R: Sendable, F: Error>(
    _ body: @Sendable (inout E, Instant) throws(F) -> R
  ) throws(F) -> R {
    try bound.value.perform(body)
  }

  /// Calls `body` with the host on its loop.
  func withHost<R: Sendable, F: Error>(_ body: @Sendable (EngineHost<E>) throws(F) -> R) throws(F) -> R {
    try body(bound.value)
  }

  /// Stops the host, see ``EngineHost/stop(silently:)``.
  func stop() { bound.value.stop() }
}
