import HearthHome

/// All device types and traits with Swift names, to compare with the tables of device types and clusters.
enum AllTypes {
  static let all: [any HomeDeviceType.Type] = [
    RootNodeDeviceType.self, PowerSourceDeviceType.self, OtaRequestorDeviceType.self, OtaProviderDeviceType.self,
    AggregatorDeviceType.self, BridgedNodeDeviceType.self, ElectricalSensorDeviceType.self,
    DeviceEnergyManagementDeviceType.self, SecondaryNetworkInterfaceDeviceType.self, OnOffLightDeviceType.self,
    DimmableLightDeviceType.self, ColorTemperatureLightDeviceType.self, ExtendedColorLightDeviceType.self,
    OnOffPlugInUnitDeviceType.self, DimmablePlugInUnitDeviceType.self, MountedOnOffControlDeviceType.self,
    MountedDimmableLoadControlDeviceType.self, PumpDeviceType.self, OnOffLightSwitchDeviceType.self,
    DimmerSwitchDeviceType.self, ColorDimmerSwitchDeviceType.self, ControlBridgeDeviceType.self,
    PumpControllerDeviceType.self, GenericSwitchDeviceType.self, DoorbellDeviceType.self, ContactSensorDeviceType.self,
    LightSensorDeviceType.self, OccupancySensorDeviceType.self, TemperatureSensorDeviceType.self,
    PressureSensorDeviceType.self, FlowSensorDeviceType.self, HumiditySensorDeviceType.self, OnOffSensorDeviceType.self,
    SmokeCoAlarmDeviceType.self, AirQualitySensorDeviceType.self, WaterFreezeDetectorDeviceType.self,
    WaterLeakDetectorDeviceType.self, RainSensorDeviceType.self, DoorLockDeviceType.self,
    DoorLockControllerDeviceType.self, SolarPowerDeviceType.self, BatteryStorageDeviceType.self, SpeakerDeviceType.self,
    CastingVideoPlayerDeviceType.self, ContentAppDeviceType.self, ModeSelectDeviceType.self,
    BasicVideoPlayerDeviceType.self, CastingVideoClientDeviceType.self, VideoRemoteControlDeviceType.self,
    FanDeviceType.self, AirPurifierDeviceType.self, WaterValveDeviceType.self, RefrigeratorDeviceType.self,
    TemperatureControlledCabinetDeviceType.self, RoomAirConditionerDeviceType.self, LaundryWasherDeviceType.self,
    RoboticVacuumCleanerDeviceType.self, DishwasherDeviceType.self, CookSurfaceDeviceType.self, CooktopDeviceType.self,
    MicrowaveOvenDeviceType.self, ExtractorHoodDeviceType.self, OvenDeviceType.self, LaundryDryerDeviceType.self,
    NetworkInfrastructureManagerDeviceType.self, ThreadBorderRouterDeviceType.self,
    JointFabricAdministratorDeviceType.self, WindowCoveringDeviceType.self, WindowCoveringControllerDeviceType.self,
    ThermostatDeviceType.self, HeatPumpDeviceType.self,
    ThermostatControllerDeviceType.self, EnergyEvseDeviceType.self, WaterHeaterDeviceType.self,
    ChimeDeviceType.self, SoilSensorDeviceType.self, ClosureDeviceType.self, ClosurePanelDeviceType.self,
    ClosureControllerDeviceType.self, ElectricalUtilityMeterDeviceType.self, MeterReferencePointDeviceType.self,
    ElectricalEnergyTariffDeviceType.self, ElectricalMeterDeviceType.self,
  ]

  static func traits(of traits: MatterTraits) -> [AnyTrait?] {
    [
      traits.identifyTrait?.untyped, traits.groupsTrait?.untyped, traits.onOffTrait?.untyped,
      traits.levelControlTrait?.untyped, traits.descriptorTrait?.untyped, traits.bindingTrait?.untyped,
      traits.accessControlTrait?.untyped, traits.basicInformationTrait?.untyped,
      traits.otaSoftwareUpdateRequestorTrait?.untyped, traits.localizationConfigurationTrait?.untyped,
      traits.timeFormatLocalizationTrait?.untyped, traits.unitLocalizationTrait?.untyped,
      traits.powerSourceTrait?.untyped, traits.generalCommissioningTrait?.untyped,
      traits.networkCommissioningTrait?.untyped, traits.generalDiagnosticsTrait?.untyped,
      traits.softwareDiagnosticsTrait?.untyped, traits.ethernetNetworkDiagnosticsTrait?.untyped,
      traits.timeSynchronizationTrait?.untyped, traits.bridgedDeviceBasicInformationTrait?.untyped,
      traits.switchTrait?.untyped, traits.administratorCommissioningTrait?.untyped,
      traits.operationalCredentialsTrait?.untyped, traits.groupKeyManagementTrait?.untyped,
      traits.fixedLabelTrait?.untyped, traits.userLabelTrait?.untyped, traits.booleanStateTrait?.untyped,
      traits.icdManagementTrait?.untyped, traits.scenesManagementTrait?.untyped, traits.doorLockTrait?.untyped,
      traits.windowCoveringTrait?.untyped, traits.thermostatTrait?.untyped, traits.fanControlTrait?.untyped,
      traits.colorControlTrait?.untyped, traits.illuminanceMeasurementTrait?.untyped,
      traits.temperatureMeasurementTrait?.untyped, traits.relativeHumidityMeasurementTrait?.untyped,
      traits.occupancySensingTrait?.untyped,
    ]
  }
}
