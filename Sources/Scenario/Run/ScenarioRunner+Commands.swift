internal import Home
internal import MatterClusters
internal import MatterController
internal import MatterModel
internal import MatterProtocol

extension ScenarioRunner {
  /// Performs a `do:` command.
  func perform(_ command: HomeCommand) async throws {
    let home = try await stage.home
    switch command {
    case .on(let device): _ = try await home.turnAll(try await target(device, home), .on)
    case .off(let device): _ = try await home.turnAll(try await target(device, home), .off)
    case .toggle(let device): _ = try await home.turnAll(try await target(device, home), .toggle)
    case .level(let device, let level): _ = try await home.dimAll(try await target(device, home), to: level, over: nil)
    case .color(let device, let color): try await home.color(try await target(device, home), color, over: 0)
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
      let endpoint = try Self.endpoint(of: target, serving: place.cluster)
      let path = AttributePath(ConcreteAttributePath(endpoint, place.cluster, place.attribute))
      try await home.write(target.device, [AttributeWrite(path, value: value)], isTimed: false)
    case .invoke(let device, let cluster, let command, let fields, let isTimed):
      let target = try await target(device, home)
      let path = CommandPath(
        endpoint: try Self.endpoint(of: target, serving: cluster), cluster: cluster, command: command)
      _ = try await home.invoke(target.device, CommandData(path, fields: fields), isTimed: isTimed)
    case .group(let action): try await perform(action, home)
    case .room(let action): try await perform(action, home)
    case .scene(let action): try await perform(action, home)
    }
  }

  private static func endpoint(of target: Target, serving cluster: ClusterID) throws -> EndpointID {
    try target.device.endpoints.first { $0.servers.contains(cluster) }?.id
      ?? target.endpoint(serving: cluster, named: ElementNames.cluster(cluster))
  }

  /// Finds a device by its unique ID: it may have been renamed, or not be paired while another has a similar name.
  private func target(_ device: String, _ home: Home) async throws -> Target {
    let id = uniqueIDs[device]
    guard let known = await home.registry.devices.first(where: { $0.identity.uniqueID == id }) else {
      throw HomeError(.notFound, "\(device) is not paired")
    }
    return Target(known)
  }

  private func perform(_ action: HomeCommand.GroupAction, _ home: Home) async throws {
    let controller = try home.controller
    switch action {
    case .create(let name): _ = try await controller.createGroup(name: name)
    case .delete(let name): _ = try await controller.deleteGroup(try await home.group(name).id)
    case .add(let device, let name):
      _ = try await home.change(try await home.group(name), try await target(device, home), isMember: true)
    case .remove(let device, let name):
      _ = try await home.change(try await home.group(name), try await target(device, home), isMember: false)
    case .turn(let name, let action):
      let command: CommandID =
        switch action {
        case .on: OnOff.on.id
        case .off: OnOff.off.id
        case .toggle: OnOff.toggle.id
        }
      try await controller.invoke(group: try await home.group(name).id, cluster: OnOff.id, command: command)
    }
  }

  private func perform(_ action: HomeCommand.RoomAction, _ home: Home) async throws {
    func room(_ name: String) async throws -> String { try await home.backend.state.knownRoom(name).id }
    switch action {
    case .add(let name): _ = try await home.addRoom(name)
    case .rename(let old, let name): try await home.renameRoom(try await room(old), to: name)
    case .remove(let name): try await home.removeRoom(try await room(name))
    case .assign(let device, let name):
      try await home.move(try await target(device, home).device.id, to: try await room(name))
    }
  }

  private func perform(_ action: HomeCommand.SceneAction, _ home: Home) async throws {
    switch action {
    case .store(let name, let device):
      let targets = try await sceneTargets(device, home)
      let number = try await home.sceneNumber(for: name, on: targets)
      for target in targets { try await home.storeScene(name, number: number, of: target) }
    case .recall(let name, let device):
      try await forEach(try await sceneTargets(device, home)) { try await home.recallScene(name, of: $0) }
    case .remove(let name, let device):
      try await forEach(try await sceneTargets(device, home)) { try await home.removeScene(name, of: $0) }
    }
  }

  /// Returns the device, or without one all devices that support scenes.
  private func sceneTargets(_ device: String?, _ home: Home) async throws -> [Target] {
    if let device { return [try await target(device, home)] }
    return await home.registry.devices.filter { $0.endpoint(serving: ScenesManagement.id) != nil }.map { Target($0) }
  }

  /// Runs the body for each target, ignoring devices without the scene unless none has it.
  private func forEach(_ targets: [Target], _ body: (Target) async throws -> Void) async throws {
    var (found, missing): (Bool, HomeError?) = (false, nil)
    for target in targets {
      do {
        try await body(target)
        found = true
      } catch let error as HomeError where error.code == .notFound {
        missing = error
      }
    }
    if !found { throw missing ?? HomeError(.notFound, "no device supports scenes") }
  }
}
