internal import MatterClusters
internal import MatterModel

extension RootNode {
  /// Of either part of a label, in bytes. Matter Core § 9.7.4.1.
  private static let longestPart = 16
  private static let userLabelLimit = 8

  /// Matter Core § 9.8.
  static func fixedLabel(_ configuration: DeviceConfiguration) -> ClusterServer {
    ClusterServer(FixedLabel.self)
      .onRead(FixedLabel.labelList) { _ in configuration.fixedLabels }
  }

  /// Matter Core § 9.9.
  static var userLabel: ClusterServer {
    ClusterServer(UserLabel.self)
      .onWrite(UserLabel.labelList) { _, labels throws(StatusError) in
        guard labels.count <= userLabelLimit else { throw StatusError(.resourceExhausted) }
        guard labels.allSatisfy({ $0.label.utf8.count <= longestPart && $0.value.utf8.count <= longestPart }) else {
          throw StatusError(.constraintError)
        }
      }
  }
}
