/// The message type of the Interaction Model protocol. Matter Core § 10.2.1.
public struct InteractionOpcode: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
  public var rawValue: UInt8
  public init(rawValue: UInt8) { self.rawValue = rawValue }
  public init(_ rawValue: UInt8) { self.rawValue = rawValue }

  public static let statusResponse = Self(1), readRequest = Self(2), subscribeRequest = Self(3)
  public static let subscribeResponse = Self(4), reportData = Self(5), writeRequest = Self(6)
  public static let writeResponse = Self(7), invokeRequest = Self(8), invokeResponse = Self(9), timedRequest = Self(10)

  public var description: String {
    let names = [
      "StatusResponse", "ReadRequest", "SubscribeRequest", "SubscribeResponse", "ReportData", "WriteRequest",
      "WriteResponse", "InvokeRequest", "InvokeResponse", "TimedRequest",
    ]
    return (1...10).contains(rawValue) ? names[Int(rawValue) - 1] : "opcode \(rawValue)"
  }
}

/// The Interaction Model revision, the last member of every message: Matter 1.4. Matter Core § 8.1.1.
let interactionModelRevision: UInt8 = 12

/// Size limits of messages.
public enum InteractionLimits {
  /// The maximum size in bytes of an Interaction Model message that fits into the minimum IPv6 MTU of 1280: minus 48
  /// for IPv6 and UDP, 24 for the largest message header, 12 for the largest protocol header, and 16 for the integrity
  /// check. Matter Core § 4.4.4.
  public static let maximumPayload = 1280 - 48 - 24 - 12 - 16
}
