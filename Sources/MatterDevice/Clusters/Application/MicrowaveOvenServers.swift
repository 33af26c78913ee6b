internal import MatterClusters
internal import MatterModel
internal import MatterProtocol

// A microwave oven, whose run takes the cook time. Application Clusters § 8.13.
extension ApplianceServers {
  /// The limits of the cook time in seconds, and of the power in percent.
  private static let cookTimes: ClosedRange<UInt32> = 1...3600, powers: ClosedRange<UInt8> = 10...100
  private static let defaultCookTime: UInt32 = 30, powerStep: UInt8 = 10

  /// Returns the servers of a microwave oven. Its door pauses the run.
  /// - Parameter program: the first mode is the normal one.
  public static func microwaveOven(_ program: ApplianceProgram) -> [ClusterServer] {
    var server = OperationalStateServer(OperationalState.self)
    server.parts = [AppliancePart("door", [("closed", .none), ("open", .pauses)])]
    server.steps = { context in [.init("Cooking", .seconds(Int64(context[MicrowaveOvenControl.cookTime])))] }
    server.onChange = { context, run in
      if run?.isComplete == true { context[MicrowaveOvenControl.cookTime] = defaultCookTime }
    }
    return [server.make(), ModeServer(MicrowaveOvenMode.self, program.modes).make(), control(program.modes)]
  }

  private static func control(_ modes: [ApplianceMode]) -> ClusterServer {
    ClusterServer(
      MicrowaveOvenControl.self, features: [MicrowaveOvenControl.powerAsNumber, MicrowaveOvenControl.powerNumberLimits]
    )
    .initial(MicrowaveOvenControl.cookTime, defaultCookTime)
    .initial(MicrowaveOvenControl.maxCookTime, cookTimes.upperBound)
    .initial(MicrowaveOvenControl.powerSetting, powers.upperBound)
    .initial(MicrowaveOvenControl.minPower, powers.lowerBound)
    .initial(MicrowaveOvenControl.maxPower, powers.upperBound)
    .initial(MicrowaveOvenControl.powerStep, powerStep)
    .initial(MicrowaveOvenControl.wattRating, 900)
    .on(MicrowaveOvenControl.setCookingParameters) { context, request throws(StatusError) in
      guard context[OperationalState.operationalState] == .stopped else { throw StatusError(.invalidInState) }
      guard request.wattSettingIndex == nil,
        request.cookMode != nil || request.cookTime != nil || request.powerSetting != nil
      else { throw StatusError(.invalidCommand) }
      let (mode, time) = (request.cookMode ?? 0, request.cookTime ?? defaultCookTime)
      let power = request.powerSetting ?? powers.upperBound
      guard modes.indices.contains(Int(mode)), cookTimes.contains(time), powers.contains(power),
        (power - powers.lowerBound).isMultiple(of: powerStep)
      else { throw StatusError(.constraintError) }
      context[MicrowaveOvenMode.currentMode] = mode
      context[MicrowaveOvenControl.cookTime] = time
      context[MicrowaveOvenControl.powerSetting] = power
      if request.startAfterSetting == true {
        let answer = try context.invoke(OperationalState.start, NoFields())
        guard answer?.commandResponseState.errorStateID == OperationError.none else {
          throw StatusError(.invalidInState)
        }
      }
    }
    .on(MicrowaveOvenControl.addMoreTime) { context, request throws(StatusError) in
      guard context[OperationalState.operationalState] != .error else { throw StatusError(.invalidInState) }
      let (time, overflow) = context[MicrowaveOvenControl.cookTime].addingReportingOverflow(request.timeToAdd)
      guard !overflow, cookTimes.contains(time) else { throw StatusError(.constraintError) }
      context[MicrowaveOvenControl.cookTime] = time
      context.call(OperationalStateBase<OperationalState>.request, .extend(.seconds(Int64(request.timeToAdd))))
    }
  }
}
