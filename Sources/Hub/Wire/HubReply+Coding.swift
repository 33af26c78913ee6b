internal import Home
internal import MatterModel
internal import MatterProtocol

extension HubReply {
  func write(to writer: inout BlobWriter) {
    switch self {
    case .done: writer.write(0)
    case .edited(let results):
      writer.write(1)
      writer.write(results) { writer, result in
        writer.write(result.structure.map { [$0.id, $0.name] } ?? []) { $0.write($1) }
        writer.write(result.room.map { [$0.id, $0.name, $0.structureID] } ?? []) { $0.write($1) }
        writer.write(result.wasCut)
      }
    case .report(let attributes, let statuses):
      writer.write(2)
      writer.write(attributes) { writer, attribute in
        writer.write(attribute.path.endpoint.rawValue)
        writer.write(attribute.path.cluster.rawValue)
        writer.write(attribute.path.attribute.rawValue)
        writer.write(attribute.dataVersion)
        writer.write(attribute.value)
      }
      writer.write(statuses) { $0.write($1) }
    case .written(let statuses):
      writer.write(3)
      writer.write(statuses) { $0.write($1) }
    case .invoked(let answer):
      writer.write(4)
      writer.write(optional: answer) { $0.write($1) }
    case .anchor(let anchor):
      writer.write(5)
      writer.write(anchor.description)
    case .samples(.samples(let samples, let next, let isComplete)):
      writer.write(6)
      writer.write(samples) { $1.write(to: &$0) }
      writer.write(next.description)
      writer.write(isComplete)
    case .samples(.reset(let home)):
      writer.write(7)
      writer.write(HomeState().changes(to: home.state)) { $1.write(to: &$0) }
      writer.write(home.contacts)
      writer.write(home.anchor.description)
    case .status(let status):
      writer.write(8)
      status.write(to: &writer)
    }
  }

  init(from reader: inout BlobReader) throws(DamagedBlob) {
    switch try reader.number() {
    case 0: self = .done
    case 1: self = .edited(try reader.array { (item) throws(DamagedBlob) in try item.editResult() })
    case 2:
      let attributes = try reader.array { (item) throws(DamagedBlob) in
        let (endpoint, cluster) = (try item.number(as: UInt16.self), try item.number(as: UInt32.self))
        let path = ConcreteAttributePath(
          EndpointID(endpoint), ClusterID(cluster), AttributeID(try item.number(as: UInt32.self)))
        return AttributeData(path, dataVersion: try item.number(as: UInt32.self), value: try item.octets())
      }
      self = .report(
        attributes, try reader.array { (item) throws(DamagedBlob) in try item.attributeStatus() })
    case 3: self = .written(try reader.array { (item) throws(DamagedBlob) in try item.attributeStatus() })
    case 4: self = .invoked(try reader.optional { (item) throws(DamagedBlob) in try item.command() })
    case 5: self = .anchor(try reader.anchor())
    case 6:
      let samples = try reader.array { (item) throws(DamagedBlob) in try HomeSample(from: &item) }
      self = .samples(.samples(samples, next: try reader.anchor(), isComplete: try reader.flag()))
    case 7:
      var state = HomeState()
      for change in try reader.changes() { state.apply(change) }
      self = .samples(
        .reset(StoredHome(state: state, contacts: try reader.contacts(), anchor: try reader.anchor())))
    case 8: self = .status(try HubStatus(from: &reader))
    default: throw DamagedBlob()
    }
  }
}

extension BlobReader {
  fileprivate mutating func anchor() throws(DamagedBlob) -> Anchor {
    guard let anchor = Anchor(try text()) else { throw DamagedBlob() }
    return anchor
  }

  fileprivate mutating func editResult() throws(DamagedBlob) -> HomeEdit.Result {
    let structure = try array { (item) throws(DamagedBlob) in try item.text() }
    let room = try array { (item) throws(DamagedBlob) in try item.text() }
    guard structure.isEmpty || structure.count == 2, room.isEmpty || room.count == 3 else { throw DamagedBlob() }
    return HomeEdit.Result(
      structure: structure.isEmpty ? nil : Structure(id: structure[0], name: structure[1]),
      room: room.isEmpty ? nil : Room(id: room[0], name: room[1], structureID: room[2]), wasCut: try flag())
  }
}

extension HomeSample {
  fileprivate func write(to writer: inout BlobWriter) {
    writer.write(anchor.description)
    writer.write(UInt64(bitPattern: time))
    change.write(to: &writer)
    writer.write(device)
    writer.write(name)
    writer.write(origin)
    writer.write(UInt64(bitPattern: update))
  }

  fileprivate init(from reader: inout BlobReader) throws(DamagedBlob) {
    self.init(
      anchor: try reader.anchor(), time: Int64(bitPattern: try reader.number()),
      change: try HomeChange(from: &reader), device: try reader.optionalText(), name: try reader.optionalText(),
      origin: try reader.optionalText(), update: Int64(bitPattern: try reader.number()))
  }
}

extension HubStatus {
  fileprivate func write(to writer: inout BlobWriter) {
    writer.write(UInt64(UInt32(bitPattern: process)))
    writer.write(isFollower)
    writer.write(UInt64(bitPattern: since))
    writer.write(UInt64(devices))
    writer.write(UInt64(devicesOnline))
    writer.write(addresses) { $0.write($1) }
    writer.write(clients) { writer, client in
      writer.write(client.name)
      writer.write(client.role.rawValue)
      writer.write(client.address)
      writer.write(UInt64(bitPattern: client.since))
    }
    writer.write(drops.sorted { $0.key < $1.key }) { writer, drop in
      writer.write(drop.key)
      writer.write(drop.value)
    }
  }

  fileprivate init(from reader: inout BlobReader) throws(DamagedBlob) {
    let process = Int32(bitPattern: try reader.number(as: UInt32.self))
    self.init(
      process: process, isFollower: try reader.flag(), since: Int64(bitPattern: try reader.number()),
      devices: try reader.number(as: Int.self), devicesOnline: try reader.number(as: Int.self),
      addresses: try reader.array { (item) throws(DamagedBlob) in try item.text() },
      clients: try reader.array { (item) throws(DamagedBlob) in
        Client(
          name: try item.text(), role: try item.value(), address: try item.text(),
          since: Int64(bitPattern: try item.number()))
      },
      drops: Dictionary(
        try reader.array { (item) throws(DamagedBlob) in (try item.text(), try item.number(as: Int.self)) },
        uniquingKeysWith: +))
  }
}
