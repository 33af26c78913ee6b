import MatterCrypto
public import MatterModel

extension NodeCore {
  // MARK: Finding

  /// Returns the properties of a secured session, or nil if there is none with this id.
  public func session(_ id: SessionID) -> SessionInfo? { secured.info(of: id) }

  /// Returns the address of a secured session's peer.
  public func peerAddress(of id: SessionID) -> SocketAddress? { secured.peerAddress(of: id) }

  /// Returns the node at the other end of a secured session.
  package func peerNodeID(of id: SessionID) -> NodeID? { secured.peerNodeID(of: id) }

  /// All secured sessions, sorted by id.
  public var sessions: [SessionInfo] { secured.infos }

  /// The number of secured sessions.
  public var sessionCount: Int { secured.count }

  /// Returns the CASE sessions with a node on any fabric, sorted by id.
  public func sessions(with peer: NodeID) -> [SessionID] { secured.sessions(with: peer) }

  /// Whether a session only remains until its open exchanges end, because its fabric was removed or its certificates
  /// replaced. The owner must reject new requests on it, because its fabric index may already belong to another fabric.
  public func isExpiring(_ id: SessionID) -> Bool { secured.isExpiring(id) }

  /// Returns the CASE session with a node that received a message most recently.
  public func newestSession(fabric: FabricIndex, peer: NodeID) -> SessionID? {
    secured.newest(fabric: fabric, peer: peer)
  }

  /// Assigns a PASE session to the fabric that was added over it.
  public mutating func setFabric(_ index: FabricIndex, of session: SessionID) { secured.setFabric(index, of: session) }

  // MARK: Redirecting

  /// Sets the peer address of a session. Transmissions and retransmissions go there until a message of the peer arrives
  /// from another address.
  public mutating func redirect(_ session: SessionID, to address: SocketAddress) {
    secured.redirect(session, to: address)
  }

  // MARK: Closing

  /// Closes a session, if it exists.
  /// - Parameter notifyingPeer: Whether to send CloseSession, which is not acknowledged. Matter Core § 4.10.1.7.
  public mutating func close(_ session: SessionID, notifyingPeer: Bool, at now: Instant) {
    guard secured.position(of: session) != nil else { return }
    if notifyingPeer, let exchange = openExchange(on: session, at: now) {
      send(StatusReport(.success, .closeSession), on: exchange, isReliable: false, at: now)
    }
    removeSession(session, .byUs)
  }

  /// Closes the sessions of a fabric; a session with open exchanges closes when those end.
  public mutating func closeSessions(
    of fabric: FabricIndex, except kept: SessionID? = nil, reason: SessionCloseReason = .byUs, at now: Instant
  ) {
    for session in secured.infos where session.fabric == fabric && session.id != kept {
      if exchanges.containsOpen(on: session.id) {
        secured.expire(session.id)
      } else {
        removeSession(session.id, reason)
      }
    }
  }

  mutating func removeSession(_ id: SessionID, _ reason: SessionCloseReason) {
    guard let info = secured.remove(id) else { return }
    for exchange in exchanges.removeAll(on: id) { emit(.exchangeFailed(exchange, .sessionClosed)) }
    emit(.sessionClosed(id, info, reason))
  }

  /// Closes a session whose fabric was removed when its last exchange has ended.
  mutating func closeIfExpired(_ id: SessionID) {
    if secured.isExpiring(id), !exchanges.contains(on: id) { removeSession(id, .fabricRemoved) }
  }

  // MARK: Opening

  /// Adds the session of a finished handshake, evicting another one if the table is full.
  mutating func addSession(
    _ keys: EstablishedKeys, of handshake: Handshake, peer: SocketAddress, at now: Instant
  ) throws(CryptoError) -> SessionID {
    if secured.isFull {
      let candidate = secured.evictionCandidate(
        busy: exchanges.sessions, hasFairShares: configuration.hooks.hasFairShares)
      if let candidate { removeSession(candidate, .evicted) }
    }
    let kind = handshake.sessionKind
    let localNodeID = kind == .case ? fabricsByIndex[keys.fabric]?.nodeID : nil
    let id = try secured.add(
      keys, number: handshake.sessionNumber, kind: kind, isInitiator: handshake.id != nil,
      localNodeID: localNodeID ?? .unspecified, peer: peer, counter: random.initialMessageCounter(), at: now)
    if let record = keys.resumption {
      resumption.store(record)
      emit(.resumptionChanged(record))
    }
    return id
  }

  /// Adds an unsecured session, and fails the handshakes of the one that was evicted for it.
  mutating func addUnsecured(
    ephemeralID: NodeID, isInitiator: Bool, peer: SocketAddress, parameters: SessionParameters, at now: Instant
  ) -> SessionID {
    let (id, evicted) = unsecured.add(
      ephemeralID: ephemeralID, isInitiator: isInitiator, peer: peer, parameters: parameters, at: now)
    if let evicted {
      for exchange in exchanges.ids(on: evicted) { abandonHandshake(exchange, .noResources) }
    }
    return id
  }
}
