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
    try column(index) { if case .int64(let value) = $0 { Number(exactly: value) } else { nil } }
  }

  package func number<Number: FixedWidthInteger>(_ index: Int, as _: Number.Type = Number.self) throws -> Number {
    try required(optionalNumber(index), index)
  }

  /// A text, or nil for NULL.
  package func optionalText(_ index: Int) throws -> String? {
    try column(index) { if case .string(let text) = $0 { text } else { nil } }
  }

  package func text(_ index: Int) throws -> String { try required(optionalText(index), index) }

  /// Bytes, or nil for NULL.
  package func optionalBytes(_ index: Int) throws -> [UInt8]? {
    try column(index) { if case .blob(let data) = $0 { [UInt8](data) } else { nil } }
  }

  package func bytes(_ index: Int) throws -> [UInt8] { try required(optionalBytes(index), index) }

  /// - Parameter convert: returns nil for a value of another type or range.
  private func column<Value>(_ index: Int, _ convert: (DatabaseValue.Storage) -> Value?) throws -> Value? {
    guard index < count else { throw DamagedColumn(name: "\(index)", value: "nothing") }
    let stored = try decode(DatabaseValue.self, atIndex: index)
    return stored.isNull ? nil : try required(convert(stored.storage), index)
  }

  private func required<Value>(_ value: Value?, _ index: Int) throws -> Value {
    if let value { return value }
    let stored = (try? decode(DatabaseValue.self, atIndex: index)).map { "\($0)" } ?? "nothing"
    throw DamagedColumn(
      name: columnNames.dropFirst(index).first ?? "\(index)", value: String(stored.prefix(40)))
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
