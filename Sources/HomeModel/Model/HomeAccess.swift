package import MatterProtocol

/// The access of a device value to its home, for commands and observation.
///
/// Implemented by the process that owns a home over its controller, and by a client over the connection to the owner.
package protocol HomeAccess: AnyObject, Sendable {
  /// Invokes a command.
  /// - Parameters:
  ///   - command: the command with the endpoint in its path.
  ///   - source: the source that the endpoint belongs to. If the trait comes from another source now, the command is sent
  ///     to the corresponding endpoint there; nil: the active source.
  ///   - timeout: the time to wait for an unreachable device; nil: in the process that follows the devices, the command
  ///     fails at once if the device was not reached yet. Other processes try to reach it.
  /// - Returns: the response command, or nil if the response is only a status.
  /// - Throws: ``HomeError`` `notFound` or `ambiguousTarget` if no source has a certain counterpart of the endpoint.
  func invoke(
    _ command: CommandData, isTimed: Bool, of device: String, by source: SourceID?, timeout: Duration?
  ) async throws(HomeError) -> CommandData?

  /// Writes attributes.
  /// - Parameter source: as for ``invoke(_:isTimed:of:by:timeout:)``.
  /// - Throws: the status of the first rejected write; nothing is written if an endpoint has no certain counterpart.
  func write(
    _ writes: [AttributeWrite], isTimed: Bool, of device: String, by source: SourceID?, timeout: Duration?
  ) async throws(HomeError)

  /// Performs several edits in one step: all of them or, if it throws, none.
  func edit(_ edits: [HomeEdit]) async throws(HomeError) -> [HomeEdit.Result]

  /// Renames a device in the home.
  func setName(_ name: String, of device: String) async throws(HomeError) -> HomeDevice

  /// Returns the current state of a device, and then its state after each update that affects it. Ends when the device
  /// is removed.
  func reports(of device: String) -> DeviceReports
}

/// A device after an update that affects it. Shared by all its observers, up to hundreds.
package final class DeviceReport: Sendable {
  /// The device after the update.
  package let device: HomeDevice
  /// The clusters whose attributes changed, by their paths on the device; empty for the first value, and for other
  /// changes.
  package let changed: Set<ClusterPath>

  package init(device: HomeDevice, changed: Set<ClusterPath>) { (self.device, self.changed) = (device, changed) }
}
