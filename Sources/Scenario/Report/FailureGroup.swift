/// Failed runs of a scenario with the same line and cause.
public struct FailureGroup: Sendable {
  /// The first failure's position and message.
  public var message: String
  /// The runs, in order; never empty.
  public var results: [ScenarioResult]

  /// Groups the failed results, in the order of their first failures.
  public static func groups(of results: [ScenarioResult]) -> [FailureGroup] {
    var groups: [FailureGroup] = []
    var indices: [String: Int] = [:]
    for result in results {
      guard let failure = result.failure, let key = result.failureKey else { continue }
      if let index = indices[key] {
        groups[index].results.append(result)
      } else {
        indices[key] = groups.count
        groups.append(FailureGroup(message: failure.place, results: [result]))
      }
    }
    return groups
  }

  /// `seeds 1, 4 to 9 and 12`, or `2 runs` in real time.
  public var seeds: String {
    let seeds = Set(results.compactMap(\.seed)).sorted()
    guard seeds.count == results.count else { return results.count == 1 ? "1 run" : "\(results.count) runs" }
    var spans: [ClosedRange<UInt64>] = []
    for seed in seeds {
      if let last = spans.last, seed == last.upperBound &+ 1 {
        spans[spans.count - 1] = last.lowerBound...seed
      } else {
        spans.append(seed...seed)
      }
    }
    let words = spans.prefix(20).map {
      $0.count == 1 ? "\($0.lowerBound)" : "\($0.lowerBound) to \($0.upperBound)"
    }
    let rest = spans.count > words.count ? ", …" : ""
    return (seeds.count == 1 ? "seed " : "\(seeds.count) seeds: ") + words.joined(separator: ", ") + rest
  }
}

extension ScenarioResult {
  /// A key that is the same for failures with the same line and cause: numbers in the message, such as times and
  /// measured values, are ignored. Nil if the run passed.
  public var failureKey: String? {
    guard let failure else { return nil }
    var cause = ""
    var isNumber = false
    for scalar in failure.message.unicodeScalars {
      let isDigit = ("0"..."9").contains(scalar) || isNumber && scalar == "."
      if !isDigit { cause.unicodeScalars.append(scalar) } else if !isNumber { cause += "#" }
      isNumber = isDigit
    }
    return "\(scenario)\n\(failure.mark.map { "\($0)" } ?? "")\n\(cause)"
  }
}
