import MatterModel
import MatterTLV
import Testing

@testable import MatterProtocol

private struct MoveToLevel: ModelStruct {
  var level: UInt8 = 0
  var transitionTime: Nullable<UInt16> = .null
  static let fields: [Field<Self>] = [
    .init(0, "Level", \.level), .init(1, "TransitionTime", \.transitionTime),
  ]
}

@Suite struct InvokeRequestReaderTests {
  @Test func readsInPlace() throws {
    let message = Samples.invoke.encoded
    let bytes = message.span.bytes
    var reader = try InvokeRequestReader(bytes)
    #expect(reader.isTimed && reader.suppressResponse && reader.commandCount == 3)

    let toggle = try #require(try reader.nextCommand(bytes))
    #expect(toggle.path == CommandPath(endpoint: 1, cluster: 6, command: 2) && toggle.ref == 0)
    #expect(try toggle.decodeFields(as: NoFields.self, bytes) == NoFields())

    let move = try #require(try reader.nextCommand(bytes))
    #expect(move.path.endpoint == nil && move.ref == 0xFFFF)
    #expect(try move.decodeFields(as: MoveToLevel.self, bytes).level == 0x7F)
    #expect(try move.copyFields(bytes) == hex("15 24007F 3401 18"))
    let range = try #require(move.fieldsRange)
    #expect(Array(message[range]) == hex("3501 24007F 3401 18"))

    let bare = try #require(try reader.nextCommand(bytes))
    #expect(bare.fieldsRange == nil && bare.ref == nil)
    #expect(try bare.copyFields(bytes) == nil)
    #expect(try bare.decodeFields(as: NoFields.self, bytes) == NoFields())
    #expect(throws: TLVError.missingMember(0)) { try bare.decodeFields(as: MoveToLevel.self, message.span.bytes) }

    #expect(try reader.nextCommand(bytes) == nil)
    #expect(try reader.nextCommand(bytes) == nil)
  }

  @Test func rejectsFieldsOfOtherType() throws {
    let message = hex("15 2800 2801 3602 15 3700 240001 240106 240202 18 240107 18 18 18")
    var reader = try InvokeRequestReader(message.span.bytes)
    let command = try #require(try reader.nextCommand(message.span.bytes))
    #expect(throws: TLVError.unexpectedType(found: .unsignedInteger, expected: "structure")) {
      try command.decodeFields(as: NoFields.self, message.span.bytes)
    }
  }

  @Test func rejectsTruncatedMessage() {
    // The first command is complete; the second one has no end.
    let message = hex(
      "15 2800 2801 3602 15 3700 240001 240106 240202 18 18 15 3700 240001 240106 240202 18 18 24FF0C 18")
    #expect(throws: InteractionError.self) { try InvokeRequestReader(message.span.bytes) }
  }
}
