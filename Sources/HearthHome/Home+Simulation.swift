// The virtual devices on the machine of the home.
extension Home {
  /// The virtual devices that run with the state directory of the home, on the machine of the process that owns it.
  /// - Throws: ``HomeError`` `accessDenied` if the role of this client is not `owner`.
  public var simulatedDevices: [SimulatedNode] {
    get async throws(HomeError) {
      try await backend.request(.simulatedDevices) {
        if case .simulatedDevices(let devices) = $0 { devices } else { nil }
      }
    }
  }

  /// Sends a request of `hearth sim` to a process of virtual devices.
  /// - Parameter request: one line of JSON.
  /// - Returns: one line of JSON.
  package func simulate(_ request: String, on process: Int32) async throws(HomeError) -> String {
    try await backend.request(.simulate(process: process, request: request)) {
      if case .simulated(let reply) = $0 { reply } else { nil }
    }
  }
}
