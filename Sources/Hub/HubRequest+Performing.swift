internal import Home
internal import MatterModel
internal import MatterProtocol

extension HubRequest {
  /// Does what is asked, with a home of this process.
  /// - Parameters:
  ///   - visibility: of whoever asks.
  ///   - origin: the client whose call it is.
  func perform(
    on home: any HomeBackend, _ visibility: HubVisibility, origin: String?
  ) async throws(HomeError) -> HubReply {
    switch self {
    case .edit(let edits): return .edited(try await home.perform(edits, origin: origin))
    case .read(let node, let paths, let isFabricFiltered, let timeout):
      let report = try await home.read(
        node, paths, isFabricFiltered: isFabricFiltered, timeout: timeout.map { Self.allowed($0) })
      // What is asked for by name is refused, what comes with much else is left out.
      let refused = paths.filter { path in
        guard let concrete = ConcreteAttributePath(path) else { return false }
        return !visibility.contains(concrete)
      }
      return .report(
        report.attributes.filter { visibility.contains($0.path) },
        report.statuses + refused.map { AttributeStatus($0, status: Status(.unsupportedAccess)) })
    case .write(let node, let writes, let isTimed):
      return .written(try await home.write(node, writes, isTimed: isTimed))
    case .invoke(let node, let command, let isTimed):
      return .invoked(try await home.invoke(node, command, isTimed: isTimed))
    case .writeDevice(let device, let way, let writes, let isTimed, let timeout):
      try await home.write(
        writes, isTimed: isTimed, of: device, by: way, timeout: timeout.map { Self.allowed($0) })
      return .done
    case .invokeDevice(let device, let way, let command, let isTimed, let timeout):
      return .invoked(
        try await home.invoke(
          command, isTimed: isTimed, of: device, by: way, timeout: timeout.map { Self.allowed($0) }))
    case .anchor: return .anchor(try await home.anchor())
    case .samples(let anchor, let filter, let limit):
      let most = limit == 0 ? Self.mostSamples : min(limit, Self.mostSamples)
      switch try await home.samples(after: anchor, filter, limit: most) {
      case .samples(let samples, let next, let isComplete):
        return .samples(Self.answer(samples, next: next, isComplete: isComplete, visibility))
      case .reset(let stored):
        var state = HomeState()
        for change in visibility.changes(of: stored.state) { state.apply(change) }
        return .samples(.reset(StoredHome(state: state, contacts: stored.contacts, anchor: stored.anchor)))
      }
    case .status, .lookAgain: throw HomeError(.notRunning, "no hub runs here")
    }
  }

  /// How long somebody may have a request wait.
  private static func allowed(_ time: Duration) -> Duration { min(max(time, .zero), .seconds(600)) }

  /// Of samples in an answer, and about how many bytes.
  private static let mostSamples = 10_000, mostBytes = 1 << 22

  /// As many samples as go into one answer; the rest is asked for again.
  private static func answer(
    _ samples: [HomeSample], next: Anchor, isComplete: Bool, _ visibility: HubVisibility
  ) -> AnchoredResult {
    var (seen, bytes): ([HomeSample], Int) = ([], 0)
    var last: Anchor?
    for sample in samples {
      // One at least, however long it is.
      if bytes > mostBytes, let last { return .samples(seen, next: last, isComplete: false) }
      bytes += sample.byteCount
      last = sample.anchor
      if visibility.contains(sample.change) { seen.append(sample) }
    }
    return .samples(seen, next: next, isComplete: isComplete)
  }
}

extension HomeSample {
  /// About what it takes up in an answer.
  fileprivate var byteCount: Int {
    switch change {
    case .attribute(_, _, let value): 64 + (value?.count ?? 0)
    case .event(_, let data): 64 + (data.payload?.count ?? 0)
    default: 256
    }
  }
}

extension ConcreteAttributePath {
  /// Returns nil for a wildcard.
  init?(_ path: AttributePath) {
    guard let endpoint = path.endpoint, let cluster = path.cluster, let attribute = path.attribute else { return nil }
    self.init(endpoint, cluster, attribute)
  }
}
