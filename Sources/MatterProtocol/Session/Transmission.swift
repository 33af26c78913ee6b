/// An encoded message, encrypted if its session is secured.
struct Transmission: Sendable {
  let counter: UInt32
  /// The datagram.
  let bytes: [UInt8]
  let peer: PeerState
}

/// The reason why a message could not be encoded.
enum TransmissionError: Error {
  case unknownSession
  /// The counters of a secured session never wrap, so it must be closed. Matter Core § 4.6.5.1.
  case countersExhausted
  case encryptionFailed
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
