package import MatterProtocol
package import Runtime

/// The network faults of one machine, which ``ImpairedMachine``, ``ImpairedTransport`` and ``ImpairedDiscovery`` apply.
/// May be used from any thread, except for the transports, which are confined to their loop.
package protocol NetworkImpairment: AnyObject, Sendable {
  /// Counts an effect on the network other than a datagram: a group joined or left, a service published, withdrawn or
  /// searched for.
  /// - Returns: whether it is carried out.
  func takesEffect() -> Bool

  // MARK: Datagrams

  /// Decides about a datagram that is sent or that arrives at the sockets. Called for each datagram.
  /// - Parameter now: the time; read only if needed.
  /// - Returns: the delays of the copies, empty if the datagram is lost; nil if it is not impaired.
  func delays(of bytes: [UInt8], _ direction: DatagramDirection, at now: @autoclosure () -> Instant) -> [Duration]?
  /// Returns whether a datagram gets through at the end of its delay.
  func getsThrough(_ direction: DatagramDirection) -> Bool
  /// Registers a transport that was opened.
  func opened(_ transport: ImpairedTransport)
  /// Returns the open transport on a port. It receives the datagrams in flight to a closed one on the same port.
  func transport(on port: UInt16) -> ImpairedTransport?
  /// Returns the host's interfaces with the machine's own addresses.
  func withOwnAddresses(_ interfaces: [NetworkInterface]) -> [NetworkInterface]

  // MARK: Service discovery

  /// Registers a service discovery that was opened, to be updated after each change of the properties below.
  func opened(_ discovery: ImpairedDiscovery)
  /// Whether searches find the services of other machines.
  var seesOthers: Bool { get }
  /// Returns a node's service as it is announced at present; nil if it is hidden.
  func announcement(of service: MatterService) -> MatterService?
  /// Records that a node publishes a service, which may be hidden.
  func recordPublication(of service: MatterService.Kind)
  /// Records that a service is withdrawn with a goodbye.
  func recordGoodbye(for service: MatterService.Kind)
  /// Creates the impairment of a new search; nil if it reports all services that the underlying discovery finds.
  func makeSearch() -> (any SearchImpairment)?
}

extension NetworkImpairment {
  package func takesEffect() -> Bool { true }
  package func opened(_ transport: ImpairedTransport) {}
  package func transport(on port: UInt16) -> ImpairedTransport? { nil }
  package func withOwnAddresses(_ interfaces: [NetworkInterface]) -> [NetworkInterface] { interfaces }
  package func recordPublication(of service: MatterService.Kind) {}
  package func recordGoodbye(for service: MatterService.Kind) {}
  package func makeSearch() -> (any SearchImpairment)? { nil }
}

/// The direction of a datagram as seen from a machine, with the address of the other end.
package enum DatagramDirection: Sendable {
  case outgoing(to: SocketAddress)
  case incoming(from: SocketAddress)
}

/// Delays, adds or drops the events of one search.
package protocol SearchImpairment: Sendable {
  /// Forgets the services of the underlying discovery, whose search starts or has stopped.
  mutating func restart()
  /// - Parameter event: an event of the underlying discovery; nil after a change of the network and at the deadline.
  /// - Returns: the events to report now, and the deadline for the next call.
  mutating func process(
    _ event: ServiceDiscovery.Event?, at now: Instant
  ) -> (events: [ServiceDiscovery.Event], deadline: Instant?)
}
