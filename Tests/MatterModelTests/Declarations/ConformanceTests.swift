import ClusterLanguage
import MatterModel
import Testing

@Suite("Conformance expressions") struct ConformanceTests {
  private static let features = [Feature(0, "A", "First"), Feature(1, "B", "Second"), Feature(2, "C_1", "Third")]

  struct Case: Sendable, CustomTestStringConvertible {
    var text: String
    /// The feature maps, of the eight possible, with which the element is mandatory, and those with which it is optional.
    var mandatory: Set<UInt32> = []
    var optional: Set<UInt32> = []
    var testDescription: String { text }
  }

  private static let all: Set<UInt32> = [0, 1, 2, 3, 4, 5, 6, 7]

  static let cases: [Case] = [
    Case(text: "M", mandatory: all),
    Case(text: "O", optional: all),
    Case(text: "X"),
    Case(text: "A", mandatory: [1, 3, 5, 7]),
    Case(text: "[A]", optional: [1, 3, 5, 7]),
    Case(text: "!C_1", mandatory: [0, 1, 2, 3]),
    Case(text: "!!A", mandatory: [1, 3, 5, 7]),
    Case(text: "A|B", mandatory: [1, 2, 3, 5, 6, 7]),
    Case(text: "A & B", mandatory: [3, 7]),
    Case(text: "A^B", mandatory: [1, 2, 5, 6]),
    Case(text: "A|B&C_1", mandatory: [1, 3, 5, 6, 7]),
    Case(text: "(A | B) & !C_1", mandatory: [1, 2, 3]),
    Case(text: "[!(A|B)]", optional: [0, 4]),
    Case(text: "A,O", mandatory: [1, 3, 5, 7], optional: [0, 2, 4, 6]),
    Case(text: "A&B, [A]", mandatory: [3, 7], optional: [1, 5]),
    Case(text: "A,[B],X", mandatory: [1, 3, 5, 7], optional: [2, 6]),
    Case(text: "[A],M", mandatory: [0, 2, 4, 6], optional: [1, 3, 5, 7]),
    Case(text: "3>2", mandatory: all),
  ]

  @Test(arguments: cases) func dependsOnFeatures(_ test: Case) throws {
    let conformance = try Conformance(test.text, features: Self.features)
    for map in Self.all {
      let expected: Conformance.Requirement =
        test.mandatory.contains(map) ? .mandatory : test.optional.contains(map) ? .optional : .notAllowed
      #expect(conformance.decision(ConformanceFacts(features: map)).requirement == expected, "\(map)")
    }
    #expect(conformance.text == test.text)
  }

  @Test(
    "allows elements that are not final or not decidable",
    arguments: [
      ("P", .provisional), ("P,M", .provisional), ("D", .deprecated), ("desc", .undetermined),
      ("B,desc", .undetermined),
      // Nothing is known about other elements.
      ("Level", .undetermined), ("[Level]", .undetermined), ("Level>2,O", .undetermined), ("A|Level", .mandatory),
      ("[B&Level]", .notAllowed), ("A^Level", .undetermined),
    ] as [(String, Conformance.Requirement)]
  ) func distinguishesRequirements(_ text: String, _ expected: Conformance.Requirement) throws {
    let conformance = try Conformance(text, features: Self.features)
    #expect(conformance.decision(ConformanceFacts(features: 1)).requirement == expected)
    #expect(conformance.requires(ConformanceFacts(features: 1)) == (expected == .mandatory))
  }

  @Test(
    "depends on the elements of the server and their values",
    arguments: [
      ("Level", .mandatory), ("[Stop]", .notAllowed), ("Level & !Stop", .mandatory), ("Level > 2", .mandatory),
      ("Level>3,O", .optional), ("Level >= 3", .mandatory), ("Level<=2", .notAllowed), ("Level < 4", .mandatory),
      ("Level==3", .mandatory), ("Level != 3", .notAllowed), ("3 == Level", .mandatory), ("Level>Other", .undetermined),
    ] as [(String, Conformance.Requirement)]
  ) func dependsOnElements(_ text: String, _ expected: Conformance.Requirement) throws {
    let facts = ConformanceFacts(
      features: 0, has: { ["Level": true, "Stop": false][$0] }, number: { ["Level": 3][$0] })
    #expect(try Conformance(text, features: Self.features).decision(facts).requirement == expected)
  }

  @Test func namesDecidingCondition() throws {
    func condition(_ text: String) throws -> String? {
      try Conformance(text, features: Self.features).decision(ConformanceFacts(features: 3)).condition
    }
    #expect(try condition("M") == nil)
    #expect(try condition("C_1, A, O") == "feature A")
    #expect(try condition("[A&(B|C_1)]") == "A & (B | C_1)")
    #expect(try condition("!C_1") == "!C_1")
  }

  @Test(
    "limits the number of supported elements",
    arguments: [
      ("O.a", [1]), ("O.a+", [1, 2, 3]), ("O.a2", [2]), ("O.a2+", [2, 3]), ("[A].a2-", [0, 1, 2]), ("P,O.b", []),
      ("[B].a", []), ("O", []),
    ] as [(String, [Int])]
  ) func choices(_ text: String, _ allowed: [Int]) throws {
    let choice = try Conformance(text, features: Self.features).decision(ConformanceFacts(features: 1)).choice
    #expect((0...3).filter { choice?.allows($0) == true } == allowed)
    #expect(choice == nil || choice?.name == "a")
  }

  @Test(
    "rejects other texts",
    arguments: [
      ("", 0), ("A B", 2), ("A,", 2), ("A&", 2), ("A&&B", 2), ("(A", 2), ("A)", 1), ("[A", 2), ("[A),O", 2), ("O.", 2),
      ("O.1", 2), ("O.aa", 4), ("1", 0), ("A>", 2), ("!", 1), ("A.a", 1), ("ä", 0), ("O A", 2),
      ("M&A", 1), ("A|O", 2), ("(P)", 1), ("A>M", 2), ("X.a", 1), ("A, desc|B", 7),
    ]
  ) func rejects(_ text: String, _ position: Int) {
    let error = #expect(throws: ConformanceError.self) { try Conformance(text, features: Self.features) }
    #expect(error?.position == position, "\(error?.description ?? "")")
  }
}
