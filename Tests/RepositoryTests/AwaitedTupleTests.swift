import Foundation
import Testing

/// Finds tuples affected by a miscompilation of Swift 6.3.1: at `-O` the other elements are lost if the result of a
/// throwing call is awaited in a returned tuple, or tried in one below `do throws(E)`: `return (index, .success(try
/// await …))`. Debug builds are not affected.
enum AwaitedTuple {
  /// Returns the lines on which such a tuple begins.
  static func lines(in text: String) -> [Int] {
    let code = text.split(separator: "\n", omittingEmptySubsequences: false).map { Repository.code($0) }
    var result: [Int] = []
    // The brace depth of each open `do throws`.
    var typed: [Int] = []
    var depth = 0
    for (index, line) in code.enumerated() {
      if line.contains("do throws(") { typed.append(depth) }
      if let tuple = returned(code[index...]) {
        let isAwaited = tuple.contains("try await ")
        if isAwaited || !typed.isEmpty && tuple.contains("try ") { result.append(index + 1) }
      }
      for character in line {
        if character == "{" { depth += 1 }
        if character == "}" {
          depth -= 1
          if let last = typed.last, depth <= last { typed.removeLast() }
        }
      }
    }
    return result
  }

  /// The tuple returned by the first line, up to its closing parenthesis; nil if it returns none.
  private static func returned(_ lines: ArraySlice<Substring>) -> String? {
    let text = lines.prefix(12).joined(separator: "\n")
    guard let first = lines.first, let start = first.firstRange(of: "return (") else { return nil }
    let offset = first.distance(from: first.startIndex, to: start.upperBound)
    var (tuple, depth, isTuple) = ("", 1, false)
    for character in text.dropFirst(offset) {
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
    for (_, path, text) in Repository.sources + Repository.tests where !path.hasSuffix("AwaitedTupleTests.swift") {
      for line in AwaitedTuple.lines(in: text) {
        Issue.record("\(path):\(line): a release build may lose an element; store the result before the tuple")
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
