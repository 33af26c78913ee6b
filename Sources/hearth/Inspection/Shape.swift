import MatterModel
import MatterTLV

/// The names and the contents of the members of a message's structures. Matter Core § 4.12 to § 4.14, § 10.6, § 10.7.
final class Shape: Sendable {
  enum ElementKind: Sendable { case attribute, command, event }

  /// The presentation of a member's value.
  enum MemberKind: Sendable {
    case plain
    /// A value whose type is given by the path beside it.
    case data
    case statusCode, priority
  }

  struct Member: Sendable, ExpressibleByStringLiteral {
    let name: String
    let kind: MemberKind
    /// The shape of the value, or of each entry if the value is an array.
    let shape: Shape?

    init(_ name: String, _ kind: MemberKind = .plain) { (self.name, self.kind, shape) = (name, kind, nil) }
    init(_ name: String, _ shape: Shape) { (self.name, kind, self.shape) = (name, .plain, shape) }
    init(stringLiteral name: String) { self.init(name) }

    /// The name of a number; nil if it has none.
    func meaning(_ element: TLVElement) -> String? {
      guard case .unsigned(let value) = element.value, let value = UInt8(exactly: value) else { return nil }
      return switch kind {
      case .statusCode: StatusCode(value).description
      case .priority: EventPriority(rawValue: value).map { "\($0)" }
      case .plain, .data: nil
      }
    }
  }

  let name: String
  let members: [UInt8: Member]
  let isPath: Bool
  let elementKind: ElementKind
  let clusterTag: UInt8
  let elementTag: UInt8

  init(_ name: String, _ members: [UInt8: Member]) {
    self.name = name
    self.members = members
    (isPath, elementKind, clusterTag, elementTag) = (false, .attribute, 0, 0)
  }

  private init(path name: String, _ kind: ElementKind, cluster: UInt8, element: UInt8, _ names: [UInt8: String]) {
    self.name = name
    members = names.mapValues { Member($0) }
    (isPath, elementKind, clusterTag, elementTag) = (true, kind, cluster, element)
  }

  func member(_ tag: TLVTag) -> Member? {
    guard case .context(let number) = tag else { return nil }
    return members[number] ?? (number == 0xFF && isMessage ? "InteractionModelRevision" : nil)
  }

  private var isMessage: Bool { Self.interaction.values.contains { $0 === self } }
}

// MARK: - Structures of the Interaction Model

extension Shape {
  static let attributePath = Shape(
    path: "AttributePath", .attribute, cluster: 3, element: 4,
    [
      0: "EnableTagCompression", 1: "Node", 2: "Endpoint", 3: "Cluster", 4: "Attribute", 5: "ListIndex",
      6: "WildcardPathFlags",
    ])
  static let eventPath = Shape(
    path: "EventPath", .event, cluster: 2, element: 3,
    [0: "Node", 1: "Endpoint", 2: "Cluster", 3: "Event", 4: "IsUrgent"])
  static let commandPath = Shape(
    path: "CommandPath", .command, cluster: 1, element: 2, [0: "Endpoint", 1: "Cluster", 2: "Command"])
  static let clusterPath = Shape(
    path: "ClusterPath", .attribute, cluster: 2, element: 0xFE, [0: "Node", 1: "Endpoint", 2: "Cluster"])
  static let eventFilter = Shape("EventFilter", [0: "Node", 1: "EventMin"])
  static let dataVersionFilter = Shape("DataVersionFilter", [0: .init("Path", clusterPath), 1: "DataVersion"])
  static let status = Shape("Status", [0: .init("Status", .statusCode), 1: "ClusterStatus"])
  static let attributeStatus = Shape("AttributeStatus", [0: .init("Path", attributePath), 1: .init("Status", status)])
  static let attributeData = Shape(
    "AttributeData", [0: "DataVersion", 1: .init("Path", attributePath), 2: .init("Data", .data)])
  static let attributeReport = Shape(
    "AttributeReport", [0: .init("AttributeStatus", attributeStatus), 1: .init("AttributeData", attributeData)])
  static let eventStatus = Shape("EventStatus", [0: .init("Path", eventPath), 1: .init("Status", status)])
  static let eventData = Shape(
    "EventData",
    [
      0: .init("Path", eventPath), 1: "EventNumber", 2: .init("Priority", .priority), 3: "EpochTimestamp",
      4: "SystemTimestamp", 5: "DeltaEpochTimestamp", 6: "DeltaSystemTimestamp", 7: .init("Data", .data),
    ])
  static let eventReport = Shape(
    "EventReport", [0: .init("EventStatus", eventStatus), 1: .init("EventData", eventData)])
  static let commandData = Shape(
    "CommandData", [0: .init("CommandPath", commandPath), 1: .init("CommandFields", .data), 2: "CommandRef"])
  static let commandStatus = Shape(
    "CommandStatus", [0: .init("CommandPath", commandPath), 1: .init("Status", status), 2: "CommandRef"])
  static let invokeResponse = Shape(
    "InvokeResponse", [0: .init("Command", commandData), 1: .init("Status", commandStatus)])
}

// MARK: - Messages

extension Shape {
  private static let requests: [UInt8: Member] = [
    0: .init("AttributeRequests", attributePath), 1: .init("EventRequests", eventPath),
    2: .init("EventFilters", eventFilter), 3: "FabricFiltered", 4: .init("DataVersionFilters", dataVersionFilter),
  ]

  /// The messages of the Interaction Model, by opcode.
  static let interaction: [UInt8: Shape] = [
    1: Shape("StatusResponse", [0: .init("Status", .statusCode)]),
    2: Shape("ReadRequest", requests),
    3: Shape(
      "SubscribeRequest",
      [
        0: "KeepSubscriptions", 1: "MinIntervalFloor", 2: "MaxIntervalCeiling",
        3: .init("AttributeRequests", attributePath), 4: .init("EventRequests", eventPath),
        5: .init("EventFilters", eventFilter), 7: "FabricFiltered", 8: .init("DataVersionFilters", dataVersionFilter),
      ]),
    4: Shape("SubscribeResponse", [0: "SubscriptionID", 2: "MaxInterval"]),
    5: Shape(
      "ReportData",
      [
        0: "SubscriptionID", 1: .init("AttributeReports", attributeReport), 2: .init("EventReports", eventReport),
        3: "MoreChunkedMessages", 4: "SuppressResponse",
      ]),
    6: Shape(
      "WriteRequest",
      [0: "SuppressResponse", 1: "TimedRequest", 2: .init("WriteRequests", attributeData), 3: "MoreChunkedMessages"]),
    7: Shape("WriteResponse", [0: .init("WriteResponses", attributeStatus)]),
    8: Shape("InvokeRequest", [0: "SuppressResponse", 1: "TimedRequest", 2: .init("InvokeRequests", commandData)]),
    9: Shape(
      "InvokeResponse", [0: "SuppressResponse", 1: .init("InvokeResponses", invokeResponse), 2: "MoreChunkedMessages"]),
    10: Shape("TimedRequest", [0: "Timeout"]),
  ]

  private static let sessionParameters = Shape(
    "SessionParameters",
    [
      1: "IdleInterval", 2: "ActiveInterval", 3: "ActiveThreshold", 4: "DataModelRevision",
      5: "InteractionModelRevision", 6: "SpecificationVersion", 7: "MaxPathsPerInvoke", 8: "SupportedTransports",
      9: "MaxTCPMessageSize",
    ])

  /// The messages of the secure channel that are TLV, by opcode.
  static let secureChannel: [UInt8: Shape] = [
    0x20: Shape(
      "PBKDFParamRequest",
      [
        1: "InitiatorRandom", 2: "InitiatorSessionID", 3: "PasscodeID", 4: "HasPBKDFParameters",
        5: .init("SessionParameters", sessionParameters),
      ]),
    0x21: Shape(
      "PBKDFParamResponse",
      [
        1: "InitiatorRandom", 2: "ResponderRandom", 3: "ResponderSessionID",
        4: .init("PBKDFParameters", Shape("PBKDFParameters", [1: "Iterations", 2: "Salt"])),
        5: .init("SessionParameters", sessionParameters),
      ]),
    0x22: Shape("Pake1", [1: "pA"]),
    0x23: Shape("Pake2", [1: "pB", 2: "cB"]),
    0x24: Shape("Pake3", [1: "cA"]),
    0x30: Shape(
      "Sigma1",
      [
        1: "InitiatorRandom", 2: "InitiatorSessionID", 3: "DestinationID", 4: "InitiatorPublicKey",
        5: .init("SessionParameters", sessionParameters), 6: "ResumptionID", 7: "ResumeMIC",
      ]),
    0x31: Shape(
      "Sigma2",
      [
        1: "ResponderRandom", 2: "ResponderSessionID", 3: "ResponderPublicKey", 4: "Encrypted2",
        5: .init("SessionParameters", sessionParameters),
      ]),
    0x32: Shape("Sigma3", [1: "Encrypted3"]),
    0x33: Shape(
      "Sigma2Resume",
      [1: "ResumptionID", 2: "ResumeMIC", 3: "ResponderSessionID", 4: .init("SessionParameters", sessionParameters)]),
  ]

  private static let all =
    interaction.sorted { $0.key < $1.key }.map(\.value) + secureChannel.sorted { $0.key < $1.key }.map(\.value)

  static let messageNames = all.map(\.name)

  static func message(named name: String) -> Shape? {
    all.first { NormalizedName($0.name) == NormalizedName(name) }
  }
}
