/// Formats results as JUnit XML.
///
/// Times are wall-clock seconds, which CI systems use for statistics; the virtual time of a scenario is a property of
/// its test case.
public enum JUnitReport {
  /// Returns one test suite per scenario, with a test case per run. Of failures with the same line and cause, the
  /// first has the details and the others refer to it.
  public static func text(_ results: [ScenarioResult]) -> String {
    var lines = ["<?xml version=\"1.0\" encoding=\"UTF-8\"?>"]
    let failures = results.count { !$0.isPassed }
    lines.append(
      "<testsuites tests=\"\(results.count)\" failures=\"\(failures)\" time=\"\(seconds(results))\">")
    // In the order of the results.
    var names: [String] = []
    var suites: [String: [ScenarioResult]] = [:]
    for result in results {
      if suites[result.scenario] == nil { names.append(result.scenario) }
      suites[result.scenario, default: []].append(result)
    }
    for name in names {
      let cases = suites[name] ?? []
      lines.append(
        "  <testsuite name=\"\(escaped(name))\" tests=\"\(cases.count)\" failures=\"\(cases.count { !$0.isPassed })\" "
          + "time=\"\(seconds(cases))\">")
      let groups = FailureGroup.groups(of: cases)
      var first: [String: ScenarioResult] = [:]
      for group in groups { if let result = group.results.first { first[result.failureKey ?? ""] = result } }
      for result in cases {
        let known = result.failureKey.flatMap { first[$0] }
        lines += testCase(result, like: known?.seed == result.seed ? nil : known)
      }
      if groups.contains(where: { $0.results.count > 1 }) {
        let text = groups.map { "\($0.seeds): \($0.message)" }.joined(separator: "\n")
        lines.append("    <system-out>\(escaped(text))</system-out>")
      }
      lines.append("  </testsuite>")
    }
    lines.append("</testsuites>")
    return lines.joined(separator: "\n") + "\n"
  }

  /// - Parameter first: the first run that failed with the same line and cause; nil if it is this one.
  private static func testCase(_ result: ScenarioResult, like first: ScenarioResult?) -> [String] {
    let name = result.seed.map { "seed \($0)" } ?? "real time"
    var lines = [
      "    <testcase classname=\"\(escaped(result.scenario))\" name=\"\(name)\" time=\"\(seconds([result]))\">",
      "      <properties><property name=\"scenarioSeconds\" value=\"\(seconds(result.duration))\"/></properties>",
    ]
    if let failure = result.failure {
      lines.append("      <failure message=\"\(escaped(failure.place))\">")
      var details = [failure.excerpt].compactMap(\.self) + failure.timeline
      if let seed = first?.seed { details = ["the same line and cause as seed \(seed)"] }
      details += failure.again.map { ["again: \($0)"] } ?? []
      lines += [escaped(details.joined(separator: "\n")), "      </failure>"]
    }
    if first == nil {
      var output = result.remarks
      if !result.commands.isEmpty { output += ["commands:"] + result.commands.map { "  \($0)" } }
      if !result.losses.isEmpty { output += ["lost on the network:"] + result.losses.map { "  \($0)" } }
      if !output.isEmpty { lines.append("      <system-out>\(escaped(output.joined(separator: "\n")))</system-out>") }
    }
    return lines + ["    </testcase>"]
  }

  private static func seconds(_ results: [ScenarioResult]) -> String {
    seconds(results.reduce(Duration.zero) { $0 + $1.elapsed })
  }

  private static func seconds(_ duration: Duration) -> String {
    let milliseconds = duration.components.seconds * 1000 + duration.components.attoseconds / 1_000_000_000_000_000
    return "\(milliseconds / 1000).\(String(1000 + milliseconds % 1000).dropFirst())"
  }

  /// Escapes text. XML can't represent most control characters, nor U+FFFE and U+FFFF: they become question marks.
  private static func escaped(_ text: String) -> String {
    var result = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "&": result += "&amp;"
      case "<": result += "&lt;"
      case ">": result += "&gt;"
      case "\"": result += "&quot;"
      case "\n": result += "&#10;"
      case "\t": result += " "
      case "\u{0}"..<" ", "\u{7F}", "\u{FFFE}", "\u{FFFF}": result += "?"
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }
}
