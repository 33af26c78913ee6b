internal import HearthHome
internal import HomeText
internal import MatterProtocol
internal import Synchronization

/// An observed value that the home doesn't know.
enum Fact: Sendable {
  /// The value of an attribute in the device itself; nil if it has no power or no such attribute.
  case value([UInt8]?)
  /// The number of datagrams sent so far.
  case messages(Int)

  /// Compares the value with a claim.
  /// - Parameter count: the number of messages to subtract.
  func check(_ subject: Claim.Subject, since count: Int) -> DeviceCondition.Finding {
    switch (self, subject) {
    case (.value(let value?), .actual(_, let place, let wanted)):
      let text = AttributeUnits.texts(
        wanted: wanted, actual: value, place.path, levels: place.levels, wantedLevels: place.levels)
      return .init(value == wanted, text.actual, wanted: text.wanted)
    case (.messages(let messages), .messages(_, let comparison)):
      return .init(comparison.holds(messages - count), "\(messages - count)")
    default: return .init(false, "not there")
    }
  }
}

/// The claims of `always` and `never`, and the first violation. Thread-safe.
final class Rules: Sendable {
  /// One claim of `always` or `never`.
  struct Rule: Sendable {
    let claim: Claim
    /// Whether the claim must always hold; otherwise it must never hold.
    let isAlways: Bool
  }

  let homeRules: [Rule]
  /// The rules about devices and messages, which the home can't evaluate.
  let otherRules: [Rule]
  private let violation = Mutex<ScenarioFailure?>(nil)

  init(_ scenario: ScenarioDefinition) {
    let all =
      scenario.always.map { Rule(claim: $0, isAlways: true) } + scenario.never.map { Rule(claim: $0, isAlways: false) }
    (homeRules, otherRules) = (all.filter(\.claim.isAboutHome), all.filter { !$0.claim.isAboutHome })
  }

  /// Whether any rule is about events.
  var needEvents: Bool {
    homeRules.contains { if case .event = $0.claim.subject { true } else { false } }
  }

  var isEmpty: Bool { homeRules.isEmpty && otherRules.isEmpty }

  /// Records a finding; keeps the first violation.
  func note(_ rule: Rule, _ found: DeviceCondition.Finding, at time: Duration) {
    guard found.holds != rule.isAlways else { return }
    let (claim, after) = (rule.claim, TimeText.text(time))
    let failure = ScenarioFailure(
      rule.isAlways
        ? "always \(claim.failureText(found)) after \(after)" : "never \(claim.text): it is so after \(after)",
      at: claim.mark)
    violation.withLock { $0 = $0 ?? failure }
  }

  /// - Throws: ``ScenarioFailure`` for the first violation.
  func check() throws(ScenarioFailure) { if let found = violation.withLock({ $0 }) { throw found } }
}

extension Claim {
  /// A description of a failed claim: `lamp.onOff: true: it is false`.
  func failureText(_ found: DeviceCondition.Finding) -> String {
    "\(name): \(found.wanted ?? value): it is \(found.actual)"
  }

  /// Whether the home's state is enough to evaluate the claim.
  var isAboutHome: Bool {
    switch subject {
    case .connectivity, .locality, .attribute, .event: true
    case .actual, .messages: false
    }
  }
}
