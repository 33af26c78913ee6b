/// Results as JUnit XML, which every CI system reads.
public enum JUnitReport {
  /// One test suite for each scenario, with a test case for each run of it.
  public static func text(_ results: [ScenarioResult]) -> String {
    var lines = ["<?xml version=\"1.0\" encoding=\"UTF-8\"?>"]
    let failures = results.count { !$0.isPassed }
    let total = results.reduce(Duration.zero) { $0 + $1.duration }
    lines.append(
      "<testsuites tests=\"\(results.count)\" failures=\"\(failures)\" time=\"\(seconds(total))\">")
    // A suite for each scenario, in their order, with a case for each seed.
    var names: [String] = []
    for result in results where !names.contains(result.scenario) { names.append(result.scenario) }
    for name in names {
      let cases = results.filter { $0.scenario == name }
      let time = cases.reduce(Duration.zero) { $0 + $1.duration }
      lines.append(
        "  <testsuite name=\"\(escaped(name))\" tests=\"\(cases.count)\" failures=\"\(cases.count { !$0.isPassed })\" "
          + "time=\"\(seconds(time))\">")
      for result in cases { lines += testCase(result) }
      lines.append("  </testsuite>")
    }
    lines.append("</testsuites>")
    return lines.joined(separator: "\n") + "\n"
  }

  private static func testCase(_ result: ScenarioResult) -> [String] {
    let name = result.seed.map { "seed \($0)" } ?? "real time"
    let head =
      "    <testcase classname=\"\(escaped(result.scenario))\" name=\"\(name)\" time=\"\(seconds(result.duration))\""
    let remarks =
      result.remarks.isEmpty
      ? [] : ["      <system-out>\(escaped(result.remarks.joined(separator: "\n")))</system-out>"]
    guard let failure = result.failure else {
      return remarks.isEmpty ? [head + "/>"] : [head + ">"] + remarks + ["    </testcase>"]
    }
    let place = failure.mark.map { "\($0): " } ?? ""
    return [
      head + ">", "      <failure message=\"\(escaped(place + failure.message))\">",
      escaped((failure.timeline + [failure.again.map { "again: \($0)" }].compactMap(\.self)).joined(separator: "\n")),
      "      </failure>",
    ] + remarks + ["    </testcase>"]
  }

  private static func seconds(_ duration: Duration) -> String {
    let milliseconds = duration.components.seconds * 1000 + duration.components.attoseconds / 1_000_000_000_000_000
    return "\(milliseconds / 1000).\(String(1000 + milliseconds % 1000).dropFirst())"
  }

  /// XML has no way to write most control characters, nor the last two of the basic plane: they become a question mark.
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
