import MatterModel
import MatterTLV

@testable import MatterProtocol

/// Returns the bytes of hexadecimal digits, ignoring blanks.
func hex(_ text: String) -> [UInt8] {
  let digits = text.compactMap { $0.hexDigitValue.map(UInt8.init) }
  return stride(from: 0, to: digits.count - 1, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
}

/// A message of each kind with all optional members.
enum Samples {
  static let attribute = ConcreteAttributePath(1, 0x0006, 0x0000)

  static let read = ReadRequest(
    attributePaths: [
      .init(), .init(endpoint: 1, cluster: 0x1D), .init(endpoint: 2, cluster: 0x12345, attribute: 0xFFFC),
    ],
    eventPaths: [.init(endpoint: 0, cluster: 0x28, event: 0, isUrgent: true), .init()],
    eventFilters: [.init(eventMin: 7), .init(node: 0x1122_3344_5566_7788, eventMin: 1 << 40)],
    isFabricFiltered: false,
    dataVersionFilters: [
      .init(.init(1, 6), dataVersion: 0xDEAD_BEEF), .init(.init(0xFFFE, 0xFFF1_FC00), dataVersion: 0),
    ])

  static let subscribe = SubscribeRequest(
    keepSubscriptions: false, minIntervalFloor: 1, maxIntervalCeiling: 3600, attributePaths: read.attributePaths,
    eventPaths: read.eventPaths, eventFilters: read.eventFilters, isFabricFiltered: true,
    dataVersionFilters: read.dataVersionFilters)

  static let event = EventData(
    ConcreteEventPath(0, 0x28, 0), number: 0x1_0000_0001, priority: .critical, timestamp: .epoch(1_700_000_000_000),
    payload: hex("15 24 00 01 18"))

  static let report = ReportData(
    subscriptionID: 0x1234_5678,
    attributeReports: [
      .data(.init(attribute, dataVersion: 9, value: [0x09])),
      .data(.init(.init(0, 0x1D, 3), .append, dataVersion: 1 << 31, value: [0x04, 0x01])),
      .data(.init(.init(0, 0x1D, 3), .item(4), dataVersion: 1, value: hex("15 18"))),
      .status(.init(.init(endpoint: 9, cluster: 6, attribute: 1), status: .init(.unsupportedEndpoint))),
      .status(.init(.init(cluster: 6), status: .init(.failure, clusterCode: 2))),
    ],
    eventReports: [
      .data(event), .status(.init(endpoint: 1, cluster: 2, event: 3), .init(.unsupportedEvent)),
      .data(.init(.init(1, 2, 3), number: 5, priority: .debug, timestamp: .system(12), payload: nil)),
      .data(.init(.init(1, 2, 3), number: 6, priority: .info, timestamp: .deltaSystem(0), payload: hex("1518"))),
      .data(.init(.init(1, 2, 3), number: 7, priority: .info, timestamp: .deltaEpoch(3), payload: hex("1518"))),
    ],
    moreChunkedMessages: true, suppressResponse: true)

  static let write = WriteRequest(
    [
      .init(attribute, dataVersion: 3, value: [0x08]),
      .init(AttributePath(cluster: 6, attribute: 0x4000), value: [0x14]),
      .init(ConcreteAttributePath(0, 0x1F, 0), .append, value: hex("15 24 01 05 18")),
      .init(ConcreteAttributePath(0, 0x1F, 0), .item(2), value: hex("16 18")),
    ], suppressResponse: true, isTimed: true, moreChunkedMessages: true)

  static let writeResponse = WriteResponse([
    .init(.init(attribute), status: .success),
    .init(
      .init(endpoint: 0, cluster: 31, attribute: 0), .append,
      status: .init(.constraintError)),
    .init(.init(endpoint: 0, cluster: 31, attribute: 0), status: .init(.failure, clusterCode: 0xFE)),
  ])

  static let invoke = InvokeRequest(
    [
      .init(.init(endpoint: 1, cluster: 6, command: 2), ref: 0),
      .init(.init(endpoint: nil, cluster: 8, command: 4), fields: hex("15 24 00 7F 34 01 18"), ref: 0xFFFF),
      .init(.init(endpoint: 0xFFFE, cluster: 0xFFF1_FC00, command: 0xFFF1_0001), fields: nil),
    ], suppressResponse: true, isTimed: true)

  static let invokeResponse = InvokeResponse(
    [
      .command(.init(.init(endpoint: 0, cluster: 0x30, command: 1), fields: hex("15 24 00 00 2C 01 00 18"), ref: 1)),
      .status(.init(.init(endpoint: 1, cluster: 6, command: 2), status: .success)),
      .status(.init(.init(endpoint: 1, cluster: 6, command: 9), status: .init(.failure, clusterCode: 3), ref: 2)),
    ], suppressResponse: true, moreChunkedMessages: true)

  static let subscribeResponse = SubscribeResponse(subscriptionID: .max, maxInterval: 60)

  /// All samples, each with a closure that decodes and encodes it again.
  static let all: [(name: String, bytes: [UInt8], again: @Sendable ([UInt8]) throws -> [UInt8])] = [
    sample(StatusResponse(.busy)), sample(TimedRequest(timeoutMilliseconds: 10_000)), sample(read), sample(subscribe),
    sample(subscribeResponse), sample(report), sample(write), sample(writeResponse), sample(invoke),
    sample(invokeResponse),
  ]

  private static func sample<Message: InteractionMessage>(
    _ message: Message
  ) -> (name: String, bytes: [UInt8], again: @Sendable ([UInt8]) throws -> [UInt8]) {
    (Message.opcode.description, message.encoded, { try Message(decoding: $0).encoded })
  }
}
