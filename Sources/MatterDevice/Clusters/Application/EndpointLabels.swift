public import MatterClusters
import MatterModel
import MatterProtocol

/// Behaviour of Fixed Label: what the maker wrote on an endpoint. Matter Core § 9.8.
public enum FixedLabelServer {
  /// A server with these labels, which nobody can change.
  public static func make(_ labels: [FixedLabel.LabelStruct]) -> ClusterServer {
    ClusterServer(FixedLabel.self).initial(FixedLabel.labelList, labels)
  }
}

/// Behaviour of User Label: what the user wrote on an endpoint. Matter Core § 9.9.
public enum UserLabelServer {
  /// The longest label or value, in bytes. Matter Core § 9.7.4.1.
  public static let longestText = 16
  /// The most labels that one endpoint keeps; the standard asks for four on a node.
  public static let limit = 16

  /// A server without labels yet, which keeps what administrators write.
  public static func make() -> ClusterServer {
    ClusterServer(UserLabel.self)
      .onWrite(UserLabel.labelList) { _, labels throws(StatusError) in
        guard labels.count <= limit else { throw StatusError(.resourceExhausted) }
        guard labels.allSatisfy({ $0.label.utf8.count <= longestText && $0.value.utf8.count <= longestText }) else {
          throw StatusError(.constraintError)
        }
      }
  }
}
