public import Logging
public import MatterProtocol
public import NIOCore
internal import Synchronization

/// DNS-SD for all nodes of this process, on one event loop: through the Avahi daemon, or with one responder, one
/// browser and one set of sockets of its own.
///
/// May be called from any thread; events are delivered on the caller's loop. Multicast DNS is used on the given
/// interfaces only. Avahi does not serve the loopback interface, where the built-in responder is used in every mode.
/// Where loopback has no multicast, the processes of a user still find each other: each listens on an ephemeral port,
/// notes the port in a registry directory, and sends its multicast messages to all ports noted there.
public final class ServiceDiscovery: NodeDiscovery {
  /// The implementation to use.
  public enum Mode: String, CaseIterable, Sendable {
    /// The Avahi daemon if it answers, otherwise the built-in implementation.
    case auto
    /// The Avahi daemon.
    case avahi
    /// Hearth's own responder and browser.
    case builtin
    /// None: nothing is published and nothing found.
    case off
  }

  /// The implementation and the interfaces.
  public struct Options: Sendable {
    public var mode = Mode.auto
    public var interfaces: [NetworkInterface]
    /// The directory where processes on loopback note their ports; nil for multicast only.
    public var registry: String?
    /// Whether multicast DNS is used; if false, the registry only.
    public var usesMulticast = true

    public init(interfaces: [NetworkInterface], registry: String? = nil) {
      self.interfaces = interfaces
      self.registry = registry
    }
  }

  /// An event of a search.
  public enum Event: Hashable, Sendable {
    /// A service appeared, changed, or was announced again unchanged, as by a node that has just started. (Avahi does
    /// not report repeated announcements.)
    case found(MatterService)
    /// A service said goodbye, or its records expired.
    case lost(MatterService)
  }

  /// Why the requested discovery is not available.
  public enum Failure: Error, Hashable, Sendable, CustomStringConvertible {
    /// Avahi was requested for loopback interfaces only.
    case avahiIsNotForLoopback
    /// The daemon does not answer; the reason is its own text.
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

  /// A search, active until it is stopped.
  public struct Browse: Hashable, Sendable {
    /// Unique among the searches of the process.
    public let number: UInt64

    /// - Parameter number: unique among the searches of the process.
    public init(number: UInt64) { self.number = number }
  }

  /// The state of discovery, for display.
  public struct Status: Hashable, Sendable {
    /// The multicast sockets: interface name and family.
    public var multicast: [String]
    /// The port noted in the registry.
    public var directPort: UInt16?
    /// The version of the Avahi daemon, if used.
    public var avahi: String?

    init(multicast: [String] = [], directPort: UInt16? = nil, avahi: String? = nil) {
      (self.multicast, self.directPort, self.avahi) = (multicast, directPort, avahi)
    }
  }

  package let eventLoop: any EventLoop
  public let status: Status
  private let core: NIOLoopBoundBox<DiscoveryCore?>
  private let lastNumber = Atomic<UInt64>(0)

  /// Checks that the mode works with the interfaces.
  public static func check(_ options: Options) throws(Failure) { _ = try daemon(for: options) }

  /// Probes the Avahi daemon; nil if it isn't used.
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

  /// Opens the sockets. A socket that can't be opened is logged and omitted.
  public init(_ options: Options, on eventLoop: any EventLoop, logger: Logger) throws(Failure) {
    self.eventLoop = eventLoop
    core = NIOLoopBoundBox.makeEmptyBox(valueType: DiscoveryCore.self, eventLoop: eventLoop)
    if options.mode == .off {
      status = Status()
      return
    }
    var own = options
    var avahi: String?
    let external = options.interfaces.filter { !$0.isLoopback }
    switch try Self.daemon(for: options) {
    case .success(let version):
      avahi = version
      own.interfaces.removeAll { !$0.isLoopback }
    case .failure(let failure): logger.info("no Avahi daemon answers (\(failure)); using the built-in DNS-SD")
    case nil: break
    }
    let sockets = own.interfaces.isEmpty ? nil : DiscoverySockets(own, logger: logger)
    var status = sockets?.status ?? Status()
    status.avahi = avahi
    self.status = status
    let usesAvahi = avahi != nil
    if let avahi {
      logger.info("DNS-SD by \(avahi) on \(external.map(\.name).joined(separator: ", "))")
    }
    run { core, loop in
      let made = DiscoveryCore(logger: logger)
      if let sockets {
        made.add { BuiltinDiscovery(sockets, isForLoopbackOnly: usesAvahi, on: loop, logger: logger, $0) }
      }
      if usesAvahi { made.add { AvahiDiscovery(interfaces: external, on: loop, logger: logger, $0) } }
      core.value = made
    }
  }

  /// Announces a service, or announces it again after a change.
  /// - Parameters:
  ///   - owner: the loop that `onConflict` is called on; nil for that of DNS-SD.
  ///   - onConflict: called if another host has the instance name or the host name. The service is then not announced,
  ///     and retried every minute. To resolve a conflict of the instance name, withdraw the service and publish it
  ///     under another name; to resolve one of the host name, publish all services of the host on another one.
  public func publish(
    _ service: MatterService, on owner: (any EventLoop)? = nil,
    onConflict: (@Sendable (ServiceConflict) -> Void)? = nil
  ) {
    run { core, loop in core.value?.publish(service, on: owner ?? loop, onConflict) }
  }

  /// Withdraws a service, with a goodbye unless `silently` is set.
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

  /// Stops a search. Events already on their way to another loop may still be delivered.
  public func stop(_ browse: Browse) { run { core, _ in core.value?.stop(browse) } }

  /// Switches to these interfaces and their current addresses: announces the published services on new interfaces, and
  /// browses there.
  public func follow(_ interfaces: [NetworkInterface]) { run { core, _ in core.value?.follow(interfaces) } }

  /// Returns the dropped packets by reason; empty after ``stop()``.
  public func drops() -> EventLoopFuture<[String: Int]> { eventLoop.submit { [core] in core.value?.drops ?? [:] } }

  /// Withdraws all services with goodbyes and closes the sockets. The future completes when it is done.
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
