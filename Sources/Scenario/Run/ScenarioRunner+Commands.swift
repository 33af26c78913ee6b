internal import HearthHome
internal import HomeText
internal import MatterClusters
internal import MatterController
internal import MatterModel
internal import MatterProtocol

extension ScenarioRunner {
  /// Performs a `do:` command.
  func perform(_ command: HomeCommand) async throws {
    let home = try await stage.home
    switch command {
    case .turn(let names, let action):
      let targets = try await targets(names, home) { try await home.targets([$0], accepting: action) }
      try await forEach(targets) { _ = try await home.turn($0, action) }
    case .level(let names, let level):
      try await forEach(try await targets(names, LevelControl.id, home)) {
        _ = try await home.dim($0, to: level, over: nil)
      }
    case .color(let names, let color):
      let targets = try await targets(names, home) { try await home.targets([$0], showing: color) }
      try await forEach(targets) { try await home.color($0, color, over: 0) }
    case .pair(let device): try await stage.pair(device)
    case .remove(let device): _ = try await home.remove(try await target(device, home).device, force: false)
    case .rename(let device, let name):
      try await home.rename(try await target(device, home).device.id, to: name)
    case .bind(let source, let device):
      _ = try await home.bind(try await target(source, home), to: try await target(device, home))
    case .unbind(let source, let device):
      _ = try await home.unbind(try await target(source, home), from: try await target(device, home))
    case .share(let device, let time): _ = try await home.share(try await target(device, home).device, for: time)
    case .write(let device, let place, let value):
      let target = try await target(device, home)
      let endpoint = try endpoint(place.endpoint, of: target, device, serving: place.cluster, place.attribute)
      let path = AttributePath(ConcreteAttributePath(endpoint, place.cluster, place.attribute))
      try await home.write(target.device, [AttributeWrite(path, value: value)], isTimed: false)
    case .invoke(let device, let cluster, let command, let number, let fields, let isTimed):
      let target = try await target(device, home)
      let path = CommandPath(
        endpoint: try endpoint(number, of: target, device, serving: cluster), cluster: cluster, command: command)
      _ = try await home.invoke(target.device, CommandData(path, fields: fields), isTimed: isTimed)
    case .group(let action): try await perform(action, home)
    case .room(let action): try await perform(action, home)
    case .scene(let action): try await perform(action, home)
    case .home(let action): try await perform(action, home)
    case .access(let action): try await perform(action, home)
    case .update(let device, let provider):
      try await home.announce(try await target(provider, home).device, to: try await target(device, home).device)
    case .removeFabric(let index, let device):
      _ = try await home.removeFabric(index, from: try await target(device, home).device)
    }
  }

  /// - Parameter number: the number of the endpoint within the device at the path; nil: the first that fits.
  private func endpoint(
    _ number: UInt16?, of target: Target, _ path: String, serving cluster: ClusterID, _ attribute: AttributeID? = nil
  ) throws -> EndpointID {
    guard let number else { return try target.endpoint(serving: cluster, having: attribute) }
    return try identities.endpoint(number, of: path, target.device.source)
  }

  private func target(_ device: String, _ home: Home) async throws -> Target {
    try target(device, await home.registry)
  }

  /// Finds a device by its unique ID: it may have been renamed, or not be paired while another has a similar name.
  private func target(_ device: String, _ registry: HomeRegistry) throws -> Target {
    let id = identities.uniqueID(of: device)
    guard var known = registry.devices.first(where: { $0.identity.uniqueID == id }) else {
      throw HomeError(.notFound, "\(device) is not paired")
    }
    known.source = identities.source(known.source, of: device)
    return Target(known)
  }

  /// - Parameter cluster: the cluster that devices of a room, a group or a wildcard must serve; nil for any.
  private func targets(_ names: [TargetName], _ cluster: ClusterID?, _ home: Home) async throws -> [Target] {
    try await targets(names, home) { try await home.registry.resolveAll($0, serving: cluster) }
  }

  /// - Parameter several: returns the devices of a room, a group or a wildcard.
  private func targets(
    _ names: [TargetName], _ home: Home, several: (String) async throws -> [Target]
  ) async throws -> [Target] {
    let registry = await home.registry
    var targets: [Target] = []
    for name in names {
      switch name {
      case .device(let device): targets.append(try target(device, registry))
      case .several(let text): targets += try await several(text)
      }
    }
    return Target.unique(targets)
  }

  private func perform(_ action: HomeCommand.GroupAction, _ home: Home) async throws {
    switch action {
    case .create(let name): _ = try await home.createGroup(name: name)
    case .delete(let name): _ = try await home.deleteGroup(try await home.group(name).id)
    case .add(let names, let name): try await change(try await home.group(name), names, isMember: true, home)
    case .remove(let names, let name): try await change(try await home.group(name), names, isMember: false, home)
    case .invoke(let name, let cluster, let command, let fields):
      try await home.invoke(
        group: try await home.group(name).id, cluster: cluster, command: command, fields: fields)
    }
  }

  private func change(_ group: GroupRecord, _ names: [TargetName], isMember: Bool, _ home: Home) async throws {
    for target in try await targets(names, Groups.id, home) {
      _ = try await home.change(group, target, isMember: isMember)
    }
  }

  private func perform(_ action: HomeCommand.RoomAction, _ home: Home) async throws {
    func room(_ name: String) async throws -> String { try await home.backend.state.knownRoom(name).id }
    switch action {
    case .add(let name): _ = try await home.addRoom(name)
    case .rename(let old, let name): try await home.renameRoom(try await room(old), to: name)
    case .remove(let name): try await home.removeRoom(try await room(name))
    case .assign(let names, let name):
      let id = try await room(name)
      try await home.perform(try await targets(names, nil, home).map { .moveDevice(id: $0.device.id, roomID: id) })
    }
  }

  private func perform(_ action: HomeCommand.HomeAction, _ home: Home) async throws {
    func structure(_ name: String) async throws -> String { try await home.state.knownStructure(name).id }
    switch action {
    case .add(let name): _ = try await home.addStructure(name)
    case .rename(let old, let name): try await home.renameStructure(try await structure(old), to: name)
    case .remove(let name): try await home.removeStructure(try await structure(name))
    case .choosePrimary(let name): try await home.updatePrimaryStructure(try await structure(name))
    case .setGraceTime(let time): try await home.setGraceTime(time)
    }
  }

  private func perform(_ action: HomeCommand.AccessAction, _ home: Home) async throws {
    switch action {
    case .grant(var entry, let subjects, let device):
      if !subjects.isEmpty {
        var nodes = entry.subjects.wrapped ?? []
        for subject in subjects { nodes.append(try await target(subject, home).device.nodeID) }
        entry.subjects = .value(nodes)
      }
      _ = try await home.grant(entry, on: try await target(device, home).device)
    case .revoke(let number, let device):
      _ = try await home.revokeAccess(number: number, on: try await target(device, home).device, force: false)
    }
  }

  private func perform(_ action: HomeCommand.SceneAction, _ home: Home) async throws {
    switch action {
    case .store(let name, let names):
      let targets = try await sceneTargets(names, home)
      let number = try await home.sceneNumber(for: name, on: targets)
      try await forEach(targets) { try await home.storeScene(name, number: number, of: $0) }
    case .recall(let name, let names):
      try await forEach(try await sceneTargets(names, home), skipsMissing: names.isEmpty) {
        try await home.recallScene(name, of: $0)
      }
    case .remove(let name, let names):
      try await forEach(try await sceneTargets(names, home), skipsMissing: names.isEmpty) {
        try await home.removeScene(name, of: $0)
      }
    }
  }

  /// Returns the devices, or without names all devices that support scenes.
  private func sceneTargets(_ names: [TargetName], _ home: Home) async throws -> [Target] {
    if !names.isEmpty { return try await targets(names, ScenesManagement.id, home) }
    let all = await home.registry.devices.filter { $0.endpoint(serving: ScenesManagement.id) != nil }
    guard !all.isEmpty else { throw HomeError(.notFound, "no device of the home can have scenes") }
    return all.map { Target($0) }
  }

  /// Runs the body for all targets at the same time.
  /// - Parameter skipsMissing: whether `notFound` is ignored unless all targets fail with it.
  /// - Throws: the error of the only target, or one that lists the errors of several.
  private func forEach(
    _ targets: [Target], skipsMissing: Bool = false, _ body: @escaping @Sendable (Target) async throws -> Void
  ) async throws {
    if let only = targets.first, targets.count == 1 { return try await body(only) }
    var failures = await targets.concurrentMap { target -> HomeError? in
      do { try await body(target) } catch { return HomeError(error).about(target.device) }
      return nil
    }.compactMap(\.self)
    let missing = failures.count { $0.code == .notFound }
    if skipsMissing, missing < targets.count { failures.removeAll { $0.code == .notFound } }
    guard let first = failures.first else { return }
    throw HomeError(
      failures.count == targets.count ? first.code : .partlyFailed,
      "\(failures.count) of \(targets.count) targets failed: "
        + failures.map { "\($0)" }.joined(separator: "; "))
  }
}
