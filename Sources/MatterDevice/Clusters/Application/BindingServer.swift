import MatterClusters
import MatterModel

/// The Binding server, which stores the targets of the endpoint's client clusters. Matter Core § 9.6.
public enum BindingServer {
  /// The maximum number of bindings per fabric and endpoint.
  static let maximumPerFabric = 16

  /// Returns the server. The endpoint's client list must name the clusters that it can be bound to.
  public static func make() -> ClusterServer {
    ClusterServer(Binding.self)
      .onWrite(Binding.binding) { context, list throws(StatusError) in
        let own = list.filter { $0.fabricIndex == context.subject.fabric }
        let clients = context.node.endpoint(context.endpoint)?.clients ?? []
        guard own.allSatisfy({ isValid($0, clients) }) else { throw StatusError(.constraintError) }
        guard own.count <= (context.node.isFull(.bindings) ? 0 : maximumPerFabric) else {
          throw StatusError(.resourceExhausted)
        }
      }
  }

  /// Returns the server of a sensor that turns the bound nodes on while it detects something. Device Library § 7.8.
  public static func detector() -> ClusterServer {
    make().onPart("detector", ["idle", "active"]) { context, state throws(StatusError) in
      let count =
        state == "active" ? context.control(OnOff.on, NoFields()) : context.control(OnOff.off, NoFields())
      guard count > 0 else { throw StatusError(.invalidInState) }
    }
  }

  /// Returns the server of a switch with a dial, which sets the level of the bound nodes:
  /// `hearth sim set Dimmer.dial=40%`.
  public static func dial() -> ClusterServer {
    make().onPart("dial", [], expected: "a level such as 40%") { context, text throws(StatusError) in
      guard text.hasSuffix("%"), let percent = Int(text.dropLast()), (0...100).contains(percent) else {
        throw StatusError(.constraintError)
      }
      let request = LevelControl.MoveToLevelRequest(
        level: UInt8(clamping: percent * 254 / 100), transitionTime: .null, optionsMask: [], optionsOverride: [])
      guard context.control(LevelControl.moveToLevelWithOnOff, request) > 0 else { throw StatusError(.invalidInState) }
    }
  }

  /// A target is either a group or one endpoint of a node. § 9.6.5.1.
  /// - Parameter clients: The client clusters of the endpoint.
  private static func isValid(_ target: Binding.TargetStruct, _ clients: [ClusterID]) -> Bool {
    guard target.cluster?.isValid ?? true else { return false }
    if let group = target.group { return group != 0 && target.node == nil && target.endpoint == nil }
    guard let node = target.node, let endpoint = target.endpoint else { return false }
    return node.isOperational && endpoint.rawValue != 0xFFFF && target.cluster.map(clients.contains) ?? true
  }
}
