import MatterModel
import MatterTLV
import Testing

@testable import MatterProtocol

/// Compares messages with encodings written by hand from Matter Core § 10.6 and § 10.7.
@Suite struct MessageTests {
  private func check<Message: InteractionMessage>(
    _ message: Message, _ text: String, sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let bytes = hex(text)
    #expect(message.encoded == bytes, sourceLocation: sourceLocation)
    #expect(try Message(decoding: bytes) == message, sourceLocation: sourceLocation)
    #expect(
      try Message(decoding: ([0xAA] + bytes + [0xBB])[1...bytes.count]) == message, sourceLocation: sourceLocation)
  }

  @Test func opcodes() {
    let opcodes: [InteractionOpcode] = [
      StatusResponse.opcode, ReadRequest.opcode, SubscribeRequest.opcode, SubscribeResponse.opcode, ReportData.opcode,
      WriteRequest.opcode, WriteResponse.opcode, InvokeRequest.opcode, InvokeResponse.opcode, TimedRequest.opcode,
    ]
    #expect(opcodes.map(\.rawValue) == Array(1...10))
    #expect(InteractionOpcode(8).description == "InvokeRequest")
    #expect(InteractionOpcode(0).description == "opcode 0")
  }

  @Test func encodesStatusAndTimedRequests() throws {
    try check(StatusResponse(.success), "15 2400 00 24FF 0C 18")
    try check(StatusResponse(.invalidAction), "15 2400 80 24FF 0C 18")
    try check(StatusResponse(StatusCode(0x42)), "15 2400 42 24FF 0C 18")
    try check(TimedRequest(timeoutMilliseconds: 200), "15 2400 C8 24FF 0C 18")
    try check(TimedRequest(timeoutMilliseconds: 5000), "15 2500 8813 24FF 0C 18")
  }

  @Test func encodesInvoke() throws {
    try check(
      InvokeRequest([.init(.init(endpoint: 1, cluster: 6, command: 2))]),
      "15 2800 2801 3602 15 3700 240001 240106 240202 18 3501 18 18 18 24FF 0C 18")
    try check(
      InvokeResponse([.status(.init(.init(endpoint: 1, cluster: 6, command: 2), status: .success))]),
      "15 2800 3601 15 3501 3700 240001 240106 240202 18 3501 240000 18 18 18 18 24FF 0C 18")
  }

  @Test func encodesInvokeWithFieldsAndRefs() throws {
    try check(
      InvokeRequest(
        [
          .init(.init(endpoint: 1, cluster: 8, command: 4), fields: hex("15 24 00 7F 34 01 18"), ref: 1),
          .init(.init(endpoint: nil, cluster: 6, command: 0), fields: nil, ref: 2),
        ], suppressResponse: true, isTimed: true),
      """
      15 2900 2901 3602
        15 3700 240001 240108 240204 18 3501 24007F 3401 18 240201 18
        15 3700 240106 240200 18 240202 18
      18 24FF 0C 18
      """)
    try check(
      InvokeResponse(
        [
          .command(.init(.init(endpoint: 0, cluster: 0x30, command: 1), fields: hex("15 240000 2C0100 18"), ref: 1)),
          .status(.init(.init(endpoint: 0, cluster: 6, command: 9), status: .init(.failure, clusterCode: 3), ref: 2)),
        ], moreChunkedMessages: true),
      """
      15 2800 3601
        15 3500 3700 240000 240130 240201 18 3501 240000 2C0100 18 240201 18 18
        15 3501 3700 240000 240106 240209 18 3501 240001 240103 18 240202 18 18
      18 2902 24FF 0C 18
      """)
  }

  @Test func encodesWildcardRead() throws {
    try check(ReadRequest(attributePaths: [.init()]), "15 3600 1718 18 2903 24FF 0C 18")
  }

  @Test func encodesReadWithAllMembers() throws {
    try check(
      ReadRequest(
        attributePaths: [.init(endpoint: 1, cluster: 6, attribute: 0xFFFC), .init(cluster: 0x1D)],
        eventPaths: [.init(endpoint: 0, cluster: 0x28, event: 0, isUrgent: true), .init(cluster: 0x33)],
        eventFilters: [.init(eventMin: 256), .init(node: 5, eventMin: 0)], isFabricFiltered: false,
        dataVersionFilters: [.init(.init(1, 6), dataVersion: 0x0102_0304)]),
      """
      15 3600 17 240201 240306 2504FCFF 18 17 24031D 18 18
        3601 17 240100 240228 240300 2904 18 17 240233 18 18
        3602 15 25010001 18 15 240005 240100 18 18
        2803
        3604 15 3700 240101 240206 18 260104030201 18 18
      24FF 0C 18
      """)
  }

  @Test func encodesSubscribe() throws {
    try check(
      SubscribeRequest(
        keepSubscriptions: true, minIntervalFloor: 0, maxIntervalCeiling: 600,
        attributePaths: [.init(endpoint: 1, cluster: 6, attribute: 0)], eventPaths: [.init()],
        eventFilters: [.init(eventMin: 1)], isFabricFiltered: true,
        dataVersionFilters: [.init(.init(1, 6), dataVersion: 1)]),
      """
      15 2900 240100 25025802 3603 17 240201 240306 240400 18 18 3604 1718 18 3605 15 240101 18 18
      2907 3608 15 3700 240101 240206 18 240101 18 18 24FF 0C 18
      """)
    try check(SubscribeResponse(subscriptionID: 0xAABB_CCDD, maxInterval: 60), "15 2600DDCCBBAA 24023C 24FF 0C 18")
    #expect(Samples.subscribe.read.dataVersionFilters == Samples.read.dataVersionFilters)
  }

  @Test func encodesReport() throws {
    try check(ReportData(subscriptionID: 1), "15 240001 24FF 0C 18")
    try check(
      ReportData(
        attributeReports: [
          .data(.init(.init(0x55, 0xAA, 0xCC), dataVersion: 0x99, value: [0x09])),
          .data(.init(.init(0x55, 0xAA, 0xCC), .append, dataVersion: 0x99, value: [0x08])),
          .status(.init(.init(endpoint: 1, cluster: 6, attribute: 9), status: .init(.unsupportedAttribute))),
        ], suppressResponse: true),
      """
      15 3601
        15 3501 240099 3701 240255 2403AA 2404CC 18 2902 18 18
        15 3501 240099 3701 240255 2403AA 2404CC 3405 18 2802 18 18
        15 3500 3700 240201 240306 240409 18 3501 240086 18 18 18
      18 2904 24FF 0C 18
      """)
    try check(
      ReportData(
        subscriptionID: 7,
        eventReports: [
          .data(
            .init(
              .init(0, 0x28, 0), number: 1, priority: .critical, timestamp: .system(300), payload: hex("15 240001 18"))),
          .data(.init(.init(0, 0x28, 3), number: 2, priority: .info, timestamp: .deltaSystem(5), payload: hex("1518"))),
          .data(.init(.init(0, 0x28, 3), number: 3, priority: .debug, timestamp: .epoch(6), payload: nil)),
          .data(.init(.init(0, 0x28, 3), number: 4, priority: .debug, timestamp: .deltaEpoch(7), payload: nil)),
          .status(.init(endpoint: 0, cluster: 0x28, event: 9), .init(.unsupportedEvent)),
        ], moreChunkedMessages: true),
      """
      15 240007 3602
        15 3501 3700 240100 240228 240300 18 240101 240202 25042C01 3507 240001 18 18 18
        15 3501 3700 240100 240228 240303 18 240102 240201 240605 3507 18 18 18
        15 3501 3700 240100 240228 240303 18 240103 240200 240306 18 18
        15 3501 3700 240100 240228 240303 18 240104 240200 240507 18 18
        15 3500 3700 240100 240228 240309 18 3501 2400C7 18 18 18
      18 2903 24FF 0C 18
      """)
  }

  @Test func encodesWrite() throws {
    try check(
      WriteRequest([
        .init(ConcreteAttributePath(1, 6, 0x4001), dataVersion: 5, value: [0x05, 0x10, 0x27]),
        .init(AttributePath(endpoint: 0, cluster: 0x1F, attribute: 0), .append, value: hex("1518")),
      ]),
      """
      15 2800 2801 3602
        15 240005 3701 240201 240306 25040140 18 25021027 18
        15 3701 240200 24031F 240400 3405 18 3502 18 18
      18 2803 24FF 0C 18
      """)
    try check(
      WriteResponse([
        .init(.init(endpoint: 1, cluster: 6, attribute: 0x4001), status: .success),
        .init(.init(endpoint: 0, cluster: 0x1F, attribute: 0), .append, status: .init(.failure, clusterCode: 1)),
      ]),
      """
      15 3600
        15 3700 240201 240306 25040140 18 3501 240000 18 18
        15 3700 240200 24031F 240400 3405 18 3501 240001 240101 18 18
      18 24FF 0C 18
      """)
  }

  @Test(arguments: 0..<Samples.all.count) func roundTripsSamples(_ index: Int) throws {
    let sample = Samples.all[index]
    #expect(try sample.again(sample.bytes) == sample.bytes, "\(sample.name)")
  }

  @Test func preservesValues() throws {
    #expect(try ReadRequest(decoding: Samples.read.encoded) == Samples.read)
    #expect(try SubscribeRequest(decoding: Samples.subscribe.encoded) == Samples.subscribe)
    #expect(try ReportData(decoding: Samples.report.encoded) == Samples.report)
    #expect(try WriteRequest(decoding: Samples.write.encoded) == Samples.write)
    #expect(try WriteResponse(decoding: Samples.writeResponse.encoded) == Samples.writeResponse)
    #expect(try InvokeRequest(decoding: Samples.invoke.encoded) == Samples.invoke)
    #expect(try InvokeResponse(decoding: Samples.invokeResponse.encoded) == Samples.invokeResponse)
  }
}
