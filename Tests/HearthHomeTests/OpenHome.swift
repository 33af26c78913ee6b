import Foundation
import HearthHome
import HomeControl
import HomeModel
import Logging
import NIOCore
import Runtime
import Testing

/// An open home in its own directory, without a network: tests inject the reports of its devices.
final class OpenHome: Sendable {
  let home: Home
  let controller: HomeController
  private let directory: ScratchDirectory

  convenience init(_ models: NodeModel..., grace: Duration? = nil) async throws {
    try await self.init(ScratchDirectory(), grace: grace)
    for model in models { await meet(model) }
  }

  init(
    _ directory: ScratchDirectory, grace: Duration? = nil, contactPeriod: Duration = .seconds(60),
    machine: any Machine = HostMachine(), wakesObservers: Bool = true
  ) async throws {
    self.directory = directory
    var options = HomeController.Options(state: directory.state, logger: Logger(label: "test"))
    options.logger.logLevel = .critical
    options.discovery = .off
    options.machine = machine
    options.following.grace = grace
    options.following.contactPeriod = contactPeriod
    options.following.wakesObservers = wakesObservers
    home = try await Home(options)
    controller = try home.controller
  }

  func meet(_ model: NodeModel) async {
    await process(model.report())
    await process(.established(model.node, deadline: 0))
  }

  func process(_ input: HomeInput) async { await controller.process(input) }

  func device(_ id: String) async throws -> HomeDevice { try #require(await home.backend.device(id)) }
}

/// A worker that runs jobs in order on a dispatch queue.
struct QueueWorker: Worker {
  private let queue = DispatchQueue(label: "test")

  func submit<R: Sendable>(
    on eventLoop: any EventLoop, _ body: @escaping @Sendable () throws -> R
  ) -> EventLoopFuture<R> {
    let promise = eventLoop.makePromise(of: R.self)
    queue.async { promise.completeWith(Result { try body() }) }
    return promise.futureResult
  }

  func close(_ done: @escaping @Sendable () -> Void) { queue.async { done() } }
}

/// Returns the remaining elements of a sequence.
func rest<S: AsyncSequence>(
  _ iterator: S.AsyncIterator, of _: S.Type
) async -> [S.Element] where S.Failure == Never {
  var iterator = iterator
  var result: [S.Element] = []
  while let value = await iterator.next(isolation: nil) { result.append(value) }
  return result
}
