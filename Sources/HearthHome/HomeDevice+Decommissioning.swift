internal import MatterProtocol

extension HomeDevice {
  /// Whether ``decommission()`` can remove a device.
  public enum DecommissionEligibility: Hashable, Sendable {
    case eligible
    /// The removal also removes other devices.
    case eligibleWithSideEffects(DecommissionSideEffects)
    /// The device can't be removed.
    case ineligible(reason: DecommissionIneligibilityReason)
  }

  /// The other devices that are removed together with a device.
  public enum DecommissionSideEffects: Hashable, Sendable {
    /// The ids of the devices behind the bridge.
    case bridge(bridgedDeviceIDs: Set<String>)
    /// The ids of the other devices of a node that is no bridge.
    case multipleAffectedDevices(affectedDeviceIDs: Set<String>)
  }

  /// The reason why a device can't be removed.
  public enum DecommissionIneligibilityReason: Hashable, Sendable {
    /// The role of this client permits no removal.
    case notAuthorized
    /// The device is known from a cloud account only.
    case nonMatterDevice
    /// The device is behind a bridge; remove it there, or remove the bridge.
    case bridgedDevice
    /// The device is also known from a cloud account; remove it there first.
    case multiSourceDevice
    /// Another reason, such as a device that is no longer in the home.
    case other(String?)
  }

  /// Whether the device can be removed with ``decommission()``, and the effect on other devices.
  public var decommissionEligibility: DecommissionEligibility {
    get async throws(HomeError) {
      let home = try self.home.opened.home
      let state = await home.state
      guard let entry = state.devices[id] else { return .ineligible(reason: .other("it is not in the home")) }
      if let reason = entry.ineligibilityReason { return .ineligible(reason: reason) }
      do throws(HomeError) {
        // Permitted to the same roles as a removal.
        _ = try await home.settings
      } catch {
        guard error.code == .accessDenied else { throw error }
        return .ineligible(reason: .notAuthorized)
      }
      let others = state.devices(of: entry.sources.first(where: \.isOwnNode)?.id.node).subtracting([id])
      if others.isEmpty { return .eligible }
      return .eligibleWithSideEffects(
        types.contains(.bridge)
          ? .bridge(bridgedDeviceIDs: others) : .multipleAffectedDevices(affectedDeviceIDs: others))
    }
  }

  /// Removes the device from the fabric and the home; a bridge with all devices behind it.
  /// - Returns: the ids of the removed devices.
  /// - Throws: ``HomeError`` `badArguments` if the ``decommissionEligibility`` is `ineligible`; `notFound`;
  ///   `accessDenied`; `unreachable` if the device does not answer.
  @discardableResult
  public func decommission() async throws(HomeError) -> Set<String> {
    let (home, origin) = try self.home.opened
    let state = await home.state
    if state.devices[id]?.ineligibilityReason == .multiSourceDevice {
      throw HomeError(
        .badArguments, "the device is also in a cloud account; remove it from the account first", device: name)
    }
    let removed = try await home.remove(device: id, force: false, origin: origin)
    return state.devices(of: removed.nodeID)
  }
}

extension DeviceEntry {
  /// The reason that results from the sources of the device; nil if there is none.
  fileprivate var ineligibilityReason: HomeDevice.DecommissionIneligibilityReason? {
    if sources.allSatisfy(\.id.isCloud) { return .nonMatterDevice }
    if sources.contains(where: \.id.isCloud) { return .multiSourceDevice }
    return sources.contains(where: \.isOwnNode) ? nil : .bridgedDevice
  }
}

extension DeviceSource {
  /// Whether the source is a Matter node, and no part of a bridge.
  fileprivate var isOwnNode: Bool { !id.isBridged && !id.isCloud }
}

extension HomeState {
  /// Returns the ids of the devices whose sources are all of one node.
  fileprivate func devices(of node: NodeID?) -> Set<String> {
    Set(devices.values.lazy.filter { $0.sources.allSatisfy { $0.id.node == node } }.map(\.id))
  }
}
