/// The named traits of an endpoint: `type.matterTraits.levelControlTrait`. Each is nil if the endpoint lacks the
/// cluster. Undeclared clusters are in ``TraitCollection``.
public struct MatterTraits: Sendable {
  package let traits: TraitCollection

  /// Identify. Application Clusters § 1.2.
  public var identifyTrait: IdentifyTrait? { traits[IdentifyTrait.self] }
  /// Groups. Application Clusters § 1.3.
  public var groupsTrait: GroupsTrait? { traits[GroupsTrait.self] }
  /// On/Off. Application Clusters § 1.5.
  public var onOffTrait: OnOffTrait? { traits[OnOffTrait.self] }
  /// Level Control. Application Clusters § 1.6.
  public var levelControlTrait: LevelControlTrait? { traits[LevelControlTrait.self] }
  /// Descriptor. Matter Core § 9.5.
  public var descriptorTrait: DescriptorTrait? { traits[DescriptorTrait.self] }
  /// Binding. Matter Core § 9.6.
  public var bindingTrait: BindingTrait? { traits[BindingTrait.self] }
  /// Access Control. Matter Core § 9.10.
  public var accessControlTrait: AccessControlTrait? { traits[AccessControlTrait.self] }
  /// Basic Information, or Bridged Device Basic Information on a bridged endpoint.
  public var basicInformationTrait: BasicInformationTrait? { traits[BasicInformationTrait.self] }
  /// OTA Software Update Requestor. Matter Core § 11.20.7.
  public var otaSoftwareUpdateRequestorTrait: OtaSoftwareUpdateRequestorTrait? {
    traits[OtaSoftwareUpdateRequestorTrait.self]
  }
  /// Localization Configuration. Matter Core § 11.3.
  public var localizationConfigurationTrait: LocalizationConfigurationTrait? {
    traits[LocalizationConfigurationTrait.self]
  }
  /// Time Format Localization. Matter Core § 11.4.
  public var timeFormatLocalizationTrait: TimeFormatLocalizationTrait? { traits[TimeFormatLocalizationTrait.self] }
  /// Unit Localization. Matter Core § 11.5.
  public var unitLocalizationTrait: UnitLocalizationTrait? { traits[UnitLocalizationTrait.self] }
  /// Power Source. Matter Core § 11.7.
  public var powerSourceTrait: PowerSourceTrait? { traits[PowerSourceTrait.self] }
  /// General Commissioning. Matter Core § 11.10.
  public var generalCommissioningTrait: GeneralCommissioningTrait? { traits[GeneralCommissioningTrait.self] }
  /// Network Commissioning. Matter Core § 11.9.
  public var networkCommissioningTrait: NetworkCommissioningTrait? { traits[NetworkCommissioningTrait.self] }
  /// General Diagnostics. Matter Core § 11.12.
  public var generalDiagnosticsTrait: GeneralDiagnosticsTrait? { traits[GeneralDiagnosticsTrait.self] }
  /// Software Diagnostics. Matter Core § 11.13.
  public var softwareDiagnosticsTrait: SoftwareDiagnosticsTrait? { traits[SoftwareDiagnosticsTrait.self] }
  /// Ethernet Network Diagnostics. Matter Core § 11.16.
  public var ethernetNetworkDiagnosticsTrait: EthernetNetworkDiagnosticsTrait? {
    traits[EthernetNetworkDiagnosticsTrait.self]
  }
  /// Time Synchronization. Matter Core § 11.17.
  public var timeSynchronizationTrait: TimeSynchronizationTrait? { traits[TimeSynchronizationTrait.self] }
  /// Bridged Device Basic Information. Matter Core § 9.13.
  public var bridgedDeviceBasicInformationTrait: BridgedDeviceBasicInformationTrait? {
    traits[BridgedDeviceBasicInformationTrait.self]
  }
  /// Switch. Application Clusters § 1.13.
  public var switchTrait: SwitchTrait? { traits[SwitchTrait.self] }
  /// Administrator Commissioning. Matter Core § 11.19.
  public var administratorCommissioningTrait: AdministratorCommissioningTrait? {
    traits[AdministratorCommissioningTrait.self]
  }
  /// Operational Credentials. Matter Core § 11.18.
  public var operationalCredentialsTrait: OperationalCredentialsTrait? { traits[OperationalCredentialsTrait.self] }
  /// Group Key Management. Matter Core § 11.2.
  public var groupKeyManagementTrait: GroupKeyManagementTrait? { traits[GroupKeyManagementTrait.self] }
  /// Fixed Label. Matter Core § 9.8.
  public var fixedLabelTrait: FixedLabelTrait? { traits[FixedLabelTrait.self] }
  /// User Label. Matter Core § 9.9.
  public var userLabelTrait: UserLabelTrait? { traits[UserLabelTrait.self] }
  /// Boolean State. Application Clusters § 1.7.
  public var booleanStateTrait: BooleanStateTrait? { traits[BooleanStateTrait.self] }
  /// ICD Management. Matter Core § 9.16.
  public var icdManagementTrait: IcdManagementTrait? { traits[IcdManagementTrait.self] }
  /// Scenes Management. Application Clusters § 1.4.
  public var scenesManagementTrait: ScenesManagementTrait? { traits[ScenesManagementTrait.self] }
  /// Door Lock. Application Clusters § 5.2.
  public var doorLockTrait: DoorLockTrait? { traits[DoorLockTrait.self] }
  /// Window Covering. Application Clusters § 5.3.
  public var windowCoveringTrait: WindowCoveringTrait? { traits[WindowCoveringTrait.self] }
  /// Thermostat. Application Clusters § 4.3.
  public var thermostatTrait: ThermostatTrait? { traits[ThermostatTrait.self] }
  /// Fan Control. Application Clusters § 4.4.
  public var fanControlTrait: FanControlTrait? { traits[FanControlTrait.self] }
  /// Color Control. Application Clusters § 3.2.
  public var colorControlTrait: ColorControlTrait? { traits[ColorControlTrait.self] }
  /// Illuminance Measurement. Application Clusters § 2.2.
  public var illuminanceMeasurementTrait: IlluminanceMeasurementTrait? { traits[IlluminanceMeasurementTrait.self] }
  /// Temperature Measurement. Application Clusters § 2.3.
  public var temperatureMeasurementTrait: TemperatureMeasurementTrait? { traits[TemperatureMeasurementTrait.self] }
  /// Relative Humidity Measurement. Application Clusters § 2.6.
  public var relativeHumidityMeasurementTrait: RelativeHumidityMeasurementTrait? {
    traits[RelativeHumidityMeasurementTrait.self]
  }
  /// Occupancy Sensing. Application Clusters § 2.7.
  public var occupancySensingTrait: OccupancySensingTrait? { traits[OccupancySensingTrait.self] }
}
