package import HearthHome

/// The targets that one text of a command line names.
package struct TargetSelection {
  package var targets: [Target]
  /// Whether the text stands for all devices, a room or a group: those without the cluster of a command are left out.
  var isSeveral = false
}

extension Target {
  /// Returns each target once, without the endpoints of devices that are targets as a whole.
  package static func unique(_ all: [Target]) -> [Target] {
    HomeText.unique(all.filter { $0.endpoint == nil || !all.contains(Target($0.device)) })
  }
}

extension HomeRegistry {
  /// The prefix of a group's name or number in a target text.
  private static let groupPrefix = "group:"

  /// Resolves the target texts of a command without duplicates: all devices for `*`, those of a room for its name or
  /// `ROOM/*`, the members of a group for `group:NAME`, else the named device.
  /// - Parameters:
  ///   - cluster: the cluster that a device of a wildcard, a room or a group must serve; nil: none.
  ///   - isIncluded: whether a device of a wildcard, a room or a group is a target.
  /// - Throws: ``HomeError`` `notFound` with similar names; `ambiguousTarget` with all matches.
  package func resolve(
    all texts: [String], serving cluster: ClusterID? = nil, where isIncluded: (Target) -> Bool = { _ in true }
  ) throws(HomeError) -> [Target] {
    var targets: [Target] = []
    for text in texts { targets += try resolveAll(text, serving: cluster, where: isIncluded) }
    return Target.unique(targets)
  }

  /// Resolves one text; see ``resolve(all:serving:where:)``.
  package func resolveAll(
    _ text: String, serving cluster: ClusterID? = nil, where isIncluded: (Target) -> Bool = { _ in true }
  ) throws(HomeError) -> [Target] {
    var selection = try select(text)
    guard let cluster else { return selection.targets }
    selection.targets = selection.targets.map { $0.endpoint == nil ? Target($0.device.serving(cluster)) : $0 }
    guard selection.isSeveral else { return selection.targets }
    let serving = selection.targets.filter { target in
      target.endpoint.map { target.device.source.endpoint($0)?.servers.contains(cluster) == true }
        ?? (target.device.endpoint(serving: cluster) != nil)
    }
    guard !serving.isEmpty else { throw Self.missing(cluster, text) }
    let included = serving.filter(isIncluded)
    guard !included.isEmpty else { throw HomeError(.notFound, "no device of “\(text)” supports this") }
    return included
  }

  /// Returns the error for a text that stands for devices without a cluster.
  static func missing(_ cluster: ClusterID?, _ text: String) -> HomeError {
    let name = cluster.map { ElementNames.cluster($0) } ?? "such"
    return HomeError(.notFound, "no device of “\(text)” has a \(name) cluster")
  }

  /// Returns the devices that a wildcard, a room or a group stands for; nil for any other text.
  package func several(_ text: String) throws(HomeError) -> TargetSelection? {
    if text == "*" || text.hasSuffix("/*") || text.lowercased().hasPrefix(Self.groupPrefix) { return try select(text) }
    return try room(text) == nil ? nil : select(text)
  }

  /// Returns the error for a text that stands for several devices where one is expected.
  func oneExpected(_ text: String, _ selection: TargetSelection) -> HomeError {
    HomeError(
      .ambiguousTarget, "“\(text)” stands for several devices, but one is expected; name one of them",
      candidates: unique(selection.targets.map { name(of: $0.device) }))
  }

  package func select(_ text: String) throws(HomeError) -> TargetSelection {
    if text == "*" {
      guard !devices.isEmpty else { throw noDevices }
      return TargetSelection(targets: devices.map { Target($0) }, isSeveral: true)
    }
    if text.hasSuffix("/*") {
      let name = String(text.dropLast(2))
      if let room = try room(name) { return try select(room) }
      throw HomeError.unknown("there is no room “\(name)”", name, in: rooms.map(\.name))
    }
    let device = try exact(text)
    if let room = try room(text) {
      guard let device else { return try select(room) }
      throw Self.ambiguous(text, [numbered(device), "\(room.fullName)/*"])
    }
    guard device == nil, text.lowercased().hasPrefix(Self.groupPrefix) else {
      return TargetSelection(targets: [try resolve(text)])
    }
    return try select(group: String(text.dropFirst(Self.groupPrefix.count)))
  }

  private func select(_ room: RoomTarget) throws(HomeError) -> TargetSelection {
    guard !room.devices.isEmpty else { throw HomeError(.notFound, "no devices in the room \(room.name)") }
    return TargetSelection(targets: room.devices.map { Target($0) }, isSeveral: true)
  }

  private func select(group text: String) throws(HomeError) -> TargetSelection {
    guard let groups else {
      throw HomeError(.unreachable, "the groups are unknown, because the hub did not answer")
    }
    let found = groups.filter { HomeNames.same($0.name, text) || "\($0.number)" == text }
    guard let group = found.first else {
      throw HomeError(
        .notFound, "there is no group “\(text)”",
        candidates: NearestName.suggestions(for: text, in: groups.map(\.name)).map { Self.groupPrefix + $0 })
    }
    guard found.count == 1 else {
      throw Self.ambiguous(text, found.map { "\(Self.groupPrefix)\($0.number) (\($0.name))" })
    }
    guard !group.members.isEmpty else { throw HomeError(.notFound, "no devices in the group \(group.name)") }
    return TargetSelection(targets: group.members, isSeveral: true)
  }

  /// Returns the room with this name, or with this name of a structure and room: `Cottage/Kitchen`. Ignores case.
  package func room(_ text: String) throws(HomeError) -> RoomTarget? {
    let found = rooms.filter { HomeNames.same($0.name, text) || HomeNames.same($0.fullName, text) }
    guard found.count > 1 else { return found.first }
    throw Self.ambiguous(text, found.map { "\($0.fullName)/*" })
  }

  private static func ambiguous(_ text: String, _ candidates: [String]) -> HomeError {
    HomeError(
      .ambiguousTarget, "“\(text)” matches \(candidates.count) targets; name one of them",
      candidates: candidates)
  }
}
