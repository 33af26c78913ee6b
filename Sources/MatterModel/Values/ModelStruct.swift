public import MatterTLV

/// A structure of the standard. Its table of fields is used for encoding, decoding and tools.
///
///     public struct MoveToLevelRequest: ModelStruct {
///       public var level: UInt8 = 0
///       public var transitionTime: Nullable<UInt16> = .null
///       public static let fields: [Field<Self>] = [
///         .init(0, "Level", \.level), .init(1, "TransitionTime", \.transitionTime),
///       ]
///       public init() {}
///     }
///
/// An `Optional` property is an optional field: nil is omitted, and null is decoded as nil. Fields that are not in the
/// table are skipped.
public protocol ModelStruct: ModelValue {
  /// Creates a structure with initial values: zero, empty, nil.
  init()
  static var fields: [Field<Self>] { get }
}

/// A field of a ``ModelStruct``: its id, its name in the standard and its property.
public struct Field<Root: Sendable>: Sendable {
  /// The context tag on the wire.
  public let id: UInt8
  /// The name in the standard: `TransitionTime`.
  public let name: String
  public let schema: Schema
  /// Whether it may be omitted.
  public let isOptional: Bool
  let decode: @Sendable (inout Root, inout TLVReader, RawSpan) throws(TLVError) -> Void
  let encode: @Sendable (Root, inout TLVWriter) -> Void

  /// Creates a mandatory field.
  public init<Value: ModelValue>(_ id: UInt8, _ name: String, _ path: any WritableKeyPath<Root, Value> & Sendable) {
    self.id = id
    self.name = name
    schema = Value.schema
    isOptional = false
    decode = { (root: inout Root, reader: inout TLVReader, bytes: RawSpan) throws(TLVError) in
      root[keyPath: path] = try Value(from: &reader, bytes)
    }
    encode = { $0[keyPath: path].encode(to: &$1, .context(id)) }
  }

  /// Creates an optional field.
  public init<Value: ModelValue>(_ id: UInt8, _ name: String, _ path: any WritableKeyPath<Root, Value?> & Sendable) {
    self.id = id
    self.name = name
    schema = Value.schema
    isOptional = true
    decode = { (root: inout Root, reader: inout TLVReader, bytes: RawSpan) throws(TLVError) in
      root[keyPath: path] = try Value.decodeIfPresent(from: &reader, bytes)
    }
    encode = { $0[keyPath: path]?.encode(to: &$1, .context(id)) }
  }
}

/// A list entry that belongs to a fabric. Matter Core § 7.13.6.
///
/// The table of fields contains ``fabricIndex``, created with ``Field/init(fabricIndex:)``.
public protocol FabricScoped: ModelStruct {
  /// The fabric of the entry; `.none` in writes of clients, where the server fills in the client's fabric.
  var fabricIndex: FabricIndex { get set }
}

extension Field {
  /// Creates the field FabricIndex of a list entry, which is omitted if it is `.none`.
  public init(fabricIndex path: any WritableKeyPath<Root, FabricIndex> & Sendable) {
    id = GlobalAttribute.fabricIndexField
    name = "FabricIndex"
    schema = FabricIndex.schema
    isOptional = true
    decode = { (root: inout Root, reader: inout TLVReader, bytes: RawSpan) throws(TLVError) in
      root[keyPath: path] = reader.isNull ? .none : try FabricIndex(from: &reader, bytes)
    }
    encode = {
      if $0[keyPath: path] != .none { $0[keyPath: path].encode(to: &$1, .context(GlobalAttribute.fabricIndexField)) }
    }
  }
}

extension ModelStruct {
  public static var schema: Schema {
    .structure(fields.map { .init(id: $0.id, name: $0.name, schema: $0.schema, isOptional: $0.isOptional) })
  }

  public init(from reader: inout TLVReader, _ bytes: RawSpan) throws(TLVError) {
    guard reader.type == .structure else { throw .unexpectedType(found: reader.type, expected: "structure") }
    self.init()
    let fields = Self.fields
    var seen: UInt64 = 0
    try reader.enter(bytes)
    while try reader.next(bytes) {
      guard case .context(let number) = reader.tag, let index = fields.firstIndex(where: { $0.id == number }) else {
        continue
      }
      guard seen & (1 << UInt64(index)) == 0 else { throw .duplicateMember(number) }
      seen |= 1 << UInt64(index)
      try fields[index].decode(&self, &reader, bytes)
    }
    try reader.leave(bytes)
    for (index, field) in fields.enumerated() where !field.isOptional && seen & (1 << UInt64(index)) == 0 {
      throw .missingMember(field.id)
    }
  }

  public func encode(to writer: inout TLVWriter, _ tag: TLVTag) {
    writer.startStructure(tag)
    for field in Self.fields { field.encode(self, &writer) }
    writer.end()
  }
}

/// The fields of a command without fields.
public struct NoFields: ModelStruct {
  public static let fields: [Field<Self>] = []
  public init() {}
}
