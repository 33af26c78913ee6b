import Foundation
import Testing

/// Decides which public declarations need a documentation comment.
struct Documentation {
  /// Requirements of protocols of Swift and NIO, which are documented there.
  static let known: Set<String> = [
    "description", "debugDescription", "customMirror", "hash(into:)", "encode(to:)", "encode(to:_:)", "init(from:)",
    "init(from:_:)", "rawValue", "init(rawValue:)", "init(integerLiteral:)", "init(arrayLiteral:)",
    "makeAsyncIterator()", "makeIterator()", "AsyncIterator", "allCases", "next()", "next(isolation:)",
    "unownedExecutor", "asUnownedTaskExecutor()",
    "enqueue(_:)", "inEventLoop", "execute(_:)", "scheduleTask(deadline:_:)", "scheduleTask(in:_:)", "submit(_:)",
  ]

  /// Declarations with names from a specification, whose comment on the type has the reference: the attributes of a SYNC
  /// response. The declarations of clusters and device types are generated.
  static let facts = ["CloudLink/CloudAttributes.swift"]

  private var files: [(path: String, source: SourceText)] = []
  private var conformances: [String: Set<String>] = [:]
  /// The documented requirements, by protocol.
  private var requirements: [String: Set<String>] = [:]

  init(_ sources: [(path: String, text: String)]) {
    for (path, text) in sources {
      let source = SourceText(text)
      files.append((path, source))
      conformances.merge(source.conformances) { $0.union($1) }
      for declaration in source.declarations where declaration.comment != nil {
        guard let parent = declaration.parents.last, parent.keyword == "protocol" else { continue }
        requirements[parent.name, default: []].insert(declaration.name)
      }
    }
  }

  /// The number of public declarations.
  var count: Int { files.reduce(0) { $0 + $1.source.declarations.count } }

  /// One line for each declaration with a missing or empty comment: location and remedy.
  var complaints: [String] {
    files.flatMap { path, source in
      source.declarations.compactMap { declaration -> String? in
        let location = "\(path):\(declaration.line): \(declaration.keyword) \(declaration.name)"
        if let comment = declaration.comment {
          return Self.isFiller(comment, for: declaration.name)
            ? "\(location) is explained by its own name; say what it does, its unit, what it throws, and its section"
            : nil
        }
        return isPlain(declaration, in: path)
          ? nil : "\(location) has no comment: say what it does, its unit, what it throws, and its section"
      }
    }
  }

  /// Whether a declaration needs no comment.
  private func isPlain(_ declaration: Declaration, in path: String) -> Bool {
    let keyword = declaration.keyword
    if Self.known.contains(declaration.name) { return true }
    // Operators have their usual meaning.
    if keyword == "func", let first = declaration.name.first, !first.isLetter, first != "_" { return true }
    if inheritsComment(declaration) { return true }
    if Self.facts.contains(where: path.hasPrefix), ["let", "var", "init", "case", "typealias"].contains(keyword) {
      return true
    }
    switch keyword {
    case "init": return isMemberwise(declaration)
    // A case without associated values is explained by its name, or else by the comment of the enum.
    case "case": return !declaration.rest.contains("(")
    case "let": return isNamedValue(declaration) || isCalledAsItsType(declaration)
    case "var": return isCalledAsItsType(declaration)
    default: return false
    }
  }

  /// Whether the declaration implements a documented requirement of one of our protocols.
  private func inheritsComment(_ declaration: Declaration) -> Bool {
    guard let parent = declaration.parents.last, Declaration.types.contains(parent.keyword) else { return false }
    var (seen, open): (Set<String>, [String]) = ([], [parent.name])
    while let next = open.popLast() {
      guard seen.insert(next).inserted else { continue }
      // Undocumented requirements are not in the list, so that they don't excuse themselves.
      if requirements[next]?.contains(declaration.name) == true { return true }
      open += conformances[next] ?? []
    }
    return false
  }

  /// An initializer that only stores its parameters in the properties, which are documented.
  private func isMemberwise(_ declaration: Declaration) -> Bool {
    guard let statements = declaration.statements else { return false }
    if statements.first?.hasPrefix("(self.") == true { return true }
    return statements.allSatisfy { statement in
      let name = (statement.hasPrefix("self.") ? statement.dropFirst(5) : statement).prefix {
        $0.isLetter || $0.isNumber
      }
      return !name.isEmpty && statement[name.endIndex...].hasPrefix(" = ")
    }
  }

  /// A constant of the enclosing type: `static let unicast = Self(0)`.
  private func isNamedValue(_ declaration: Declaration) -> Bool {
    guard declaration.modifiers.contains("static") else { return false }
    let own = declaration.parents.last.map { "= \($0.name)(" } ?? "= Self("
    return ["= Self(", ": Self =", own].contains { declaration.rest.contains($0) }
  }

  /// A property that is named after its type, which is documented: `endpoint: EndpointID`, `logger: Logger`.
  private func isCalledAsItsType(_ declaration: Declaration) -> Bool {
    let rest = declaration.rest
    var type = Substring()
    let equals = rest.firstIndex(of: "=")
    if let colon = rest.firstIndex(of: ":"), equals.map({ colon < $0 }) ?? true {
      type = rest[colon...].dropFirst().drop { " [".contains($0) }
      if type.hasPrefix("any ") { type = type.dropFirst(4) }
    } else if let equals {
      type = rest[equals...].dropFirst().drop { $0 == " " }
    }
    type = type.prefix { $0.isLetter || $0.isNumber || $0 == "." }
    guard type.first?.isUppercase == true else { return false }
    let words = type.split(separator: ".").filter { $0.first?.isUppercase == true }
    guard let last = words.last?.lowercased() else { return false }
    var names = [declaration.name.lowercased()]
    if names[0].hasSuffix("ies") { names.append(names[0].dropLast(3) + "y") }
    if names[0].hasSuffix("ses") { names.append(String(names[0].dropLast(2))) }
    if names[0].hasSuffix("s") { names.append(String(names[0].dropLast())) }
    let types = [last] + (last.hasSuffix("id") ? [String(last.dropLast(2))] : [])
    return names.contains { name in types.contains { $0.hasSuffix(name) } }
  }

  /// Whether a comment consists only of the words of the name.
  static func isFiller(_ comment: String, for name: String) -> Bool {
    func words(_ text: some StringProtocol) -> Set<String> {
      var result: [String] = [""]
      for character in text {
        guard character.isLetter || character.isNumber else {
          result.append("")
          continue
        }
        if character.isUppercase { result.append("") }
        result[result.count - 1] += character.lowercased()
      }
      return Set(result).subtracting(["", "the", "a", "an", "of", "its", "this"])
    }
    let said = words(comment)
    return said.isSubset(of: words(name)) && !comment.contains("``")
  }
}

@Suite("Documentation") struct DocumentationTests {
  @Test func everyPublicDeclarationIsDocumented() {
    let documentation = Documentation(Repository.sources.map { ($0.path, $0.text) })
    #expect(documentation.count > 3500, "the declarations were not found")
    for complaint in documentation.complaints { Issue.record("\(complaint)") }
  }

  /// The rules report exactly the declarations below.
  @Test func findsUndocumentedDeclarations() {
    let text = """
      /// What the rules are tried with.
      public struct Thing: Named, CustomStringConvertible {
        public var endpoint: EndpointID
        public var level: UInt8
        public static let small = Thing(1), huge = Thing(9)
        public var title: String { "" }
        /// The level.
        public var theLevel: UInt8 { 0 }
        public init(level: UInt8) { self.level = level }
        public init(
          _ text: String
        ) throws {
          level = 0
        }
        public static func == (left: Self, right: Self) -> Bool { true }
        @inlinable
        public func scale(by factor: Int, _ rest: Int...) {
          let local = 1
        }
        func hidden() {}
        public private(set) var count = 0
        public enum Kind {
          case plain
          case loaded(Int)
        }
      }
      /// What has a title.
      public protocol Named {
        /// For people.
        var title: String { get }
        var nick: String { get }
      }
      extension Thing {
        public var description: String { "" }
        public subscript(_ index: Int) -> Int { 0 }
      }
      public extension Thing { 
        var late: Int { 1 }
        private var early: Int { 1 }
      }
      """
    let complaints = Documentation([("Thing.swift", text)]).complaints
    let found = complaints.map { $0.split(separator: ":").dropFirst().joined(separator: ":") }.map {
      $0.components(separatedBy: " has no comment")[0].components(separatedBy: " is explained")[0]
    }
    #expect(
      found == [
        "4: var level", "8: var theLevel", "10: init init(_:)", "17: func scale(by:_:)", "21: var count",
        "22: enum Kind", "24: case loaded", "31: var nick", "35: subscript subscript(_:)", "38: var late",
      ])
  }
}
