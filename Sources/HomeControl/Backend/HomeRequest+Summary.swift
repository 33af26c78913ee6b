internal import HomeModel
internal import MatterProtocol

extension HomeRequest {
  /// The operation and its target, for logs. Values may be secret.
  package var summary: String {
    switch self {
    case .read(let node, let paths, _, _): "read \(paths.count) paths of node \(node)"
    case .write(let node, let writes, _): "write \(writes.count) attributes of node \(node)"
    case .invoke(let node, let command, _):
      "invoke \(ElementNames.cluster(command.path.cluster))."
        + "\(ElementNames.command(command.path.command, of: command.path.cluster)) of node \(node)"
    default: Mirror(reflecting: self).children.first?.label ?? "\(self)"
    }
  }
}
