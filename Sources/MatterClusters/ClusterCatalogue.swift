public import MatterModel

/// All clusters that are declared here, for tools that meet a cluster by number or by name.
public enum ClusterCatalogue {
  /// In the order of their ids.
  public static let all: [any Cluster.Type] = [
    Identify.self, Groups.self, OnOff.self, LevelControl.self, Descriptor.self, Binding.self, AccessControl.self,
    BasicInformation.self, OtaSoftwareUpdateRequestor.self, LocalizationConfiguration.self,
    TimeFormatLocalization.self, UnitLocalization.self, PowerSource.self, GeneralCommissioning.self,
    NetworkCommissioning.self, GeneralDiagnostics.self, SoftwareDiagnostics.self, EthernetNetworkDiagnostics.self,
    TimeSynchronization.self, BridgedDeviceBasicInformation.self, Switch.self, AdministratorCommissioning.self,
    OperationalCredentials.self, GroupKeyManagement.self, FixedLabel.self, UserLabel.self, BooleanState.self,
    IcdManagement.self, ScenesManagement.self, DoorLock.self, WindowCovering.self, Thermostat.self, FanControl.self,
    ColorControl.self, IlluminanceMeasurement.self, TemperatureMeasurement.self, RelativeHumidityMeasurement.self,
    OccupancySensing.self,
  ]

  /// The cluster with this id, nil if it is not declared here.
  public static func cluster(_ id: ClusterID) -> (any Cluster.Type)? { byID[id] }

  /// The cluster with this name: "LevelControl", "level control" and "levelControl" are the same. A number will do.
  public static func cluster(named name: String) -> (any Cluster.Type)? {
    byName[SpokenName(name)] ?? number(name).flatMap { byID[ClusterID($0)] }
  }

  private static let byID = Dictionary(all.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
  private static let byName = Dictionary(all.map { (SpokenName($0.name), $0) }, uniquingKeysWith: { first, _ in first })

  static func number(_ text: String) -> UInt32? {
    text.hasPrefix("0x") || text.hasPrefix("0X") ? UInt32(text.dropFirst(2), radix: 16) : UInt32(text)
  }
}

/// Look-up of a cluster's elements by number or name. A name may be in any case: "CurrentLevel", "currentlevel".
extension Cluster {
  /// How an attribute is declared, a global one too; nil: the cluster has none with this id.
  public static func attribute(_ id: AttributeID) -> AttributeInfo? { allAttributes.first { $0.id == id } }

  /// The attribute with this name in any way of writing it: `CurrentLevel`, `current-level`, or with this number. Nil:
  /// none.
  public static func attribute(named name: String) -> AttributeInfo? {
    let spoken = SpokenName(name)
    return allAttributes.first { SpokenName($0.name) == spoken }
      ?? ClusterCatalogue.number(name).flatMap { attribute(AttributeID($0)) }
  }

  /// How a command is declared; nil: the cluster takes none with this id.
  public static func command(_ id: CommandID) -> CommandInfo? { commands.first { $0.id == id } }

  /// The command with this name in any way of writing it: `MoveToLevel`, `move-to-level`, or with this number. Nil:
  /// none.
  public static func command(named name: String) -> CommandInfo? {
    let spoken = SpokenName(name)
    return commands.first { SpokenName($0.name) == spoken }
      ?? ClusterCatalogue.number(name).flatMap { command(CommandID($0)) }
  }

  /// How an event is declared; nil: the cluster has none with this id.
  public static func event(_ id: EventID) -> EventInfo? { events.first { $0.id == id } }

  /// The event with this name in any way of writing it: `SwitchLatched`, `switch-latched`, or with this number. Nil:
  /// none.
  public static func event(named name: String) -> EventInfo? {
    let spoken = SpokenName(name)
    return events.first { SpokenName($0.name) == spoken }
      ?? ClusterCatalogue.number(name).flatMap { event(EventID($0)) }
  }

  /// The cluster's own attributes and those that every cluster has.
  public static var allAttributes: [AttributeInfo] { attributes + globalAttributes }

  /// The attributes that every cluster has, with their types. Matter Core § 7.13.
  public static var globalAttributes: [AttributeInfo] {
    let declared: [any ClusterElement] = [
      Attribute<Self, [CommandID]>(GlobalAttribute.generatedCommandList, "GeneratedCommandList", quality: .fixed),
      Attribute<Self, [CommandID]>(GlobalAttribute.acceptedCommandList, "AcceptedCommandList", quality: .fixed),
      Attribute<Self, [AttributeID]>(GlobalAttribute.attributeList, "AttributeList", quality: .fixed),
      Attribute<Self, UInt32>(GlobalAttribute.featureMap, "FeatureMap", quality: .fixed),
      Attribute<Self, UInt16>(
        GlobalAttribute.clusterRevision, "ClusterRevision", initial: revision, quality: .fixed),
    ]
    return declared.compactMap { if case .attribute(let info) = $0.info { info } else { nil } }
  }
}
