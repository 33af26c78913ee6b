import MatterModel
import MatterTLV
import Testing

/// A structure with every kind of field.
struct Sample: FabricScoped {
  var level: UInt8 = 0
  var time: Nullable<UInt16> = .null
  var label: String?
  var rate: Nullable<Int16>?
  var parts: [Part] = []
  var fabricIndex: FabricIndex = .none
  static let fields: [Field<Self>] = [
    .init(0, "Level", \.level), .init(1, "Time", \.time), .init(2, "Label", \.label), .init(3, "Rate", \.rate),
    .init(4, "Parts", \.parts), .init(fabricIndex: \.fabricIndex),
  ]
  init() {}

  struct Part: ModelStruct {
    var id: ClusterID = 0
    static let fields: [Field<Self>] = [.init(0, "ID", \.id)]
    init() {}
    init(_ id: ClusterID) { self.id = id }
  }
}

struct ModelStructTests {
  var full: Sample {
    var sample = Sample()
    sample.level = 7
    sample.time = .value(300)
    sample.label = "a"
    sample.rate = .some(.null)
    sample.parts = [.init(6), .init(8)]
    sample.fabricIndex = 3
    return sample
  }

  @Test func encodesFieldsInTableOrder() throws {
    #expect(
      full.tlv == [
        0x15, 0x24, 0, 7, 0x25, 1, 0x2C, 0x01, 0x2C, 2, 1, 0x61, 0x34, 3, 0x36, 4, 0x15, 0x24, 0, 6, 0x18, 0x15, 0x24,
        0, 8, 0x18, 0x18, 0x24, 254, 3, 0x18,
      ])
    #expect(try Sample(tlv: full.tlv) == full)
  }

  @Test func distinguishesAbsentFromNull() throws {
    var sample = Sample()
    #expect(sample.tlv == [0x15, 0x24, 0, 0, 0x34, 1, 0x36, 4, 0x18, 0x18])
    #expect(try Sample(tlv: sample.tlv).rate == nil)
    sample.rate = .some(.null)
    #expect(try Sample(tlv: sample.tlv).rate == .some(.null))
    sample.rate = .value(-5)
    #expect(try Sample(tlv: sample.tlv).rate == .value(-5))
  }

  @Test("decodes null in an optional field as absent")
  func decodesNullAsAbsent() throws {
    struct Optionals: ModelStruct {
      var octets: OctetString?
      var list: [UInt8]?
      var text: String?
      var number: UInt16?
      var part: Sample.Part?
      static let fields: [Field<Self>] = [
        .init(0, "Octets", \.octets), .init(1, "List", \.list), .init(2, "Text", \.text), .init(3, "Number", \.number),
        .init(4, "Part", \.part),
      ]
      init() {}
    }
    let nulls: [UInt8] = [0x15, 0x34, 0, 0x34, 1, 0x34, 2, 0x34, 3, 0x34, 4, 0x18]
    #expect(try Optionals(tlv: nulls) == Optionals())
    // An empty value is not absent.
    let empty = try Optionals(tlv: [0x15, 0x30, 0, 0, 0x36, 1, 0x18, 0x18])
    #expect(empty.octets == [] && empty.list == [])
    // A mandatory field must not be null.
    #expect(throws: TLVError.self) { try Sample.Part(tlv: [0x15, 0x34, 0, 0x18]) }
  }

  /// Clients omit the fabric index, which the server knows. Both forms are accepted.
  @Test func acceptsOmittedFabricIndex() throws {
    var sample = full
    sample.fabricIndex = .none
    #expect(!sample.tlv.contains(254))
    #expect(try Sample(tlv: sample.tlv).fabricIndex == .none)
    #expect(try Sample(tlv: full.tlv).fabricIndex == 3)
  }

  @Test func decodesFieldsInAnyOrder() throws {
    let bytes: [UInt8] = [0x15, 0x36, 4, 0x18, 0x34, 1, 0x24, 0, 9, 0x18]
    #expect(try Sample(tlv: bytes).level == 9)
  }

  @Test func skipsUnknownFields() throws {
    var members = try #require(TLVElement(decoding: full.tlv).members)
    members.insert(.init(.structure([.init(.list([]), tag: .context(0))]), tag: .context(99)), at: 1)
    members.append(.init(.unsigned(1), tag: .common(0)))
    members.append(.init(.unsigned(1), tag: .qualified(vendor: 0xFFF1, profile: 0, number: 0)))
    #expect(try Sample(tlv: TLVElement(.structure(members)).encoded) == full)
  }

  @Test(arguments: [UInt8(0), 1, 4])
  func reportsMissingFields(_ number: UInt8) throws {
    let members = try #require(TLVElement(decoding: full.tlv).members).filter { $0.tag != .context(number) }
    #expect(throws: TLVError.missingMember(number)) { try Sample(tlv: TLVElement(.structure(members)).encoded) }
  }

  @Test(arguments: [UInt8(0), 1, 2, 3, 4, 254])
  func reportsDuplicateFields(_ number: UInt8) throws {
    var members = try #require(TLVElement(decoding: full.tlv).members)
    members.append(try #require(members.first { $0.tag == .context(number) }))
    #expect(throws: TLVError.duplicateMember(number)) { try Sample(tlv: TLVElement(.structure(members)).encoded) }
  }

  @Test func rejectsOtherTypes() {
    #expect(throws: TLVError.unexpectedType(found: .array, expected: "structure")) { try Sample(tlv: [0x16, 0x18]) }
    #expect(throws: TLVError.outOfRange) { try Sample(tlv: [0x15, 0x25, 0, 0, 1, 0x34, 1, 0x36, 4, 0x18, 0x18]) }
  }

  @Test func derivesSchemaFromFields() {
    guard case .structure(let members) = Sample.schema else {
      Issue.record("not a structure")
      return
    }
    #expect(members.map(\.id) == [0, 1, 2, 3, 4, 254])
    #expect(members.map(\.isOptional) == [false, false, true, true, false, true])
    #expect(members[1].schema == .nullable(.unsigned(bits: 16)))
    #expect(members[4].schema == .list(Sample.Part.schema))
  }

  @Test func encodesNoFieldsAsEmptyStructure() throws {
    #expect(NoFields().tlv == [0x15, 0x18])
    #expect(try NoFields(tlv: [0x15, 0x24, 0, 1, 0x18]) == NoFields())
  }

  @Test func handlesEveryTruncationAndBitFlip() {
    let bytes = full.tlv
    for count in bytes.indices { #expect(throws: TLVError.self) { try Sample(tlv: Array(bytes.prefix(count))) } }
    for index in bytes.indices {
      for bit in 0..<8 {
        var damaged = bytes
        damaged[index] ^= 1 << UInt8(bit)
        if let read = try? Sample(tlv: damaged) { #expect((try? Sample(tlv: read.tlv)) == read) }
      }
    }
  }
}

extension TLVElement {
  var members: [TLVElement]? { if case .structure(let members) = value { members } else { nil } }
}
