import HearthHome
import HomeModel
import Testing

/// The article “The home model”, “Connectivity and locality”: aggregation of the states of parts, tested exhaustively.
@Suite("Aggregated connectivity") struct ConnectivityTests {
  private static let alphabet = ConnectivityState.allCases.flatMap { state in
    DataSourceLocality.allCases.map { SourceConnectivity(state, $0) }
  }

  /// All sequences of parts with the given length.
  private static func sequences(_ length: Int) -> [[SourceConnectivity]] {
    guard length > 0 else { return [[]] }
    return sequences(length - 1).flatMap { rest in alphabet.map { rest + [$0] } }
  }

  /// The table of the specification.
  private func table(_ parts: [SourceConnectivity]) -> SourceConnectivity {
    let states = Set(parts.map(\.connectivityState))
    let state: ConnectivityState =
      if states.isEmpty { .unknown } else if states.count == 1, let only = states.first {
        only
      } else if states.contains(.online) || states.contains(.partiallyOnline) {
        .partiallyOnline
      } else {
        .unknown
      }
    var localities = Set(parts.map(\.dataSourceLocality))
    if localities.count > 1 { localities.remove(.unspecified) }
    let locality: DataSourceLocality = localities.count > 1 ? .mixed : localities.first ?? .unspecified
    return SourceConnectivity(state, locality)
  }

  @Test(arguments: 0...3) func matchesTable(_ length: Int) {
    let wrong = Self.sequences(length).filter { SourceConnectivity(of: $0) != table($0) }
    #expect(wrong.isEmpty, "\(wrong.prefix(3))")
  }

  @Test func isIndependentOfOrder() {
    let wrong = Self.sequences(3).filter { parts in
      [[1, 0, 2], [0, 2, 1], [2, 1, 0], [1, 2, 0], [2, 0, 1]].contains { order in
        SourceConnectivity(of: order.map { parts[$0] }) != SourceConnectivity(of: parts)
      }
    }
    #expect(wrong.isEmpty, "\(wrong.prefix(3))")
  }

  @Test func isIdempotent() {
    let wrong = (1...2).flatMap(Self.sequences).filter { parts in
      let once = SourceConnectivity(of: parts)
      return SourceConnectivity(of: parts + parts) != once || SourceConnectivity(of: parts + [parts[0]]) != once
        || SourceConnectivity(of: [once]) != once || SourceConnectivity(of: [once, once]) != once
    }
    #expect(wrong.isEmpty, "\(wrong.prefix(3))")
  }

  @Test func isAssociative() {
    let wrong = Self.sequences(3).filter { parts in
      let whole = SourceConnectivity(of: parts)
      let left = SourceConnectivity(of: [SourceConnectivity(of: parts[..<2]), parts[2]])
      let right = SourceConnectivity(of: [parts[0], SourceConnectivity(of: parts[1...])])
      return left != whole || right != whole
    }
    #expect(wrong.isEmpty, "\(wrong.prefix(3))")
  }
}
