/// A network interface, by its index in the operating system.
public struct InterfaceID: Hashable, Comparable, Sendable, RawRepresentable, CustomStringConvertible {
  public var rawValue: UInt32
  public init(rawValue: UInt32) { self.rawValue = rawValue }
  public init(_ index: UInt32) { rawValue = index }
  public static func < (left: InterfaceID, right: InterfaceID) -> Bool { left.rawValue < right.rawValue }
  public var description: String { "interface \(rawValue)" }
}

/// A packet that the driver is to send.
public struct DNSOutput: Hashable, Sendable {
  /// Where a packet is to go.
  public enum Destination: Hashable, Sendable {
    /// To 224.0.0.251 or [ff02::fb], port 5353, from port 5353. `nil` means every interface, or both families.
    case multicast(interface: InterfaceID?, isIPv6: Bool?)
    /// To one address, out of the given interface.
    case unicast(SocketAddress, interface: InterfaceID)
    /// A query to every extra unicast target that the driver knows of, for networks without multicast.
    case direct
  }

  /// A whole DNS message.
  public var bytes: [UInt8]
  public var destination: Destination

  public init(bytes: [UInt8], destination: Destination) {
    self.bytes = bytes
    self.destination = destination
  }
}

/// Numbers of multicast DNS.
public enum MulticastDNS {
  /// The UDP port.
  public static let port: UInt16 = 5353
  /// 224.0.0.251.
  public static let groupV4: UInt32 = 0xE000_00FB
  /// The halves of ff02::fb.
  public static let groupV6: (high: UInt64, low: UInt64) = (0xFF02_0000_0000_0000, 0xFB)
  /// Longest packet that the engines make, in bytes: fits an Ethernet frame with either IP header.
  public static let packetSize = 1400
}

extension DNSRecordData {
  /// The address record of `ip`.
  init(_ ip: IPAddress) {
    switch ip {
    case .v4(let address): self = .a(address)
    case .v6(let high, let low, _): self = .aaaa(high: high, low: low)
    }
  }

  /// The address in an A or AAAA record; a link-local one gets the scope of the interface that it was heard on.
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
