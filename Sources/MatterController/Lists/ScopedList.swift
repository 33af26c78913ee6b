public import MatterModel
internal import MatterProtocol
public import MatterTLV

/// A list entry of our fabric with the bytes that the device sent. Unchanged members, also unknown ones, are written
/// back byte for byte.
public struct ScopedEntry<Entry: FabricScoped>: Sendable {
  public private(set) var entry: Entry
  private let original: [UInt8]?
  private var isChanged = false

  /// Creates a new entry.
  public init(_ entry: Entry) { (self.entry, original) = (entry, nil) }

  /// Decodes an entry that a device sent.
  init(decoding bytes: [UInt8]) throws(TLVError) {
    entry = try Entry(tlv: bytes)
    original = bytes
  }

  /// Returns a copy with changed values that keeps the unknown members.
  public func changing(_ change: (inout Entry) -> Void) -> Self {
    var copy = self
    change(&copy.entry)
    copy.isChanged = true
    return copy
  }

  /// The encoding for a write: without the fabric index, which the device fills in.
  package var encoded: [UInt8] {
    var own = entry
    own.fabricIndex = .none
    guard let original, let element = try? TLVElement(decoding: original), case .structure(let members) = element.value
    else { return own.tlv }
    let kept = members.filter { $0.tag != .context(GlobalAttribute.fabricIndexField) }
    guard isChanged else { return TLVElement(.structure(kept)).encoded }
    let named = Set(Entry.fields.map { TLVTag.context($0.id) })
    guard let changed = try? TLVElement(decoding: own.tlv), case .structure(let ours) = changed.value else {
      return own.tlv
    }
    return TLVElement(.structure(ours + kept.filter { !named.contains($0.tag) })).encoded
  }
}

/// Our fabric's entries of a list on a device, with the data version of its cluster. The list is read, changed and
/// written as a whole, on condition that its cluster has not changed in between.
public struct ScopedList<Entry: FabricScoped>: Sendable {
  public var entries: [ScopedEntry<Entry>]
  /// The cluster's data version at the read; a conditional write fails if the cluster has changed since.
  public let dataVersion: UInt32

  /// - Parameters:
  ///   - value: the encoded array. Entries of other fabrics, which a device should not send, are dropped: written back,
  ///     they would become entries of our fabric.
  ///   - fabric: our fabric index on the device.
  public init(_ value: [UInt8], dataVersion: UInt32, fabric: FabricIndex) throws(TLVError) {
    entries = []
    self.dataVersion = dataVersion
    var list = try ListChunks(value)
    while let bytes = list.nextEntry() {
      let entry = try ScopedEntry<Entry>(decoding: bytes)
      if entry.entry.fabricIndex == fabric || entry.entry.fabricIndex == .none { entries.append(entry) }
    }
  }

  /// The encoded array, one element with an anonymous tag.
  public var encoded: [UInt8] { [0x16] + entries.flatMap(\.encoded) + [0x18] }

  /// Returns the conditional write of the list; nil if it doesn't fit one message. In several messages, only the first part
  /// would be conditional, and the list incomplete if a later one fails.
  func write(to path: ConcreteAttributePath) -> NodeRequest? {
    let write = AttributeWrite(path, dataVersion: dataVersion, value: encoded)
    guard let chunks = try? WriteRequestChunks([write], isTimed: false), chunks.messages.count == 1 else { return nil }
    return .write(chunks, timed: nil)
  }
}
