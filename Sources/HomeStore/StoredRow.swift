internal import Foundation
package import GRDB

/// A value in the database that has another type or range than this program writes.
struct DamagedColumn: Error, CustomStringConvertible {
  let name: String
  let value: String

  var description: String { "the column “\(name)” holds \(value)" }
}

/// Reads columns with checked types. GRDB's subscripts trap if a value has another type.
extension Row {
  /// A number, or nil for NULL.
  package func optionalNumber<Number: FixedWidthInteger>(_ index: Int, as _: Number.Type = Number.self) throws
    -> Number?
  {
    switch try storage(index) {
    case .null: return nil
    case .int64(let value):
      guard let number = Number(exactly: value) else { throw damage(index) }
      return number
    default: throw damage(index)
    }
  }

  package func number<Number: FixedWidthInteger>(_ index: Int, as _: Number.Type = Number.self) throws -> Number {
    guard let number = try optionalNumber(index, as: Number.self) else { throw damage(index) }
    return number
  }

  /// A text, or nil for NULL.
  package func optionalText(_ index: Int) throws -> String? {
    switch try storage(index) {
    case .null: return nil
    case .string(let text): return text
    default: throw damage(index)
    }
  }

  package func text(_ index: Int) throws -> String {
    guard let text = try optionalText(index) else { throw damage(index) }
    return text
  }

  /// Bytes, or nil for NULL.
  package func optionalBytes(_ index: Int) throws -> [UInt8]? {
    // Checked first, because the conversion also accepts a text.
    switch try storage(index) {
    case .null: return nil
    case .blob(let data): return [UInt8](data)
    default: throw damage(index)
    }
  }

  package func bytes(_ index: Int) throws -> [UInt8] {
    guard let bytes = try optionalBytes(index) else { throw damage(index) }
    return bytes
  }

  private func storage(_ index: Int) throws -> DatabaseValue.Storage {
    guard index < count else { throw DamagedColumn(name: "\(index)", value: "nothing") }
    return try decode(DatabaseValue.self, atIndex: index).storage
  }

  private func damage(_ index: Int) -> DamagedColumn {
    let names = Array(columnNames)
    let value = (try? decode(DatabaseValue.self, atIndex: index)).map { "\($0)" } ?? "nothing"
    return DamagedColumn(
      name: names.indices.contains(index) ? names[index] : "\(index)", value: String(value.prefix(40)))
  }
}

extension Database {
  /// Executes a query, whose statement is cached.
  package func rows(_ sql: String, _ arguments: StatementArguments = []) throws -> RowCursor {
    try Row.fetchCursor(cachedStatement(sql: sql), arguments: arguments)
  }
}

extension Statement {
  /// Returns the first column of the first row; nil for NULL and without a row.
  package func number<Number: FixedWidthInteger>(
    _ arguments: StatementArguments = [], as _: Number.Type = Number.self
  ) throws -> Number? {
    try Row.fetchOne(self, arguments: arguments).flatMap { try $0.optionalNumber(0) }
  }

  /// Returns the first column of the first row; nil for NULL and without a row.
  package func text(_ arguments: StatementArguments = []) throws -> String? {
    try Row.fetchOne(self, arguments: arguments).flatMap { try $0.optionalText(0) }
  }
}
