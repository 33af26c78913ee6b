package import Home
internal import MatterModel
internal import MatterProtocol

// Everything on the wire begins with a number that says what it is. The numbers are never given to anything else.

extension HubMessage {
  package var bytes: [UInt8] {
    var writer = BlobWriter()
    switch self {
    case .hello(let hello):
      writer.write(0)
      writer.write(hello.version)
      writer.write(hello.name)
      writer.write(hello.token)
      writer.write(optional: hello.position) { $0.write($1) }
    case .request(let id, let request, let origin):
      writer.write(1)
      writer.write(id)
      writer.write(origin)
      request.write(to: &writer)
    }
    return writer.bytes
  }

  package init(_ bytes: [UInt8]) throws(DamagedBlob) {
    var reader = BlobReader(bytes)
    switch try reader.number() {
    case 0:
      let version = try reader.number()
      // What another version says further on is not for us to read.
      guard version == hubWireVersion else {
        self = .hello(HubHello(version: version, name: ""))
        return
      }
      self = .hello(
        HubHello(
          version: version, name: try reader.text(), token: try reader.optionalText(),
          position: try reader.optional { (item) throws(DamagedBlob) in try item.position() }))
    case 1:
      let id = try reader.number()
      let origin = try reader.optionalText()
      self = .request(id, try HubRequest(from: &reader), origin: origin)
    default: throw DamagedBlob()
    }
    guard reader.isAtEnd || isForeign else { throw DamagedBlob() }
  }

  private var isForeign: Bool { if case .hello(let hello) = self { hello.version != hubWireVersion } else { false } }
}

extension HubNews {
  package var bytes: [UInt8] {
    var writer = BlobWriter()
    switch self {
    case .welcome(let role, let client, let isResumed):
      writer.write(0)
      writer.write(role.rawValue)
      writer.write(client)
      writer.write(isResumed)
    case .refused(let error):
      writer.write(1)
      writer.write(error)
    case .reset: writer.write(2)
    case .part(let changes):
      writer.write(3)
      writer.write(changes) { $1.write(to: &$0) }
    case .contacts(let contacts):
      writer.write(4)
      writer.write(contacts)
    case .synchronized(let position):
      writer.write(5)
      writer.write(position)
    case .update(let update, let contacts, let position):
      writer.write(6)
      writer.write(position)
      writer.write(UInt64(bitPattern: update.time))
      writer.write(update.origin)
      writer.write(update.changes) { $1.write(to: &$0) }
      writer.write(contacts)
    case .reply(let id, .success(let reply)):
      writer.write(7)
      writer.write(id)
      reply.write(to: &writer)
    case .reply(let id, .failure(let error)):
      writer.write(8)
      writer.write(id)
      writer.write(error)
    case .settling(let settling):
      writer.write(9)
      writer.write(settling)
    }
    return writer.bytes
  }

  package init(_ bytes: [UInt8]) throws(DamagedBlob) {
    var reader = BlobReader(bytes)
    switch try reader.number() {
    case 0: self = .welcome(try reader.value(), client: try reader.text(), isResumed: try reader.flag())
    case 1: self = .refused(try reader.error())
    case 2: self = .reset
    case 3: self = .part(try reader.changes())
    case 4: self = .contacts(try reader.contacts())
    case 5: self = .synchronized(try reader.position())
    case 6:
      let position = try reader.position()
      let time = Int64(bitPattern: try reader.number())
      let origin = try reader.optionalText()
      let update = HomeUpdate(try reader.changes(), at: time, origin: origin)
      self = .update(update, try reader.contacts(), position)
    case 7:
      let id = try reader.number()
      self = .reply(id, .success(try HubReply(from: &reader)))
    case 8:
      let id = try reader.number()
      self = .reply(id, .failure(try reader.error()))
    case 9: self = .settling(try reader.settling())
    default: throw DamagedBlob()
    }
    guard reader.isAtEnd else { throw DamagedBlob() }
  }
}

// MARK: Parts

extension BlobWriter {
  mutating func write(_ number: Int) { write(UInt64(UInt(bitPattern: number))) }
  mutating func write(_ flag: Bool) { write(UInt64(flag ? 1 : 0)) }

  mutating func write<Value>(optional value: Value?, _ body: (inout BlobWriter, Value) -> Void) {
    write(value.map { [$0] } ?? [], body)
  }

  mutating func write(optional duration: Duration?) {
    write(optional: duration) { $0.write(UInt64(max(0, $1.nanoseconds))) }
  }

  mutating func write(_ source: SourceID) {
    write(source.node.rawValue)
    write(source.endpoint.rawValue)
  }

  mutating func write(_ position: HubPosition) {
    write(position.hub)
    write(position.count)
  }

  mutating func write(_ contacts: [NodeID: Contact]) {
    write(contacts.sorted { $0.key < $1.key }) { writer, entry in
      writer.write(entry.key.rawValue)
      for time in [entry.value.last, entry.value.nextReport] {
        writer.write(optional: time) { $0.write(UInt64(bitPattern: $1)) }
      }
    }
  }

  mutating func write(_ settling: DebouncerState) {
    write(optional: settling.grace)
    write(settling.trials.sorted { $0.key < $1.key }) { writer, trial in
      writer.write(trial.key)
      writer.write(trial.value.settled.connectivityState.rawValue)
      writer.write(trial.value.settled.dataSourceLocality.rawValue)
      writer.write(optional: trial.value.remaining)
    }
  }

  /// Without its cause, which is for the log where it happened.
  mutating func write(_ error: HomeError) {
    write(error.code.rawValue)
    write(error.message)
    write(error.device)
    write(error.candidates) { $0.write($1) }
  }

  mutating func write(_ path: AttributePath) {
    write(optional: path.endpoint) { $0.write($1.rawValue) }
    write(optional: path.cluster) { $0.write($1.rawValue) }
    write(optional: path.attribute) { $0.write($1.rawValue) }
  }

  mutating func write(_ operation: ListOperation) {
    switch operation {
    case .replaceAll: write(0)
    case .append: write(1)
    case .item(let index): write(2 + Int(index))
    }
  }

  mutating func write(_ write: AttributeWrite) {
    self.write(write.path)
    self.write(write.operation)
    self.write(optional: write.dataVersion) { $0.write($1) }
    self.write(write.value)
  }

  mutating func write(_ command: CommandData) {
    write(optional: command.path.endpoint) { $0.write($1.rawValue) }
    write(command.path.cluster.rawValue)
    write(command.path.command.rawValue)
    write(optional: command.fields) { $0.write($1) }
  }

  mutating func write(_ status: AttributeStatus) {
    write(status.path)
    write(status.operation)
    write(status.status.code.rawValue)
    write(optional: status.status.clusterCode) { $0.write($1) }
  }
}

extension BlobReader {
  mutating func flag() throws(DamagedBlob) -> Bool {
    switch try number() {
    case 0: false
    case 1: true
    default: throw DamagedBlob()
    }
  }

  mutating func optional<Value>(
    _ body: (inout BlobReader) throws(DamagedBlob) -> Value
  ) throws(DamagedBlob) -> Value? {
    let all = try array(body)
    guard all.count <= 1 else { throw DamagedBlob() }
    return all.first
  }

  mutating func value<Value: RawRepresentable<String>>() throws(DamagedBlob) -> Value {
    guard let value = Value(rawValue: try text()) else { throw DamagedBlob() }
    return value
  }

  mutating func optionalDuration() throws(DamagedBlob) -> Duration? {
    try optional { (item) throws(DamagedBlob) in .nanoseconds(Int64(clamping: try item.number())) }
  }

  mutating func source() throws(DamagedBlob) -> SourceID {
    SourceID(NodeID(try number()), EndpointID(try number(as: UInt16.self)))
  }

  mutating func position() throws(DamagedBlob) -> HubPosition { HubPosition(hub: try number(), count: try number()) }

  mutating func changes() throws(DamagedBlob) -> [HomeChange] {
    try array { (item) throws(DamagedBlob) in try HomeChange(from: &item) }
  }

  mutating func contacts() throws(DamagedBlob) -> [NodeID: Contact] {
    let entries = try array { (item) throws(DamagedBlob) in
      (NodeID(try item.number()), Contact(last: try item.optionalTime(), nextReport: try item.optionalTime()))
    }
    return Dictionary(entries) { $1 }
  }

  mutating func settling() throws(DamagedBlob) -> DebouncerState {
    let grace = try optionalDuration() ?? .zero
    let trials = try array { (item) throws(DamagedBlob) in
      let device = try item.text()
      let settled = SourceConnectivity(try item.value(), try item.value())
      return (device, DebouncerState.Trial(settled: settled, remaining: try item.optionalDuration() ?? .zero))
    }
    return DebouncerState(grace: grace, trials: Dictionary(trials) { $1 })
  }

  private mutating func optionalTime() throws(DamagedBlob) -> Int64? {
    try optional { (item) throws(DamagedBlob) in Int64(bitPattern: try item.number()) }
  }

  mutating func error() throws(DamagedBlob) -> HomeError {
    let code: HomeError.Code = try value()
    let message = try text()
    let device = try optionalText()
    return HomeError(
      code, message, device: device,
      candidates: try array { (item) throws(DamagedBlob) in try item.text() })
  }

  mutating func attributePath() throws(DamagedBlob) -> AttributePath {
    AttributePath(
      endpoint: try optional { (item) throws(DamagedBlob) in EndpointID(try item.number(as: UInt16.self)) },
      cluster: try optional { (item) throws(DamagedBlob) in ClusterID(try item.number(as: UInt32.self)) },
      attribute: try optional { (item) throws(DamagedBlob) in AttributeID(try item.number(as: UInt32.self)) })
  }

  mutating func listOperation() throws(DamagedBlob) -> ListOperation {
    switch try number() {
    case 0: .replaceAll
    case 1: .append
    case let number:
      if let index = UInt16(exactly: number - 2) { .item(index) } else { throw DamagedBlob() }
    }
  }

  mutating func attributeWrite() throws(DamagedBlob) -> AttributeWrite {
    AttributeWrite(
      try attributePath(), try listOperation(),
      dataVersion: try optional { (item) throws(DamagedBlob) in try item.number(as: UInt32.self) },
      value: try octets())
  }

  mutating func command() throws(DamagedBlob) -> CommandData {
    let endpoint = try optional { (item) throws(DamagedBlob) in EndpointID(try item.number(as: UInt16.self)) }
    let cluster = ClusterID(try number(as: UInt32.self))
    let path = CommandPath(endpoint: endpoint, cluster: cluster, command: CommandID(try number(as: UInt32.self)))
    return CommandData(path, fields: try optional { (item) throws(DamagedBlob) in try item.octets() })
  }

  mutating func attributeStatus() throws(DamagedBlob) -> AttributeStatus {
    let path = try attributePath()
    let operation = try listOperation()
    let code = StatusCode(rawValue: try number(as: UInt8.self))
    let cluster = try optional { (item) throws(DamagedBlob) in try item.number(as: UInt8.self) }
    return AttributeStatus(path, operation, status: Status(code, clusterCode: cluster))
  }
}
