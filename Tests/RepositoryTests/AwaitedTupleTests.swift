import Foundation
import Testing

/// Finds tuples affected by a miscompilation of Swift 6.3.1: at `-O` the other elements are lost if the result of a
/// throwing call is awaited in a returned tuple, or tried in one below `do throws(E)`: `return (index, .success(try
/// await …))`. Debug builds are not affected.
enum AwaitedTuple {
  /// Returns the lines on which such a tuple begins.
  static func lines(in text: String) -> [Int] {
    if text.offsets(of: "return (").isEmpty { return [] }
    let code = text.split(separator: "\n", omittingEmptySubsequences: false).map { SwiftFile.code($0) }
    let hasTypedErrors = !text.offsets(of: "do throws(").isEmpty
    var result: [Int] = []
    // The brace depth of each open `do throws`.
    var typed: [Int] = []
    var depth = 0
    for (index, line) in code.enumerated() {
      if hasTypedErrors, !line.offsets(of: "do throws(").isEmpty { typed.append(depth) }
      if let tuple = returned(code[index...]) {
        let isAwaited = tuple.contains("try await ")
        if isAwaited || !typed.isEmpty && tuple.contains("try ") { result.append(index + 1) }
      }
      guard hasTypedErrors else { continue }
      for byte in line.utf8 {
        if byte == UInt8(ascii: "{") { depth += 1 }
        if byte == UInt8(ascii: "}") {
          depth -= 1
          if let last = typed.last, depth <= last { typed.removeLast() }
        }
      }
    }
    return result
  }

  /// The tuple returned by the first line, up to its closing parenthesis; nil if it returns none.
  private static func returned(_ lines: ArraySlice<Substring>) -> String? {
    guard let start = lines.first?.offsets(of: "return (").first else { return nil }
    let text = lines.prefix(12).joined(separator: "\n")
    var (tuple, depth, isTuple) = ("", 1, false)
    for character in text[text.index(utf8: start + 8)...] {
      if "([{".contains(character) { depth += 1 }
      if ")]}".contains(character) { depth -= 1 }
      if depth == 0 { break }
      if depth == 1, character == "," { isTuple = true }
      tuple.append(character)
    }
    return isTuple ? tuple : nil
  }
}

@Suite("Awaited tuples") struct AwaitedTupleTests {
  @Test("no returned tuple awaits a result") func sources() {
    #expect(Repository.tests.count > 50, "the tests were not found below \(Repository.root.path)")
    for file in Repository.sources + Repository.tests where !file.path.hasSuffix("AwaitedTupleTests.swift") {
      for line in AwaitedTuple.lines(in: file.text) {
        Issue.record("\(file.path):\(line): a release build may lose an element; store the result before the tuple")
      }
    }
  }

  @Test(
    "finds each form of the defect",
    arguments: [
      ("do throws(HomeError) {\n  return (index, .success(try await read()))\n} catch {}", [2]),
      ("do {\n  return (\n    index,\n    Result(try await read()))\n} catch {}", [2]),
      ("do throws(HomeError) {\n  if isNew { return (try read(), true) }\n} catch {}", [2]),
      ("do throws(HomeError) {\n  let value = try await read()\n  return (index, value)\n} catch {}", []),
      ("do throws(HomeError) {\n  return .success(try await read(1, 2))\n} catch {}", []),
      ("do throws(HomeError) { try go() } catch {}\nreturn (try read(), true)", []),
      ("return (index, value) // (1, try await read())", []),
    ])
  func finds(_ text: String, lines: [Int]) {
    #expect(AwaitedTuple.lines(in: text) == lines)
  }
}
