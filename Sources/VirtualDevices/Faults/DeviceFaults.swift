package import MatterCertificates
package import MatterDevice
package import MatterModel
internal import MatterProtocol

/// The faults of a device: its own wrong behavior, apart from that of its network.
public struct DeviceFaults: Codable, Sendable, Hashable {
  /// Whether it answers requests and handshakes with BUSY.
  package var isBusy = false
  /// The time between a request and its execution.
  package var delay: Duration?
  /// Whether it sends no reports after the first one of a subscription.
  package var isSilent = false
  /// The interval at which it drops all sessions without notifying the peers, first at once.
  package var sessionDropInterval: Duration?
  /// Whether peers can't resume sessions and need a full handshake.
  package var refusesResumption = false
  /// The flaw of its attestation.
  package var attestation: TestAttestation.Flaw?
  /// The tables that accept no further entries, sorted by name.
  package var fullTables: [DeviceTable] = []
  /// How a software update fails.
  package var update: UpdateFault?
  /// The attributes that violate the data model.
  package var data: [DataFault] = []

  package init() {}

  /// An attribute that violates the data model.
  package struct DataFault: Codable, Sendable, Hashable {
    /// The endpoint as in the definition file; nil for the first one with the attribute.
    package var endpoint: UInt16?
    package var cluster: ClusterID
    package var attribute: AttributeID
    package var violation: ModelViolation
    /// The path as in the definition file.
    package var name: String
    /// The position in the file; nil for a fault of the command line.
    var mark: SourceMark?

    package init(
      endpoint: UInt16?, cluster: ClusterID, attribute: AttributeID, violation: ModelViolation, name: String
    ) {
      (self.endpoint, self.cluster, self.attribute) = (endpoint, cluster, attribute)
      (self.violation, self.name) = (violation, name)
    }

    package func isSameAttribute(as other: DataFault) -> Bool {
      (endpoint, cluster, attribute) == (other.endpoint, other.cluster, other.attribute)
    }
  }

  /// The time after which a peer may try again.
  private static let busyWait = Duration.seconds(1)

  /// Installs all faults except those of the attestation and of attributes.
  func install(in hooks: inout DeviceHooks, _ node: inout NodeHooks) {
    hooks.isBusy = isBusy
    if isBusy { node.busyWait = Self.busyWait }
    hooks.responseDelay = delay ?? .zero
    if isSilent { hooks.sendsReports = false }
    hooks.sessionDropInterval = sessionDropInterval
    if refusesResumption { node.acceptsResumption = false }
    hooks.fullTables = Set(fullTables)
    hooks.update = update
  }

  /// Whether there are faults other than those of attributes, which a bridged device can't have.
  package var areOfNode: Bool {
    var others = self
    others.data = []
    return others != DeviceFaults()
  }

  /// The faults in the words of the definition file: `slow 2 s`.
  package var words: [String] {
    var words: [String] = isBusy ? ["busy"] : []
    if let delay { words.append("slow \(TimeText.text(delay))") }
    if isSilent { words.append("silent") }
    if let sessionDropInterval { words.append("dropSessions \(TimeText.text(sessionDropInterval))") }
    if refusesResumption { words.append("refuseResumption") }
    if let attestation { words.append("attestation \(attestation.rawValue)") }
    if !fullTables.isEmpty { words.append("full \(fullTables.map(\.rawValue).joined(separator: " "))") }
    if let update { words.append("update \(update.rawValue)") }
    return words + data.map { "\($0.name) \($0.violation.rawValue)" }
  }
}
