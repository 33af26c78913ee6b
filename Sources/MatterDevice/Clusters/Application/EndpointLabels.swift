public import MatterClusters
import MatterModel
import MatterProtocol

/// The Fixed Label server: labels set by the manufacturer. Matter Core § 9.8.
public enum FixedLabelServer {
  /// Returns a server with these read-only labels.
  public static func make(_ labels: [LabelStruct]) -> ClusterServer {
    ClusterServer.shared(FixedLabel.self) { $0 }.initial(FixedLabel.labelList, labels)
  }
}

/// The User Label server: labels set by the user. Matter Core § 9.9.
public enum UserLabelServer {
  /// The maximum length of a label or value in bytes. Matter Core § 9.7.4.1.
  static let longestText = 16
  /// The maximum number of labels per endpoint; the standard requires four per node.
  public static let limit = 16

  /// Returns a server without labels. It stores those that administrators write.
  public static func make() -> ClusterServer {
    ClusterServer.shared(UserLabel.self) {
      $0
        .onWrite(UserLabel.labelList) { _, labels throws(StatusError) in
          guard labels.count <= limit else { throw StatusError(.resourceExhausted) }
          guard labels.allSatisfy({ $0.label.utf8.count <= longestText && $0.value.utf8.count <= longestText }) else {
            throw StatusError(.constraintError)
          }
        }
    }
  }
}
