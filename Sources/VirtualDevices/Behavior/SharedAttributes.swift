internal import MatterClusters
internal import MatterDevice
internal import MatterModel
internal import MatterProtocol
internal import MatterTLV
internal import Synchronization

/// The values of the attributes that expressions name. Shared by all devices of the home that run in this process, on any
/// loop.
final class SharedAttributes: Sendable {
  /// An attribute of a device.
  struct Key: Hashable, Sendable {
    /// The unique ID of the device.
    let device: String
    /// The endpoint within the device, from 1.
    let endpoint: EndpointID
    let cluster: ClusterID
    let attribute: AttributeID

    /// Nil if the attribute is unknown.
    init?(_ attribute: InitialValue, of device: DeviceDefinition) {
      guard let target = attribute.target else { return nil }
      (self.device, endpoint) = (device.uniqueID, attribute.endpoint)
      (cluster, self.attribute) = (target.cluster, target.attribute)
    }

    /// Whether the attribute is zero while the device has no power. Others keep their values.
    var isZeroWithoutPower: Bool {
      (cluster, attribute) == (OnOff.id, OnOff.onOff.id)
        || (cluster, attribute) == (ElectricalPowerMeasurement.id, ElectricalPowerMeasurement.activePower.id)
    }
  }

  private let keys: [AttributeExpression.Operand: Key]
  /// The attributes of each device, by its unique ID.
  private let devices: [String: Set<Key>]
  /// Without an entry, the value is null or unknown.
  private let values = Mutex<[Key: Double]>([:])

  /// - Parameter devices: The devices of the home.
  init(of devices: [DeviceDefinition]) {
    var keys: [AttributeExpression.Operand: Key] = [:]
    let operands = devices.flatMap { device in
      ([device] + device.bridged).flatMap(\.expressions).flatMap { $0.expression.operands }
    }
    if !operands.isEmpty {
      let index = DeviceIndex(devices)
      for operand in operands where keys[operand] == nil {
        if let found = index.find(operand.device) { keys[operand] = Key(operand.attribute, of: found.device) }
      }
    }
    self.keys = keys
    self.devices = keys.values.reduce(into: [:]) { $0[$1.device, default: []].insert($1) }
  }

  /// Returns the attributes of a cluster that expressions name.
  func named(of device: String, on endpoint: EndpointID, _ cluster: ClusterID) -> [Key] {
    guard !devices.isEmpty, let keys = devices[device] else { return [] }
    return keys.filter { $0.endpoint == endpoint && $0.cluster == cluster }
      .sorted { $0.attribute < $1.attribute }
  }

  /// Returns the value in the unit of the attribute; nil if it is null or unknown.
  func value(of operand: AttributeExpression.Operand) -> Double? {
    keys[operand].flatMap { key in values.withLock { $0[key] } }
  }

  func set(_ key: Key, _ value: Double?) { values.withLock { $0[key] = value } }

  /// Notes that devices have no power.
  func losePower(of devices: [String]) {
    for key in devices.compactMap({ self.devices[$0] }).joined() where key.isZeroWithoutPower { set(key, 0) }
  }
}

extension ClusterServer {
  /// Shares the attributes that expressions of other devices name.
  /// - Parameter endpoint: The endpoint within the device, from 1.
  func sharing(_ attributes: SharedAttributes, of device: DeviceDefinition, on endpoint: EndpointID) -> Self {
    attributes.named(of: device.uniqueID, on: endpoint, id).reduce(self) { server, key in
      let unit = ValueUnit(key.cluster, key.attribute)
      let share: @Sendable (inout ServerContext) -> Void = { context in
        guard context.hasPower else { return }
        let path = ConcreteAttributePath(context.endpoint, context.cluster, key.attribute)
        attributes.set(key, context.encoded(path).flatMap { Double(attribute: $0, in: unit) })
      }
      let sharing = server.onStart(share).onChange(of: key.attribute, share)
      return key.isZeroWithoutPower ? sharing.onPowerLoss { _ in attributes.set(key, 0) } : sharing
    }
  }
}

extension Double {
  /// Creates the number of an encoded attribute: 0 or 1 for a boolean, otherwise a measure in the unit. Nil for null and
  /// other types.
  fileprivate init?(attribute bytes: [UInt8], in unit: ValueUnit?) {
    func measure(_ number: Int64) -> Double { unit?.decoded(number) ?? Double(number) }
    switch (try? TLVElement(decoding: bytes))?.value {
    case .boolean(let value): self = value ? 1 : 0
    case .unsigned(let number): self = measure(Int64(clamping: number))
    case .signed(let number): self = measure(number)
    case .float(let number): self = Double(number)
    case .double(let number): self = number
    default: return nil
    }
  }
}
