import HearthHome
import HomeText
import MatterModel

/// The paths of one request to a node, for one device or for several devices of a bridge.
struct PathGroup {
  /// The named devices, in the order of the command line.
  private(set) var devices: [DeviceRecord]
  private(set) var paths: [AttributePath]
  private let registry: HomeRegistry

  /// The first device, which represents the node.
  var device: DeviceRecord { devices[0] }
  var names: String { devices.map(\.name).joined(separator: ", ") }

  private init(_ path: ElementPath, in registry: HomeRegistry) {
    (devices, paths, self.registry) = ([path.target.device], [path.attributePath], registry)
  }

  static func groups(_ paths: [ElementPath], in registry: HomeRegistry) -> [PathGroup] {
    var groups: [PathGroup] = []
    for path in paths {
      if let index = groups.firstIndex(where: { $0.device.nodeID == path.target.device.nodeID }) {
        groups[index].add(path)
      } else {
        groups.append(PathGroup(path, in: registry))
      }
    }
    return groups
  }

  private mutating func add(_ path: ElementPath) {
    if !devices.contains(where: { $0.id == path.target.device.id }) { devices.append(path.target.device) }
    let path = path.attributePath
    // A path of the bridge covers those of its parts.
    guard !paths.contains(where: { Self.covers($0, path) }) else { return }
    paths.removeAll { Self.covers(path, $0) }
    paths.append(path)
  }

  private static func covers(_ whole: AttributePath, _ part: AttributePath) -> Bool {
    func covers<T: Equatable>(_ whole: T?, _ part: T?) -> Bool { whole == nil || whole == part }
    return covers(whole.endpoint, part.endpoint) && covers(whole.cluster, part.cluster)
      && covers(whole.attribute, part.attribute)
  }

  /// Returns the device that an endpoint of the node belongs to; for nil, the device that represents the node.
  func device(of endpoint: EndpointID?) -> DeviceRecord {
    endpoint.map { registry.part($0, of: device) } ?? device
  }
}
