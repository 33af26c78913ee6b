public import MatterModel
public import MatterProtocol
internal import MatterTLV

/// A group of the controller's fabric: a set of endpoints that one message reaches.
public struct GroupRecord: Hashable, Sendable, Codable {
  /// A member endpoint.
  public struct Member: Hashable, Comparable, Sendable, Codable {
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
  /// The key set that encrypts its messages. Groups share one, since a node need not support more than two.
  package let keySet: UInt16
  /// The endpoints that joined, in order.
  public internal(set) var members: [Member] = []
  /// Nodes that may have keys, memberships or access entries of the group, in order: nodes with members, nodes where an
  /// endpoint failed to join, and nodes removed from the fabric while unreachable.
  public internal(set) var holders: [NodeID] = []
  /// Whether the group was deleted. Its id and key set stay reserved while there are holders.
  public internal(set) var isDeleted = false

  init(_ id: GroupID, _ name: String, keySet: UInt16) { (self.id, self.name, self.keySet) = (id, name, keySet) }

  func endpoints(of node: NodeID) -> [EndpointID] { members.filter { $0.node == node }.map(\.endpoint) }

  mutating func addHolder(_ node: NodeID) {
    guard !holders.contains(node) else { return }
    holders.append(node)
    holders.sort()
  }

  // MARK: Storage

  static let prefix = "group/", counterKey = GroupCounterReservation.controllerKey, epochKeyPrefix = "group-key/"
  var key: String { Self.prefix + String(id.rawValue, radix: 16) }

  /// Store key of a key set's epoch key.
  static func epochKeyKey(_ keySet: UInt16) -> String { epochKeyPrefix + String(keySet, radix: 16) }
  /// The key set id in a store key.
  static func keySet(ofKey key: String) -> UInt16? { UInt16(key.dropFirst(epochKeyPrefix.count), radix: 16) }

  /// Returns the groups in a controller's store, by id.
  public static func groups(in state: StoredState) -> [GroupRecord] {
    state.filter { $0.key.hasPrefix(prefix) }.compactMap { GroupRecord(tlv: $0.value) }.filter { !$0.isDeleted }
      .sorted { $0.id < $1.id }
  }

  static func counterStored(_ counter: UInt32) -> StoreChange { StoreChange(counterKey, counter.tlv, isDurable: true) }

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
      $0.write(UInt64(keySet), .context(3))
      $0.array(.context(4)) { for holder in holders { $0.write(holder.rawValue) } }
      $0.write(isDeleted, .context(5))
    }
    return writer.bytes
  }

  /// Returns nil if the bytes are not a valid encoding.
  init?(tlv: [UInt8]) {
    guard let element = try? TLVElement(decoding: tlv), case .unsigned(let id)? = element[0]?.value,
      case .string(let name)? = element[1]?.value, case .array(let list)? = element[2]?.value,
      case .unsigned(let keySet)? = element[3]?.value, case .array(let holders)? = element[4]?.value,
      case .boolean(let isDeleted)? = element[5]?.value
    else { return nil }
    self.init(GroupID(UInt16(truncatingIfNeeded: id)), name, keySet: UInt16(truncatingIfNeeded: keySet))
    self.holders = holders.compactMap { if case .unsigned(let number) = $0.value { NodeID(number) } else { nil } }
    self.isDeleted = isDeleted
    let numbers = list.compactMap { if case .unsigned(let number) = $0.value { number } else { nil } }
    for index in stride(from: 0, to: numbers.count - 1, by: 2) {
      members.append(Member(NodeID(numbers[index]), EndpointID(UInt16(truncatingIfNeeded: numbers[index + 1]))))
    }
  }
}
