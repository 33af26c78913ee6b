internal import MatterClusters
internal import MatterModel

/// The Extension attribute of Access Control: opaque data of a fabric's administrators. Matter Core § 9.10.5.7.
enum AccessControlExtension {
  private typealias Entry = AccessControl.AccessControlExtensionStruct
  private static let longest = 128

  static func write(
    _ context: inout ServerContext, _ entries: [AccessControl.AccessControlExtensionStruct]
  ) throws(StatusError) {
    let fabric = context.subject.fabric
    let new = entries.filter { $0.fabricIndex == fabric }
    guard new.count <= 1, new.allSatisfy({ isWellFormed($0.data.bytes) }) else { throw StatusError(.constraintError) }
    let old = context[AccessControl.extension].first { $0.fabricIndex == fabric }
    switch (old, new.first) {
    case (nil, nil): break
    case (nil, let entry?): report(&context, .added, entry)
    case (_?, let entry?): report(&context, .changed, entry)
    case (let entry?, nil): report(&context, .removed, entry)
    }
  }

  /// Returns whether the data is one anonymous list whose members all have profile-specific tags.
  private static func isWellFormed(_ data: [UInt8]) -> Bool {
    guard data.count <= longest else { return false }
    let span = data.span.bytes
    var reader = TLVReader()
    do {
      guard try reader.next(span), reader.type == .list, reader.tag == .anonymous else { return false }
      try reader.enter(span)
      while try reader.next(span) {
        switch reader.tag {
        case .common, .implicit, .qualified: break
        case .anonymous, .context: return false
        }
      }
      try reader.leave(span)
      return reader.offset == data.count
    } catch {
      return false
    }
  }

  private static func report(_ context: inout ServerContext, _ type: AccessControl.ChangeType, _ entry: Entry) {
    let subject = context.subject
    context.emit(
      AccessControl.accessControlExtensionChanged,
      .init(
        adminNodeID: subject.adminNodeID, adminPasscodeID: subject.adminPasscodeID, changeType: type,
        latestValue: .value(entry), fabricIndex: entry.fabricIndex))
  }
}

// The administrator in events. Matter Core § 9.10.9.
extension Subject {
  var adminNodeID: Nullable<NodeID> { kind == .case ? .value(node) : .null }
  var adminPasscodeID: Nullable<UInt16> { kind == .pase ? .value(0) : .null }
}
