internal import Home
internal import MatterProtocol
internal import Synchronization

/// What is the case of something that the home does not know.
enum Fact: Sendable {
  /// What a device itself holds; nil where it has no power, or no such attribute.
  case value([UInt8]?)
  /// Datagrams that were sent so far.
  case messages(Int)

  /// Whether it is as a claim says.
  /// - Parameter count: the messages that are not counted any more.
  func check(_ subject: Claim.Subject, since count: Int) -> DeviceCondition.Finding {
    switch (self, subject) {
    case (.value(let value?), .actual(_, let place, let wanted)):
      let told = AttributeUnits.told(
        wanted, beside: value, place.path, levels: place.levels, wantedLevels: place.levels)
      return .init(value == wanted, told.actual, wanted: told.wanted)
    case (.messages(let messages), .messages(_, let comparison)):
      return .init(comparison.holds(messages - count), "\(messages - count)")
    default: return .init(false, "not there")
    }
  }
}

/// What holds always and what never, and what was found first that is not so. May be used from anywhere.
final class Rules: Sendable {
  /// One of them.
  struct Rule: Sendable {
    let claim: Claim
    /// Whether it must hold always; else it must never.
    let isAlways: Bool
  }

  let aboutHome: [Rule]
  /// Those that the home can't tell.
  let aboutRest: [Rule]
  private let violation = Mutex<ScenarioFailure?>(nil)

  init(_ scenario: ScenarioDefinition) {
    let all =
      scenario.always.map { Rule(claim: $0, isAlways: true) } + scenario.never.map { Rule(claim: $0, isAlways: false) }
    (aboutHome, aboutRest) = (all.filter(\.claim.isAboutHome), all.filter { !$0.claim.isAboutHome })
  }

  /// Whether one of them is about events.
  var needEvents: Bool {
    aboutHome.contains { if case .event = $0.claim.subject { true } else { false } }
  }

  var isEmpty: Bool { aboutHome.isEmpty && aboutRest.isEmpty }

  /// Takes in what is the case.
  func note(_ rule: Rule, _ found: DeviceCondition.Finding, at time: Duration) {
    guard found.holds != rule.isAlways else { return }
    let (claim, after) = (rule.claim, TimeText.text(time))
    let failure = ScenarioFailure(
      rule.isAlways
        ? "always \(claim.missed(found)) after \(after)" : "never \(claim.text): it is so after \(after)",
      at: claim.mark)
    violation.withLock { $0 = $0 ?? failure }
  }

  /// - Throws: ``ScenarioFailure`` if something was not so.
  func check() throws(ScenarioFailure) { if let found = violation.withLock({ $0 }) { throw found } }
}

extension Claim {
  /// What is told where it does not hold: `lamp.onOff: true: it is false`.
  func missed(_ found: DeviceCondition.Finding) -> String { "\(name): \(found.wanted ?? value): it is \(found.actual)" }

  /// Whether the home can tell whether it holds.
  var isAboutHome: Bool {
    switch subject {
    case .connectivity, .locality, .attribute, .event: true
    case .actual, .messages: false
    }
  }
}
