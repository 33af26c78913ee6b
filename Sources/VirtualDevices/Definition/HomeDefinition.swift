public import MatterDevice
public import MatterModel

/// What definition files describe: a home, its rooms and every device with all of its values.
///
/// ```swift
/// let home = try HomeDefinition.load(files: [(name: "devices/demo.yaml", text: text)])
/// ```
public struct HomeDefinition: Sendable, Hashable {
  /// The name that the first file with one gives.
  public var name: String
  /// In the order in which they are listed or first used.
  public var rooms: [String]
  /// In the order of the files, `count` written out.
  public var devices: [DeviceDefinition]

  public init(name: String, rooms: [String] = [], devices: [DeviceDefinition] = []) {
    (self.name, self.rooms, self.devices) = (name, rooms, devices)
  }

  /// Reads definition files as one home.
  ///
  /// What a file leaves out is derived from the device's room and name, so it stays the same from run to run and on
  /// every machine, and is unique among all devices of the files.
  ///
  /// - Parameters:
  ///   - files: The files' names, for messages, and their text.
  ///   - catalogue: The clusters whose attributes can get initial values; nil leaves these unchecked.
  ///   - ignored: Keys that are not the home's.
  /// - Throws: ``DefinitionError`` with all that is wrong.
  public static func load(
    files: [(name: String, text: String)], catalogue: AttributeCatalogue? = nil, ignoring ignored: [String] = []
  ) throws(DefinitionError) -> HomeDefinition {
    var drafts: [FileDraft] = []
    var problems: [DefinitionProblem] = []
    for file in files {
      var reader = DefinitionReader(
        file: file.name, text: file.text, catalogue: catalogue, ignoring: ignored)
      drafts.append(reader.read())
      problems += reader.problems
    }
    var resolver = DefinitionResolver()
    let home = resolver.resolve(drafts)
    problems += resolver.problems
    guard problems.isEmpty else {
      let order = Dictionary(files.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
      throw DefinitionError(
        problems: problems.sorted {
          (order[$0.mark.file] ?? 0, $0.mark.line, $0.mark.column)
            < (order[$1.mark.file] ?? 0, $1.mark.line, $1.mark.column)
        })
    }
    return home
  }

  /// A port for each device: its own where it has one, else the next free one from `base` on; nil where there is
  /// no base, or no port left: then the system chooses.
  public func ports(from base: UInt16?) -> [UInt16?] {
    let taken = Set(devices.compactMap(\.port))
    var next = base
    return devices.map { device in
      if let port = device.port { return port }
      while let candidate = next {
        next = candidate == .max ? nil : candidate + 1
        if !taken.contains(candidate) { return candidate }
      }
      return nil
    }
  }
}

/// A device with all of its values.
public struct DeviceDefinition: Sendable, Hashable {
  /// As people gave it; unique within its room.
  public var name: String
  /// Nil: in no room.
  public var room: String?
  /// What it is: which endpoints, device types and clusters it has.
  public var kind: DeviceKind
  /// See ``SetupPasscode``.
  public var passcode: UInt32
  /// 0…4095.
  public var discriminator: UInt16
  /// The UDP port; nil where the file does not say, see ``HomeDefinition/ports(from:)``.
  public var port: UInt16?
  /// A test vendor's, unless the file says otherwise.
  public var vendorID: UInt16
  /// Given by the vendor.
  public var productID: UInt16
  /// At most 32 bytes, as the three below.
  public var vendorName: String
  /// At most 32 bytes.
  public var productName: String
  /// At most 32 bytes.
  public var serialNumber: String
  /// Basic Information's UniqueID: 32 hexadecimal digits. Names the device among all that there are, so it is also
  /// the name of the place where its state is kept.
  public var uniqueID: String
  /// The key that test event triggers need, 16 bytes; nil: none can be triggered.
  public var enableKey: [UInt8]?
  /// Whether it serves the attributes that the standard calls provisional.
  public var servesProvisional = false
  /// Whether subscriptions outlive a restart.
  public var resumesSubscriptions = true
  /// Attributes that start with another value than the device type's.
  public var initialValues: [InitialValue]
  /// What the maker wrote on the device; where there is something, the user can write on it too.
  public var labels: [DeviceLabel] = []
  /// What a generic switch can tell; nil for other kinds.
  public var switchKind: SwitchKind?
  /// The names of the buttons of a generic switch that has several, or none.
  public var buttons: [String] = []
  /// The devices behind a bridge. Codes and ports are the bridge's: theirs are not used.
  public var bridged: [DeviceDefinition] = []
  /// Where its definition begins.
  public var mark: SourceMark

  /// `room/name`, or the name alone: how the command line names the device.
  public var path: String { room.map { "\($0)/\(name)" } ?? name }

  /// What its QR code and its manual pairing code tell.
  public var setupPayload: SetupPayload {
    SetupPayload(
      vendorID: vendorID, productID: productID, discovery: .onNetwork, discriminator: .long(discriminator),
      passcode: passcode)
  }
}

/// One label on a device: what kind of label it is, and what it says. Matter Core § 9.7.4.1.
public struct DeviceLabel: Sendable, Hashable {
  /// At most 16 bytes, as the value.
  public var label: String
  /// At most 16 bytes.
  public var value: String

  public init(_ label: String, _ value: String) { (self.label, self.value) = (label, value) }
}

/// A value that an attribute starts with.
public struct InitialValue: Sendable, Hashable {
  public var endpoint: EndpointID
  /// As in the file, or in the catalogue's spelling where there is one: `levelControl`.
  public var cluster: String
  /// As in the file, or in the catalogue's spelling where there is one: `currentLevel`.
  public var attribute: String
  public var value: Value
  /// The numbers and the type behind the names, where there is a catalogue.
  public var target: Target?
  /// Where the attribute's name stands.
  public var mark: SourceMark

  /// A value as the file has it, which becomes one of the attribute's type.
  public enum Value: Sendable, Hashable {
    case null
    /// `true` or `false`.
    case boolean(Bool)
    /// Decimal or hexadecimal.
    case integer(Int64)
    /// With a point, or whole.
    case real(Double)
    /// UTF-8.
    case text(String)
    /// Written in hexadecimal.
    case octets([UInt8])
  }

  /// Which attribute a name in the file means.
  public struct Target: Sendable, Hashable {
    public var cluster: ClusterID
    public var attribute: AttributeID
    public var schema: Schema
  }
}
