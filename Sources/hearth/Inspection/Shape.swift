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
    case status, priority
  }

  struct Member: Sendable {
    var name: String
    var kind = MemberKind.plain
    /// The shape of the value, or of each entry if the value is an array.
    var shape: Shape?

    /// The name of a number; nil if it has none.
    func meaning(_ element: TLVElement) -> String? {
      guard case .unsigned(let value) = element.value, let value = UInt8(exactly: value) else { return nil }
      return switch kind {
      case .status: StatusCode(value).description
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
    members = names.mapValues { Member(name: $0) }
    (isPath, elementKind, clusterTag, elementTag) = (true, kind, cluster, element)
  }

  func member(_ tag: TLVTag) -> Member? {
    guard case .context(let number) = tag else { return nil }
    return members[number] ?? (number == 0xFF && isMessage ? Member(name: "InteractionModelRevision") : nil)
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
  static let eventFilter = Shape("EventFilter", [0: .init(name: "Node"), 1: .init(name: "EventMin")])
  static let dataVersionFilter = Shape(
    "DataVersionFilter", [0: .init(name: "Path", shape: clusterPath), 1: .init(name: "DataVersion")])
  static let status = Shape(
    "Status", [0: .init(name: "Status", kind: .status), 1: .init(name: "ClusterStatus")])
  static let attributeStatus = Shape(
    "AttributeStatus", [0: .init(name: "Path", shape: attributePath), 1: .init(name: "Status", shape: status)])
  static let attributeData = Shape(
    "AttributeData",
    [
      0: .init(name: "DataVersion"), 1: .init(name: "Path", shape: attributePath), 2: .init(name: "Data", kind: .data),
    ])
  static let attributeReport = Shape(
    "AttributeReport",
    [
      0: .init(name: "AttributeStatus", shape: attributeStatus), 1: .init(name: "AttributeData", shape: attributeData),
    ])
  static let eventStatus = Shape(
    "EventStatus", [0: .init(name: "Path", shape: eventPath), 1: .init(name: "Status", shape: status)])
  static let eventData = Shape(
    "EventData",
    [
      0: .init(name: "Path", shape: eventPath), 1: .init(name: "EventNumber"),
      2: .init(name: "Priority", kind: .priority), 3: .init(name: "EpochTimestamp"), 4: .init(name: "SystemTimestamp"),
      5: .init(name: "DeltaEpochTimestamp"), 6: .init(name: "DeltaSystemTimestamp"),
      7: .init(name: "Data", kind: .data),
    ])
  static let eventReport = Shape(
    "EventReport",
    [0: .init(name: "EventStatus", shape: eventStatus), 1: .init(name: "EventData", shape: eventData)])
  static let commandData = Shape(
    "CommandData",
    [
      0: .init(name: "CommandPath", shape: commandPath), 1: .init(name: "CommandFields", kind: .data),
      2: .init(name: "CommandRef"),
    ])
  static let commandStatus = Shape(
    "CommandStatus",
    [
      0: .init(name: "CommandPath", shape: commandPath), 1: .init(name: "Status", shape: status),
      2: .init(name: "CommandRef"),
    ])
  static let invokeResponse = Shape(
    "InvokeResponse",
    [0: .init(name: "Command", shape: commandData), 1: .init(name: "Status", shape: commandStatus)])
}

// MARK: - Messages

extension Shape {
  private static let requests: [UInt8: Member] = [
    0: .init(name: "AttributeRequests", shape: attributePath), 1: .init(name: "EventRequests", shape: eventPath),
    2: .init(name: "EventFilters", shape: eventFilter), 3: .init(name: "FabricFiltered"),
    4: .init(name: "DataVersionFilters", shape: dataVersionFilter),
  ]

  /// The messages of the Interaction Model, by opcode.
  static let interaction: [UInt8: Shape] = [
    1: Shape("StatusResponse", [0: .init(name: "Status", kind: .status)]),
    2: Shape("ReadRequest", requests),
    3: Shape(
      "SubscribeRequest",
      [
        0: .init(name: "KeepSubscriptions"), 1: .init(name: "MinIntervalFloor"), 2: .init(name: "MaxIntervalCeiling"),
        3: .init(name: "AttributeRequests", shape: attributePath), 4: .init(name: "EventRequests", shape: eventPath),
        5: .init(name: "EventFilters", shape: eventFilter), 7: .init(name: "FabricFiltered"),
        8: .init(name: "DataVersionFilters", shape: dataVersionFilter),
      ]),
    4: Shape("SubscribeResponse", [0: .init(name: "SubscriptionID"), 2: .init(name: "MaxInterval")]),
    5: Shape(
      "ReportData",
      [
        0: .init(name: "SubscriptionID"), 1: .init(name: "AttributeReports", shape: attributeReport),
        2: .init(name: "EventReports", shape: eventReport), 3: .init(name: "MoreChunkedMessages"),
        4: .init(name: "SuppressResponse"),
      ]),
    6: Shape(
      "WriteRequest",
      [
        0: .init(name: "SuppressResponse"), 1: .init(name: "TimedRequest"),
        2: .init(name: "WriteRequests", shape: attributeData), 3: .init(name: "MoreChunkedMessages"),
      ]),
    7: Shape("WriteResponse", [0: .init(name: "WriteResponses", shape: attributeStatus)]),
    8: Shape(
      "InvokeRequest",
      [
        0: .init(name: "SuppressResponse"), 1: .init(name: "TimedRequest"),
        2: .init(name: "InvokeRequests", shape: commandData),
      ]),
    9: Shape(
      "InvokeResponse",
      [
        0: .init(name: "SuppressResponse"), 1: .init(name: "InvokeResponses", shape: invokeResponse),
        2: .init(name: "MoreChunkedMessages"),
      ]),
    10: Shape("TimedRequest", [0: .init(name: "Timeout")]),
  ]

  private static let sessionParameters = Shape(
    "SessionParameters",
    [
      1: .init(name: "IdleInterval"), 2: .init(name: "ActiveInterval"), 3: .init(name: "ActiveThreshold"),
      4: .init(name: "DataModelRevision"), 5: .init(name: "InteractionModelRevision"),
      6: .init(name: "SpecificationVersion"), 7: .init(name: "MaxPathsPerInvoke"),
      8: .init(name: "SupportedTransports"), 9: .init(name: "MaxTCPMessageSize"),
    ])

  /// The messages of the secure channel that are TLV, by opcode.
  static let secureChannel: [UInt8: Shape] = [
    0x20: Shape(
      "PBKDFParamRequest",
      [
        1: .init(name: "InitiatorRandom"), 2: .init(name: "InitiatorSessionID"), 3: .init(name: "PasscodeID"),
        4: .init(name: "HasPBKDFParameters"), 5: .init(name: "SessionParameters", shape: sessionParameters),
      ]),
    0x21: Shape(
      "PBKDFParamResponse",
      [
        1: .init(name: "InitiatorRandom"), 2: .init(name: "ResponderRandom"), 3: .init(name: "ResponderSessionID"),
        4: .init(
          name: "PBKDFParameters",
          shape: Shape("PBKDFParameters", [1: .init(name: "Iterations"), 2: .init(name: "Salt")])),
        5: .init(name: "SessionParameters", shape: sessionParameters),
      ]),
    0x22: Shape("Pake1", [1: .init(name: "pA")]),
    0x23: Shape("Pake2", [1: .init(name: "pB"), 2: .init(name: "cB")]),
    0x24: Shape("Pake3", [1: .init(name: "cA")]),
    0x30: Shape(
      "Sigma1",
      [
        1: .init(name: "InitiatorRandom"), 2: .init(name: "InitiatorSessionID"), 3: .init(name: "DestinationID"),
        4: .init(name: "InitiatorPublicKey"), 5: .init(name: "SessionParameters", shape: sessionParameters),
        6: .init(name: "ResumptionID"), 7: .init(name: "ResumeMIC"),
      ]),
    0x31: Shape(
      "Sigma2",
      [
        1: .init(name: "ResponderRandom"), 2: .init(name: "ResponderSessionID"), 3: .init(name: "ResponderPublicKey"),
        4: .init(name: "Encrypted2"), 5: .init(name: "SessionParameters", shape: sessionParameters),
      ]),
    0x32: Shape("Sigma3", [1: .init(name: "Encrypted3")]),
    0x33: Shape(
      "Sigma2Resume",
      [
        1: .init(name: "ResumptionID"), 2: .init(name: "ResumeMIC"), 3: .init(name: "ResponderSessionID"),
        4: .init(name: "SessionParameters", shape: sessionParameters),
      ]),
  ]

  private static let all =
    interaction.sorted { $0.key < $1.key }.map(\.value) + secureChannel.sorted { $0.key < $1.key }.map(\.value)

  static let messageNames = all.map(\.name)

  static func message(named name: String) -> Shape? {
    all.first { NormalizedName($0.name) == NormalizedName(name) }
  }
}
