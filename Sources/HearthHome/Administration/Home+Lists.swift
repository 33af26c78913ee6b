internal import MatterClusters
internal import MatterController
internal import MatterModel
internal import MatterProtocol

extension Home {
  /// Reads the entries of this home's fabric in a list.
  func scopedList<C: Cluster, Entry: FabricScoped>(
    _ attribute: MatterModel.Attribute<C, [Entry]>, on endpoint: EndpointID, of device: DeviceRecord
  ) async throws(HomeError) -> ScopedList<Entry> {
    let path = attribute.path(on: endpoint)
    let own = OperationalCredentials.currentFabricIndex
    let report = try await read(device, [AttributePath(path), AttributePath(own.path(on: .root))])
    if let refused = report.statuses.first(where: { $0.path.matches(path) }) {
      throw HomeError(refused.status, of: C.id).about(device)
    }
    guard let list = report[path], let index = try? report.value(of: own, on: .root) else {
      throw HomeError(.refused, "the device did not report its \(attribute.name)", device: device.name)
    }
    do {
      return try ScopedList(list.value, dataVersion: list.dataVersion, fabric: index)
    } catch {
      throw HomeError(
        .refused, "the device's \(attribute.name) can't be read: \(error)", device: device.name, cause: error)
    }
  }

  /// Edits the entries of this home's fabric in a list: reads them, applies `body`, and writes all of them with the
  /// data version. Retries after a concurrent change.
  /// - Parameter body: returns whether there are changes to write.
  func changeScopedList<C: Cluster, Entry: FabricScoped, Outcome: Sendable>(
    _ attribute: MatterModel.Attribute<C, [Entry]>, on endpoint: EndpointID, of device: DeviceRecord,
    _ body: (inout [ScopedEntry<Entry>]) throws(HomeError) -> (outcome: Outcome, isChanged: Bool)
  ) async throws(HomeError) -> Outcome {
    var conflicts = 0
    while true {
      var list: ScopedList<Entry> = try await scopedList(attribute, on: endpoint, of: device)
      let (outcome, isChanged) = try body(&list.entries)
      guard isChanged else { return outcome }
      let write = AttributeWrite(
        attribute.path(on: endpoint), dataVersion: list.dataVersion, value: list.encoded)
      do throws(HomeError) {
        try await self.write(device, [write], isTimed: false)
        return outcome
      } catch {
        conflicts += 1
        guard error.status?.code == .dataVersionMismatch, conflicts < 4 else { throw error }
      }
    }
  }
}
