import MatterModel
import Testing

/// A cluster with all kinds of conformance.
private enum Winder: Cluster {
  static let id: ClusterID = 0xFFF1_FC01, revision: UInt16 = 1, name = "Winder"
  static let fast = Feature(0, "FST", "Fast", conformance: "[!SLW]")
  static let slow = Feature(1, "SLW", "Slow")
  static let left = Feature(2, "LFT", "Left", conformance: "O.a")
  static let right = Feature(3, "RGT", "Right", conformance: "O.a")
  static let features = [fast, slow, left, right]
  static let turns = Attribute<Self, UInt16>(0x0000, "Turns")
  static let speed = Attribute<Self, UInt8>(0x0001, "Speed", conformance: "FST")
  static let spare = Attribute<Self, UInt8>(0x0002, "Spare", conformance: "Turns>3")
  static let note = Attribute<Self, String>(0x0003, "Note", conformance: "O.b+")
  static let label = Attribute<Self, String>(0x0004, "Label", conformance: "O.b+")
  static let wind = Command<Self, NoFields, NoFields>(0x00, "Wind", response: 0x01)
  static let rewind = Command<Self, NoFields, NoFields>(0x02, "Rewind", response: 0x03, conformance: "O")
  static let broken = Event<Self, NoFields>(0x00, "Broken", conformance: "Spare")
  static let elements: [any ClusterElement] = [turns, speed, spare, note, label, wind, rewind, broken]
}

@Suite("Comparison of a server with its cluster") struct ClusterCheckTests {
  private func served(_ change: (inout ServedElements) -> Void = { _ in }) -> [String] {
    var served = ServedElements(
      features: 0b0101, attributes: [0, 1, 3], commands: [0], responses: [1], events: [], values: [0: UInt16(3).tlv])
    change(&served)
    return Winder.violations(of: served).map(\.description)
  }

  @Test func acceptsConformingServer() { #expect(served() == []) }

  @Test func reportsMissingElements() {
    #expect(
      served {
        $0.attributes = [3]
        $0.commands = []
        $0.responses = []
      } == [
        "attribute Turns (0x0000) is missing; mandatory",
        "attribute Speed (0x0001) is missing; mandatory with feature FST",
        "command Wind (0x00) is missing; mandatory",
      ])
  }

  @Test func reportsElementsThatAreNotAllowed() {
    #expect(
      served { $0.features = 0b0110 } == ["attribute Speed (0x0001) is not allowed; its conformance is FST"])
    #expect(
      served { $0.features = 0b0111 } == ["feature FST (bit 0) is not allowed; its conformance is [!SLW]"])
  }

  @Test func dependsOnValuesAndElements() {
    #expect(
      served { $0.values[0] = UInt16(4).tlv } == ["attribute Spare (0x0002) is missing; mandatory with Turns>3"])
    #expect(
      served {
        $0.values[0] = UInt16(4).tlv
        $0.attributes.insert(2)
      } == ["event Broken (0x00) is missing; mandatory with Spare"])
    // Unknown facts don't cause violations.
    #expect(
      served {
        $0.values = [:]
        $0.events = nil
        $0.attributes.insert(2)
      } == [])
  }

  @Test func countsChoices() {
    #expect(served { $0.features = 0b0001 } == ["features LFT, RGT: 0 supported; expected exactly 1"])
    #expect(served { $0.features = 0b1101 } == ["features LFT, RGT: 2 supported; expected exactly 1"])
    #expect(served { $0.attributes = [0, 1] } == ["elements Note, Label: 0 supported; expected at least 1"])
    #expect(served { $0.attributes.insert(4) } == [])
  }

  @Test func comparesResponses() {
    #expect(
      served { $0.responses = [3] } == [
        "response command 0x01 is missing; an accepted command generates it",
        "response command 0x03 is not allowed; no accepted command generates it",
      ])
    #expect(served { $0.responses = nil } == [])
  }

  @Test("reports elements without a declaration, except those of manufacturers") func reportsUndeclared() {
    #expect(
      served {
        $0.features |= 1 << 8
        $0.attributes.formUnion([0x20, 0xFFF1_0020])
        $0.commands.formUnion([0x20, 0xFFF1_0020])
        $0.responses?.formUnion([0x21, 0xFFF1_0021])
      } == [
        "feature bit 8 is not declared", "attribute 0x0020 is not declared", "command 0x20 is not declared",
        "response command 0x21 is not declared",
      ])
  }

  @Test func namesElement() {
    var served = ServedElements(features: 0b0101, attributes: [0, 3], commands: [0], responses: [1])
    #expect(Winder.violations(of: served).map(\.element) == [.attribute(1)])
    served.features = 0b0001
    #expect(Winder.violations(of: served).map(\.element) == [nil, .attribute(1)])
  }
}

@Suite("Problems of attribute values") struct AttributeProblemTests {
  private struct Entry: ModelStruct {
    var mode: Nullable<UInt8> = .null
    var label: String?
    static let fields: [Field<Self>] = [.init(0, "Mode", \.mode), .init(1, "Label", \.label)]
    init() {}
  }

  private struct Mode: WireCode {
    var rawValue: UInt8
    init(rawValue: UInt8) { self.rawValue = rawValue }
    static let names: [UInt64: String] = [0: "Off", 1: "On"]
  }

  private func problem<Value: ModelValue>(
    _ bytes: [UInt8], of type: Value.Type, _ constraint: Constraint = .none
  ) -> String? {
    Attribute<Winder, Value>(0, "Value", constraint: constraint).details.problem(of: bytes)
  }

  @Test func acceptsValues() {
    #expect(problem(UInt8(7).tlv, of: UInt8.self, .range(0...7)) == nil)
    #expect(problem(Nullable<UInt8>.null.tlv, of: Nullable<UInt8>.self, .range(0...7)) == nil)
    #expect(problem([Entry()].tlv, of: [Entry].self) == nil)
    #expect(problem(Mode(rawValue: 1).tlv, of: Mode.self) == nil)
    #expect(problem(Int8.min.tlv, of: Int8.self) == nil && problem(UInt64.max.tlv, of: UInt64.self) == nil)
    #expect(problem([0x14], of: AnyTLV.self) == nil)
  }

  @Test func describesProblems() {
    #expect(problem([0x14], of: UInt8.self) == "is null; expected uint8")
    #expect(problem(true.tlv, of: UInt8.self) == "is true; expected uint8")
    #expect(problem(UInt16(300).tlv, of: UInt8.self) == "is 300; expected uint8")
    #expect(problem(Int16(-200).tlv, of: Int8.self) == "is -200; expected int8")
    #expect(problem(UInt8(255).tlv, of: Nullable<UInt8>.self) == "has the value that is reserved for null")
    #expect(problem("x".tlv, of: Nullable<UInt8>.self) == "is \"x\"; expected uint8")
    #expect(problem(UInt8(9).tlv, of: UInt8.self, .range(0...7)) == "is 9; expected 0 to 7")
    #expect(problem("long".tlv, of: String.self, .length(0...2)) == "has a wrong length; expected 0 to 2 bytes")
    for (range, words) in [(0...1, "at most 1"), (3...Int.max, "at least 3"), (4...8, "4 to 8")] {
      #expect(
        problem([UInt8(1), 2].tlv, of: [UInt8].self, .entries(range))
          == "has a wrong number of entries; expected \(words)")
    }
    #expect(problem(Mode(rawValue: 4).tlv, of: Mode.self) == "has the unknown value 4")
    #expect(problem([UInt8(1)].tlv, of: UInt8.self) == "is [1]; expected uint8")
    #expect(problem([0x15], of: Entry.self) == "is not TLV")
    #expect(problem([0x15, 0x18], of: Entry.self) == "field Mode is missing")
    // The structure {0: true} as the second entry of a list.
    let list: [UInt8] = [0x16] + Entry().tlv + [0x15, 0x29, 0, 0x18, 0x18]
    #expect(problem(list, of: [Entry].self) == "entry 1: field Mode is true; expected uint8")
  }
}
