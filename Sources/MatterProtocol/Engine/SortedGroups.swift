/// Members by key, such as the subscriptions of each node. The members of a key are sorted, and finding them takes no longer
/// if there are more of other keys.
public struct SortedGroups<Key: Hashable & Sendable, Member: Comparable & Sendable>: Sendable {
  @usableFromInline var groups: [Key: [Member]] = [:]
  /// An empty group, whose memory the next group uses.
  @usableFromInline var spare: [Member] = []

  @inlinable public init() {}

  /// Returns the members of a key, sorted.
  @inlinable public subscript(key: Key) -> [Member] { groups[key] ?? [] }

  /// Whether a key has members.
  @inlinable public func contains(_ key: Key) -> Bool { groups[key] != nil }

  /// Moves a member from one key to another; nil is no key. A member is at most once in the group of a key.
  @inlinable public mutating func move(_ member: Member, from old: Key?, to new: Key?) {
    guard old != new else { return }
    if let old, let position = groups.index(forKey: old) {
      let index = groups.values[position].insertionIndex(of: member)
      if index < groups.values[position].count, groups.values[position][index] == member {
        groups.values[position].remove(at: index)
      }
      if groups.values[position].isEmpty { spare = groups.remove(at: position).value }
    }
    guard let new else { return }
    guard let position = groups.index(forKey: new) else {
      spare.append(member)
      groups[new] = spare
      spare = []
      return
    }
    let index = groups.values[position].insertionIndex(of: member)
    if index < groups.values[position].count, groups.values[position][index] == member { return }
    groups.values[position].insert(member, at: index)
  }
}

extension Array where Element: Comparable {
  /// Returns the position of the first element of a sorted array that is not less than `element`.
  @inlinable func insertionIndex(of element: Element) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if self[middle] < element { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
