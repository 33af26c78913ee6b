/// A request of another process to a running fleet, as one line of JSON. Devices are named by their full path.
public enum ControlRequest: Codable, Sendable, Hashable {
  case status
  /// Changes an attribute as the physical device would.
  /// - endpoint: nil for the first endpoint of the device with the cluster.
  /// - value: one TLV element with an anonymous tag.
  case set(device: String, endpoint: UInt16?, cluster: UInt32, attribute: UInt32, value: [UInt8])
  /// Reads an attribute, even one that controllers can't read; answered with ``ControlReply/value``.
  case get(device: String, endpoint: UInt16?, cluster: UInt32, attribute: UInt32)
  /// Moves a part of the device that no attribute describes, such as a door.
  /// - endpoint: nil for the first endpoint of the device with such a part.
  case part(device: String, endpoint: UInt16?, name: String, state: String)
  /// Operates a switch.
  /// - button: the index of the button, from 0.
  case move(device: String, button: Int, moves: [Move])
  /// Changes the power of a device.
  case power(device: String, Power)
  /// Injects a fault into the device's network.
  case network(device: String, DeviceNetwork.Fault)
  /// Adds devices behind a bridge.
  /// - entry: an entry of `devices` of a definition file.
  case add(device: String, entry: String)
  /// Removes a bridged device from its bridge.
  case remove(device: String)
  /// Replaces the faults of the device itself.
  case faults(device: String, DeviceFaults)

  /// Causes a test event, as a certification test does with the enable key; answered with ``ControlReply/events``.
  /// - event: its name or its trigger in hexadecimal; nil to list the events.
  case trigger(device: String, event: String?)

  /// One movement of a switch.
  public struct Move: Codable, Sendable, Hashable {
    /// The new position; 0 is the idle position.
    public var position: UInt8
    /// Milliseconds after the previous movement.
    public var after: Int64

    public init(position: UInt8, after: Int64) { (self.position, self.after) = (position, after) }
  }

  /// A change of the power.
  public enum Power: String, Codable, Sendable, Hashable, CaseIterable {
    case on, off
    /// Off, and on again one second later.
    case cycle
  }

  /// The device that the request is for.
  var device: String? {
    switch self {
    case .status: nil
    case .set(let device, _, _, _, _), .get(let device, _, _, _), .part(let device, _, _, _), .move(let device, _, _),
      .power(let device, _), .network(let device, _), .trigger(let device, _), .add(let device, _),
      .remove(let device), .faults(let device, _):
      device
    }
  }
}

/// The answer to a ``ControlRequest``.
public struct ControlReply: Codable, Sendable, Hashable {
  /// The error; nil on success.
  public var error: ControlError?
  /// The status of the fleet, for ``ControlRequest/status``.
  public var fleet: FleetStatus?
  /// The value of an attribute, as one TLV element.
  public var value: [UInt8]?
  /// The test events of a device, or the one that was caused.
  public var events: [Event]?

  init(
    error: ControlError? = nil, fleet: FleetStatus? = nil, value: [UInt8]? = nil, events: [Event]? = nil
  ) {
    (self.error, self.fleet, self.value, self.events) = (error, fleet, value, events)
  }

  /// A test event.
  public struct Event: Codable, Sendable, Hashable {
    /// The name in camel case: `smokeWarning`.
    public var name: String
    /// The number of TestEventTrigger.
    public var trigger: UInt64
  }
}

/// Why a ``ControlRequest`` failed.
public struct ControlError: Error, Codable, Sendable, Hashable, CustomStringConvertible {
  /// The code of the error, for programs.
  public enum Code: String, Codable, Sendable, Hashable {
    /// No fleet is listening.
    case notRunning
    /// The fleet does not reply, or with an unknown reply.
    case noAnswer
    case badRequest
    /// The fleet has no such device, or the device no such element.
    case notFound
    /// The device rejected the request.
    case refused
    case noPower
    case failed
  }

  public var code: Code
  /// The text of the error, with the action to take.
  public var message: String

  init(_ code: Code, _ message: String) { (self.code, self.message) = (code, message) }
  public var description: String { message }
}
