/// The ports of a machine's nodes. Wherever the machine is, a node that starts anew has the port that it had there; where the machine
/// has gone to meanwhile it has another one, as of its two addresses there the one of IPv6 is what it was.
struct MachinePorts {
  /// By what the nodes ask for.
  private var here: [UInt16: UInt16] = [:]
  /// Where the machine was before, by the same.
  private var before: [UInt16: UInt16] = [:]
  private var hasMoved = false

  /// What a node gets that asks for a port; nil: any that is free.
  func port(for asked: UInt16?) -> UInt16? { asked.flatMap { here[$0] ?? (hasMoved ? nil : $0) } }

  /// A node has opened its sockets.
  mutating func open(_ port: UInt16, for asked: UInt16?) {
    here[port] = port
    if let asked { here[asked] = port }
  }

  /// The machine goes elsewhere, where nobody has a port yet.
  mutating func leave() { (before, here, hasMoved) = (here, [:], true) }

  /// A node that runs has come along.
  mutating func move(from old: UInt16, to new: UInt16) {
    here[new] = new
    for (asked, port) in before where port == old { here[asked] = new }
  }
}
