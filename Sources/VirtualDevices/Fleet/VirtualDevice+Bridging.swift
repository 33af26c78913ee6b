internal import MatterDevice
internal import MatterProtocol
internal import Runtime
package import Yams

// Devices that are added to a bridge or removed while it runs.
extension VirtualDevice {
  /// Adds devices behind the bridge, until the process ends. A device that was behind it before has its previous
  /// endpoint and unique ID.
  package func add(_ devices: [DeviceDefinition]) throws(ControlError) {
    try checkIsBridge()
    let present = Set(definition.bridged.map { $0.path.lowercased() })
    if let again = devices.first(where: { present.contains($0.path.lowercased()) }) {
      throw ControlError(.refused, "“\(again.path)” is behind the bridge already")
    }
    let count = definition.bridged.count + devices.count
    guard count <= DefinitionResolver.bridgedLimit else {
      throw ControlError(.refused, "\(count) devices behind one bridge; at most \(DefinitionResolver.bridgedLimit)")
    }
    try replaceBridged(definition.bridged + devices)
  }

  /// Removes a device behind the bridge, until the process ends. Its endpoint is not used for another device.
  package func remove(_ path: String) throws(ControlError) {
    try checkIsBridge()
    guard let found = definition.bridged.first(where: { $0.path == path }) else {
      throw ControlError(.notFound, "no device “\(path)” is behind the bridge")
    }
    faults[path] = nil
    withoutPower.remove(path)
    try replaceBridged(definition.bridged.filter { $0.uniqueID != found.uniqueID })
  }

  private func checkIsBridge() throws(ControlError) {
    guard definition.kind == .bridge else { throw ControlError(.refused, "it is not a bridge") }
    guard host != nil else { throw ControlError(.noPower, "the device has no power") }
  }

  /// Parses the text of one entry of `devices` behind this bridge: `{ name: Spot, type: on/off light }`.
  package func parse(bridged text: String) throws(ControlError) -> [DeviceDefinition] {
    do {
      let document = YAMLDocument(file: "device", text: text)
      guard let node = try document.root() else { throw ControlError(.badRequest, "no device is described") }
      return try definition.bridgedDevices(node, in: document)
    } catch let error as ControlError {
      throw error
    } catch let error as DefinitionError {
      // The positions are those in a text of `hearth sim add`.
      let problems = error.problems.map { "\($0)".replacing("\($0.mark): ", with: "") }
      throw ControlError(.badRequest, problems.joined(separator: "\n"))
    } catch {
      throw ControlError(.badRequest, "\(error)")
    }
  }
}

extension DeviceDefinition {
  /// Parses an entry of `devices` behind this bridge. Derived values such as unique IDs are the same as for an entry of
  /// the definition file.
  package func bridgedDevices(
    _ node: Node, in document: YAMLDocument
  ) throws(DefinitionError) -> [DeviceDefinition] {
    var reader = DefinitionReader(
      file: document.file, text: document.text, catalogue: .all, opening: HomeDefinition.openFile)
    let draft = reader.readDevice(node, as: .bridged)
    guard let draft, reader.problems.isEmpty else { throw DefinitionError(problems: reader.problems) }
    let bridge = DeviceDraft(definition: self, name: Marked(value: name, mark: mark), bridged: [draft])
    var resolver = DefinitionResolver()
    let bridges = resolver.resolve([FileDraft(devices: [bridge])]).devices
    // Devices that run already do not share further attributes.
    let expressions = bridges.flatMap(\.bridged).flatMap(\.expressions).flatMap { $0.expression.operands }.map {
      DefinitionProblem(
        at: $0.mark, found: "an expression", expected: "another course in a device that is added while the home runs")
    }
    let problems = resolver.problems + bridges.flatMap(DeviceAssembly.problems) + expressions
    guard problems.isEmpty else { throw DefinitionError(problems: problems) }
    return bridges.flatMap(\.bridged)
  }
}
