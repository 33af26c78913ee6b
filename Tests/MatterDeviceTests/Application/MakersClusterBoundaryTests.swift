import MakersClusters
import MatterClusters
import MatterModel
import MatterProtocol
import Testing

@testable import MatterDevice

/// Manufacturers' clusters at the boundaries of their types, of lists and of messages.
@Suite("Boundaries of manufacturers' clusters") struct MakersClusterBoundaryTests {
  private static let text = """
    cluster 0xFFF1FC41 TestTally "Test Tally" revision 1
    attribute 0x0000 Total  uint64  nonvolatile write operate = 0
    attribute 0x0001 Rest   uint64  nullable write operate = 0
    attribute 0x0002 Signed int8    -100 to 100 write operate = 0
    attribute 0x0003 Names  list[string]  max 3 nullable write operate = null
    attribute 0x0004 Texts  list[TestText]  write operate = empty
    attribute 0x0005 First  bool  O
    attribute 0x0006 Second bool  First
    attribute 0x0007 Third  bool  Second
    attribute 0x0008 Fourth bool  Third
    attribute 0x0009 Fifth  bool  Fourth
    command 0x00 Add
      0 Value uint64
      add field.Value to Total
      add field.Value to Rest
    command 0x01 Subtract
      0 Value int64
      add field.Value to Total
      add field.Value to Signed
    command 0x02 Announce
      set Signed = 1
      emit Announced Texts = attribute.Texts
    command 0x03 Ask -> AskResponse
      set Signed = 2
      answer Texts = attribute.Texts
    response 0x04 AskResponse
      0 Texts list[TestText]
    command 0x05 Assign
      0 Texts list[TestText]
      set Texts = field.Texts
      emit Announced Texts = attribute.Texts
    event 0x00 Announced info
      0 Texts list[TestText]
    struct TestText
      0 Text string
      1 Length uint8 O
    """

  private enum Tally: Cluster {
    static let id: ClusterID = 0xFFF1_FC41, revision: UInt16 = 1, name = "TestTally"
    static let total = Attribute<Self, UInt64>(0, "Total"), rest = Attribute<Self, Nullable<UInt64>>(1, "Rest")
    static let signed = Attribute<Self, Int8>(2, "Signed"), texts = Attribute<Self, [Text]>(4, "Texts")
    static let names = Attribute<Self, Nullable<[String]>>(3, "Names")
    static let add = Command<Self, Add, NoFields>(0, "Add"), subtract = Command<Self, Subtract, NoFields>(1, "Subtract")
    static let announce = Command<Self, NoFields, NoFields>(2, "Announce")
    static let ask = Command<Self, NoFields, Texts>(3, "Ask", response: 4)
    static let assign = Command<Self, Texts, NoFields>(5, "Assign")
    static let announced = Event<Self, Texts>(0, "Announced", priority: .info)
    static let elements: [any ClusterElement] = []

    struct Add: ModelStruct {
      var value: UInt64 = 0
      static let fields: [Field<Self>] = [.init(0, "Value", \.value)]
    }
    struct Subtract: ModelStruct {
      var value: Int64 = 0
      static let fields: [Field<Self>] = [.init(0, "Value", \.value)]
    }
    struct Text: ModelStruct {
      var text = ""
      var length: UInt8?
      static let fields: [Field<Self>] = [.init(0, "Text", \.text), .init(1, "Length", \.length)]
    }
    struct Texts: ModelStruct {
      var texts: [Text] = []
      static let fields: [Field<Self>] = [.init(0, "Texts", \.texts)]
    }
  }

  private static func server(_ names: [String] = []) throws -> ClusterServer {
    .makers(try MakersCluster(text, file: "tally.cluster"), serving: names)
  }

  @Test("adds beyond the range of Int64, and stops at the ends of the type") func adds() throws {
    let node = TestNode([try Self.server()])
    try node.invoke(Tally.add, .init(value: UInt64(Int64.max)))
    try node.invoke(Tally.add, .init(value: 1))
    #expect(node[Tally.total] == 1 << 63 && node[Tally.rest] == .value(1 << 63))
    try node.invoke(Tally.add, .init(value: .max))
    // The largest value of a nullable number is reserved.
    #expect(node[Tally.total] == .max && node[Tally.rest] == .value(.max - 1))
    try node.invoke(Tally.subtract, .init(value: .min))
    #expect(node[Tally.total] == UInt64.max - (1 << 63) && node[Tally.signed] == -100)
    try node.invoke(Tally.subtract, .init(value: .min))
    try node.invoke(Tally.subtract, .init(value: .max))
    #expect(node[Tally.total] == UInt64(Int64.max) && node[Tally.signed] == 100)
    // Null has no sum.
    try node.write(Tally.rest, .null)
    try node.invoke(Tally.add, .init(value: 1))
    #expect(node[Tally.rest] == .null)
  }

  @Test(
    "a nullable number of 64 bits may have all values but the reserved one",
    arguments: [
      (UInt64(Int64.max), true), (UInt64.max - 1, true), (UInt64.max, false),
    ]) func nullable(_ value: UInt64, isAllowed: Bool) throws
  {
    let node = TestNode([try Self.server()])
    let result = Result { () throws(StatusError) in try node.write(Tally.rest, encoded: value.tlv) }
    let isWritten = (try? result.get()) != nil
    #expect(isWritten == isAllowed)
  }

  @Test("serves elements that are mandatory with others, in a chain of any length") func chain() throws {
    let server = try Self.server(["First"])
    #expect(server.attributes.keys.sorted() == [0, 1, 2, 3, 4, 5, 6, 7, 8, 9] && server.violations.isEmpty)
    #expect(try Self.server().attributes.keys.sorted() == [0, 1, 2, 3, 4])
  }

  @Test("emits and answers with lists of structures") func lists() throws {
    let node = TestNode([try Self.server()])
    let texts = [Tally.Text(text: "a"), Tally.Text(text: "bc", length: 2)]
    try node.invoke(Tally.assign, .init(texts: texts))
    #expect(node[Tally.texts].map(\.text) == ["a", "bc"])
    #expect(try node.payloads(of: Tally.announced).map { $0.texts.map(\.length) } == [[nil, 2]])
    #expect(try node.invoke(Tally.ask, NoFields())?.texts.map(\.text) == ["a", "bc"])
    let wrong = Command<Tally, Tally.Add, NoFields>(5, "Assign")
    let error = #expect(throws: StatusError.self) { try node.invoke(wrong, .init(value: 1)) }
    #expect(error?.status.code == .invalidCommand)
  }

  @Test("refuses a command whose event or answer does not fit a message") func oversized() throws {
    let node = TestNode([try Self.server()])
    let texts = (0..<8).map { _ in Tally.Text(text: String(repeating: "x", count: 200)) }
    try node.write(Tally.texts, texts)
    for command in [Tally.announce, Command<Tally, NoFields, NoFields>(3, "Ask")] {
      let error = #expect(throws: StatusError.self) { try node.invoke(command) }
      #expect(error?.status.code == .resourceExhausted)
    }
    #expect(node[Tally.signed] == 0)
    #expect(try node.payloads(of: Tally.announced).isEmpty)
  }

  @Test("writes a nullable list as a whole, by entry, and as null") func nullableList() throws {
    let endpoint = EndpointDefinition(1, deviceTypes: [DeviceTypes.onOffLight], servers: [try Self.server()])
    var lab = try Lab(endpoints: [endpoint])
    try lab.addAdministrator()
    let session = try lab.commission()
    let path = AttributePath(Tally.names.path(on: 1))
    func written(_ writes: AttributeWrite...) throws -> [StatusCode] {
      try lab.write(writes, on: session).map(\.code)
    }
    func names() throws -> [String]? { try lab.read(Tally.names, endpoint: 1, on: session).wrapped }
    let entry = { (text: String) in AttributeWrite(path, .append, value: text.tlv) }
    // The first entry of a list that is null.
    #expect(try written(entry("a")) == [.success] && names() == ["a"])
    #expect(
      try written(AttributeWrite(path, value: [String]().tlv), entry("b"), entry("c")) == [
        .success, .success, .success,
      ])
    #expect(try names() == ["b", "c"])
    #expect(try written(entry("d"), entry("e")) == [.success, .constraintError] && names() == ["b", "c", "d"])
    #expect(try written(AttributeWrite(path, value: Nullable<[String]>.null.tlv)) == [.success] && names() == nil)
    #expect(try written(AttributeWrite(path, value: UInt8(1).tlv)).contains(.success) == false)
  }
}
