package import MatterClusters
package import MatterController
internal import MatterProtocol

/// The state of a device's commissioning window.
package struct WindowState: Hashable, Sendable {
  package var status: AdministratorCommissioning.CommissioningWindowStatus
  /// The fabric that opened the window, and the vendor of its administrator.
  package var fabricIndex: FabricIndex?
  package var vendorID: VendorID?
}

extension Home {
  /// Opens a commissioning window for another controller.
  /// - Parameter isEnhanced: whether to use a new passcode instead of the passcode on the device's label.
  /// - Throws: `refused` with `BUSY` if a window is already open.
  package func share(
    _ device: DeviceRecord, for duration: Duration, isEnhanced: Bool = true
  ) async throws(HomeError) -> CommissioningWindow {
    do throws(HomeError) {
      return try await with(device) { () async throws(HomeError) in
        let request = HomeRequest.openWindow(node: device.nodeID, duration: duration, isEnhanced: isEnhanced)
        return try await backend.request(request) { if case .window(let window) = $0 { window } else { nil } }
      }
    } catch {
      throw Self.windowError(error)
    }
  }

  /// Returns the state of the commissioning window, and the fabric that opened it.
  package func window(of device: DeviceRecord) async throws(HomeError) -> WindowState {
    let status = AdministratorCommissioning.windowStatus
    let (index, vendor) = (AdministratorCommissioning.adminFabricIndex, AdministratorCommissioning.adminVendorId)
    let paths = [status.path(on: .root), index.path(on: .root), vendor.path(on: .root)]
    let report = try await read(device, paths.map { AttributePath($0) })
    do throws(ControllerError) {
      return WindowState(
        status: try report.value(of: status, on: .root),
        fabricIndex: (try? report.value(of: index, on: .root))?.wrapped,
        vendorID: (try? report.value(of: vendor, on: .root))?.wrapped)
    } catch {
      throw HomeError(error).about(device)
    }
  }

  /// Closes the commissioning window, regardless of the fabric that opened it.
  package func closeWindow(of device: DeviceRecord) async throws(HomeError) {
    do throws(HomeError) {
      try await invoke(AdministratorCommissioning.revokeCommissioning, on: .root, of: device)
    } catch {
      throw Self.windowError(error)
    }
  }

  /// Adds explanations to the status codes of the cluster.
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
