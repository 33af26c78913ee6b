internal import HomeModel
internal import WebClient

/// The arguments of a command. Null counts as absent.
struct CommandArguments {
  let command: String
  let values: JSONValue
  let role: HomeRole
  /// The number of its connection.
  let client: Int

  func require(_ role: HomeRole) throws(MatterServerError) {
    guard self.role >= role else {
      throw MatterServerError(.unknown, "\(command): access denied for a \(self.role.rawValue); ask the home's owner")
    }
  }

  func require(_ privilege: Privilege) throws(MatterServerError) {
    guard role.privilege.grants(privilege) else { return try require(.owner) }
  }

  func callAsFunction(_ name: String) -> JSONValue? {
    let value = values[name]
    return value?.isNull == true ? nil : value
  }

  func invalid(_ reason: String) -> MatterServerError { MatterServerError(.invalidArguments, "\(command): \(reason)") }

  func integer<T: FixedWidthInteger>(_ name: String) throws(MatterServerError) -> T {
    guard let value: T = try optionalInteger(name) else { throw invalid("\(name) is missing") }
    return value
  }

  func optionalInteger<T: FixedWidthInteger>(_ name: String) throws(MatterServerError) -> T? {
    guard let value = self(name) else { return nil }
    guard let number = value.integer(as: T.self) else { throw invalid("\(name) is not an integer in range") }
    return number
  }

  func optionalInteger<T: FixedWidthInteger>(
    _ name: String, in range: ClosedRange<T>
  ) throws(MatterServerError) -> T? {
    guard let number: T = try optionalInteger(name) else { return nil }
    guard range.contains(number) else {
      throw invalid("\(name) is \(number); expected \(range.lowerBound) to \(range.upperBound)")
    }
    return number
  }

  func text(_ name: String) throws(MatterServerError) -> String {
    guard let text = try optionalText(name) else { throw invalid("\(name) is missing") }
    return text
  }

  func optionalText(_ name: String) throws(MatterServerError) -> String? {
    guard let value = self(name) else { return nil }
    guard let text = value.text else { throw invalid("\(name) is not a string") }
    return text
  }

  func flag(_ name: String) throws(MatterServerError) -> Bool? {
    guard let value = self(name) else { return nil }
    guard let flag = value.bool else { throw invalid("\(name) is not a boolean") }
    return flag
  }

  func array(_ name: String) throws(MatterServerError) -> JSONValue {
    guard let value = self(name), value.array != nil else { throw invalid("\(name) is not an array") }
    return value
  }

  func nodeID() throws(MatterServerError) -> NodeID { NodeID(try integer("node_id")) }
}
