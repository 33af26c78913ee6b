public import MatterClusters
public import MatterController
public import MatterModel
internal import MatterProtocol

/// Whether others may commission a device now.
public struct WindowState: Hashable, Sendable {
  public var status: AdministratorCommissioning.CommissioningWindowStatus
  /// The fabric that opened it, and its maker.
  public var fabricIndex: FabricIndex?
  public var vendorID: VendorID?
  /// Whether another controller can commission the device now.
  public var isOpen: Bool { status != .windowNotOpen }
}

extension Home {
  /// Opens a commissioning window for another controller.
  /// - Parameter isEnhanced: with a passcode of its own, else with the one on the device's label.
  /// - Throws: `refused` with `BUSY` where one is open already.
  public func share(
    _ device: DeviceRecord, for duration: Duration, isEnhanced: Bool = true
  ) async throws(HomeError) -> CommissioningWindow {
    do throws(HomeError) {
      return try await with(device) { () async throws(HomeError) in
        try await controller.openWindow(device.nodeID, for: duration, isEnhanced: isEnhanced)
      }
    } catch {
      throw Self.windowError(error)
    }
  }

  /// Whether a window is open, and whose it is.
  public func window(of device: DeviceRecord) async throws(HomeError) -> WindowState {
    let status = AdministratorCommissioning.windowStatus.path(on: .root)
    let index = AdministratorCommissioning.adminFabricIndex.path(on: .root)
    let vendor = AdministratorCommissioning.adminVendorId.path(on: .root)
    let report = try await read(device, [status, index, vendor].map { AttributePath($0) })
    if let refused = report.statuses.first(where: { $0.path.matches(status) }) {
      throw HomeError(refused.status, of: AdministratorCommissioning.id).about(device)
    }
    guard let value = report[status]?.value,
      let code = try? AdministratorCommissioning.CommissioningWindowStatus(tlv: value)
    else { throw HomeError(.refused, "the device did not report its commissioning window", device: device.name) }
    return WindowState(
      status: code, fabricIndex: report[index].flatMap { try? Nullable<FabricIndex>(tlv: $0.value) }?.wrapped,
      vendorID: report[vendor].flatMap { try? Nullable<VendorID>(tlv: $0.value) }?.wrapped)
  }

  /// Closes the window, whoever opened it.
  public func closeWindow(of device: DeviceRecord) async throws(HomeError) {
    do throws(HomeError) {
      try await with(device) { () async throws(HomeError) in
        _ = try await backend.invoke(AdministratorCommissioning.revokeCommissioning, on: .root, of: device.nodeID)
      }
    } catch {
      throw Self.windowError(error)
    }
  }

  /// The cluster's own codes in words.
  private static func windowError(_ error: HomeError) -> HomeError {
    var error = error
    switch error.status?.clusterCode.map({ AdministratorCommissioning.StatusCodeEnum($0) }) {
    case .busy?:
      error.message =
        "the device refused: a window is already open, or commissioning is in progress (BUSY); "
        + "`hearth share DEVICE --revoke` closes the window"
    case .pakeParameterError?: error.message = "the device refused the new passcode's parameters (PAKE_PARAMETER_ERROR)"
    case .windowNotOpen?: error.message = "the device refused: no window is open (WINDOW_NOT_OPEN)"
    default: break
    }
    return error
  }
}
