import MatterClusters
import MatterController
import MatterCrypto
import MatterModel
import MatterProtocol

/// An attribute that is changed repeatedly, with the value that the device is known to have stored.
struct KillStream: Sendable {
  typealias Begin = @Sendable (inout ControllerEngine, [UInt8], Instant) -> OperationID

  let name: String
  let node: NodeID
  let path: ConcreteAttributePath
  /// The value first read or last acknowledged, in canonical encoding.
  private(set) var known: [UInt8] = []
  /// The value requested and not yet acknowledged.
  private(set) var requested: [UInt8]?
  private let begin: Begin
  private let next: @Sendable (inout SeededRandomSource, [UInt8]) throws -> [UInt8]
  private let canonical: @Sendable ([UInt8]) throws -> [UInt8]

  /// - Parameters:
  ///   - next: returns the value to request after the known one.
  ///   - begin: requests a value.
  init<C: Cluster, Value: ModelValue>(
    _ attribute: MatterModel.Attribute<C, Value>, on endpoint: EndpointID, of node: NodeID,
    next: @escaping @Sendable (inout SeededRandomSource, Value) -> Value,
    begin: @escaping @Sendable (inout ControllerEngine, Value, Instant) throws -> OperationID
  ) {
    name = "\(C.name).\(attribute.name) of node \(node.rawValue)"
    self.node = node
    path = attribute.path(on: endpoint)
    self.next = { random, known in next(&random, try Value(tlv: known)).tlv }
    canonical = { try Value(tlv: $0).tlv }
    self.begin = { engine, value, now in
      // Values come from `next`, so decoding succeeds.
      (try? begin(&engine, Value(tlv: value), now)) ?? engine.connect(node, at: now)
    }
  }

  /// Returns whether a device may have this value: the acknowledged one, or the one requested last.
  func allows(_ value: [UInt8]) throws -> Bool {
    let value = try canonical(value)
    return known.isEmpty || value == known || value == requested
  }

  /// Sets the known value to one that was read.
  mutating func setKnown(_ value: [UInt8]) throws { (known, requested) = (try canonical(value), nil) }

  mutating func start(
    _ random: inout SeededRandomSource, _ engine: inout ControllerEngine, at now: Instant
  ) throws -> OperationID {
    let value = try next(&random, known)
    requested = value
    return begin(&engine, value, now)
  }

  /// Records that the requested value was acknowledged.
  mutating func acknowledged() {
    known = requested ?? known
    requested = nil
  }
}

extension KillStream {
  private static func word(_ random: inout SeededRandomSource) -> String {
    String(UInt32(truncatingIfNeeded: random.next()), radix: 16)
  }

  /// Replaces a list by one of another length, with the same word in all entries.
  static func labels(of node: NodeID) -> KillStream {
    KillStream(UserLabel.labelList, on: .root, of: node) { random, _ in
      let (count, word) = (Int(random.next() % 17), word(&random))
      return (0..<count).map { LabelStruct(label: "\(word)-\($0)", value: word) }
    } begin: { engine, value, now in
      engine.write(value, to: UserLabel.labelList, on: .root, of: node, at: now)
    }
  }

  static func nodeLabel(of node: NodeID) -> KillStream {
    KillStream(BasicInformation.nodeLabel, on: .root, of: node) { random, _ in
      word(&random)
    } begin: { engine, value, now in
      engine.write(value, to: BasicInformation.nodeLabel, on: .root, of: node, at: now)
    }
  }

  /// Replaces all entries but the administrator's own.
  static func access(of node: NodeID, fabric: FabricIndex) -> KillStream {
    KillStream(AccessControl.acl, on: .root, of: node) { random, known in
      let others = (0..<Int(random.next() % 4)).map { _ in
        AccessControl.AccessControlEntryStruct(
          privilege: .view, authMode: .case,
          subjects: .value((0..<4).map { _ in NodeID(random.next() >> 2 | 1) }), targets: .null, fabricIndex: fabric)
      }
      return Array(known.prefix(1)) + others
    } begin: { engine, value, now in
      let entries = value.map { entry in
        var entry = entry
        entry.fabricIndex = .none
        return entry
      }
      return engine.write(entries, to: AccessControl.acl, on: .root, of: node, at: now)
    }
  }

  static func onOff(of node: NodeID) -> KillStream {
    KillStream(OnOff.onOff, on: 1, of: node) { _, known in
      !known
    } begin: { engine, value, now in
      engine.invoke(value ? OnOff.on : OnOff.off, on: 1, of: node, at: now)
    }
  }

  static func level(of node: NodeID) -> KillStream {
    KillStream(LevelControl.currentLevel, on: 1, of: node) { random, _ in
      .value(UInt8(1 + random.next() % 254))
    } begin: { engine, value, now in
      let fields = LevelControl.MoveToLevelRequest(
        level: value.wrapped ?? 1, transitionTime: .value(0), optionsMask: .executeIfOff,
        optionsOverride: .executeIfOff)
      return engine.invoke(LevelControl.moveToLevel, fields, on: 1, of: node, at: now)
    }
  }
}
