package import MatterClusters
internal import MatterController

/// An entry of a device's access control list: the subjects, their privilege, and the targets.
package typealias AccessEntry = AccessControl.AccessControlEntryStruct
/// The privilege of an entry: view, operate, manage or administer. Matter Core § 9.10.
package typealias AccessPrivilege = AccessControl.AccessControlEntryPrivilege

// The entries of this home's fabric in a device's access control list, for editing.
extension [ScopedEntry<AccessEntry>] {
  /// The guaranteed capacity of an entry in subjects and targets. Matter Core § 9.10.6.
  private static let guaranteedSubjects = 4, guaranteedTargets = 3

  /// Whether the list permits a node to change it. Matter Core § 6.6.6.
  func allowsAdministration(_ node: NodeID) -> Bool { contains { $0.entry.allowsAdministration(by: node) } }

  /// Adds an entry, or extends one that differs only in the subjects, or only in the targets. An entry by which `own`
  /// administers the device is not extended.
  /// - Returns: whether anything changed.
  mutating func grant(_ new: AccessEntry, own: NodeID) -> Bool {
    let subjects = new.subjects.wrapped ?? []
    let targets = new.targets.wrapped ?? []
    for index in indices {
      let entry = self[index].entry
      guard entry.privilege == new.privilege, entry.authMode == new.authMode else { continue }
      let (knownSubjects, knownTargets) = (entry.subjects.wrapped ?? [], entry.targets.wrapped ?? [])
      if Self.covers(knownSubjects, subjects) && Self.covers(knownTargets, targets) { return false }
      guard !entry.allowsAdministration(by: own) else { continue }
      if knownTargets == targets, let joined = Self.joined(knownSubjects, subjects, Self.guaranteedSubjects) {
        self[index] = self[index].changing { $0.subjects = .value(joined) }
        return true
      }
      if knownSubjects == subjects, let joined = Self.joined(knownTargets, targets, Self.guaranteedTargets) {
        self[index] = self[index].changing { $0.targets = .value(joined) }
        return true
      }
    }
    append(Element(new))
    return true
  }

  /// Removes the entry with this number, counted from 1, and returns it; nil if there is none.
  mutating func remove(number: Int) -> Element? {
    guard number >= 1, number <= count else { return nil }
    return remove(at: number - 1)
  }

  /// Removes the right of one subject to one target, unless an entry combines it with the rights of others.
  /// - Returns: whether anything changed.
  mutating func revoke(_ old: AccessEntry) -> Bool {
    guard let subject = old.subjects.wrapped?.first, let target = old.targets.wrapped?.first else { return false }
    for index in indices {
      let entry = self[index].entry
      guard entry.privilege == old.privilege, entry.authMode == old.authMode,
        let subjects = entry.subjects.wrapped, let targets = entry.targets.wrapped,
        subjects.contains(subject), targets.contains(target)
      else { continue }
      if subjects.count == 1 && targets.count == 1 {
        remove(at: index)
      } else if targets.count == 1 {
        self[index] = self[index].changing { $0.subjects = .value(subjects.filter { $0 != subject }) }
      } else if subjects.count == 1 {
        self[index] = self[index].changing { $0.targets = .value(targets.filter { $0 != target }) }
      } else {
        // Splitting the entry would remove rights of others.
        continue
      }
      return true
    }
    return false
  }

  /// Whether a list includes the wanted values; an empty one includes everything.
  private static func covers<Value: Hashable>(_ has: [Value], _ wanted: [Value]) -> Bool {
    has.isEmpty || (!wanted.isEmpty && Set(wanted).isSubset(of: has))
  }

  private static func joined<Value: Hashable>(_ has: [Value], _ more: [Value], _ limit: Int) -> [Value]? {
    guard !has.isEmpty, !more.isEmpty else { return nil }
    let result = has + more.filter { !has.contains($0) }
    return result.count <= limit ? result : nil
  }
}
