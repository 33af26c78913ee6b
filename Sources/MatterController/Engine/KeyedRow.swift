/// A dictionary whose values are stored in an array, so that a property of one can be read or changed in place for each
/// message: a dictionary would copy the value, or allocate.
struct KeyedRow<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  private var positions: [Key: Int] = [:]
  /// In no particular order; nil at the positions of removed values, which `free` lists, and at the first, which stands
  /// for all keys without a value.
  private var row: [Value?] = [nil]
  private var free: [Int] = []

  /// Returns or changes a value; nil removes it. Inlined, so that reading a property does not copy the value.
  subscript(key: Key) -> Value? {
    @inline(__always) get { row[positions[key] ?? 0] }
    _modify {
      let position = positions[key] ?? free.popLast() ?? row.count
      if position == row.count { row.append(nil) }
      defer { positions[key] = row[position] == nil ? nil : position }
      defer { if row[position] == nil { free.append(position) } }
      yield &row[position]
    }
  }

  var count: Int { positions.count }
  var keys: some Collection<Key> { positions.keys }
  var values: some Sequence<Value> { row.lazy.compactMap { $0 } }
}
