public import Logging
public import MatterProtocol
public import NIOCore
internal import Synchronization

/// DNS-SD for all nodes of this process: one responder, one browser and one set of sockets, on one event loop.
///
/// May be called from anywhere; what is found is told on the loop of whoever asked. It speaks multicast DNS on the interfaces
/// given and no others. Where multicast doesn't work on loopback, the processes of one user find each other all the same: each
/// one listens on a port of its own, notes it in a registry directory, and sends to all ports noted there what it multicasts.
public final class ServiceDiscovery: Sendable {
  /// Who does the work.
  public enum Mode: String, CaseIterable, Sendable {
    /// The best that there is; for now our own.
    case auto
    /// The Avahi daemon; not built yet.
    case avahi
    /// Our own responder and browser.
    case builtin
    /// Nobody: nothing is published and nothing found.
    case off
  }

  public struct Options: Sendable {
    public var mode = Mode.auto
    public var interfaces: [NetworkInterface]
    /// The directory where processes on loopback note their ports; nil: multicast only.
    public var registry: String?
    /// Off: by the registry only.
    public var usesMulticast = true

    public init(interfaces: [NetworkInterface], registry: String? = nil) {
      self.interfaces = interfaces
      self.registry = registry
    }
  }

  public enum Event: Hashable, Sendable {
    /// A service that was not there before, or one that says something new about itself.
    case found(MatterService)
    case lost(MatterService)
  }

  public enum Failure: Error, Hashable, Sendable, CustomStringConvertible {
    case notBuiltYet(Mode)

    public var description: String {
      switch self {
      case .notBuiltYet(let mode):
        "DNS-SD by way of '\(mode.rawValue)' is not built yet; use 'builtin', 'auto' or 'off'"
      }
    }
  }

  /// A search that goes on until it is stopped.
  public struct Browse: Hashable, Sendable {
    let number: UInt64
  }

  /// How it is being done, to be shown to the user.
  public struct Status: Hashable, Sendable {
    /// The names of the interfaces with a multicast socket, and its family.
    public var multicast: [String]
    /// The port noted in the registry.
    public var directPort: UInt16?
  }

  public let eventLoop: any EventLoop
  public let status: Status
  private let core: NIOLoopBoundBox<DiscoveryCore?>
  private let lastNumber = Atomic<UInt64>(0)

  /// Opens the sockets; where one can't be opened it goes on without, and says so in the log.
  public init(_ options: Options, on eventLoop: any EventLoop, logger: Logger) throws(Failure) {
    self.eventLoop = eventLoop
    core = NIOLoopBoundBox.makeEmptyBox(valueType: DiscoveryCore.self, eventLoop: eventLoop)
    switch options.mode {
    case .avahi: throw .notBuiltYet(.avahi)
    case .off:
      status = Status(multicast: [], directPort: nil)
      return
    case .auto, .builtin: break
    }
    let sockets = DiscoverySockets(options, logger: logger)
    status = sockets.status
    run { core, loop in core.value = DiscoveryCore(sockets, on: loop, logger: logger) }
  }

  /// Announces a service, or announces it anew when something about it has changed.
  public func publish(_ service: MatterService) { run { core, _ in core.value?.publish(service) } }

  /// Takes a service back, with a goodbye unless it is `silently`.
  public func withdraw(_ service: MatterService, silently: Bool = false) {
    run { core, _ in core.value?.withdraw(service, silently: silently) }
  }

  /// Starts a search.
  /// - Parameters:
  ///   - owner: the loop that `handler` is called on.
  public func browse(
    _ query: DiscoveryQuery, on owner: any EventLoop, _ handler: @escaping @Sendable (Event) -> Void
  ) -> Browse {
    let browse = Browse(number: lastNumber.add(1, ordering: .relaxed).newValue)
    run { core, _ in core.value?.browse(query, as: browse, on: owner, handler) }
    return browse
  }

  /// Ends a search. What is on its way to another loop already may still be told there.
  public func stop(_ browse: Browse) { run { core, _ in core.value?.stop(browse) } }

  /// Asks again at once for all that is searched for.
  public func queryAgain() { run { core, _ in core.value?.queryAgain() } }

  /// Says goodbye to all services and closes the sockets. Done when the future is.
  @discardableResult
  public func stop() -> EventLoopFuture<Void> {
    eventLoop.submit { [core] in
      core.value?.close()
      core.value = nil
    }
  }

  private func run(_ body: @escaping @Sendable (NIOLoopBoundBox<DiscoveryCore?>, any EventLoop) -> Void) {
    if eventLoop.inEventLoop {
      body(core, eventLoop)
    } else {
      eventLoop.execute { [core, eventLoop] in body(core, eventLoop) }
    }
  }
}
