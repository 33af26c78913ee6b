public import MatterModel
public import MatterProtocol

/// What the value of a device needs of the home that it came from: to command the device, and to follow it.
///
/// The process that owns a home has one over its own controller, a client one over the owner's socket.
public protocol HomeAccess: AnyObject, Sendable {
  /// Invokes a command.
  /// - Parameters:
  ///   - command: with the endpoint in its path.
  ///   - way: whose endpoints that is one of. Where the device is reached by another one, the endpoint that corresponds is
  ///     meant; nil: those of whichever counts now.
  ///   - timeout: how long to wait for a device that is not there yet; nil: fails at once where whoever follows the devices
  ///     is asked and never reached it. A process that does not follow them tries.
  /// - Returns: the fields of the response command, nil where the answer is a status alone.
  /// - Throws: ``HomeError`` `notFound` or `ambiguousTarget` where nothing by the way that counts is sure to correspond.
  func invoke(
    _ command: CommandData, isTimed: Bool, of device: String, by way: SourceID?, timeout: Duration?
  ) async throws(HomeError) -> CommandData?

  /// Writes attributes.
  /// - Parameter way: as of ``invoke(_:isTimed:of:by:timeout:)``.
  /// - Throws: what the device said of the first write that it refused; nothing is written where not all endpoints are sure
  ///   to correspond.
  func write(
    _ writes: [AttributeWrite], isTimed: Bool, of device: String, by way: SourceID?, timeout: Duration?
  ) async throws(HomeError)

  /// Gives a device another name in the home.
  func setName(_ name: String, of device: String) async throws(HomeError) -> NamedDevice

  /// What becomes of a device: first as it is now, then once for each update that is about it. Ends when it is removed.
  func reports(of device: String) -> DeviceReports
}

/// A device that was given a name.
public struct NamedDevice: Sendable {
  /// A new value: the old one keeps its name.
  public var device: HomeDevice
  /// Whether the name was cut at 60 Unicode code points.
  public var wasCut: Bool

  package init(device: HomeDevice, wasCut: Bool) { (self.device, self.wasCut) = (device, wasCut) }
}

/// A device after an update that was about it. Shared by all who are told of it: there may be hundreds.
public final class DeviceReport: Sendable {
  /// As it is after the update.
  public let device: HomeDevice
  /// The clusters whose attributes changed; empty for the first value, and where it was something else that changed.
  public let changed: Set<ClusterPath>

  package init(device: HomeDevice, changed: Set<ClusterPath>) { (self.device, self.changed) = (device, changed) }
}
