internal import MatterClusters
internal import MatterCrypto
internal import MatterModel
internal import MatterProtocol

extension RootNode {
  private typealias Failure = AdministratorCommissioning.StatusCodeEnum

  /// Matter Core § 11.19.
  static let administratorCommissioning = ClusterServer(
    AdministratorCommissioning.self, features: [AdministratorCommissioning.basic]
  )
  .onRead(AdministratorCommissioning.windowStatus) { context in
    // The window of a device without a fabric was not opened by an administrator.
    guard let window = context.node.commissioning.window, window.deadline != nil else { return .windowNotOpen }
    return window.isEnhanced ? .enhancedWindowOpen : .basicWindowOpen
  }
  .onRead(AdministratorCommissioning.adminFabricIndex) { context in
    Nullable(context.node.commissioning.window?.openedBy)
  }
  .onRead(AdministratorCommissioning.adminVendorId) { context in
    Nullable(context.node.commissioning.window?.openedByVendor)
  }
  .on(AdministratorCommissioning.openCommissioningWindow) { context, request throws(StatusError) in
    try checkIdle(context)
    try check(timeout: request.commissioningTimeout)
    guard let verifier = try? SPAKE2PlusVerifier(bytes: request.pakePasscodeVerifier.bytes),
      1_000...100_000 ~= request.iterations, 16...32 ~= request.salt.bytes.count, request.discriminator <= 0xFFF
    else { throw failure(.pakeParameterError) }
    let parameters = PASEParameters(
      verifier: verifier, salt: request.salt.bytes, iterations: request.iterations)
    open(&context, parameters, request.discriminator, request.commissioningTimeout, isEnhanced: true)
  }
  .on(AdministratorCommissioning.openBasicCommissioningWindow) { context, request throws(StatusError) in
    try checkIdle(context)
    try check(timeout: request.commissioningTimeout)
    let configuration = context.node.configuration
    open(
      &context, configuration.passcode, configuration.discriminator, request.commissioningTimeout, isEnhanced: false)
  }
  .on(AdministratorCommissioning.revokeCommissioning) { context, _ throws(StatusError) in
    guard context.node.commissioning.window != nil else { throw failure(.windowNotOpen) }
    context.closeWindow()
    // Also ends a commissioning in progress and undoes its changes.
    if context.node.commissioning.isPASEBusy { context.expireFailSafe() }
  }

  private static func failure(_ code: Failure) -> StatusError { StatusError(.failure, clusterCode: code.rawValue) }

  private static func checkIdle(_ context: ServerContext) throws(StatusError) {
    guard context.node.commissioning.window == nil, context.node.commissioning.failSafe == nil else {
      throw failure(.busy)
    }
  }

  private static func check(timeout: UInt16) throws(StatusError) {
    guard 180...900 ~= timeout else { throw StatusError(.invalidCommand) }
  }

  private static func open(
    _ context: inout ServerContext, _ parameters: PASEParameters, _ discriminator: UInt16, _ timeout: UInt16,
    isEnhanced: Bool
  ) {
    let fabric = context.node.commissioning.fabric(context.subject.fabric)
    context.open(
      CommissioningWindow(
        isEnhanced: isEnhanced, parameters: parameters, discriminator: discriminator,
        deadline: context.now + .seconds(Int64(timeout)), openedBy: fabric?.index,
        openedByVendor: fabric?.adminVendorID, instance: context.node.random.next()))
  }
}
