package import HearthHome
internal import MatterClusters

/// A scene stored by an endpoint of a device.
package struct StoredScene: Hashable, Sendable {
  package var endpoint: EndpointID
  /// The scene id, 0 to 254.
  package var number: UInt8
  /// The name; empty if the device stores no names.
  package var name: String
  /// The transition time in milliseconds.
  package var transitionTime: UInt32
}

/// Scenes are stored by the devices, for the fabric of the home and without a group (group 0), so that no membership is
/// required. Application Clusters § 1.4.
extension Home {
  /// The maximum length of a scene's name, in bytes. Application Clusters § 1.4.9.2.
  package static let sceneNameLimit = 16
  private static let group: GroupID = 0

  /// Returns the scenes of a device, in the order of its endpoints.
  /// - Throws: ``HomeError`` `notFound` if it has no Scenes Management cluster.
  package func scenes(of target: Target) async throws(HomeError) -> [StoredScene] {
    var scenes: [StoredScene] = []
    for endpoint in try target.endpoints(serving: ScenesManagement.id) {
      scenes += try await self.scenes(of: target.device, endpoint)
    }
    return scenes
  }

  /// Returns the number of the scene with this name on one of the devices, else the lowest unused one. Devices that
  /// don't answer are ignored.
  /// - Throws: ``HomeError`` `badArguments` for an empty or too long name; `refused` if all numbers are in use.
  package func sceneNumber(for name: String, on targets: [Target]) async throws(HomeError) -> UInt8 {
    guard (1...Self.sceneNameLimit).contains(name.utf8.count), !name.allSatisfy(\.isWhitespace) else {
      throw HomeError(
        .badArguments, "“\(name)”: a scene's name has 1 to \(Self.sceneNameLimit) bytes, not only blanks")
    }
    var taken: Set<UInt8> = []
    for target in targets {
      guard let scenes = try? await scenes(of: target) else { continue }
      if let known = scenes.first(where: { HomeNames.same($0.name, name) }) { return known.number }
      taken.formUnion(scenes.map(\.number))
    }
    guard let free = (1...254).first(where: { !taken.contains($0) }) else {
      throw HomeError(.refused, "all scene numbers are in use; remove a scene")
    }
    return free
  }

  /// Stores the current state of a device as a scene, and replaces a scene of the same name.
  /// - Parameters:
  ///   - number: the number if the device has no scene of this name.
  ///   - transition: the duration of a recall, in milliseconds.
  @discardableResult
  package func storeScene(
    _ name: String, number: UInt8, of target: Target, transition: UInt32 = 0
  ) async throws(HomeError) -> [StoredScene] {
    var stored: [StoredScene] = []
    for endpoint in try target.endpoints(serving: ScenesManagement.id) {
      let known = try await scenes(of: target.device, endpoint).first { HomeNames.same($0.name, name) }
      let id = known?.number ?? number
      // The name and the time are those of an empty scene, which the next command fills.
      try await invoke(
        ScenesManagement.addScene,
        .init(
          groupID: Self.group, sceneID: id, transitionTime: transition, sceneName: name, extensionFieldSetStructs: []),
        on: endpoint, of: target.device)
      try await invoke(
        ScenesManagement.storeScene, .init(groupID: Self.group, sceneID: id), on: endpoint, of: target.device)
      stored.append(StoredScene(endpoint: endpoint, number: id, name: name, transitionTime: transition))
    }
    return stored
  }

  /// Recalls a scene.
  /// - Parameter text: the scene's name in any case, or its number.
  /// - Returns: the scene of each endpoint that has it.
  @discardableResult
  package func recallScene(_ text: String, of target: Target) async throws(HomeError) -> [StoredScene] {
    let found = try await find(text, of: target)
    for scene in found {
      try await invoke(
        ScenesManagement.recallScene, .init(groupID: Self.group, sceneID: scene.number), on: scene.endpoint,
        of: target.device)
    }
    return found
  }

  /// Removes a scene from a device.
  /// - Parameter text: the scene's name in any case, or its number.
  @discardableResult
  package func removeScene(_ text: String, of target: Target) async throws(HomeError) -> [StoredScene] {
    let found = try await find(text, of: target)
    for scene in found {
      try await invoke(
        ScenesManagement.removeScene, .init(groupID: Self.group, sceneID: scene.number), on: scene.endpoint,
        of: target.device)
    }
    return found
  }

  private func scenes(of device: DeviceRecord, _ endpoint: EndpointID) async throws(HomeError) -> [StoredScene] {
    let table = try await invoke(
      ScenesManagement.getSceneMembership, .init(groupID: Self.group), on: endpoint, of: device)
    var scenes: [StoredScene] = []
    for number in (table.sceneList ?? []).sorted() {
      do throws(HomeError) {
        let scene = try await invoke(
          ScenesManagement.viewScene, .init(groupID: Self.group, sceneID: number), on: endpoint, of: device)
        scenes.append(
          StoredScene(
            endpoint: endpoint, number: number, name: scene.sceneName ?? "", transitionTime: scene.transitionTime ?? 0))
      } catch {
        // The scene may have been removed meanwhile.
        guard error.response(to: ScenesManagement.viewScene) != nil else { throw error }
      }
    }
    return scenes
  }

  private func find(_ text: String, of target: Target) async throws(HomeError) -> [StoredScene] {
    let all = try await scenes(of: target)
    let named = all.filter { HomeNames.same($0.name, text) }
    let found = named.isEmpty ? all.filter { "\($0.number)" == text } : named
    guard found.isEmpty else { return found }
    let names = unique(all.map { $0.name.isEmpty ? "\($0.number)" : $0.name })
    let known = names.isEmpty ? "it has none" : "it has \(names.joined(separator: ", "))"
    throw HomeError.unknown("no scene “\(text)”; \(known)", text, in: names, device: target.device.name)
  }
}
