package import HearthHome
package import MatterController

extension Home {
  /// Removes devices from the fabric and the home, one after the other. A bridged device is removed with its bridge if
  /// that is a target as well.
  /// - Parameter texts: the targets; of a room, all devices.
  /// - Returns: each device, and whether it left the fabric itself.
  package func remove(
    _ texts: [String], force: Bool
  ) async throws(HomeError) -> [(device: DeviceRecord, result: Result<Removal, HomeError>)] {
    let targets = try await registry.resolve(all: texts)
    let all = unique(targets.map(\.device), by: \.id)
    let nodes = Set(all.filter { !$0.isBridged }.map(\.nodeID))
    let devices = all.filter { device in
      !device.entry.sources.allSatisfy { $0.id.isBridged && nodes.contains($0.id.node) }
    }
    var results: [(device: DeviceRecord, result: Result<Removal, HomeError>)] = []
    for device in devices {
      let result = await Result { () async throws(HomeError) in try await remove(device, force: force) }
      results.append(((try? result.get())?.device ?? device, result.map { $0.removal }))
    }
    return results
  }

  /// Returns the group with this name or number.
  /// - Throws: `notFound`; `ambiguousTarget` if several groups have the name.
  package func group(_ text: String) async throws(HomeError) -> GroupRecord {
    let groups = try await groups
    if let number = UInt32(numeral: text), let found = groups.first(where: { $0.id.rawValue == number }) {
      return found
    }
    let named = groups.filter { $0.name.lowercased() == text.lowercased() }
    guard named.count <= 1 else {
      throw HomeError(
        .ambiguousTarget, "several groups are called “\(text)”; use its number",
        candidates: named.map { "\($0.id.rawValue)" })
    }
    guard let found = named.first else {
      throw HomeError(
        .notFound,
        groups.isEmpty
          ? "no groups yet; create one with `hearth group create NAME`" : "there is no group “\(text)”",
        candidates: groups.map(\.name).filter { !$0.isEmpty })
    }
    return found
  }
}
