/// The secured sessions of a node, keyed by local session id.
///
/// The sessions are stored in an array, so that a session can be changed in place for each message; changing one in a
/// dictionary would copy the session or allocate.
struct SessionTable: Sendable {
  private var positions: [UInt16: Int] = [:]
  /// The sessions in no particular order. Adding or removing a session invalidates positions.
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

  /// Removes and returns a session; the last one moves to its position.
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
