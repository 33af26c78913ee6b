import MatterModel
import MatterTLV
import Testing

@testable import MatterProtocol

/// Returns an encoded octet string of `count` bytes.
private func octets(_ count: Int) -> [UInt8] {
  var writer = TLVWriter()
  writer.write(octets: [UInt8](repeating: 0xA5, count: count))
  return writer.bytes
}

/// Returns an encoded array of octet strings.
private func list(_ counts: [Int]) -> [UInt8] { [0x16] + counts.flatMap(octets) + [0x18] }

@Suite struct WriterTests {
  private let path = ConcreteAttributePath(1, 6, 0)

  @Test func encodesReportsLikeMessage() throws {
    let report = Samples.report
    var writer = ReportDataWriter(subscriptionID: report.subscriptionID, header: [1, 2, 3])
    #expect(writer.isEmpty)
    for attribute in report.attributeReports { #expect(writer.append(attribute) == true) }
    for event in report.eventReports { #expect(writer.append(event) == true) }
    #expect(!writer.isEmpty)
    #expect(writer.append(report.attributeReports[0]) == false)
    var expected = report
    expected.suppressResponse = false
    #expect(writer.finish(more: true, suppressResponse: true) == [1, 2, 3] + expected.encoded)
  }

  @Test func appendsReportsOneByOne() throws {
    var writer = ReportDataWriter()
    let wildcard = AttributePath(cluster: 6)
    let event = EventPath(endpoint: 1, cluster: 2, event: 3)
    #expect(writer.append(path, dataVersion: 9, value: [0x09]) == true)
    let fits = writer.append(path, .append, dataVersion: 9) { $0.write(UInt64(7), $1) }
    #expect(fits)
    #expect(writer.append(Status(.failure, clusterCode: 2), for: wildcard) == true)
    #expect(writer.append(Samples.event) == true)
    #expect(writer.append(Status(.unsupportedEvent), for: event) == true)
    let expected = ReportData(
      attributeReports: [
        .data(.init(path, dataVersion: 9, value: [0x09])), .data(.init(path, .append, dataVersion: 9, value: [4, 7])),
        .status(.init(wildcard, status: .init(.failure, clusterCode: 2))),
      ],
      eventReports: [.data(Samples.event), .status(event, .init(.unsupportedEvent))], suppressResponse: true)
    #expect(writer.finish(suppressResponse: true) == expected.encoded)
    #expect(ReportDataWriter(subscriptionID: 5).finish() == ReportData(subscriptionID: 5).encoded)
  }

  /// A report of exactly the maximum size fits; a larger one does not.
  @Test func enforcesReportLimit() throws {
    let exact = ReportData(
      attributeReports: [.data(.init(path, dataVersion: 1, value: octets(100)))], moreChunkedMessages: true
    ).encoded
    for room in exact.count - 3...exact.count + 1 {
      var writer = ReportDataWriter(maximumPayload: room, header: [0])
      let before = writer.finish()
      writer = ReportDataWriter(maximumPayload: room, header: [0])
      #expect(writer.append(path, dataVersion: 1, value: octets(100)) == (room >= exact.count), "\(room)")
      #expect(writer.isEmpty == (room < exact.count))
      if room >= exact.count {
        #expect(writer.finish(more: true) == [0] + exact)
      } else {
        #expect(writer.finish() == before)
      }
    }
  }

  /// Rejecting an event after attributes also rolls back the start of the event array.
  @Test func rollsBackRejectedEvent() throws {
    var writer = ReportDataWriter(maximumPayload: 70)
    #expect(writer.append(path, dataVersion: 1, value: [0x09]) == true)
    var large = Samples.event
    large.payload = [0x15, 0x30, 0x00, 60] + [UInt8](repeating: 0, count: 60) + [0x18]
    #expect(writer.append(large) == false)
    #expect(writer.append(path, dataVersion: 2, value: [0x08]) == true)
    let report = try ReportData(decoding: writer.finish())
    #expect(report.attributeReports.count == 2 && report.eventReports.isEmpty)
  }

  @Test func encodesInvokeResponsesLikeMessage() {
    var writer = InvokeResponseWriter(suppressResponse: true, header: [7])
    #expect(writer.isEmpty)
    for response in Samples.invokeResponse.responses { #expect(writer.append(response) == true) }
    #expect(writer.finish(more: true) == [7] + Samples.invokeResponse.encoded)

    let command = CommandPath(endpoint: 0, cluster: 0x30, command: 1)
    var second = InvokeResponseWriter()
    #expect(second.append(command, ref: 1, fields: hex("15 240005 18")) == true)
    let fits = second.append(command) { $0.structure($1) { _ in } }
    #expect(fits)
    #expect(second.append(command, ref: 3, status: .init(.busy)) == true)
    let expected = InvokeResponse([
      .command(.init(command, fields: hex("15 240005 18"), ref: 1)), .command(.init(command)),
      .status(.init(command, status: .init(.busy), ref: 3)),
    ])
    #expect(second.finish() == expected.encoded)
  }

  @Test func enforcesInvokeResponseLimit() throws {
    let command = CommandPath(endpoint: 0, cluster: 0x30, command: 1)
    let fields = [0x15, 0x30, 0x00, 50] + [UInt8](repeating: 1, count: 50) + [0x18]
    let exact = InvokeResponse(
      [.command(.init(command, fields: fields)), .status(.init(command, status: .success))], moreChunkedMessages: true
    ).encoded
    for room in [exact.count - 1, exact.count] {
      var writer = InvokeResponseWriter(maximumPayload: room)
      #expect(writer.append(command, fields: fields) == true)
      #expect(writer.append(command, status: .success) == (room == exact.count))
      let bytes = writer.finish(more: true)
      #expect(bytes.count <= room)
      if room == exact.count { #expect(bytes == exact) }
    }
  }
}

@Suite struct ListTests {
  private let path = ConcreteAttributePath(0, 0x1D, 3)

  @Test func iteratesOverEntries() throws {
    var chunks = try ListChunks(hex("16 0401 15 240003 18 16 18 0C02 6162 18"))
    var entries: [[UInt8]] = []
    while let entry = chunks.nextEntry() { entries.append(entry) }
    #expect(entries == [hex("0401"), hex("15 240003 18"), hex("16 18"), hex("0C02 6162")])
    #expect(chunks.next == nil && chunks.nextEntry() == nil)
    #expect(try ListChunks(hex("16 18")).next == nil)
    #expect(throws: TLVError.self) { try ListChunks(hex("15 18")) }
    #expect(throws: TLVError.truncated) { try ListChunks(hex("16 0401")) }
    #expect(throws: TLVError.truncated) { try ListChunks([]) }
    #expect(throws: TLVError.trailingBytes) { try ListChunks(hex("16 18 09")) }
  }

  /// For every limit that holds the largest entry, no message exceeds the limit and the parts reassemble to the list.
  @Test(arguments: 64...140) func splitsListIntoReports(_ limit: Int) throws {
    let value = list([0, 3, 20, 1, 20, 20, 2, 9, 20, 0, 13, 20])
    var chunks = try ListChunks(value)
    var whole = ReassembledReport()
    var messages = 0
    var isDone = false
    while !isDone {
      var writer = ReportDataWriter(subscriptionID: 0xFFFF_FFFF, maximumPayload: limit)
      isDone = writer.append(path, dataVersion: 0xFFFF_FFFF, list: &chunks)
      try #require(!writer.isEmpty)
      let bytes = writer.finish(more: !isDone)
      #expect(bytes.count <= limit)
      messages += 1
      try whole.append(ReportData(decoding: bytes))
    }
    #expect(messages > 1)
    #expect(whole.isComplete && whole.attributes == [.init(path, dataVersion: 0xFFFF_FFFF, value: value)])
  }

  @Test func encodesShortListAsOneReport() throws {
    var chunks = try ListChunks(list([3, 4]))
    var writer = ReportDataWriter()
    #expect(writer.append(path, dataVersion: 1, list: &chunks) == true)
    let expected = ReportData(attributeReports: [.data(.init(path, dataVersion: 1, value: list([3, 4])))])
    #expect(writer.finish() == expected.encoded)
  }

  @Test func rejectsEntryThatFitsNoMessage() throws {
    var chunks = try ListChunks(list([200]))
    var first = ReportDataWriter(maximumPayload: 100)
    #expect(first.append(path, dataVersion: 1, list: &chunks) == false)
    #expect(!first.isEmpty)
    var second = ReportDataWriter(maximumPayload: 100)
    #expect(second.append(path, dataVersion: 1, list: &chunks) == false)
    #expect(second.isEmpty)
  }

  @Test(arguments: 70...140) func splitsWritesIntoMessages(_ limit: Int) throws {
    let value = list([20, 3, 20, 20, 1, 20, 20, 2, 9, 20])
    let writes: [AttributeWrite] = [
      .init(ConcreteAttributePath(1, 6, 0x4003), value: [0x04, 0x01]), .init(path, dataVersion: 5, value: value),
      .init(ConcreteAttributePath(1, 8, 0x10), value: octets(30)),
      .init(ConcreteAttributePath(1, 8, 0x11), value: [0x14]),
    ]
    let chunks = try WriteRequestChunks(writes, maximumPayload: limit)
    let messages = chunks.messages
    #expect(messages.count > 1 && chunks.continued.count == messages.count)
    var seen: [ConcreteAttributePath: [[UInt8]]] = [:]
    for (index, message) in messages.enumerated() {
      #expect(message.count <= limit)
      let request = try WriteRequest(decoding: message)
      #expect(request.moreChunkedMessages == (index < messages.count - 1))
      #expect(!request.writes.isEmpty)
      let first = try #require(request.writes.first)
      #expect(chunks.continued[index] == (first.operation == .append ? first.path : nil))
      for write in request.writes {
        let concrete = try #require(write.path.concrete)
        #expect((write.operation == .append) == (seen[concrete] != nil))
        // Only the first part has a data version, because it changes the version.
        #expect(write.dataVersion == (concrete == path && seen[concrete] == nil ? 5 : nil))
        seen[concrete, default: []].append(write.value)
      }
    }
    #expect(seen[ConcreteAttributePath(1, 6, 0x4003)] == [[0x04, 0x01]])
    #expect(seen[ConcreteAttributePath(1, 8, 0x10)] == [octets(30)])
    #expect(seen[ConcreteAttributePath(1, 8, 0x11)] == [[0x14]])
    let pieces = try #require(seen[path])
    #expect(pieces[0].dropLast() + pieces.dropFirst().joined() + [0x18] == value)
  }

  @Test func encodesWritesInOneMessage() throws {
    let writes: [AttributeWrite] = [.init(path, value: list([1, 2])), .init(path, .append, value: [0x14])]
    #expect(try WriteRequestChunks(writes, isTimed: true).messages == [WriteRequest(writes, isTimed: true).encoded])
    #expect(try WriteRequestChunks([]).messages == [WriteRequest([]).encoded])
    // Writes of exactly the maximum size fit into one message; with a limit of one byte less they need two.
    let exact = WriteRequest(writes).encoded.count
    #expect(try WriteRequestChunks(writes, maximumPayload: exact).messages.count == 1)
    #expect(try WriteRequestChunks(writes, maximumPayload: exact - 1).messages.count == 2)
  }

  @Test func rejectsWritesThatFitNoMessage() {
    let large = AttributeWrite(path, value: octets(100))
    #expect(throws: InteractionError.tooLarge) { try WriteRequestChunks([large], maximumPayload: 80) }
    let entry = AttributeWrite(path, value: list([1, 100]))
    #expect(throws: InteractionError.tooLarge) { try WriteRequestChunks([entry], maximumPayload: 80) }
    let timed = AttributeWrite(path, value: list([30, 30, 30]))
    #expect(throws: InteractionError.tooLarge) { try WriteRequestChunks([timed], isTimed: true, maximumPayload: 80) }
    let broken = AttributeWrite(path, value: [0x16] + octets(100))
    #expect(throws: InteractionError.malformed(.truncated)) { try WriteRequestChunks([broken], maximumPayload: 80) }
  }
}
