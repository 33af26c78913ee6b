import Home
import MatterModel

/// The paths of one node, to be asked for in one request: of one device, or of several that are behind a bridge.
struct PathGroup {
  /// Those that were named, the first one first.
  private(set) var devices: [DeviceRecord]
  private(set) var paths: [AttributePath]
  private let registry: HomeRegistry

  /// The one that stands for the node.
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
    // All of a bridge is also what its parts have.
    guard !paths.contains(where: { Self.covers($0, path) }) else { return }
    paths.removeAll { Self.covers(path, $0) }
    paths.append(path)
  }

  private static func covers(_ whole: AttributePath, _ part: AttributePath) -> Bool {
    func covers<T: Equatable>(_ whole: T?, _ part: T?) -> Bool { whole == nil || whole == part }
    return covers(whole.endpoint, part.endpoint) && covers(whole.cluster, part.cluster)
      && covers(whole.attribute, part.attribute)
  }

  /// Whose an endpoint of the node is; nil: of all.
  func device(of endpoint: EndpointID?) -> DeviceRecord {
    endpoint.map { registry.part($0, of: device) } ?? device
  }
}
