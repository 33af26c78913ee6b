internal import MatterClusters
internal import MatterModel
internal import MatterProtocol

// Updates the messaging core and the joined multicast addresses from Group Key Management and the group table.
extension DeviceEngine {
  mutating func followGroups() {
    let table = context.groupTable
    let map = context[GroupKeyManagement.groupKeyMap, on: .root]
    var addresses: [IPAddress] = []
    for fabric in context.node.commissioning.fabrics {
      let sets = keySets(of: fabric, map.filter { $0.fabricIndex == fabric.index })
      core.setGroupKeys(sets, of: fabric.index)
      for entry in table.entries where entry.fabric == fabric.index {
        guard let set = sets.first(where: { $0.groups.contains(entry.group) }) else { continue }
        let address = set.address(of: entry.group, fabricID: fabric.fabricID)
        if !addresses.contains(address) { addresses.append(address) }
      }
    }
    for address in joined where !addresses.contains(address) { effects.append(.leave(address)) }
    for address in addresses where !joined.contains(address) { effects.append(.join(address)) }
    joined = addresses
  }

  /// Returns the key sets with mapped groups. Keys that were derived before are reused.
  private func keySets(of fabric: Fabric, _ map: [GroupKeyManagement.GroupKeyMapStruct]) -> [GroupKeySet] {
    let known = core.groupKeys(of: fabric.index).flatMap(\.keys)
    return Set(map.map(\.groupKeySetID)).sorted().compactMap { id in
      guard id != 0, let stored = context.groupKeySet(id, of: fabric.index) else { return nil }
      let keys = [stored.epochKey0, stored.epochKey1, stored.epochKey2].compactMap(\.wrapped).compactMap { epochKey in
        known.first { $0.epochKey == epochKey.bytes }
          ?? (try? GroupKey(epochKey: epochKey.bytes, compressedFabricID: fabric.compressedFabricID))
      }
      return GroupKeySet(
        id: id, keys: keys, groups: map.filter { $0.groupKeySetID == id }.map(\.groupId),
        usesAllNodesAddress: stored.groupKeyMulticastPolicy == .allNodes)
    }
  }

  // MARK: Messages to groups

  /// Handles a message to a group, which gets no response. Matter Core § 8.2.4.
  mutating func receive(_ message: GroupMessage) {
    context.subject = Subject(.group, fabric: message.fabric, node: .group(message.group))
    defer { context.subject = .device }
    switch InteractionOpcode(message.opcode) {
    case .invokeRequest:
      let bytes = message.bytes.span.bytes.extracting(message.payload)
      guard let request = try? InvokeRequestReader(bytes), !request.isTimed,
        var job = try? InvokeJob(
          request, bytes, isGroup: true, limit: Int(configuration.parameters.maximumPathsPerInvoke))
      else { return core.countDrop(.unexpectedMessage) }
      job.run(bytes, &context)
    case .writeRequest:
      guard let request = try? WriteRequest(decoding: message.bytes[message.payload]), !request.isTimed,
        !request.moreChunkedMessages
      else { return core.countDrop(.unexpectedMessage) }
      var job = WriteJob(isTimed: false)
      // A group message must not name an endpoint, since endpoints differ between members. Matter Core § 8.7.2.3.
      _ = job.run(request.writes.filter { $0.path.endpoint == nil }, &context)
    default: return core.countDrop(.unexpectedMessage)
    }
    applyRequests(current: nil)
  }
}

extension ServerContext {
  /// Returns whether the current subject addresses the endpoint: a group addresses the endpoints that are its members.
  func isAddressed(_ endpoint: EndpointID) -> Bool {
    guard subject.isGroup else { return true }
    let group = GroupID(UInt16(truncatingIfNeeded: subject.node.rawValue))
    return groupTable.contains(group, fabric: subject.fabric, endpoint: endpoint)
  }
}
