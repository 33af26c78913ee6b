/// The index of a network interface in the operating system.
public struct InterfaceID: Hashable, Comparable, Sendable, RawRepresentable, CustomStringConvertible {
  public var rawValue: UInt32
  public init(rawValue: UInt32) { self.rawValue = rawValue }
  public init(_ index: UInt32) { rawValue = index }
  public static func < (left: InterfaceID, right: InterfaceID) -> Bool { left.rawValue < right.rawValue }
  public var description: String { "interface \(rawValue)" }
  /// The pseudo interface of the processes of this host that query each other directly.
  package static let direct = InterfaceID(UInt32.max)
}

/// A packet for the driver to send.
public struct DNSOutput: Hashable, Sendable {
  /// The destination of a packet.
  public enum Destination: Hashable, Sendable {
    /// Send to 224.0.0.251 or [ff02::fb], port 5353, from port 5353. Nil means all interfaces, or both address
    /// families.
    case multicast(interface: InterfaceID?, isIPv6: Bool?)
    /// Send to an address on the given interface.
    case unicast(SocketAddress, interface: InterfaceID)
    /// Send to the additional unicast targets that the driver knows, for networks without multicast.
    case direct
  }

  /// The encoded DNS message.
  public var bytes: [UInt8]
  public var destination: Destination

  init(bytes: [UInt8], destination: Destination) {
    self.bytes = bytes
    self.destination = destination
  }
}

/// Constants of multicast DNS.
public enum MulticastDNS {
  /// The UDP port.
  public static let port: UInt16 = 5353
  /// 224.0.0.251.
  public static let groupV4: UInt32 = 0xE000_00FB
  /// The two halves of ff02::fb.
  public static let groupV6: (high: UInt64, low: UInt64) = (0xFF02_0000_0000_0000, 0xFB)
  /// The maximum size of the packets sent, in bytes: fits an Ethernet frame with either IP header.
  static let packetSize = 1400
}

extension DNSRecordData {
  /// Creates the address record data of `ip`.
  init(_ ip: IPAddress) {
    switch ip {
    case .v4(let address): self = .a(address)
    case .v6(let high, let low, _): self = .aaaa(high: high, low: low)
    }
  }

  /// Returns the address of an A or AAAA record, or nil for other types. A link-local address gets the scope of the
  /// interface.
  public func address(on interface: InterfaceID) -> IPAddress? {
    switch self {
    case .a(let address): .v4(address)
    case .aaaa(let high, let low):
      IPAddress.v6(high: high, low: low, scope: 0).isLinkLocal
        ? .v6(high: high, low: low, scope: interface.rawValue) : .v6(high: high, low: low, scope: 0)
    default: nil
    }
  }
}
