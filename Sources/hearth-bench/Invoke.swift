import MatterClusters
import MatterModel
import MatterProtocol
import MatterTLV

/// The encoded messages for toggling a light.
enum Invoke {
  static let path = CommandPath(endpoint: 1, cluster: OnOff.id, command: OnOff.toggle.id)
  static let request = InvokeRequest([CommandData(path)]).encoded
  static let response = InvokeResponse([.status(CommandStatus(path, status: .success))]).encoded
}

/// The sizes of the datagrams of an invoke.
struct DatagramSizes {
  /// Message header, payload header, payload, tag. The response also carries an acknowledged counter.
  let request = 8 + 6 + Invoke.request.count + 16
  let response = 8 + 10 + Invoke.response.count + 16
  let acknowledgment = 8 + 10 + 16
}
