internal import MatterClusters
internal import MatterModel
internal import MatterProtocol

// The settings of appliances besides their modes. Application Clusters § 8.
extension ApplianceServers {
  /// Throws while a run is in progress, which the setting would change.
  private static func checkIdle<C: Cluster>(_: C.Type, _ context: inout ServerContext) throws(StatusError) {
    if isRunning(C.self, &context) { throw StatusError(.invalidInState) }
  }

  // MARK: Temperature Control

  /// Returns Temperature Control with a choice of levels, which a run fixes. § 8.2.
  static func temperatureLevels<C: Cluster>(_ levels: [String], selected: UInt8, of operation: C.Type) -> ClusterServer
  {
    let select: @Sendable (inout ServerContext, UInt8) throws(StatusError) -> Void = {
      (context, level) throws(StatusError) in
      guard Int(level) < levels.count else { throw StatusError(.constraintError) }
      try checkIdle(C.self, &context)
      context[TemperatureControl.selectedTemperatureLevel] = level
    }
    return ClusterServer(TemperatureControl.self, features: [TemperatureControl.temperatureLevel])
      .initial(TemperatureControl.supportedTemperatureLevels, levels)
      .initial(TemperatureControl.selectedTemperatureLevel, selected)
      .storing(TemperatureControl.selectedTemperatureLevel)
      .onAct(TemperatureControl.selectedTemperatureLevel, select)
      .on(TemperatureControl.setTemperature) { context, request throws(StatusError) in
        guard let level = request.targetTemperatureLevel, request.targetTemperature == nil else {
          throw StatusError(.invalidCommand)
        }
        try select(&context, level)
      }
  }

  /// Returns Temperature Control with a set point in hundredths of a degree.
  static func temperatureSetpoint(_ range: ClosedRange<Int16>, step: Int16, _ initial: Int16) -> ClusterServer {
    ClusterServer(
      TemperatureControl.self, features: [TemperatureControl.temperatureNumber, TemperatureControl.temperatureStep]
    )
    .initial(TemperatureControl.temperatureSetpoint, initial)
    .initial(TemperatureControl.minTemperature, range.lowerBound)
    .initial(TemperatureControl.maxTemperature, range.upperBound)
    .initial(TemperatureControl.step, step)
    .storing(TemperatureControl.temperatureSetpoint)
    .limiting(
      TemperatureControl.temperatureSetpoint, from: TemperatureControl.minTemperature,
      to: TemperatureControl.maxTemperature
    )
    .on(TemperatureControl.setTemperature) { context, request throws(StatusError) in
      guard let target = request.targetTemperature, request.targetTemperatureLevel == nil else {
        throw StatusError(.invalidCommand)
      }
      let (lowest, highest) = (
        context[TemperatureControl.minTemperature], context[TemperatureControl.maxTemperature]
      )
      guard lowest <= target, target <= highest,
        (Int(target) - Int(lowest)).isMultiple(of: max(1, Int(context[TemperatureControl.step])))
      else { throw StatusError(.constraintError) }
      context[TemperatureControl.temperatureSetpoint] = target
    }
  }

  // MARK: Laundry

  /// Returns Laundry Washer Controls. § 8.6.
  static func washerControls(spinSpeeds: [String]) -> ClusterServer {
    let rinses: [LaundryWasherControls.NumberOfRinses] = [.none, .normal, .extra]
    return ClusterServer(
      LaundryWasherControls.self, features: [LaundryWasherControls.spin, LaundryWasherControls.rinse]
    )
    .initial(LaundryWasherControls.spinSpeeds, spinSpeeds)
    .initial(LaundryWasherControls.spinSpeedCurrent, .value(2))
    .storing(LaundryWasherControls.spinSpeedCurrent)
    .limiting(LaundryWasherControls.spinSpeedCurrent, to: 0...Int64(max(spinSpeeds.count, 1) - 1))
    .onWrite(LaundryWasherControls.spinSpeedCurrent) { context, _ throws(StatusError) in
      try checkIdle(OperationalState.self, &context)
    }
    .initial(LaundryWasherControls.supportedRinses, rinses)
    .initial(LaundryWasherControls.numberOfRinses, .normal)
    .storing(LaundryWasherControls.numberOfRinses)
    // Which values are supported depends on the state of the device. § 8.6.6.3.
    .limiting(LaundryWasherControls.numberOfRinses, to: rinses, refusal: .invalidInState)
    .onWrite(LaundryWasherControls.numberOfRinses) { context, _ throws(StatusError) in
      try checkIdle(OperationalState.self, &context)
    }
  }

  /// Returns Laundry Dryer Controls. § 8.9.
  static func dryerControls() -> ClusterServer {
    let levels: [LaundryDryerControls.DrynessLevel] = [.low, .normal, .extra]
    return ClusterServer(LaundryDryerControls.self)
      .initial(LaundryDryerControls.supportedDrynessLevels, levels)
      .initial(LaundryDryerControls.selectedDrynessLevel, .value(.normal))
      .storing(LaundryDryerControls.selectedDrynessLevel)
      .limiting(LaundryDryerControls.selectedDrynessLevel, to: levels)
      .onWrite(LaundryDryerControls.selectedDrynessLevel) { context, _ throws(StatusError) in
        try checkIdle(OperationalState.self, &context)
      }
  }
}
