internal import Foundation
internal import HomeModel
internal import MatterProtocol

/// A change as columns of the log. Each change is restored from its row unmodified; a removal also stores the name of
/// the removed object. Attributes, the most frequent changes, are stored as their TLV; all others as JSON.
struct ChangeRow: Hashable {
  var type: SampleType
  /// The id of the affected device; nil for a structure or room.
  var device: String?
  var node: NodeID?
  var endpoint: EndpointID?
  var cluster: ClusterID?
  /// The id of the attribute or event.
  var element: UInt32?
  var value: [UInt8]?
  /// The last name of the removed object.
  var name: String?

  init(_ type: SampleType, device: String?) { (self.type, self.device) = (type, device) }

  /// - Parameter device: the device that a change of a source or node belongs to, if the change does not name it.
  init(_ change: HomeChange, device: String?) throws {
    self.init(change.sampleType, device: change.device ?? device)
    (node, endpoint) = (change.source?.node, change.source?.endpoint)
    switch change {
    case .attribute(_, let path, let value):
      (cluster, element, self.value) = (path.cluster, path.attribute.rawValue, value)
    case .event(_, let data): (cluster, element) = (data.path.cluster, data.path.event.rawValue)
    default: break
    }
    if type != .attribute { value = [UInt8](try Self.encoder.encode(change)) }
  }

  private static let encoder = JSONEncoder()
  private static let decoder = JSONDecoder()

  func change() throws -> HomeChange {
    guard type == .attribute else { return try Self.decoder.decode(HomeChange.self, from: Data(value ?? [])) }
    guard let node, let endpoint, let cluster, let element else { throw DamagedBlob() }
    return .attribute(node, .init(endpoint, cluster, AttributeID(element)), value: value)
  }
}

extension SampleType {
  /// The code in the file.
  var code: Int {
    switch self {
    case .all: 0
    case .attribute: 1
    case .event: 2
    case .connectivity: 3
    case .topology: 4
    }
  }
}
