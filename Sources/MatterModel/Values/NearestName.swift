/// Suggestions for mistyped names.
public enum NearestName {
  /// Returns the known names that are closest to `text`, at most three; empty if none is similar.
  ///
  /// Ignores case, blanks and punctuation. If no name is within an edit distance of a third of the letters, returns
  /// names that contain the text, so that "light" finds every kind of light.
  public static func suggestions(for text: String, in names: [String]) -> [String] {
    let wanted = normalized(text)
    guard !wanted.isEmpty else { return [] }
    let limit = max(1, wanted.count / 3)
    var best: [String] = []
    var bestDistance = limit + 1
    for name in names {
      let distance = distance(wanted, normalized(name))
      if distance < bestDistance {
        (best, bestDistance) = ([name], distance)
      } else if distance == bestDistance, distance <= limit {
        best.append(name)
      }
    }
    if best.isEmpty, wanted.count >= 3 {
      let characters = String(wanted)
      best = names.filter { String(normalized($0)).containsText(characters) }
    }
    return Array(best.prefix(3))
  }

  /// Returns the letters and digits in lowercase.
  public static func normalized(_ text: String) -> [Character] {
    text.lowercased().filter { $0.isLetter || $0.isNumber }.map { $0 }
  }

  /// Returns the edit distance: insertions, deletions, replacements and swaps of adjacent characters.
  package static func distance(_ a: [Character], _ b: [Character]) -> Int {
    var beforePrevious: [Int] = []
    var previous = Array(0...b.count)
    for i in 0..<a.count {
      var current = [i + 1]
      for j in 0..<b.count {
        var cost = min(current[j] + 1, previous[j + 1] + 1, previous[j] + (a[i] == b[j] ? 0 : 1))
        if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] { cost = min(cost, beforePrevious[j - 1] + 1) }
        current.append(cost)
      }
      (beforePrevious, previous) = (previous, current)
    }
    return previous[b.count]
  }
}

extension String {

  fileprivate func containsText(_ other: String) -> Bool {
    indices.contains { self[$0...].hasPrefix(other) }
  }
}
