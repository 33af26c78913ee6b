public import MatterClusters

/// The traits of the clusters of the specification; `Matter.OnOffTrait` is `OnOffTrait`.
public enum Matter {
  public typealias IdentifyTrait = Trait<Identify>
  public typealias GroupsTrait = Trait<Groups>
  public typealias OnOffTrait = Trait<OnOff>
  public typealias LevelControlTrait = Trait<LevelControl>
  public typealias DescriptorTrait = Trait<Descriptor>
  public typealias BindingTrait = Trait<Binding>
  public typealias AccessControlTrait = Trait<AccessControl>
  public typealias BasicInformationTrait = Trait<BasicInformation>
  public typealias OtaSoftwareUpdateRequestorTrait = Trait<OtaSoftwareUpdateRequestor>
  public typealias LocalizationConfigurationTrait = Trait<LocalizationConfiguration>
  public typealias TimeFormatLocalizationTrait = Trait<TimeFormatLocalization>
  public typealias UnitLocalizationTrait = Trait<UnitLocalization>
  public typealias PowerSourceTrait = Trait<PowerSource>
  public typealias GeneralCommissioningTrait = Trait<GeneralCommissioning>
  public typealias NetworkCommissioningTrait = Trait<NetworkCommissioning>
  public typealias GeneralDiagnosticsTrait = Trait<GeneralDiagnostics>
  public typealias SoftwareDiagnosticsTrait = Trait<SoftwareDiagnostics>
  public typealias EthernetNetworkDiagnosticsTrait = Trait<EthernetNetworkDiagnostics>
  public typealias TimeSynchronizationTrait = Trait<TimeSynchronization>
  public typealias BridgedDeviceBasicInformationTrait = Trait<BridgedDeviceBasicInformation>
  public typealias SwitchTrait = Trait<Switch>
  public typealias AdministratorCommissioningTrait = Trait<AdministratorCommissioning>
  public typealias OperationalCredentialsTrait = Trait<OperationalCredentials>
  public typealias GroupKeyManagementTrait = Trait<GroupKeyManagement>
  public typealias FixedLabelTrait = Trait<FixedLabel>
  public typealias UserLabelTrait = Trait<UserLabel>
  public typealias BooleanStateTrait = Trait<BooleanState>
  public typealias IcdManagementTrait = Trait<IcdManagement>
  public typealias ScenesManagementTrait = Trait<ScenesManagement>
  public typealias DoorLockTrait = Trait<DoorLock>
  public typealias WindowCoveringTrait = Trait<WindowCovering>
  public typealias ThermostatTrait = Trait<Thermostat>
  public typealias FanControlTrait = Trait<FanControl>
  public typealias ColorControlTrait = Trait<ColorControl>
  public typealias IlluminanceMeasurementTrait = Trait<IlluminanceMeasurement>
  public typealias TemperatureMeasurementTrait = Trait<TemperatureMeasurement>
  public typealias RelativeHumidityMeasurementTrait = Trait<RelativeHumidityMeasurement>
  public typealias OccupancySensingTrait = Trait<OccupancySensing>
}

// The same names without the prefix.

public typealias IdentifyTrait = Trait<Identify>
public typealias GroupsTrait = Trait<Groups>
public typealias OnOffTrait = Trait<OnOff>
public typealias LevelControlTrait = Trait<LevelControl>
public typealias DescriptorTrait = Trait<Descriptor>
public typealias BindingTrait = Trait<Binding>
public typealias AccessControlTrait = Trait<AccessControl>
/// Basic Information (Matter Core § 11.1), or Bridged Device Basic Information (§ 9.13) for a bridged device.
public typealias BasicInformationTrait = Trait<BasicInformation>
public typealias OtaSoftwareUpdateRequestorTrait = Trait<OtaSoftwareUpdateRequestor>
public typealias LocalizationConfigurationTrait = Trait<LocalizationConfiguration>
public typealias TimeFormatLocalizationTrait = Trait<TimeFormatLocalization>
public typealias UnitLocalizationTrait = Trait<UnitLocalization>
public typealias PowerSourceTrait = Trait<PowerSource>
public typealias GeneralCommissioningTrait = Trait<GeneralCommissioning>
public typealias NetworkCommissioningTrait = Trait<NetworkCommissioning>
public typealias GeneralDiagnosticsTrait = Trait<GeneralDiagnostics>
public typealias SoftwareDiagnosticsTrait = Trait<SoftwareDiagnostics>
public typealias EthernetNetworkDiagnosticsTrait = Trait<EthernetNetworkDiagnostics>
public typealias TimeSynchronizationTrait = Trait<TimeSynchronization>
public typealias BridgedDeviceBasicInformationTrait = Trait<BridgedDeviceBasicInformation>
public typealias SwitchTrait = Trait<Switch>
public typealias AdministratorCommissioningTrait = Trait<AdministratorCommissioning>
public typealias OperationalCredentialsTrait = Trait<OperationalCredentials>
public typealias GroupKeyManagementTrait = Trait<GroupKeyManagement>
public typealias FixedLabelTrait = Trait<FixedLabel>
public typealias UserLabelTrait = Trait<UserLabel>
public typealias BooleanStateTrait = Trait<BooleanState>
public typealias IcdManagementTrait = Trait<IcdManagement>
public typealias ScenesManagementTrait = Trait<ScenesManagement>
public typealias DoorLockTrait = Trait<DoorLock>
public typealias WindowCoveringTrait = Trait<WindowCovering>
public typealias ThermostatTrait = Trait<Thermostat>
public typealias FanControlTrait = Trait<FanControl>
public typealias ColorControlTrait = Trait<ColorControl>
public typealias IlluminanceMeasurementTrait = Trait<IlluminanceMeasurement>
public typealias TemperatureMeasurementTrait = Trait<TemperatureMeasurement>
public typealias RelativeHumidityMeasurementTrait = Trait<RelativeHumidityMeasurement>
public typealias OccupancySensingTrait = Trait<OccupancySensing>
