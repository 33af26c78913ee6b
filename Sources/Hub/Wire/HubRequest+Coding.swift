internal import Foundation
internal import Home
internal import MatterModel
internal import MatterProtocol

extension HubRequest {
  func write(to writer: inout BlobWriter) {
    switch self {
    case .edit(let edits):
      writer.write(0)
      writer.write(edits) { $1.write(to: &$0) }
    case .read(let node, let paths, let isFabricFiltered, let timeout):
      writer.write(1)
      writer.write(node.rawValue)
      writer.write(paths) { $0.write($1) }
      writer.write(isFabricFiltered)
      writer.write(optional: timeout)
    case .write(let node, let writes, let isTimed):
      writer.write(2)
      writer.write(node.rawValue)
      writer.write(writes) { $0.write($1) }
      writer.write(isTimed)
    case .invoke(let node, let command, let isTimed):
      writer.write(3)
      writer.write(node.rawValue)
      writer.write(command)
      writer.write(isTimed)
    case .writeDevice(let device, let way, let writes, let isTimed, let timeout):
      writer.write(4)
      writer.write(device)
      writer.write(optional: way) { $0.write($1) }
      writer.write(writes) { $0.write($1) }
      writer.write(isTimed)
      writer.write(optional: timeout)
    case .invokeDevice(let device, let way, let command, let isTimed, let timeout):
      writer.write(5)
      writer.write(device)
      writer.write(optional: way) { $0.write($1) }
      writer.write(command)
      writer.write(isTimed)
      writer.write(optional: timeout)
    case .anchor: writer.write(6)
    case .samples(let anchor, let filter, let limit):
      writer.write(7)
      writer.write(anchor?.description)
      writer.write([UInt8]((try? JSONEncoder().encode(filter)) ?? Data()))
      writer.write(UInt64(max(0, limit)))
    case .status: writer.write(8)
    case .lookAgain: writer.write(9)
    }
  }

  init(from reader: inout BlobReader) throws(DamagedBlob) {
    func writes(_ reader: inout BlobReader) throws(DamagedBlob) -> [AttributeWrite] {
      try reader.array { (item) throws(DamagedBlob) in try item.attributeWrite() }
    }
    func way(_ reader: inout BlobReader) throws(DamagedBlob) -> SourceID? {
      try reader.optional { (item) throws(DamagedBlob) in try item.source() }
    }
    switch try reader.number() {
    case 0: self = .edit(try reader.array { (item) throws(DamagedBlob) in try HomeEdit(from: &item) })
    case 1:
      self = .read(
        NodeID(try reader.number()), try reader.array { (item) throws(DamagedBlob) in try item.attributePath() },
        isFabricFiltered: try reader.flag(), timeout: try reader.optionalDuration())
    case 2: self = .write(NodeID(try reader.number()), try writes(&reader), isTimed: try reader.flag())
    case 3: self = .invoke(NodeID(try reader.number()), try reader.command(), isTimed: try reader.flag())
    case 4:
      self = .writeDevice(
        try reader.text(), by: try way(&reader), try writes(&reader), isTimed: try reader.flag(),
        timeout: try reader.optionalDuration())
    case 5:
      self = .invokeDevice(
        try reader.text(), by: try way(&reader), try reader.command(), isTimed: try reader.flag(),
        timeout: try reader.optionalDuration())
    case 6: self = .anchor
    case 7:
      let text = try reader.optionalText()
      let anchor = text.flatMap { Anchor($0) }
      guard text == nil || anchor != nil,
        let filter = try? JSONDecoder().decode(SampleFilter.self, from: Data(try reader.octets()))
      else { throw DamagedBlob() }
      self = .samples(after: anchor, filter, limit: try reader.number(as: Int.self))
    case 8: self = .status
    case 9: self = .lookAgain
    default: throw DamagedBlob()
    }
  }
}

extension HomeEdit {
  func write(to writer: inout BlobWriter) {
    switch self {
    case .addStructure(let name):
      writer.write(0)
      writer.write(name)
    case .renameStructure(let id, let name):
      writer.write(1)
      writer.write(id)
      writer.write(name)
    case .removeStructure(let id):
      writer.write(2)
      writer.write(id)
    case .choosePrimaryStructure(let id):
      writer.write(8)
      writer.write(id)
    case .addRoom(let name, let structure):
      writer.write(3)
      writer.write(name)
      writer.write(structure)
    case .renameRoom(let id, let name):
      writer.write(4)
      writer.write(id)
      writer.write(name)
    case .removeRoom(let id):
      writer.write(5)
      writer.write(id)
    case .renameDevice(let id, let name):
      writer.write(6)
      writer.write(id)
      writer.write(name)
    case .moveDevice(let id, let room):
      writer.write(7)
      writer.write(id)
      writer.write(room)
    }
  }

  init(from reader: inout BlobReader) throws(DamagedBlob) {
    switch try reader.number() {
    case 0: self = .addStructure(name: try reader.text())
    case 1: self = .renameStructure(id: try reader.text(), name: try reader.text())
    case 2: self = .removeStructure(id: try reader.text())
    case 3: self = .addRoom(name: try reader.text(), structureID: try reader.optionalText())
    case 4: self = .renameRoom(id: try reader.text(), name: try reader.text())
    case 5: self = .removeRoom(id: try reader.text())
    case 6: self = .renameDevice(id: try reader.text(), name: try reader.text())
    case 7: self = .moveDevice(id: try reader.text(), roomID: try reader.optionalText())
    case 8: self = .choosePrimaryStructure(id: try reader.text())
    default: throw DamagedBlob()
    }
  }
}
