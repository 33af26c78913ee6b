internal import MatterClusters
internal import MatterModel

enum AccessControlHooks {
  /// Adds an entry without checking it.
  static let add = ServerHook<AccessControl, AccessControl.AccessControlEntryStruct>("add")
}

extension RootNode {
  private typealias Entry = AccessControl.AccessControlEntryStruct
  private static let subjectLimit = 4, targetLimit = 3, entryLimit = 4

  /// Matter Core § 9.10.
  static let accessControl = ClusterServer(AccessControl.self, features: [AccessControl.extensionFeature])
    .initial(AccessControl.subjectsPerAccessControlEntry, UInt16(subjectLimit))
    .initial(AccessControl.targetsPerAccessControlEntry, UInt16(targetLimit))
    .initial(AccessControl.accessControlEntriesPerFabric, UInt16(entryLimit))
    .onStart { context in context.node.acl.entries = context[AccessControl.acl] }
    .onWrite(AccessControl.acl) { context, entries throws(StatusError) in
      let fabric = context.subject.fabric
      let own = entries.filter { $0.fabricIndex == fabric }
      guard own.count <= (context.node.isFull(.accessControl) ? 1 : entryLimit) else {
        throw StatusError(.resourceExhausted)
      }
      for entry in own { try check(entry) }
      let old = context[AccessControl.acl].filter { $0.fabricIndex == fabric }
      reportChanges(&context, from: old, to: own)
    }
    .onWrite(AccessControl.extension) { context, entries throws(StatusError) in
      try AccessControlExtension.write(&context, entries)
    }
    .onChange(AccessControl.acl) { context in context.node.acl.entries = context[AccessControl.acl] }
    .hook(AccessControlHooks.add) { context, entry in
      context[AccessControl.acl].append(entry)
      reportChange(&context, .added, entry)
    }

  /// Matter Core § 9.10.5.6.
  private static func check(_ entry: Entry) throws(StatusError) {
    guard entry.privilege.isKnown, entry.authMode.isKnown else { throw StatusError(.constraintError) }
    // PASE sessions have implicit privileges, and groups may not administer.
    guard entry.authMode != .pase, entry.authMode != .group || entry.privilege != .administer else {
      throw StatusError(.constraintError)
    }
    let subjects = entry.subjects.wrapped ?? []
    let targets = entry.targets.wrapped ?? []
    guard subjects.count <= subjectLimit, targets.count <= targetLimit else { throw StatusError(.resourceExhausted) }
    for subject in subjects {
      let tag = CASEAuthenticatedTag(UInt32(truncatingIfNeeded: subject.rawValue))
      let isValid =
        entry.authMode == .group
        ? 1...0xFFFF ~= subject.rawValue
        : subject.isOperational || (subject.isTag && tag.version > 0)
      guard isValid else { throw StatusError(.constraintError) }
    }
    for target in targets {
      let isEmpty = target.cluster == .null && target.endpoint == .null && target.deviceType == .null
      // Endpoint and device type exclude each other.
      guard !isEmpty, target.endpoint == .null || target.deviceType == .null,
        target.cluster.wrapped?.isValid ?? true, target.deviceType.wrapped.map(isValid) ?? true,
        target.endpoint.wrapped.map({ $0.rawValue != 0xFFFF }) ?? true
      else { throw StatusError(.constraintError) }
    }
  }

  private static func isValid(_ type: DeviceTypeID) -> Bool {
    type.rawValue >> 16 <= 0xFFF4 && type.rawValue & 0xFFFF <= 0xBFFF
  }

  // MARK: Events

  /// Emits an event for each index of the list that changed. Replacing the whole list also counts as a change of equal
  /// entries. Matter Core § 9.10.9.1.
  private static func reportChanges(_ context: inout ServerContext, from old: [Entry], to new: [Entry]) {
    for (index, entry) in new.enumerated() {
      if index >= old.count {
        reportChange(&context, .added, entry)
      } else if context.isReplacingList || old[index] != entry {
        reportChange(&context, .changed, entry)
      }
    }
    for entry in old.dropFirst(new.count).reversed() { reportChange(&context, .removed, entry) }
  }

  private static func reportChange(
    _ context: inout ServerContext, _ type: AccessControl.ChangeType, _ entry: Entry
  ) {
    let subject = context.subject
    context.emit(
      AccessControl.accessControlEntryChanged,
      .init(
        adminNodeID: subject.adminNodeID, adminPasscodeID: subject.adminPasscodeID, changeType: type,
        latestValue: .value(entry), fabricIndex: entry.fabricIndex))
  }
}
