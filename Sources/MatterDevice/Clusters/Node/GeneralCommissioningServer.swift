internal import MatterClusters
internal import MatterModel
internal import MatterProtocol

/// The DebugText field of responses, which contains the reason of a refusal.
enum DebugText {
  /// The maximum length in bytes. Matter Core § 11.10.7, § 11.18.6.10.
  static let limit = 128

  static func limited(_ text: String) -> String {
    var result = ""
    for character in text where result.utf8.count + character.utf8.count <= limit { result.append(character) }
    return result
  }
}

extension RootNode {
  private typealias Failure = GeneralCommissioning.CommissioningError

  /// Matter Core § 11.10.
  static let generalCommissioning = ClusterServer(GeneralCommissioning.self)
    .initial(
      GeneralCommissioning.basicCommissioningInfo,
      .init(
        failSafeExpiryLengthSeconds: FailSafe.recommendedSeconds,
        maxCumulativeFailsafeSeconds: UInt16(FailSafe.cumulativeLimit.components.seconds))
    )
    .initial(GeneralCommissioning.regulatoryConfig, .indoorOutdoor)
    .storing(GeneralCommissioning.regulatoryConfig)
    .answer(GeneralCommissioning.armFailSafe) { context, request in
      let error = armFailSafe(&context, request.expiryLengthSeconds)
      // Disarming resets the breadcrumb to 0 instead.
      if error == .ok, request.expiryLengthSeconds > 0 {
        context[GeneralCommissioning.breadcrumb] = request.breadcrumb
      }
      return .init(errorCode: error, debugText: debugText(&context, "ArmFailSafe", error))
    }
    .answer(GeneralCommissioning.setRegulatoryConfig) { context, request throws(StatusError) in
      let error = try setRegulatoryConfig(&context, request)
      if error == .ok { context[GeneralCommissioning.breadcrumb] = request.breadcrumb }
      return .init(errorCode: error, debugText: debugText(&context, "SetRegulatoryConfig", error))
    }
    .answer(GeneralCommissioning.commissioningComplete) { context, _ in
      let error = commissioningComplete(&context)
      return .init(errorCode: error, debugText: debugText(&context, "CommissioningComplete", error))
    }

  /// Returns and logs the reason of a refusal; empty for success.
  private static func debugText(_ context: inout ServerContext, _ command: String, _ error: Failure) -> String {
    let reason: String
    switch error {
    case .ok: return ""
    case .busyWithOtherAdmin:
      reason =
        context.node.commissioning.failSafe == nil
        ? "a commissioning window is open" : "the fail-safe is armed by another administrator"
    case .noFailSafe: reason = "the fail-safe is not armed"
    case .invalidAuthentication: reason = "this takes a CASE session of the fabric that armed the fail-safe"
    case .valueOutsideRange: reason = "LocationCapability does not include this location type"
    default: reason = "error \(error.rawValue)"
    }
    context.report(.note("refused \(command): \(reason)"))
    return DebugText.limited(reason)
  }

  /// Matter Core § 11.10.7.2.
  private static func armFailSafe(_ context: inout ServerContext, _ seconds: UInt16) -> Failure {
    let accessing = context.subject.fabric
    let session = context.subject.kind == .pase ? context.subject.session : nil
    if var failSafe = context.node.commissioning.failSafe {
      guard failSafe.fabric == accessing else { return .busyWithOtherAdmin }
      guard seconds > 0 else {
        context.expireFailSafe()
        return .ok
      }
      failSafe.deadline = min(context.now + .seconds(Int64(seconds)), failSafe.lastDeadline)
      failSafe.session = session
      context.node.commissioning.failSafe = failSafe
      return .ok
    }
    // An open window is reserved for commissioning over PASE.
    if context.node.commissioning.window != nil && context.subject.kind != .pase { return .busyWithOtherAdmin }
    guard seconds > 0 else { return .ok }
    context.node.commissioning.failSafe = FailSafe(
      fabric: accessing, session: session, for: .seconds(Int64(seconds)), at: context.now)
    return .ok
  }

  /// Matter Core § 11.10.7.4.
  private static func setRegulatoryConfig(
    _ context: inout ServerContext, _ request: GeneralCommissioning.SetRegulatoryConfigRequest
  ) throws(StatusError) -> Failure {
    guard request.countryCode.utf8.count == 2 else { throw StatusError(.constraintError) }
    let wanted = request.newRegulatoryConfig
    let capability = context[GeneralCommissioning.locationCapability]
    guard wanted.isKnown, capability == .indoorOutdoor || capability == wanted else { return .valueOutsideRange }
    if var failSafe = context.node.commissioning.failSafe {
      // The value before the first of several changes is the one to restore.
      failSafe.regulatoryConfig = failSafe.regulatoryConfig ?? context[GeneralCommissioning.regulatoryConfig].tlv
      failSafe.location = failSafe.location ?? context[BasicInformation.location].tlv
      context.node.commissioning.failSafe = failSafe
      context.storeFailSafe()
    }
    context[GeneralCommissioning.regulatoryConfig] = wanted
    context[BasicInformation.location] = request.countryCode
    return .ok
  }

  /// Matter Core § 11.10.7.6.
  private static func commissioningComplete(_ context: inout ServerContext) -> Failure {
    guard let failSafe = context.node.commissioning.failSafe else { return .noFailSafe }
    guard context.subject.kind == .case, context.subject.fabric == failSafe.fabric else {
      return .invalidAuthentication
    }
    context.commitFailSafe()
    return .ok
  }
}
