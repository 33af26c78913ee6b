internal import Glibc
public import MatterProtocol
internal import Synchronization

/// A network interface of the host.
public struct NetworkInterface: Hashable, Sendable {
  /// An address of an interface; link-local IPv6 addresses have the interface's index as their scope.
  public struct Address: Hashable, Sendable {
    /// The address without its prefix length.
    public var ip: IPAddress
    /// The number of leading bits that make the subnet.
    public var prefixLength: Int

    init(_ ip: IPAddress, prefixLength: Int) {
      self.ip = ip
      self.prefixLength = prefixLength
    }

    /// Returns whether another address is in the same subnet.
    public func contains(_ other: IPAddress) -> Bool {
      switch (ip, other) {
      case (.v4(let mine), .v4(let other)):
        return (mine ^ other) & Self.mask32(prefixLength) == 0
      case (.v6(let high, let low, let scope), .v6(let otherHigh, let otherLow, let otherScope)):
        guard scope == otherScope || scope == 0 || otherScope == 0 else { return false }
        return (high ^ otherHigh) & Self.mask64(prefixLength) == 0
          && (low ^ otherLow) & Self.mask64(prefixLength - 64) == 0
      default: return false
      }
    }

    private static func mask32(_ bits: Int) -> UInt32 { bits <= 0 ? 0 : ~0 << UInt32(max(0, 32 - bits)) }
    private static func mask64(_ bits: Int) -> UInt64 { bits <= 0 ? 0 : ~0 << UInt64(max(0, 64 - bits)) }
  }

  /// The name in the operating system, such as `eth0`.
  public var name: String
  /// The index in the operating system.
  public var index: UInt32
  /// The addresses in the operating system's order.
  public var addresses: [Address]
  /// Whether the interface is local to the host.
  public var isLoopback: Bool
  /// Whether the interface is up.
  public var isUp: Bool

  init(name: String, index: UInt32, addresses: [Address], isLoopback: Bool, isUp: Bool = true) {
    self.name = name
    self.index = index
    self.addresses = addresses
    self.isLoopback = isLoopback
    self.isUp = isUp
  }

  public var id: InterfaceID { InterfaceID(index) }
}

/// The interfaces to use: no other interface is used for sending or receiving.
public enum InterfaceSelection: Hashable, Sendable {
  /// The loopback interface only, the default everywhere.
  case loopback
  /// Every interface that is up and has an address.
  case all
  /// The interfaces with these names.
  case named([String])

  /// Parses names as on the command line: no name selects loopback, and `all` among them selects all.
  public init(names: [String]) {
    self = names.isEmpty ? .loopback : names.contains("all") ? .all : .named(names)
  }

  /// The names on the command line.
  public var names: [String] {
    switch self {
    case .loopback: []
    case .all: ["all"]
    case .named(let names): names
    }
  }
}

/// The host's interfaces.
public enum NetworkInterfaces {
  /// Returns all interfaces in the order of their indices, including inactive ones.
  public static func all() throws(NetworkError) -> [NetworkInterface] {
    var head: UnsafeMutablePointer<ifaddrs>?
    guard getifaddrs(&head) == 0 else { throw .system(operation: "getifaddrs", code: errno) }
    defer { freeifaddrs(head) }
    var byIndex: [UInt32: NetworkInterface] = [:]
    var next = head
    while let entry = next?.pointee {
      next = entry.ifa_next
      guard let namePointer = entry.ifa_name else { continue }
      let index = if_nametoindex(namePointer)
      guard index != 0 else { continue }
      let flags = Int(entry.ifa_flags)
      var interface =
        byIndex[index]
        ?? NetworkInterface(
          name: String(cString: namePointer), index: index, addresses: [],
          isLoopback: flags & Int(IFF_LOOPBACK) != 0, isUp: flags & Int(IFF_UP) != 0)
      if let pointer = entry.ifa_addr, let address = MatterProtocol.SocketAddress(pointer) {
        let mask = entry.ifa_netmask.flatMap { MatterProtocol.SocketAddress($0, family: pointer.pointee.sa_family) }
        let prefix = mask?.ip.bytes.reduce(0) { $0 + $1.nonzeroBitCount } ?? (address.ip.isIPv6 ? 128 : 32)
        interface.addresses.append(.init(address.ip, prefixLength: prefix))
      }
      byIndex[index] = interface
    }
    return byIndex.values.sorted { $0.index < $1.index }
  }

  /// The loopback interface after its first selection, since its addresses do not change.
  private static let loopback = Mutex<[NetworkInterface]>([])

  /// Returns the selected interfaces, all of them up and with an address.
  public static func select(_ selection: InterfaceSelection) throws(NetworkError) -> [NetworkInterface] {
    guard selection == .loopback else { return try select(selection, from: try all()) }
    let known = loopback.withLock { $0 }
    if !known.isEmpty { return known }
    let found = try select(selection, from: try all())
    loopback.withLock { $0 = found }
    return found
  }

  /// Returns the selected interfaces that are usable at present, possibly none, for callers that follow interface
  /// changes.
  public static func usable(_ selection: InterfaceSelection) -> [NetworkInterface] {
    guard let all = try? all() else { return [] }
    let usable = all.filter { $0.isUp && !$0.addresses.isEmpty }
    return switch selection {
    case .all: usable
    case .loopback: usable.filter(\.isLoopback)
    case .named(let names): usable.filter { names.contains($0.name) }
    }
  }

  static func select(
    _ selection: InterfaceSelection, from all: [NetworkInterface]
  ) throws(NetworkError) -> [NetworkInterface] {
    let usable = all.filter { $0.isUp && !$0.addresses.isEmpty }
    switch selection {
    case .all: return usable
    case .loopback:
      let loopback = usable.filter(\.isLoopback)
      guard !loopback.isEmpty else { throw .unusableInterface("lo") }
      return loopback
    case .named(let names):
      var chosen: [NetworkInterface] = []
      for name in names where !chosen.contains(where: { $0.name == name }) {
        guard all.contains(where: { $0.name == name }) else {
          throw .unknownInterface(name, existing: usable.map(\.name))
        }
        guard let interface = usable.first(where: { $0.name == name }) else { throw .unusableInterface(name) }
        chosen.append(interface)
      }
      return chosen
    }
  }
}
