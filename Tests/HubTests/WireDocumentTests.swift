import Foundation
import HomeControl
import Testing

@testable import Hub

/// The examples and the table of requests in `docs/wire.md`.
@Suite("Documentation of the wire protocol") struct WireDocumentTests {
  private static func text(_ path: String) throws -> String {
    let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    return try String(contentsOf: root.appending(path: path), encoding: .utf8)
  }

  /// Returns the cases of an enumeration and the labels of their values; those of optional values end with `?`.
  private static func cases(of type: String) throws -> [String: String] {
    let source = try text("Sources/HomeControl/Backend/HomeRequest.swift")
    let start = try #require(source.range(of: "package enum \(type):")).upperBound
    let body = source[start...].prefix(upTo: try #require(source[start...].range(of: "\n}")).lowerBound)
    let declaration = try Regex<(Substring, Substring, Substring?)>(
      #"(?m)^  (?:indirect )?case (\w+)(?:\(([^)]*)\))?$"#)
    var cases: [String: String] = [:]
    for match in body.matches(of: declaration) {
      let values = (match.output.2 ?? "").split(separator: ",").map { value in
        let parts = value.split(separator: ":").map { $0.trimmingCharacters(in: .whitespacesAndNewlines) }
        let isOptional = parts.last?.prefix { $0 != " " }.hasSuffix("?") == true
        return "`\(parts.first ?? "")\(isOptional ? "?" : "")`"
      }
      cases[String(match.output.1)] = values.joined(separator: " ")
    }
    return cases
  }

  @Test("the example of a start has the current version") func namesVersion() throws {
    let lines = try Self.text("docs/wire.md").split(separator: "\n").filter { $0.contains("\"hearth_start\"") }
    #expect(lines.count == 1)
    guard case .start(let start) = try HubMessage(Array(try #require(lines.first).utf8)) else {
      Issue.record("not a start")
      return
    }
    #expect(start.version == hubVersion)
  }

  @Test("lists every request with its arguments and result") func listsRequests() throws {
    let (requests, replies) = (try Self.cases(of: "HomeRequest"), try Self.cases(of: "HomeReply"))
    #expect(Set(requests.keys) == Set(HomeRequest.CodingKeys.allCases.map(\.rawValue)))
    var (listed, results): ([String], Set<String>) = ([], [])
    let document = try Self.text("docs/wire.md")
    for line in document.split(separator: "\n") where line.hasPrefix("| `hearth_") {
      let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
      // The other table is that of the events.
      guard cells.count == 3 else { continue }
      let name = String(cells[0].dropFirst("`hearth_".count).dropLast())
      listed.append(name)
      #expect(requests[name] == cells[1], "\(line)")
      let result = cells[2].split(separator: ": ", maxSplits: 1).map { String($0) }
      let reply = String(result[0].dropFirst().dropLast())
      #expect(replies[reply] == (result.count > 1 ? result[1] : ""), "\(line)")
      results.insert(reply)
    }
    #expect(listed.sorted() == requests.keys.sorted())
    #expect(results == Set(replies.keys))
    for name in ["hearth_start", "hearth_progress", "hearth_cancel"] { #expect(document.contains("`\(name)`")) }
  }
}
