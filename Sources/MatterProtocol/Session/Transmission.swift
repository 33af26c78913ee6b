/// An encoded message, encrypted if its session is secured.
struct Transmission: Sendable {
  let counter: UInt32
  /// The datagram.
  let bytes: [UInt8]
  let peer: PeerState
}

/// The address and the timing of a session's peer at a point in time.
struct PeerState: Hashable, Sendable {
  let address: SocketAddress
  let parameters: SessionParameters
  /// Whether the peer is within its active threshold, so that the active interval applies.
  let isActive: Bool

  /// The interval for retransmissions.
  var interval: Duration { isActive ? parameters.activeInterval : parameters.idleInterval }
}
