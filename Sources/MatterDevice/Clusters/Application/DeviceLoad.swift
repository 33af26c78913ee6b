import MatterModel

extension ServerContext {
  /// Passes the power that the device takes, in milliwatts, to the electrical sensors among its parts. The handler's
  /// own endpoint is the device or one of its parts.
  mutating func passLoad(_ power: Int64) {
    let endpoint = endpoint
    let own = node.endpoint(endpoint)?.parts ?? []
    for part in own.isEmpty ? siblings : own { call(ElectricalPowerServer.load, power, on: part) }
  }

  /// The endpoints that are parts of the same device as the handler's own, with itself.
  var siblings: [EndpointID] { parent.flatMap { node.endpoint($0)?.parts } ?? [endpoint] }
}
