import HearthHome
import MatterClusters
import MatterModel

/// Formats the findings of a check as text and JSON.
struct CheckReport {
  private let violations: [DeviceCheck.Finding]
  private let remarks: [DeviceCheck.Finding]
  private let device: String

  init(findings: [DeviceCheck.Finding], device: String) {
    violations = findings.filter(\.isViolation)
    remarks = findings.filter { !$0.isViolation }
    self.device = device
  }

  /// Nil without violations.
  var error: HomeError? {
    guard !violations.isEmpty else { return nil }
    return HomeError(
      .expectationFailed, violations.count == 1 ? "1 violation" : "\(violations.count) violations", device: device)
  }

  var text: String {
    func section(_ title: String, _ findings: [DeviceCheck.Finding]) -> [String] {
      findings.isEmpty ? [] : [title] + findings.map { "  " + "\($0)".shown() }
    }
    let lines = violations.isEmpty ? ["No violations"] : section("Violations", violations)
    return (lines + section("Remarks", remarks)).joined(separator: "\n")
  }

  var json: JSON {
    ["violations": .array(violations.map(Self.json)), "remarks": .array(remarks.map(Self.json))]
  }

  private static func json(_ finding: DeviceCheck.Finding) -> JSON {
    [
      "endpoint": .int(finding.endpoint.rawValue),
      "clusterID": .optional(finding.cluster?.rawValue),
      "cluster": .optional(finding.cluster.map { ElementNames.cluster($0) }), "message": .string(finding.message),
    ]
  }
}
