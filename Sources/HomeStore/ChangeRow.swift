internal import Foundation
internal import HomeModel
internal import MatterModel
internal import MatterProtocol

/// A change as columns of the log. Each change is restored from its row unmodified; a removal also stores the name of
/// the removed object.
struct ChangeRow: Hashable {
  /// The codes in the file; they must not be reused.
  enum Kind: Int, CaseIterable {
    case structureAdded = 1
    case structureRenamed = 2
    case structureRemoved = 3
    case roomAdded = 4
    case roomRenamed = 5
    case roomRemoved = 6
    case deviceAdded = 7
    case deviceRemoved = 8
    case deviceRenamed = 9
    case deviceMoved = 10
    case sourceAdded = 11
    case sourceRemoved = 12
    case topology = 13
    case connectivity = 14
    case attribute = 15
    case event = 16
    case primaryStructure = 17

    /// The table of the removed object; nil for other changes.
    var removedFrom: String? {
      switch self {
      case .structureRemoved: "structure"
      case .roomRemoved: "room"
      case .deviceRemoved: "device"
      default: nil
      }
    }
  }

  var kind: Kind
  /// The id of the affected device, structure or room.
  var subject: String?
  var node: NodeID?
  var endpoint: EndpointID?
  var cluster: ClusterID?
  /// The id of the attribute or event.
  var element: UInt32?
  var value: [UInt8]?

  init(
    _ kind: Kind, subject: String?, source: SourceID? = nil, _ write: ((inout BlobWriter) -> Void)? = nil
  ) {
    self.kind = kind
    self.subject = subject
    node = source?.node
    endpoint = source?.endpoint
    if let write {
      var writer = BlobWriter()
      write(&writer)
      value = writer.bytes
    }
  }

  /// - Parameter device: the device that a change of a source or node belongs to, if the change does not name it.
  init(_ change: HomeChange, device: String?) {
    switch change {
    case .structureAdded(let structure): self.init(.structureAdded, subject: structure.id) { $0.write(structure.name) }
    case .structureRenamed(let id, let name): self.init(.structureRenamed, subject: id) { $0.write(name) }
    case .structureRemoved(let id): self.init(.structureRemoved, subject: id)
    case .primaryStructureChosen(let id): self.init(.primaryStructure, subject: id)
    case .roomAdded(let room):
      self.init(.roomAdded, subject: room.id) {
        $0.write(room.name)
        $0.write(room.structureID)
      }
    case .roomRenamed(let id, let name): self.init(.roomRenamed, subject: id) { $0.write(name) }
    case .roomRemoved(let id): self.init(.roomRemoved, subject: id)
    case .deviceAdded(let id, let name, let room, let structure):
      self.init(.deviceAdded, subject: id) {
        $0.write(name)
        $0.write(room)
        $0.write(structure)
      }
    case .deviceRemoved(let id): self.init(.deviceRemoved, subject: id)
    case .deviceRenamed(let id, let name): self.init(.deviceRenamed, subject: id) { $0.write(name) }
    case .deviceMoved(let id, let room): self.init(.deviceMoved, subject: id) { $0.write(room) }
    case .sourceAdded(let source, let device): self.init(.sourceAdded, subject: device, source: source)
    case .sourceRemoved(let source): self.init(.sourceRemoved, subject: device, source: source)
    case .topology(let source, let endpoints, let identity):
      self.init(.topology, subject: device, source: source) { writer in
        writer.write(endpoints) { $1.write(to: &$0) }
        identity.write(to: &writer)
      }
    case .connectivity(let source, let status):
      self.init(.connectivity, subject: device, source: source) { status.write(to: &$0) }
    case .attribute(let node, let path, let value):
      self.init(.attribute, subject: device, source: SourceID(node, path.endpoint))
      cluster = path.cluster
      element = path.attribute.rawValue
      self.value = value
    case .event(let node, let data):
      self.init(.event, subject: device, source: SourceID(node, data.path.endpoint)) { data.write(to: &$0) }
      cluster = data.path.cluster
      element = data.path.event.rawValue
    }
  }

  /// Restores the change.
  func change() throws(DamagedBlob) -> HomeChange {
    switch kind {
    case .structureAdded: .structureAdded(Structure(id: try known(subject), name: try text()))
    case .structureRenamed: .structureRenamed(id: try known(subject), name: try text())
    case .structureRemoved: .structureRemoved(id: try known(subject))
    case .primaryStructure: .primaryStructureChosen(id: try known(subject))
    case .roomAdded:
      .roomAdded(
        try read { [subject] (reader) throws(DamagedBlob) in
          Room(id: try Self.known(subject), name: try reader.text(), structureID: try reader.text())
        })
    case .roomRenamed: .roomRenamed(id: try known(subject), name: try text())
    case .roomRemoved: .roomRemoved(id: try known(subject))
    case .deviceAdded:
      try read { [subject] (reader) throws(DamagedBlob) in
        .deviceAdded(
          id: try Self.known(subject), name: try reader.text(), roomID: try reader.optionalText(),
          structureID: try reader.text())
      }
    case .deviceRemoved: .deviceRemoved(id: try known(subject))
    case .deviceRenamed: .deviceRenamed(id: try known(subject), name: try text())
    case .deviceMoved: .deviceMoved(id: try known(subject), roomID: try optionalText())
    case .sourceAdded: .sourceAdded(try source(), device: try known(subject))
    case .sourceRemoved: .sourceRemoved(try source())
    case .topology:
      try read { [source = try source()] (reader) throws(DamagedBlob) in
        .topology(
          source, try reader.array { (item) throws(DamagedBlob) in try DeviceEndpoint(from: &item) },
          try DeviceIdentity(from: &reader))
      }
    case .connectivity:
      .connectivity(
        try source(), try read { (reader) throws(DamagedBlob) in try SourceStatus(from: &reader) })
    case .attribute:
      .attribute(
        try known(node), .init(try known(endpoint), try known(cluster), AttributeID(try known(element))), value: value)
    case .event: .event(try known(node), try event())
    }
  }

  /// The last name of the removed object.
  var removedName: String? {
    get throws(DamagedBlob) { kind.removedFrom != nil && value != nil ? try text() : nil }
  }

  /// Sets the name of the removed object.
  /// - Parameter find: returns the stored name of an object.
  mutating func nameRemoved(_ find: (_ table: String, _ id: String) throws -> String?) rethrows {
    guard let table = kind.removedFrom, let subject, let name = try find(table, subject) else { return }
    var writer = BlobWriter()
    writer.write(name)
    value = writer.bytes
  }

  private func text() throws(DamagedBlob) -> String {
    try read { (reader) throws(DamagedBlob) in try reader.text() }
  }

  private func optionalText() throws(DamagedBlob) -> String? {
    try read { (reader) throws(DamagedBlob) in try reader.optionalText() }
  }

  private func event() throws(DamagedBlob) -> EventData {
    let path = ConcreteEventPath(try known(endpoint), try known(cluster), EventID(try known(element)))
    return try read { (reader) throws(DamagedBlob) in try EventData(path, from: &reader) }
  }

  private func source() throws(DamagedBlob) -> SourceID { SourceID(try known(node), try known(endpoint)) }

  private func known<Value>(_ value: Value?) throws(DamagedBlob) -> Value { try Self.known(value) }

  private static func known<Value>(_ value: Value?) throws(DamagedBlob) -> Value {
    guard let value else { throw DamagedBlob() }
    return value
  }

  private func read<Value>(
    _ body: (inout BlobReader) throws(DamagedBlob) -> Value
  ) throws(DamagedBlob) -> Value {
    var reader = BlobReader(value ?? [])
    return try body(&reader)
  }
}
