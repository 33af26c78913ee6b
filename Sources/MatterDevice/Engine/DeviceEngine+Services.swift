internal import MatterModel
internal import MatterProtocol

// The messaging core and DNS-SD follow the state of commissioning.
extension DeviceEngine {
  /// Does what handlers asked for, and makes the rest of the engine follow what they changed.
  /// - Parameter current: the session whose message is still to be answered.
  mutating func applyRequests(current: SessionID?) {
    let requests = context.node.requests
    context.node.requests.removeAll()
    for request in requests {
      switch request {
      case .setFabric(let index, let session): core.setFabric(index, of: session)
      case .closeSessions(let index, let kept): core.closeSessions(of: index, except: kept, at: now)
      case .closePASESessions:
        for session in core.sessions where session.kind == .pase && !session.isInitiator {
          if session.id == current {
            // It still gets its answer.
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
      // What is announced must outlive a power cut: stored first.
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

  /// A device without a fabric waits for its first.
  private mutating func openFirstWindow() {
    let commissioning = context.node.commissioning
    guard context.node.wantsWindow, commissioning.failSafe == nil else { return }
    context.node.wantsWindow = false
    guard configuration.isCommissionable, commissioning.fabrics.isEmpty, commissioning.window == nil else { return }
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

  /// Somebody else has the name of a service. That of a commissionable node is drawn at random, and drawn anew; that of a node
  /// on a fabric says who it is, and can't be another. Matter Core § 4.3.1, § 4.3.2.
  mutating func rename(_ kind: MatterService.Kind) {
    guard case .commissionable(let instance) = kind,
      context.node.commissioning.window?.instance == instance
    else { return }
    context.node.commissioning.window?.instance = context.node.random.next()
    followServices()
  }

  /// Somebody else has the name of the host. Nobody looks for a host but where a service says that it is there: all services move
  /// to another name, drawn at random and kept until the next start. RFC 6762 § 9.
  mutating func renameHost(_ name: String) {
    // Each service that is on the host tells of it.
    guard published.contains(where: { $0.hostName == name }) else { return }
    hostName = MatterService.hostName(drawnFrom: &context.node.random)
    followServices()
  }

  private mutating func followServices() {
    let wanted = isShutDown ? [] : services
    // New services first: the addresses of a host are withdrawn with its last service.
    for service in wanted where !published.contains(service) { effects.append(.publish(service)) }
    for service in published where !wanted.contains(where: { $0.kind == service.kind }) {
      effects.append(.withdraw(service))
    }
    published = wanted
  }

  /// What the node is to be found by now.
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
      service.discriminator = window.discriminator
      service.commissioningMode = window.isEnhanced ? 2 : 1
      service.setVendor(configuration.vendorID.rawValue, product: configuration.productID)
      service.deviceType = endpoints.first { $0.id != .root }?.deviceTypes.first?.id.rawValue
      service.deviceName = name
      // Power cycle it, or see its manual. Matter Core § 5.4.2.5.6.
      service.pairingHint = 33
      describe(&service)
      services.append(service)
    }
    return services
  }

  private func describe(_ service: inout MatterService) {
    service.idleInterval = configuration.parameters.idleInterval
    service.activeInterval = configuration.parameters.activeInterval
    service.activeThreshold = configuration.parameters.activeThreshold
  }

  private var name: String {
    let name = configuration.nodeLabel.isEmpty ? configuration.productName : configuration.nodeLabel
    var result = ""
    for character in name where result.utf8.count + character.utf8.count <= 32 { result.append(character) }
    return result
  }

  /// Takes all services back.
  mutating func withdrawAll() {
    for service in published { effects.append(.withdraw(service)) }
    published = []
    for query in bound.browsing { effects.append(.stopBrowsing(query)) }
    bound = BoundCommands()
    resumptions = []
    for address in joined { effects.append(.leave(address)) }
    joined = []
  }
}
