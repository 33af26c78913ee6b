internal import MatterClusters
internal import MatterModel
internal import MatterProtocol

// The fail-safe, fabrics and windows, for the servers of the root endpoint and the engine.
extension ServerContext {
  // MARK: Fabrics

  /// Adds or replaces a fabric and stores it.
  mutating func put(_ fabric: Fabric) {
    if node.commissioning.fabric(fabric.index) == nil, node.commissioning.lastIndex != fabric.index.rawValue {
      node.commissioning.lastIndex = fabric.index.rawValue
      node.changes.append(StoreChange(StoreKey.lastFabricIndex, fabric.index.rawValue.tlv, isDurable: true))
    }
    node.commissioning.put(fabric)
    node.changes.append(StoreChange(StoreKey.fabric(fabric.index), fabric.tlv, isDurable: true))
    fabricsChanged()
  }

  /// Removes a fabric with all its data. Matter Core § 11.18.6.12.
  mutating func remove(_ index: FabricIndex) {
    guard node.commissioning.fabric(index) != nil else { return }
    emit(BasicInformation.leave, .init(fabricIndex: index), on: .root)
    for cluster in node.clusters.indices {
      for attribute in node.clusters[cluster].attributeIDs {
        guard let served = node.clusters[cluster].server.attributes[attribute], served.read == nil,
          served.info.quality.contains(.fabricScoped), let list = node.clusters[cluster][attribute],
          let rest = FabricList.removing(index, from: list)
        else { continue }
        set(cluster, attribute, rest, reporting: .now)
      }
      for handler in node.clusters[cluster].server.fabricRemovals {
        enterQuietly(cluster, as: .device) { handler(&$0, index) }
      }
    }
    var groups = groupTable
    groups.removeAll(of: index)
    groupTable = groups
    node.changes += node.events.removeAll(of: index)
    if node.commissioning.window?.openedBy == index {
      node.commissioning.window?.openedBy = nil
      windowChanged()
    }
    node.commissioning.fabrics.removeAll { $0.index == index }
    node.changes.append(StoreChange(StoreKey.fabric(index), nil, isDurable: true))
    node.forgottenFabrics.append(index)
    if node.commissioning.fabrics.isEmpty { node.wantsWindow = true }
    fabricsChanged()
    report(.fabricRemoved(index))
  }

  private mutating func fabricsChanged() {
    for attribute: AttributeID in [0x0000, 0x0001, 0x0003, 0x0004] {
      node.markChanged(ConcreteAttributePath(.root, OperationalCredentials.id, attribute))
    }
  }

  // MARK: Fail-safe

  /// Stores the changes that a start after a crash would have to undo. Their record need not be on the disk before them: a
  /// durable change also makes the earlier ones durable.
  mutating func storeFailSafe() {
    let failSafe = node.commissioning.failSafe
    node.changes.append(StoreChange(StoreKey.failSafe, failSafe?.tlv, isDurable: failSafe == nil))
  }

  /// Disarms the fail-safe and keeps the changes made under it.
  mutating func commitFailSafe() {
    guard let failSafe = node.commissioning.failSafe else { return }
    node.commissioning.failSafe = nil
    storeFailSafe()
    self[GeneralCommissioning.breadcrumb, on: .root] = 0
    node.commissioning.isPASEBusy = false
    closeWindow()
    node.requests.append(.closePASESessions)
    if failSafe.hasNOC { report(.commissioned(failSafe.fabric)) }
  }

  /// Expires the fail-safe and undoes the changes made under it. Matter Core § 11.10.7.2.2.
  mutating func expireFailSafe() {
    guard let failSafe = node.commissioning.failSafe else { return }
    node.commissioning.failSafe = nil
    if let old = failSafe.updatedFabric {
      put(old)
      node.forgottenFabrics.append(old.index)
      node.requests.append(.closeSessions(old.index, except: nil))
    }
    if let added = failSafe.addedFabric { remove(added) }
    storeFailSafe()
    self[GeneralCommissioning.breadcrumb, on: .root] = 0
    for (path, value) in [
      (GeneralCommissioning.regulatoryConfig.path(on: .root), failSafe.regulatoryConfig),
      (BasicInformation.location.path(on: .root), failSafe.location),
    ] {
      if let value { try? set(path, encoded: value) }
    }
    node.commissioning.isPASEBusy = false
    node.requests.append(.closePASESessions)
    report(.rolledBack)
  }

  // MARK: Windows

  mutating func open(_ window: CommissioningWindow) {
    node.commissioning.window = window
    windowChanged()
    report(.windowOpened(isEnhanced: window.isEnhanced))
  }

  mutating func closeWindow() {
    guard node.commissioning.window != nil else { return }
    node.commissioning.window = nil
    windowChanged()
    report(.windowClosed)
  }

  private mutating func windowChanged() {
    for attribute: AttributeID in [0x0000, 0x0001, 0x0002] {
      node.markChanged(ConcreteAttributePath(.root, AdministratorCommissioning.id, attribute))
    }
  }

  /// Counts a failed PASE attempt, and closes the window after the maximum number. Matter Core § 5.5.
  mutating func countFailedAttempt() {
    guard var window = node.commissioning.window else { return }
    window.failures += 1
    node.commissioning.window = window
    if window.failures >= CommissioningWindow.maximumFailures { closeWindow() }
  }
}
