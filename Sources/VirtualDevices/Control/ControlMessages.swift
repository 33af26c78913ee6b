/// What another process may ask of a running fleet, as one line of JSON. Devices are named by their whole path.
public enum ControlRequest: Codable, Sendable, Hashable {
  case status
  /// Change an attribute as the physical device would.
  /// - endpoint: nil for the first of the device that serves the cluster.
  /// - value: one element of TLV with an anonymous tag.
  case set(device: String, endpoint: UInt16?, cluster: UInt32, attribute: UInt32, value: [UInt8])
  /// What an attribute is, whatever a controller may read of it; answered with ``ControlReply/value``.
  case get(device: String, endpoint: UInt16?, cluster: UInt32, attribute: UInt32)
  /// Move a switch.
  /// - button: which of several, from 0.
  case move(device: String, button: Int, moves: [Move])
  /// What is done to a device's plug.
  case power(device: String, Power)
  /// What is injected into the network around a device.
  case network(device: String, DeviceNetwork.Fault)

  /// One movement of a hand at a switch.
  public struct Move: Codable, Sendable, Hashable {
    /// Where the hand puts it: 0 is where it rests.
    public var position: UInt8
    /// Milliseconds after the movement before.
    public var after: Int64

    public init(position: UInt8, after: Int64) { (self.position, self.after) = (position, after) }
  }

  /// What is done to a device's plug.
  public enum Power: String, Codable, Sendable, Hashable, CaseIterable {
    case on, off
    /// Off, and on again a moment later.
    case cycle
  }

  /// The device it is about.
  var device: String? {
    switch self {
    case .status: nil
    case .set(let device, _, _, _, _), .get(let device, _, _, _), .move(let device, _, _), .power(let device, _),
      .network(let device, _):
      device
    }
  }
}

/// The answer to a ``ControlRequest``.
public struct ControlReply: Codable, Sendable, Hashable {
  /// Nil: it was done.
  public var error: ControlError?
  /// How the fleet is, where that was asked for.
  public var fleet: FleetStatus?
  /// One element of TLV.
  public var value: [UInt8]?

  init(error: ControlError? = nil, fleet: FleetStatus? = nil, value: [UInt8]? = nil) {
    (self.error, self.fleet, self.value) = (error, fleet, value)
  }
}

/// Why a ``ControlRequest`` could not be fulfilled.
public struct ControlError: Error, Codable, Sendable, Hashable, CustomStringConvertible {
  /// What a program goes by.
  public enum Code: String, Codable, Sendable, Hashable {
    /// Nobody listens there.
    case notRunning
    /// The fleet does not answer, or not in words that we know.
    case noAnswer
    case badRequest
    /// The fleet has no such device, or the device no such thing.
    case notFound
    /// The device does not do it.
    case refused
    case noPower
    case failed
  }

  public var code: Code
  /// The same for people, with what to do.
  public var message: String

  public init(_ code: Code, _ message: String) { (self.code, self.message) = (code, message) }
  public var description: String { message }
}
