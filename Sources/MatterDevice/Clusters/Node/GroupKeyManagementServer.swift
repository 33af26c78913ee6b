internal import MatterCertificates
internal import MatterClusters
internal import MatterModel
internal import MatterProtocol

enum GroupKeyHooks {
  /// Sets key set 0 of a new fabric to the identity protection key from AddNOC.
  static let setIdentityProtectionKey = ServerHook<GroupKeyManagement, (FabricIndex, [UInt8])>("setIPK")
}

extension RootNode {
  private typealias KeySet = GroupKeyManagement.GroupKeySetStruct
  private static let keySetLimit = 3

  /// Matter Core § 11.2.
  static let groupKeyManagement = ClusterServer(GroupKeyManagement.self)
    .onRead(GroupKeyManagement.maxGroupsPerFabric) { UInt16(clamping: $0.groupTable.maximumPerFabric) }
    .initial(GroupKeyManagement.maxGroupKeysPerFabric, UInt16(keySetLimit))
    .onRead(GroupKeyManagement.groupTable) { context in
      context.groupTable.entries.map {
        .init(groupId: $0.group, endpoints: $0.endpoints, groupName: $0.name, fabricIndex: $0.fabric)
      }
    }
    .onWrite(GroupKeyManagement.groupKeyMap) { context, map throws(StatusError) in
      let own = map.filter { $0.fabricIndex == context.subject.fabric }
      guard own.count <= context.groupTable.maximumPerFabric else { throw StatusError(.resourceExhausted) }
      guard own.allSatisfy({ $0.groupId != 0 && $0.groupKeySetID != 0 }),
        Set(own.map { UInt32($0.groupId.rawValue) << 16 | UInt32($0.groupKeySetID) }).count == own.count
      else { throw StatusError(.constraintError) }
    }
    .onChange(GroupKeyManagement.groupKeyMap) { context in context.node.areGroupsChanged = true }
    .on(GroupKeyManagement.keySetWrite) { context, request throws(StatusError) in
      try write(&context, request.groupKeySet)
    }
    .answer(GroupKeyManagement.keySetRead) { context, request throws(StatusError) in
      guard var set = keySet(context, context.subject.fabric, request.groupKeySetID) else {
        throw StatusError(.notFound)
      }
      (set.epochKey0, set.epochKey1, set.epochKey2) = (.null, .null, .null)
      return .init(groupKeySet: set)
    }
    .on(GroupKeyManagement.keySetRemove) { context, request throws(StatusError) in
      guard request.groupKeySetID != 0 else { throw StatusError(.invalidCommand) }
      let fabric = context.subject.fabric
      guard keySet(context, fabric, request.groupKeySetID) != nil else { throw StatusError(.notFound) }
      context[stored: key(fabric, request.groupKeySetID)] = nil
      context.node.areGroupsChanged = true
      context[GroupKeyManagement.groupKeyMap].removeAll {
        $0.fabricIndex == fabric && $0.groupKeySetID == request.groupKeySetID
      }
    }
    .answer(GroupKeyManagement.keySetReadAllIndices) { context, _ in
      .init(groupKeySetIDs: identifiers(context, context.subject.fabric))
    }
    .hook(GroupKeyHooks.setIdentityProtectionKey) { context, argument in
      let set = KeySet(
        groupKeySetID: 0, groupKeySecurityPolicy: .trustFirst, epochKey0: .value(OctetString(argument.1)),
        epochStartTime0: .value(0), epochKey1: .null, epochStartTime1: .null, epochKey2: .null, epochStartTime2: .null
      )
      context[stored: key(argument.0, 0)] = set.tlv
    }
    .onFabricRemoved { context, fabric in
      for key in context.storedKeys(prefix: "keyset/\(fabric.rawValue)/") { context[stored: key] = nil }
      context.node.areGroupsChanged = true
    }

  fileprivate static func key(_ fabric: FabricIndex, _ id: UInt16) -> String { "keyset/\(fabric.rawValue)/\(id)" }

  private static func keySet(_ context: ServerContext, _ fabric: FabricIndex, _ id: UInt16) -> KeySet? {
    context[stored: key(fabric, id)].flatMap { try? KeySet(tlv: $0) }
  }

  private static func identifiers(_ context: ServerContext, _ fabric: FabricIndex) -> [UInt16] {
    context.storedKeys(prefix: "keyset/\(fabric.rawValue)/").compactMap {
      $0.split(separator: "/").last.flatMap { UInt16($0) }
    }.sorted()
  }

  /// Matter Core § 11.2.7.1.
  private static func write(_ context: inout ServerContext, _ set: KeySet) throws(StatusError) {
    let fabric = context.subject.fabric
    guard set.groupKeySecurityPolicy.isKnown, set.groupKeyMulticastPolicy?.isKnown != false else {
      throw StatusError(.constraintError)
    }
    guard set.groupKeySecurityPolicy != .cacheAndSync else { throw StatusError(.invalidCommand) }
    let keys = [set.epochKey0.wrapped, set.epochKey1.wrapped, set.epochKey2.wrapped]
    let times = [set.epochStartTime0.wrapped, set.epochStartTime1.wrapped, set.epochStartTime2.wrapped]
    for key in keys { if let key, key.bytes.count != 16 { throw StatusError(.constraintError) } }
    guard let first = keys[0], let start = times[0], start != 0 else { throw StatusError(.invalidCommand) }
    var last = start
    for index in 1...2 {
      guard (keys[index] == nil) == (times[index] == nil) else { throw StatusError(.invalidCommand) }
      guard let time = times[index] else { continue }
      guard keys[index - 1] != nil, time > last else { throw StatusError(.invalidCommand) }
      last = time
    }
    let existing = identifiers(context, fabric)
    let limit = context.node.isFull(.groupKeys) ? 0 : keySetLimit
    guard existing.contains(set.groupKeySetID) || existing.count < limit else {
      throw StatusError(.resourceExhausted)
    }
    if set.groupKeySetID == 0, var updated = context.node.commissioning.fabric(fabric) {
      let derived = [keys[2], keys[1], first].compactMap { key in
        key.flatMap {
          try? FabricIdentity.operationalKey(epochKey: $0.bytes, compressedFabricID: updated.compressedFabricID)
        }
      }
      updated.identityProtectionKeys = derived
      context.put(updated)
    }
    context[stored: key(fabric, set.groupKeySetID)] = set.tlv
    context.node.areGroupsChanged = true
  }
}

extension ServerContext {
  /// Returns a key set of a fabric with its epoch keys; nil if it does not exist.
  func groupKeySet(_ id: UInt16, of fabric: FabricIndex) -> GroupKeyManagement.GroupKeySetStruct? {
    let path = ClusterPath(.root, GroupKeyManagement.id)
    guard let index = node.index(path), let bytes = node.clusters[index].stored[RootNode.key(fabric, id)] else {
      return nil
    }
    return try? GroupKeyManagement.GroupKeySetStruct(tlv: bytes)
  }
}
