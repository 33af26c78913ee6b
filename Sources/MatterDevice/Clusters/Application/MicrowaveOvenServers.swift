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
    .limiting(MicrowaveOvenControl.cookTime, to: MicrowaveOvenControl.maxCookTime)
    .limiting(
      MicrowaveOvenControl.powerSetting, from: MicrowaveOvenControl.minPower, to: MicrowaveOvenControl.maxPower
    )
    .limiting(MicrowaveOvenControl.powerSetting, toMultiplesOf: MicrowaveOvenControl.powerStep)
    .onAct(MicrowaveOvenControl.powerSetting) { context, power throws(StatusError) in
      guard isSupported(power, &context) else { throw StatusError(.constraintError) }
      context[MicrowaveOvenControl.powerSetting] = power
    }
    .on(MicrowaveOvenControl.setCookingParameters) { context, request throws(StatusError) in
      guard context[OperationalState.operationalState] == .stopped else { throw StatusError(.invalidInState) }
      guard request.wattSettingIndex == nil,
        request.cookMode != nil || request.cookTime != nil || request.powerSetting != nil
      else { throw StatusError(.invalidCommand) }
      let (mode, time) = (request.cookMode ?? 0, request.cookTime ?? defaultCookTime)
      let power = request.powerSetting ?? context[MicrowaveOvenControl.maxPower]
      guard modes.indices.contains(Int(mode)), cookTimes.contains(time), isSupported(power, &context) else {
        throw StatusError(.constraintError)
      }
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

  /// Returns whether the power is within its limits, and a multiple of PowerStep above MinPower.
  private static func isSupported(_ power: UInt8, _ context: inout ServerContext) -> Bool {
    let (lowest, highest) = (context[MicrowaveOvenControl.minPower], context[MicrowaveOvenControl.maxPower])
    guard power >= lowest, power <= highest else { return false }
    return (power - lowest).isMultiple(of: max(1, context[MicrowaveOvenControl.powerStep]))
  }
}
