internal import Foundation
public import MatterDevice
public import MatterModel

/// The home of definition files: its rooms, and every device with all values.
///
/// ```swift
/// let home = try HomeDefinition.load(files: [(name: "devices/demo.yaml", text: text)])
/// ```
public struct HomeDefinition: Sendable, Hashable {
  /// The first name given in the files.
  public var name: String
  /// The rooms in the order in which they are listed or first used.
  public var rooms: [String]
  /// The devices in the order of the files, with `count` expanded.
  public var devices: [DeviceDefinition]

  public init(name: String, rooms: [String] = [], devices: [DeviceDefinition] = []) {
    (self.name, self.rooms, self.devices) = (name, rooms, devices)
  }

  /// The maximum number of devices that a process runs, including bridged devices and parts.
  public static let deviceLimit = 16_384
  /// The number of parts from which on more of them don't raise the limit: each process reads the whole home.
  private static let partLimit = 16

  /// Reads the text of a file that a definition file names.
  /// - name: The name in the definition file.
  /// - file: The name of the definition file.
  public typealias FileReader = (_ name: String, _ file: String) throws -> String

  /// Opens no file.
  public static func refuseFile(_ name: String, besides file: String) throws -> String {
    throw CocoaError(.fileReadNoPermission)
  }

  /// Opens a file by its path from the definition file.
  public static func openFile(_ name: String, besides file: String) throws -> String {
    try TextFile.read(TextFile.path(name, besides: file))
  }

  /// Reads definition files as one home.
  ///
  /// Missing values are derived from the room and the name of the device, so they are the same in each run and on every
  /// machine, and unique among all devices of the files.
  ///
  /// - Parameters:
  ///   - files: The names of the files, for messages, and their texts.
  ///   - catalogue: The clusters whose attributes can get initial values; nil to skip the check.
  ///   - ignored: Keys that another reader handles.
  ///   - shard: The part of the home that this process runs: with several parts, the home may have more devices.
  ///   - open: Reads the files of behaviors.
  /// - Throws: ``DefinitionError`` with all problems.
  public static func load(
    files: [(name: String, text: String)], catalogue: AttributeCatalogue? = nil, ignoring ignored: [String] = [],
    for shard: Shard = .whole, opening open: @escaping FileReader = HomeDefinition.refuseFile
  ) throws(DefinitionError) -> HomeDefinition {
    var drafts: [FileDraft] = []
    var problems: [DefinitionProblem] = []
    for file in files {
      var reader = DefinitionReader(
        file: file.name, text: file.text, catalogue: catalogue, ignoring: ignored, opening: open)
      drafts.append(reader.read())
      problems += reader.problems
    }
    var resolver = DefinitionResolver()
    resolver.deviceLimit *= min(shard.count, partLimit)
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

  /// Returns a port for each device: its own, or the next free one from `base` on; nil without a base or if no port is
  /// left, in which case the system assigns one.
  func ports(from base: UInt16?) -> [UInt16?] {
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

  /// The highest base with which a port is left for each device, see ``ports(from:)``; nil if there are too many devices.
  package var highestPortBase: UInt16? {
    let taken = Set(devices.compactMap(\.port))
    let free = stride(from: UInt16.max, to: 0, by: -1).lazy.filter { !taken.contains($0) }
    let count = devices.count { $0.port == nil }
    return count == 0 ? UInt16.max : free.dropFirst(count - 1).first { _ in true }
  }
}

/// A device with all of its values.
public struct DeviceDefinition: Sendable, Hashable {
  /// The name, unique within the room.
  public var name: String
  /// The room; nil for none.
  public var room: String?
  /// The kind, which determines the endpoints, device types and clusters.
  public var kind: DeviceKind
  /// The setup passcode, see `SetupPasscode`.
  public var passcode: UInt32
  /// The discriminator, 0…4095.
  public var discriminator: UInt16
  /// The UDP port; nil to assign one, see `ports(from:)`.
  public var port: UInt16?
  /// The vendor ID, that of a test vendor by default.
  public var vendorID: UInt16
  /// The product ID of the vendor.
  public var productID: UInt16
  /// The vendor name, at most 32 bytes.
  public var vendorName: String
  /// The product name, at most 32 bytes.
  public var productName: String
  /// The serial number, at most 32 bytes.
  public var serialNumber: String
  /// The UniqueID of Basic Information: 32 hexadecimal digits. Globally unique, so it is also the name of the state
  /// directory.
  public var uniqueID: String
  /// The key for test event triggers, 16 bytes; nil to disable them.
  public var enableKey: [UInt8]?
  /// Whether the device serves provisional attributes.
  public var servesProvisional = false
  /// Whether subscriptions survive a restart.
  public var resumesSubscriptions = true
  /// Initial values that differ from the defaults of the device type.
  public var initialValues: [InitialValue]
  /// The attributes whose values change over time.
  package var behaviors: [BehaviorDefinition] = []
  /// The battery; nil for mains power, and for the usual battery of kinds that always have one.
  @Boxed package var battery: Battery?
  /// The timing of an intermittently connected device; nil for one that is always connected.
  public var sleep: SleepConfiguration?
  /// The faults that the device has from its start.
  public var faults = DeviceFaults()
  /// The fixed labels of the manufacturer; if there are any, the device also has user labels.
  public var labels: [DeviceLabel] = []
  /// The clusters of manufacturers.
  package var makers: [MakersServer] = []
  /// The features of a generic switch; nil for other kinds.
  public var switchKind: SwitchKind?
  /// The room, the powers and the filters of a device that heats, cools or cleans the air.
  @Boxed package var climate = ClimateDefinition()
  /// The solar array, the battery of a battery storage, the vehicle of a charging station, or the tariff of a meter.
  @Boxed package var energy = EnergyDefinition()
  /// The names of the buttons of a generic switch with several; otherwise empty.
  public var buttons: [String] = []
  /// The program of an appliance, if it differs from that of its kind.
  @Boxed package var program: ApplianceProgram?
  /// The motors of a window covering or a valve; nil for the default ones, and for other kinds.
  public var motors: MotorSettings?
  /// The panels, latch and positions of a closure; nil for the default ones, and for other kinds.
  @Boxed package var closure: ClosureDefinition?
  /// The images of a provider of software.
  public var images: [ProvidedImage] = []
  /// The modes of a selector; nil for the default ones, and for other kinds.
  public var modes: [String]?
  /// The sounds of a chime; nil for the default ones, and for other kinds.
  public var sounds: [String]?
  /// The contents and connections of a video player; nil for the default ones, and for other kinds.
  public var media: MediaSettings?
  /// Whether the device is added behind its bridge later.
  package var isAbsent = false
  /// The devices behind a bridge, or the parts of another device; their codes and ports are not used.
  public var bridged: [DeviceDefinition] = []
  /// The position of the definition.
  public var mark: SourceMark

  /// `room/name`, or the name alone, as on the command line.
  public var path: String { room.map { "\($0)/\(name)" } ?? name }

  /// The contents of the QR code and the manual pairing code.
  public var setupPayload: SetupPayload {
    SetupPayload(
      vendorID: vendorID, productID: productID, discovery: .onNetwork, discriminator: .long(discriminator),
      passcode: passcode)
  }
}

/// A label of a device: its name and its value. Matter Core § 9.7.4.1.
public struct DeviceLabel: Sendable, Hashable {
  /// The name of the label, at most 16 bytes.
  public var label: String
  /// The value, at most 16 bytes.
  public var value: String

  public init(_ label: String, _ value: String) { (self.label, self.value) = (label, value) }
}

/// The initial value of an attribute.
public struct InitialValue: Sendable, Hashable {
  public var endpoint: EndpointID
  /// The name as in the file, or in the spelling of the catalogue if there is one: `levelControl`.
  public var cluster: String
  /// The name as in the file, or in the spelling of the catalogue if there is one: `currentLevel`.
  public var attribute: String
  public var value: Value
  /// The IDs and the type of the attribute; nil without a catalogue.
  public var target: Target?
  /// The position of the attribute's name.
  public var mark: SourceMark
  /// The value in the file, for messages.
  public var text: String
  /// The position of the value.
  public var valueMark: SourceMark
  /// `1.levelControl.currentLevel`.
  var path: String { "\(endpoint).\(cluster).\(attribute)" }
  /// The expected value, if the value in the file is not one of the attribute's type.
  var mismatch: String?

  /// A value as in the file, which is converted to the attribute's type.
  public enum Value: Sendable, Hashable {
    case null
    /// `true` or `false`.
    case boolean(Bool)
    /// A decimal or hexadecimal integer.
    case integer(Int64)
    /// A decimal fraction or a whole number.
    case real(Double)
    /// A text in UTF-8.
    case text(String)
    /// Bytes in hexadecimal.
    case octets([UInt8])
  }

  /// The attribute that a name in the file refers to.
  public struct Target: Sendable, Hashable {
    public var cluster: ClusterID
    public var attribute: AttributeID
    public var schema: Schema
    var constraint: Constraint
  }
}

/// The values of an attribute over time.
package struct BehaviorDefinition: Sendable, Hashable {
  /// The attribute, with its first value.
  package var attribute: InitialValue
  package var course: Behavior.Course
  /// The values that the attribute has at some time, or that limit them; checked as initial values.
  var values: [InitialValue]
}

extension DeviceDefinition {
  /// The vendor of a device without the key `vendor`: a test vendor.
  static let defaultVendor: UInt16 = 0xFFF1
}
