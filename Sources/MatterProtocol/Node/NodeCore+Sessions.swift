import MatterCrypto
public import MatterModel

extension NodeCore {
  // MARK: Finding

  /// Returns the properties of a secured session, or nil if there is none with this id.
  public func session(_ id: SessionID) -> SessionInfo? { id.isUnsecured ? nil : secured[UInt16(id.rawValue)]?.info }

  /// All secured sessions, sorted by id.
  public var sessions: [SessionInfo] { secured.row.map(\.info).sorted { $0.id < $1.id } }

  /// Whether a session only remains until its open exchanges end, because its fabric was removed or its certificates
  /// replaced. The owner must reject new requests on it, because its fabric index may already belong to another fabric.
  public func isExpiring(_ id: SessionID) -> Bool {
    !id.isUnsecured && secured[UInt16(id.rawValue)]?.isExpiring == true
  }

  /// Returns the CASE session with a node that received a message most recently.
  public func newestSession(fabric: FabricIndex, peer: NodeID) -> SessionID? {
    secured.row.lazy.filter {
      $0.info.kind == .case && $0.info.fabric == fabric && $0.info.peerNodeID == peer && !$0.isExpiring
    }.max { ($0.info.lastHeard, $0.info.id) < ($1.info.lastHeard, $1.info.id) }?.info.id
  }

  /// Assigns a PASE session to the fabric that was added over it.
  public mutating func setFabric(_ index: FabricIndex, of session: SessionID) {
    guard !session.isUnsecured else { return }
    secured[UInt16(session.rawValue)]?.info.fabric = index
  }

  // MARK: Redirecting

  /// Sets the peer address of a session. Transmissions and retransmissions go there until a message of the peer arrives
  /// from another address.
  public mutating func redirect(_ session: SessionID, to address: SocketAddress) {
    guard !session.isUnsecured else { return }
    secured[UInt16(session.rawValue)]?.info.peerAddress = address
  }

  // MARK: Closing

  /// Closes a session, if it exists.
  /// - Parameter notifyingPeer: Whether to send CloseSession, which is not acknowledged. Matter Core § 4.10.1.7.
  public mutating func close(_ session: SessionID, notifyingPeer: Bool, at now: Instant) {
    guard !session.isUnsecured, secured[UInt16(session.rawValue)] != nil else { return }
    if notifyingPeer, let exchange = openExchange(on: session, at: now) {
      send(
        SecureChannelOpcode.statusReport, protocolID: .secureChannel,
        payload: StatusReport(.success, .closeSession).encoded, on: exchange, isReliable: false, then: .close, at: now)
    }
    removeSession(session, .byUs)
  }

  /// Closes the sessions of a fabric; a session with open exchanges closes when those end.
  public mutating func closeSessions(
    of fabric: FabricIndex, except kept: SessionID? = nil, reason: SessionCloseReason = .byUs, at now: Instant
  ) {
    for session in secured.row.map(\.info).sorted(by: { $0.id < $1.id })
    where session.fabric == fabric && session.id != kept {
      if exchanges.keys.contains(where: { $0.session == session.id && exchanges[$0]?.isClosing == false }) {
        secured[UInt16(session.id.rawValue)]?.isExpiring = true
      } else {
        removeSession(session.id, reason)
      }
    }
  }

  mutating func removeSession(_ id: SessionID, _ reason: SessionCloseReason) {
    guard let session = secured.remove(UInt16(id.rawValue)) else { return }
    failExchanges(on: id)
    emit(.sessionClosed(id, session.info, reason))
  }

  func exchangeIDs(on session: SessionID) -> [ExchangeID] { exchanges.keys.filter { $0.session == session }.sorted() }

  private mutating func failExchanges(on session: SessionID) {
    for id in exchangeIDs(on: session) {
      guard let exchange = exchanges.removeValue(forKey: id), !exchange.isClosing else { continue }
      emit(.exchangeFailed(id, .sessionClosed))
    }
  }

  // MARK: Opening

  /// Returns a local session id that is unused by sessions and handshakes, or nil if all are in use.
  mutating func reserveSessionNumber() -> UInt16? {
    for _ in 0..<0xFFFF {
      nextSessionNumber = nextSessionNumber == .max ? 1 : nextSessionNumber + 1
      let number = nextSessionNumber
      if secured.position(of: number) == nil && !handshakes.values.contains(where: { $0.sessionNumber == number }) {
        return number
      }
    }
    return nil
  }

  /// Adds the session of a finished handshake, evicting another one if the table is full.
  mutating func addSession(
    _ keys: EstablishedKeys, number: UInt16, kind: SessionKind, isInitiator: Bool, peer: SocketAddress, at now: Instant
  ) throws(CryptoError) -> SessionID {
    if secured.count >= configuration.maximumSessions { evictSession() }
    let id = SessionID(local: number)
    let info = SessionInfo(
      id: id, kind: kind, isInitiator: isInitiator, fabric: keys.fabric,
      localNodeID: kind == .case ? fabricsByIndex[keys.fabric]?.nodeID ?? .unspecified : .unspecified,
      peerNodeID: keys.peerNodeID, tags: keys.tags, attestationChallenge: keys.attestationChallenge,
      peerAddress: peer, parameters: keys.parameters, establishedAt: now, lastHeard: now, lastUsed: now)
    secured[number] = try SecureSession(info: info, keys: keys, counter: Self.initialCounter(&random))
    if let record = keys.resumption {
      resumption.removeAll { $0.fabric == record.fabric && $0.peer == record.peer }
      if resumption.count >= configuration.maximumResumptionRecords { resumption.removeFirst() }
      resumption.append(record)
      emit(.resumptionChanged(record))
    }
    return id
  }

  /// Evicts the least recently used session, preferring one without exchanges.
  ///
  /// Fabrics with at least their share of sessions come first, so that a fabric can't displace others by opening
  /// sessions.
  private mutating func evictSession() {
    let busy = Set(exchanges.keys.map(\.session))
    let counts = Dictionary(grouping: secured.row, by: \.info.fabric).mapValues(\.count)
    let share = max(3, configuration.maximumSessions / max(1, counts.count))
    let isUnfair = !configuration.hooks.hasFairShares
    let order = { (info: SessionInfo) in
      ((counts[info.fabric] ?? 0) >= share || isUnfair ? 0 : 1, busy.contains(info.id) ? 1 : 0, info.lastUsed, info.id)
    }
    let oldest = secured.row.map(\.info).min { order($0) < order($1) }
    if let oldest { removeSession(oldest.id, .evicted) }
  }

  /// Returns the unsecured session of a handshake message, creating one for a new initiator.
  mutating func unsecuredSession(
    for header: MessageHeader, from address: SocketAddress, at now: Instant
  ) -> SessionID? {
    if let source = header.source {
      if let known = inboundContexts[source] { return known }
      return addUnsecured(ephemeralID: source, isInitiator: false, peer: address, parameters: .init(), at: now)
    }
    guard case .node(let destination) = header.destination else { return nil }
    return unsecured.values.first { $0.isInitiator && $0.ephemeralID == destination }?.id
  }

  mutating func addUnsecured(
    ephemeralID: NodeID, isInitiator: Bool, peer: SocketAddress, parameters: SessionParameters, at now: Instant
  ) -> SessionID {
    if unsecured.count >= configuration.maximumUnsecuredSessions {
      if let oldest = oldestUnsecured() {
        for exchange in exchangeIDs(on: oldest.id) {
          exchanges[exchange] = nil
          failHandshake(exchange, .noResources)
        }
        removeUnsecured(oldest.id)
      }
    }
    nextUnsecuredNumber = (nextUnsecuredNumber + 1) & 0x7FFF_FFFF
    let id = SessionID(0x1_0000 + nextUnsecuredNumber)
    unsecured[id] = UnsecuredSession(
      id: id, ephemeralID: ephemeralID, isInitiator: isInitiator, peerAddress: peer, parameters: parameters,
      lastUsed: now)
    if !isInitiator { inboundContexts[ephemeralID] = id }
    return id
  }

  /// Returns the least recently used context, preferring one without a handshake. This runs for each message of a
  /// flood, so it is a plain loop.
  private func oldestUnsecured() -> UnsecuredSession? {
    var oldest: UnsecuredSession?
    for context in unsecured.values {
      guard let other = oldest else {
        oldest = context
        continue
      }
      let isOlder = (context.lastUsed, context.id) < (other.lastUsed, other.id)
      if context.hasHandshake == other.hasHandshake ? isOlder : other.hasHandshake { oldest = context }
    }
    return oldest
  }

  mutating func removeUnsecured(_ id: SessionID) {
    guard let context = unsecured.removeValue(forKey: id) else { return }
    if !context.isInitiator { inboundContexts[context.ephemeralID] = nil }
  }
}
