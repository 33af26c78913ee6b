public import MatterModel
internal import MatterProtocol
public import MatterTLV

/// An entry of a list that belongs to our fabric, with the bytes that the device gave for it: what we don't change goes back
/// as it came, members that we have no name for included.
public struct ScopedEntry<Entry: FabricScoped>: Sendable {
  public private(set) var entry: Entry
  private let original: [UInt8]?
  private var isChanged = false

  /// An entry of our own.
  public init(_ entry: Entry) { (self.entry, original) = (entry, nil) }

  /// An entry that a device gave.
  public init(decoding bytes: [UInt8]) throws(TLVError) {
    entry = try Entry(tlv: bytes)
    original = bytes
  }

  /// The same entry with other values; what is not ours to know stays with it.
  public func changing(_ change: (inout Entry) -> Void) -> Self {
    var copy = self
    change(&copy.entry)
    copy.isChanged = true
    return copy
  }

  /// As it is written: without the fabric, which the device fills in.
  public var encoded: [UInt8] {
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

/// Our fabric's entries of a list of a device, and the version of its cluster that they are of: to be read, changed, and
/// written as a whole, provided that nobody has changed them in between.
public struct ScopedList<Entry: FabricScoped>: Sendable {
  public var entries: [ScopedEntry<Entry>]
  /// Of the cluster when the list was read; a write that names it fails if somebody else wrote since.
  public let dataVersion: UInt32

  /// - Parameters:
  ///   - value: an array; entries of other fabrics, which a device should not have given, are left out: written back, they
  ///     would become ours.
  ///   - fabric: our index on the device.
  public init(_ value: [UInt8], dataVersion: UInt32, fabric: FabricIndex) throws(TLVError) {
    entries = []
    self.dataVersion = dataVersion
    var list = try ListChunks(value)
    while let bytes = list.nextEntry() {
      let entry = try ScopedEntry<Entry>(decoding: bytes)
      if entry.entry.fabricIndex == fabric || entry.entry.fabricIndex == .none { entries.append(entry) }
    }
  }

  /// The whole array, one element with an anonymous tag.
  public var encoded: [UInt8] { [0x16] + entries.flatMap(\.encoded) + [0x18] }
}
