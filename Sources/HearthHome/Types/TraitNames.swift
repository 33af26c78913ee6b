public import MatterClusters

// The traits of all clusters that the project knows, by name.

/// Identify. Application Clusters § 1.2.
public typealias IdentifyTrait = Trait<Identify>
/// Groups. Application Clusters § 1.3.
public typealias GroupsTrait = Trait<Groups>
/// On/Off. Application Clusters § 1.5.
public typealias OnOffTrait = Trait<OnOff>
/// Level Control. Application Clusters § 1.6.
public typealias LevelControlTrait = Trait<LevelControl>
/// Descriptor. Matter Core § 9.5.
public typealias DescriptorTrait = Trait<Descriptor>
/// Binding. Matter Core § 9.6.
public typealias BindingTrait = Trait<Binding>
/// Access Control. Matter Core § 9.10.
public typealias AccessControlTrait = Trait<AccessControl>
/// Basic Information (Matter Core § 11.1), or Bridged Device Basic Information (§ 9.13) for a bridged device.
public typealias BasicInformationTrait = Trait<BasicInformation>
/// OTA Software Update Requestor. Matter Core § 11.20.7.
public typealias OtaSoftwareUpdateRequestorTrait = Trait<OtaSoftwareUpdateRequestor>
/// Localization Configuration. Matter Core § 11.3.
public typealias LocalizationConfigurationTrait = Trait<LocalizationConfiguration>
/// Time Format Localization. Matter Core § 11.4.
public typealias TimeFormatLocalizationTrait = Trait<TimeFormatLocalization>
/// Unit Localization. Matter Core § 11.5.
public typealias UnitLocalizationTrait = Trait<UnitLocalization>
/// Power Source. Matter Core § 11.7.
public typealias PowerSourceTrait = Trait<PowerSource>
/// General Commissioning. Matter Core § 11.10.
public typealias GeneralCommissioningTrait = Trait<GeneralCommissioning>
/// Network Commissioning. Matter Core § 11.9.
public typealias NetworkCommissioningTrait = Trait<NetworkCommissioning>
/// General Diagnostics. Matter Core § 11.12.
public typealias GeneralDiagnosticsTrait = Trait<GeneralDiagnostics>
/// Software Diagnostics. Matter Core § 11.13.
public typealias SoftwareDiagnosticsTrait = Trait<SoftwareDiagnostics>
/// Ethernet Network Diagnostics. Matter Core § 11.16.
public typealias EthernetNetworkDiagnosticsTrait = Trait<EthernetNetworkDiagnostics>
/// Time Synchronization. Matter Core § 11.17.
public typealias TimeSynchronizationTrait = Trait<TimeSynchronization>
/// Bridged Device Basic Information. Matter Core § 9.13.
public typealias BridgedDeviceBasicInformationTrait = Trait<BridgedDeviceBasicInformation>
/// Switch. Application Clusters § 1.13.
public typealias SwitchTrait = Trait<Switch>
/// Administrator Commissioning. Matter Core § 11.19.
public typealias AdministratorCommissioningTrait = Trait<AdministratorCommissioning>
/// Operational Credentials. Matter Core § 11.18.
public typealias OperationalCredentialsTrait = Trait<OperationalCredentials>
/// Group Key Management. Matter Core § 11.2.
public typealias GroupKeyManagementTrait = Trait<GroupKeyManagement>
/// Fixed Label. Matter Core § 9.8.
public typealias FixedLabelTrait = Trait<FixedLabel>
/// User Label. Matter Core § 9.9.
public typealias UserLabelTrait = Trait<UserLabel>
/// Boolean State. Application Clusters § 1.7.
public typealias BooleanStateTrait = Trait<BooleanState>
/// ICD Management. Matter Core § 9.16.
public typealias IcdManagementTrait = Trait<IcdManagement>
/// Scenes Management. Application Clusters § 1.4.
public typealias ScenesManagementTrait = Trait<ScenesManagement>
/// Door Lock. Application Clusters § 5.2.
public typealias DoorLockTrait = Trait<DoorLock>
/// Window Covering. Application Clusters § 5.3.
public typealias WindowCoveringTrait = Trait<WindowCovering>
/// Thermostat. Application Clusters § 4.3.
public typealias ThermostatTrait = Trait<Thermostat>
/// Fan Control. Application Clusters § 4.4.
public typealias FanControlTrait = Trait<FanControl>
/// Color Control. Application Clusters § 3.2.
public typealias ColorControlTrait = Trait<ColorControl>
/// Illuminance Measurement. Application Clusters § 2.2.
public typealias IlluminanceMeasurementTrait = Trait<IlluminanceMeasurement>
/// Temperature Measurement. Application Clusters § 2.3.
public typealias TemperatureMeasurementTrait = Trait<TemperatureMeasurement>
/// Relative Humidity Measurement. Application Clusters § 2.6.
public typealias RelativeHumidityMeasurementTrait = Trait<RelativeHumidityMeasurement>
/// Occupancy Sensing. Application Clusters § 2.7.
public typealias OccupancySensingTrait = Trait<OccupancySensing>
