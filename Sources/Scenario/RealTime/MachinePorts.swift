/// The ports of a machine's nodes. At each address of the machine a restarted node gets the port it had there. After
/// the machine has moved, a node needs another port, as the IPv6 address is the same.
struct MachinePorts {
  /// The ports at the current address, by the requested port.
  private var here: [UInt16: UInt16] = [:]
  private var hasMoved = false

  /// Returns the port for a node that requests one; nil for any free port.
  func port(for asked: UInt16?) -> UInt16? { asked.flatMap { here[$0] ?? (hasMoved ? nil : $0) } }

  /// Records the port of a node that has opened its sockets.
  mutating func open(_ port: UInt16, for asked: UInt16?) {
    here[port] = port
    if let asked { here[asked] = port }
  }

  /// Records a move.
  /// - Parameter ports: the new ports of the running nodes, by their old ones.
  mutating func move(_ ports: [UInt16: UInt16]) {
    (here, hasMoved) = (here.compactMapValues { ports[$0] }, true)
    for new in ports.values { here[new] = new }
  }
}
