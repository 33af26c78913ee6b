import MatterModel
import MatterTLV
import Testing

@testable import MatterProtocol

/// Decoding of encodings that differ from those of this module.
@Suite struct ToleranceTests {
  private func failure<Message: InteractionMessage>(_: Message.Type, _ text: String) -> InteractionError? {
    do throws(InteractionError) {
      _ = try Message(decoding: hex(text))
      return nil
    } catch {
      return error
    }
  }

  @Test func acceptsUnknownMembersAndAnyOrder() throws {
    // Unknown members, other tag forms, no revision, flags after the commands.
    let bytes = hex(
      """
      15 3602 15 350B 240101 18 3501 18 3700 240202 240C07 240106 240001 18 18 18
      2C0900 44010009 2901 2800 18
      """)
    let request = try InvokeRequest(decoding: bytes)
    #expect(request == InvokeRequest([.init(.init(endpoint: 1, cluster: 6, command: 2))], isTimed: true))
  }

  @Test func rejectsTagCompression() throws {
    let off = try ReadRequest(decoding: hex("15 3600 17 2800 240201 18 18 2903 24FF0C 18"))
    #expect(off.attributePaths == [.init(endpoint: 1)])
    #expect(failure(ReadRequest.self, "15 3600 17 2900 240201 18 18 2903 24FF0C 18") == .malformed(.outOfRange))
  }

  @Test func ignoresNodeInPath() throws {
    let read = try ReadRequest(decoding: hex("15 3600 17 240109 240306 18 18 2903 24FF0C 18"))
    #expect(read.attributePaths == [.init(cluster: 6)])
  }

  @Test func acceptsMissingOptionalFlags() throws {
    #expect(try InvokeResponse(decoding: hex("15 3601 18 24FF0C 18")) == InvokeResponse([]))
    #expect(try WriteRequest(decoding: hex("15 2801 3602 18 18")) == WriteRequest([]))
    #expect(try ReportData(decoding: hex("15 18")) == ReportData())
  }

  @Test func rejectsMissingMembers() {
    #expect(failure(StatusResponse.self, "15 24FF0C 18") == .malformed(.missingMember(0)))
    #expect(failure(TimedRequest.self, "15 24FF0C 18") == .malformed(.missingMember(0)))
    #expect(failure(ReadRequest.self, "15 3600 18 24FF0C 18") == .malformed(.missingMember(3)))
    #expect(failure(SubscribeRequest.self, "15 2900 240100 2907 18") == .malformed(.missingMember(2)))
    #expect(failure(SubscribeResponse.self, "15 240001 18") == .malformed(.missingMember(2)))
    #expect(failure(WriteRequest.self, "15 2800 3602 18 18") == .malformed(.missingMember(1)))
    #expect(failure(WriteResponse.self, "15 24FF0C 18") == .malformed(.missingMember(0)))
    #expect(failure(InvokeRequest.self, "15 2801 3602 18 18") == .malformed(.missingMember(0)))
    #expect(failure(InvokeResponse.self, "15 2800 18") == .malformed(.missingMember(1)))
    // A command path without a cluster; reports without an attribute, without a data version, and empty.
    #expect(
      failure(InvokeRequest.self, "15 2800 2801 3602 15 3700 240001 240202 18 18 18 18")
        == .malformed(.missingMember(1)))
    #expect(
      failure(ReportData.self, "15 3601 15 3501 240001 3701 240201 240306 18 2902 18 18 18 18")
        == .malformed(.missingMember(4)))
    #expect(
      failure(ReportData.self, "15 3601 15 3501 3701 240201 240306 240400 18 2902 18 18 18 18")
        == .malformed(.missingMember(0)))
    #expect(failure(ReportData.self, "15 3601 15 18 18 18") == .malformed(.missingMember(1)))
  }

  @Test func rejectsMalformedMessages() {
    #expect(failure(StatusResponse.self, "") == .malformed(.truncated))
    #expect(failure(StatusResponse.self, "15 240000 18 00") == .malformed(.trailingBytes))
    #expect(failure(StatusResponse.self, "15 240000 240000 18") == .malformed(.duplicateMember(0)))
    #expect(failure(StatusResponse.self, "15 25000001 18") == .malformed(.outOfRange))
    #expect(
      failure(StatusResponse.self, "17 240000 18") == .malformed(.unexpectedType(found: .list, expected: "structure")))
    #expect(
      failure(ReadRequest.self, "15 3600 15 18 18 2903 18")
        == .malformed(.unexpectedType(found: .structure, expected: "list")))
    #expect(failure(ReadRequest.self, "15 3600 17 260200000100 18 18 2903 18") == .malformed(.outOfRange))
  }

  /// Rejects every truncation of every message.
  @Test(arguments: 0..<Samples.all.count) func rejectsTruncations(_ index: Int) {
    let sample = Samples.all[index]
    for count in 0..<sample.bytes.count {
      #expect(throws: InteractionError.self, "\(sample.name), \(count)") {
        try sample.again(Array(sample.bytes[..<count]))
      }
    }
  }

  /// A message with a flipped bit is either rejected or decodes to a message that survives a round trip.
  @Test(arguments: 0..<Samples.all.count) func rejectsOrRoundTripsBitFlips(_ index: Int) throws {
    let sample = Samples.all[index]
    var accepted = 0
    for bit in 0..<(sample.bytes.count * 8) {
      var bytes = sample.bytes
      bytes[bit / 8] ^= 1 << (bit % 8)
      guard let once = try? sample.again(bytes) else { continue }
      accepted += 1
      #expect(try sample.again(once) == once, "\(sample.name), bit \(bit)")
    }
    #expect(accepted > 0 && accepted < sample.bytes.count * 8)
  }

  @Test func mapsErrorsToStatuses() {
    #expect(InteractionError.malformed(.truncated).answer == .invalidAction)
    #expect(InteractionError.unexpected(.reportData).answer == .invalidAction)
    #expect(InteractionError.tooLarge.answer == .resourceExhausted)
    #expect(StatusResponse(.status(Status(.busy))).status == .busy)
    #expect(throws: InteractionError.status(Status(.busy))) { try StatusResponse(.busy).check() }
    #expect(throws: Never.self) { try StatusResponse(.success).check() }
    #expect(StatusError(attributeValue: .outOfRange).status.code == .constraintError)
    #expect(StatusError(attributeValue: .truncated).status.code == .invalidDataType)
    #expect(StatusError(commandFields: .tooLong(maximum: 3)).status.code == .constraintError)
    #expect(StatusError(commandFields: .missingMember(1)).status.code == .invalidCommand)
  }
}
