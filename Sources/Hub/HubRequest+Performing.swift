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
      let report = try await home.read(node, paths, isFabricFiltered: isFabricFiltered, timeout: timeout)
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
    case .writeDevice(let device, let writes, let isTimed, let patience):
      try await home.write(writes, isTimed: isTimed, of: device, patience: patience)
      return .done
    case .invokeDevice(let device, let command, let isTimed, let patience):
      return .invoked(try await home.invoke(command, isTimed: isTimed, of: device, patience: patience))
    case .anchor: return .anchor(try await home.anchor())
    case .samples(let anchor, let filter, let limit):
      switch try await home.samples(after: anchor, filter, limit: min(limit, 10_000)) {
      case .samples(let samples, let next, let isComplete):
        return .samples(
          .samples(samples.filter { visibility.contains($0.change) }, next: next, isComplete: isComplete))
      case .reset(let stored):
        var state = HomeState()
        for change in visibility.changes(of: stored.state) { state.apply(change) }
        return .samples(.reset(StoredHome(state: state, contacts: stored.contacts, anchor: stored.anchor)))
      }
    case .status, .lookAgain: throw HomeError(.notRunning, "no hub runs here")
    }
  }
}

extension ConcreteAttributePath {
  /// Nil for one that may mean several attributes.
  fileprivate init?(_ path: AttributePath) {
    guard let endpoint = path.endpoint, let cluster = path.cluster, let attribute = path.attribute else { return nil }
    self.init(endpoint, cluster, attribute)
  }
}
