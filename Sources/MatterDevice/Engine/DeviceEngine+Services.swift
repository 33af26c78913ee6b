internal import MatterModel
internal import MatterProtocol

// Updates the messaging core and DNS-SD from the commissioning state.
extension DeviceEngine {
  /// Performs the requests of handlers, and applies state changes to the rest of the engine.
  /// - Parameter current: The session with a pending response.
  mutating func applyRequests(current: SessionID?) {
    let requests = context.node.requests
    context.node.requests.removeAll()
    for request in requests {
      switch request {
      case .setFabric(let index, let session): core.setFabric(index, of: session)
      case .closeSessions(let index, let kept): core.closeSessions(of: index, except: kept, at: now)
      case .send(let command): deliver(command)
      case .control(let command, let endpoint): control(command, from: endpoint)
      case .closePASESessions:
        for session in core.sessions where session.kind == .pase && !session.isInitiator {
          if session.id == current {
            // The pending response is still sent.
            core.closeSessions(of: session.fabric, at: now)
          } else {
            core.close(session.id, notifyingPeer: true, at: now)
          }
        }
      }
    }
    if context.node.commissioning.isChanged || context.node.wantsWindow {
      openFirstWindow()
      context.node.commissioning.isChanged = false
      // Store first: an advertised service must survive a loss of power.
      commit()
      followFabrics()
      followWindow()
      followServices()
    }
    if context.node.areGroupsChanged {
      context.node.areGroupsChanged = false
      commit()
      followGroups()
    }
  }

  /// Opens the window for the first administrator if the device has no fabric. It replaces a window of an administrator,
  /// which would end, and whose passcode may be unknown to others.
  private mutating func openFirstWindow() {
    let commissioning = context.node.commissioning
    guard context.node.wantsWindow, commissioning.failSafe == nil else { return }
    context.node.wantsWindow = false
    guard configuration.isCommissionable, commissioning.fabrics.isEmpty else { return }
    if let window = commissioning.window {
      guard window.deadline != nil else { return }
      context.closeWindow()
    }
    context.open(
      CommissioningWindow(
        isEnhanced: false, parameters: configuration.passcode, discriminator: configuration.discriminator,
        deadline: nil, instance: context.node.random.next()))
  }

  private mutating func followFabrics() {
    let fabrics = context.node.commissioning.fabrics
    for fabric in core.fabrics where !fabrics.contains(where: { $0.index == fabric.index }) {
      for subscription in subscriptions where subscription.subject.fabric == fabric.index { end(subscription.id) }
      forgetResumptions { $0.fabric == fabric.index }
      core.removeFabric(fabric.index, at: now)
    }
    for fabric in fabrics where core.fabric(fabric.index) != fabric { core.install(fabric) }
  }

  private mutating func followWindow() {
    let commissioning = context.node.commissioning
    let wanted = commissioning.isPASEBusy ? nil : commissioning.window?.parameters
    guard wanted != pase else { return }
    pase = wanted
    if let wanted { core.openPASE(wanted) } else { core.closePASE(at: now) }
  }

  /// Resolves a name conflict of a service. A commissionable node draws a new random name. An operational node keeps
  /// its name, which is derived from its identity. Matter Core § 4.3.1, § 4.3.2.
  mutating func rename(_ kind: MatterService.Kind) {
    guard case .commissionable(let instance) = kind,
      context.node.commissioning.window?.instance == instance
    else { return }
    context.node.commissioning.window?.instance = context.node.random.next()
    followServices()
  }

  /// Resolves a name conflict of the host: all services move to a new random host name, which is kept until the next
  /// start. Hosts are only found through services, so the name can change. RFC 6762 § 9.
  mutating func renameHost(_ name: String) {
    // The conflict is reported once per service of the host; later reports name a host that is no longer published.
    guard published.contains(where: { $0.hostName == name }) else { return }
    hostName = MatterService.hostName(drawnFrom: &context.node.random)
    followServices()
  }

  private mutating func followServices() {
    let wanted = isShutDown ? [] : services
    // Publish before withdrawing: withdrawing the last service of a host withdraws its addresses.
    for service in wanted where !published.contains(service) { effects.append(.publish(service)) }
    for service in published where !wanted.contains(where: { $0.kind == service.kind }) {
      effects.append(.withdraw(service))
    }
    published = wanted
  }

  /// The services to publish now.
  private var services: [MatterService] {
    let commissioning = context.node.commissioning
    var services = commissioning.fabrics.map { fabric in
      var service = MatterService(
        kind: .operational(compressedFabricID: fabric.compressedFabricID, nodeID: fabric.nodeID.rawValue),
        hostName: hostName, port: configuration.port)
      describe(&service)
      return service
    }
    if let window = commissioning.window, !commissioning.isPASEBusy {
      var service = MatterService(
        kind: .commissionable(instance: window.instance), hostName: hostName, port: configuration.port)
      service.text.reserveCapacity(9)
      service.discriminator = window.discriminator
      service.commissioningMode = window.isEnhanced ? 2 : 1
      service.setVendor(configuration.vendorID.rawValue, product: configuration.productID)
      service.deviceType = context.node.endpoints.first { $0.id != .root }?.deviceTypes.first?.id.rawValue
      service.deviceName = name
      // Bits 0 and 5: power cycle, or see the manual. Matter Core § 5.4.2.5.6.
      service.pairingHint = 33
      describe(&service)
      services.append(service)
    }
    return services
  }

  private func describe(_ service: inout MatterService) {
    service.idleInterval = configuration.parameters.idleInterval
    if let sleep = context.node.sleep, sleep.configuration.mode == .long {
      // A device with a long idle time answers at no interval while it is idle.
      service.isLongIdleTime = sleep.operatesLong
      if sleep.operatesLong { service.idleInterval = nil }
    }
    service.activeInterval = configuration.parameters.activeInterval
    service.activeThreshold = configuration.parameters.activeThreshold
  }

  private var name: String {
    let name = configuration.nodeLabel.isEmpty ? configuration.productName : configuration.nodeLabel
    var result = ""
    for character in name where result.utf8.count + character.utf8.count <= 32 { result.append(character) }
    return result
  }

  /// Withdraws all services, and stops queries and multicast reception.
  mutating func withdrawAll() {
    for service in published { effects.append(.withdraw(service)) }
    published = []
    for query in bound.browsing { effects.append(.stopBrowsing(query)) }
    bound = BoundCommands()
    resumptions = []
    checkIns = []
    for address in joined { effects.append(.leave(address)) }
    joined = []
  }
}
