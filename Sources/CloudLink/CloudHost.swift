package import HomeModel
package import HomeStore
package import NIOCore

/// The home that an account's devices belong to. Confined to its event loop.
package protocol CloudHost: AnyObject {
  /// Applies a report or a change of an account's devices to the home.
  func process(_ input: HomeInput)
  /// Performs a task on the database after everything that happened before is stored.
  func perform<R: Sendable>(
    _ body: @escaping @Sendable (HomeDatabase) throws -> R
  ) -> EventLoopFuture<R>
}
