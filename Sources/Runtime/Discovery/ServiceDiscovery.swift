public import Logging
public import MatterProtocol
public import NIOCore
internal import Synchronization

/// DNS-SD for all nodes of this process, on one event loop: by the Avahi daemon, or by one responder, one browser and one set of
/// sockets of our own.
///
/// May be called from anywhere; what is found is told on the loop of whoever asked. It speaks multicast DNS on the interfaces
/// given and no others. The loopback interface is none of Avahi's: there our own do the work, whatever the mode. Where multicast doesn't work on loopback, the processes of one user find each other all the same: each
/// one listens on a port of its own, notes it in a registry directory, and sends to all ports noted there what it multicasts.
public final class ServiceDiscovery: NodeDiscovery {
  /// Who does the work.
  public enum Mode: String, CaseIterable, Sendable {
    /// The Avahi daemon where it answers, else our own.
    case auto
    /// The Avahi daemon.
    case avahi
    /// Our own responder and browser.
    case builtin
    /// Nobody: nothing is published and nothing found.
    case off
  }

  /// Who does the work, on which interfaces.
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

  /// What a search tells.
  public enum Event: Hashable, Sendable {
    /// A service that was not there before, or one that says something new about itself, or one that announces anew what it
    /// said before, as a node does that has just started. (Of such a node Avahi tells nothing.)
    case found(MatterService)
    /// A service said goodbye, or was not heard of for as long as it had said.
    case lost(MatterService)
  }

  /// Why discovery can't be done as it was asked for.
  public enum Failure: Error, Hashable, Sendable, CustomStringConvertible {
    /// Only loopback interfaces were chosen.
    case avahiIsNotForLoopback
    /// The daemon does not answer, for a reason in its own words.
    case noAvahi(String)

    public var description: String {
      switch self {
      case .avahiIsNotForLoopback:
        "Avahi does not work on the loopback interface; name another with --interface, or use --mdns builtin"
      case .noAvahi(let reason):
        "the Avahi daemon does not answer (\(reason)); install avahi-daemon and start it and D-Bus, or use --mdns builtin"
      }
    }
  }

  /// A search that goes on until it is stopped.
  public struct Browse: Hashable, Sendable {
    /// What tells it from the other searches of the process.
    public let number: UInt64

    /// - Parameter number: another one for each search of a process.
    public init(number: UInt64) { self.number = number }
  }

  /// How it is being done, to be shown to the user.
  public struct Status: Hashable, Sendable {
    /// The names of the interfaces with a multicast socket, and its family.
    public var multicast: [String]
    /// The port noted in the registry.
    public var directPort: UInt16?
    /// The version of the Avahi daemon, where it does the work.
    public var avahi: String?

    public init(multicast: [String] = [], directPort: UInt16? = nil, avahi: String? = nil) {
      (self.multicast, self.directPort, self.avahi) = (multicast, directPort, avahi)
    }
  }

  public let eventLoop: any EventLoop
  public let status: Status
  private let core: NIOLoopBoundBox<DiscoveryCore?>
  private let lastNumber = Atomic<UInt64>(0)

  /// Checks whether the mode works with the interfaces.
  public static func check(_ options: Options) throws(Failure) { _ = try daemon(for: options) }

  /// Whether the Avahi daemon answers; nil where it isn't used.
  private static func daemon(for options: Options) throws(Failure) -> Result<String, AvahiFailure>? {
    guard options.mode == .auto || options.mode == .avahi else { return nil }
    guard options.interfaces.contains(where: { !$0.isLoopback }) else {
      if options.mode == .avahi { throw .avahiIsNotForLoopback }
      return nil
    }
    let answer = AvahiDaemon.probe()
    if case .failure(let failure) = answer, options.mode == .avahi { throw .noAvahi(failure.reason) }
    return answer
  }

  /// Opens the sockets; where one can't be opened it goes on without, and says so in the log.
  public init(_ options: Options, on eventLoop: any EventLoop, logger: Logger) throws(Failure) {
    self.eventLoop = eventLoop
    core = NIOLoopBoundBox.makeEmptyBox(valueType: DiscoveryCore.self, eventLoop: eventLoop)
    if options.mode == .off {
      status = Status()
      return
    }
    var own = options
    var avahi: String?
    let beyond = options.interfaces.filter { !$0.isLoopback }
    switch try Self.daemon(for: options) {
    case .success(let version):
      avahi = version
      own.interfaces.removeAll { !$0.isLoopback }
    case .failure(let failure): logger.info("no Avahi daemon answers (\(failure)); DNS-SD is our own")
    case nil: break
    }
    let sockets = own.interfaces.isEmpty ? nil : DiscoverySockets(own, logger: logger)
    var status = sockets?.status ?? Status()
    status.avahi = avahi
    self.status = status
    let usesAvahi = avahi != nil
    if let avahi {
      logger.info("DNS-SD by \(avahi) on \(beyond.map(\.name).joined(separator: ", "))")
    }
    run { core, loop in
      let made = DiscoveryCore(logger: logger)
      if let sockets {
        made.add { BuiltinDiscovery(sockets, isForLoopbackOnly: usesAvahi, on: loop, logger: logger, $0) }
      }
      if usesAvahi { made.add { AvahiDiscovery(interfaces: beyond, on: loop, logger: logger, $0) } }
      core.value = made
    }
  }

  /// Announces a service, or announces it anew when something about it has changed.
  /// - Parameters:
  ///   - owner: the loop that `onConflict` is called on; nil: that of DNS-SD.
  ///   - onConflict: somebody else has the instance name or that of the host, and the service is not announced. It is tried
  ///     again every minute. A service whose instance name can be another is better withdrawn and published under that; and
  ///     all services of a host are better published on one of another name.
  public func publish(
    _ service: MatterService, on owner: (any EventLoop)? = nil,
    onConflict: (@Sendable (ServiceConflict) -> Void)? = nil
  ) {
    run { core, loop in core.value?.publish(service, on: owner ?? loop, onConflict) }
  }

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

  /// Speaks on these interfaces from now on, with the addresses that they have now: what is published is announced on new
  /// ones, and looked for there.
  public func follow(_ interfaces: [NetworkInterface]) { run { core, _ in core.value?.follow(interfaces) } }

  /// Packets that were not acted on, by reason; none after ``stop()``.
  public func drops() -> EventLoopFuture<[String: Int]> { eventLoop.submit { [core] in core.value?.drops ?? [:] } }

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
