public import MatterModel
internal import MatterProtocol
internal import MatterTLV

/// A group of the controller's fabric: endpoints of any nodes, which one message reaches.
public struct GroupRecord: Hashable, Sendable {
  /// An endpoint in a group.
  public struct Member: Hashable, Comparable, Sendable {
    public let node: NodeID
    public let endpoint: EndpointID

    public init(_ node: NodeID, _ endpoint: EndpointID) { (self.node, self.endpoint) = (node, endpoint) }
    public static func < (left: Self, right: Self) -> Bool {
      (left.node, left.endpoint) < (right.node, right.endpoint)
    }
  }

  public let id: GroupID
  /// At most 16 bytes.
  public let name: String
  /// Those that took it up, in order.
  public internal(set) var members: [Member] = []

  init(_ id: GroupID, _ name: String) { (self.id, self.name) = (id, name) }

  // MARK: Keeping

  static let prefix = "group/", counterKey = "group-counter", epochKey = "group-key"
  var key: String { Self.prefix + String(id.rawValue, radix: 16) }

  static func counterStored(_ counter: UInt32) -> StoreChange { StoreChange(counterKey, counter.tlv) }

  var tlv: [UInt8] {
    var writer = TLVWriter()
    writer.structure {
      $0.write(UInt64(id.rawValue), .context(0))
      $0.write(name, .context(1))
      $0.array(.context(2)) {
        for member in members {
          $0.write(member.node.rawValue)
          $0.write(UInt64(member.endpoint.rawValue))
        }
      }
    }
    return writer.bytes
  }

  /// Nil if the bytes are not what ``tlv`` gives.
  init?(tlv: [UInt8]) {
    guard let element = try? TLVElement(decoding: tlv), case .unsigned(let id)? = element[0]?.value,
      case .string(let name)? = element[1]?.value, case .array(let list)? = element[2]?.value
    else { return nil }
    self.init(GroupID(UInt16(truncatingIfNeeded: id)), name)
    let numbers = list.compactMap { if case .unsigned(let number) = $0.value { number } else { nil } }
    for index in stride(from: 0, to: numbers.count - 1, by: 2) {
      members.append(Member(NodeID(numbers[index]), EndpointID(UInt16(truncatingIfNeeded: numbers[index + 1]))))
    }
  }
}
