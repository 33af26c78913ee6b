/// The secured sessions of a node, by our own number.
///
/// They lie in a row, so that every message can look at its session and change it in place, where a dictionary would copy the
/// session, or allocate.
struct SessionTable: Sendable {
  private var positions: [UInt16: Int] = [:]
  /// In no order that means anything. A position is good until the next session is added or removed.
  var row: [SecureSession] = []

  var count: Int { row.count }

  func position(of number: UInt16) -> Int? { positions[number] }

  subscript(number: UInt16) -> SecureSession? {
    get { positions[number].map { row[$0] } }
    set {
      guard let newValue else {
        _ = remove(number)
        return
      }
      if let position = positions[number] {
        row[position] = newValue
      } else {
        positions[number] = row.count
        row.append(newValue)
      }
    }
  }

  /// Takes a session out; the last one moves to its place.
  mutating func remove(_ number: UInt16) -> SecureSession? {
    guard let position = positions.removeValue(forKey: number) else { return nil }
    let removed = row[position]
    let last = row.removeLast()
    if position < row.count {
      row[position] = last
      positions[UInt16(last.info.id.rawValue)] = position
    }
    return removed
  }
}
