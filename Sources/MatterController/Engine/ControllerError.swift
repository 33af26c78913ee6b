public import MatterCertificates
public import MatterClusters
public import MatterModel
public import MatterProtocol

/// Why an operation of a controller did not succeed.
public indirect enum ControllerError: Error, Hashable, Sendable {
  /// The fabric has no such node.
  case unknownNode(NodeID)
  /// No device that fits can be found on the network.
  case notFound
  /// The device does not answer, at no address that is known.
  case unreachable
  /// No secure session came about.
  case handshake(HandshakeError)
  /// The device has another passcode.
  case wrongPasscode
  /// The session ended while the request was under way; it may or may not have been carried out.
  case connectionLost
  /// The operation took longer than it was allowed to.
  case timedOut
  /// The device acknowledged the request, but did not answer in time.
  case noResponse
  /// The device, or the controller itself, has too much to do.
  case busy
  case cancelled
  /// The device refused, with this status.
  case status(Status)
  /// A message of the device's makes no sense, or the request fits into no message.
  case interaction(InteractionError)
  /// What the device answers lacks something, or contradicts itself.
  case unexpectedResponse(String)
  /// A command of the General Commissioning cluster was answered with an error.
  case commissioning(GeneralCommissioning.CommissioningError, String)
  /// A command of the Operational Credentials cluster was answered with an error.
  case operationalCredentials(OperationalCredentials.NodeOperationalCertStatus, String)
  /// The device cannot prove what it is.
  case attestation(Attestation)
  /// The device is not the product that its code is for.
  case otherProduct(expected: CommissioningRequest.Product, found: CommissioningRequest.Product)
  /// A certificate could not be read or issued.
  case certificate(String)
  /// A value in the request is out of range; says which.
  case invalidRequest(String)
  /// Commissioning did not get beyond this step, for this reason.
  case commissioningFailed(CommissioningStep, ControllerError)

  /// Why a device's attestation is not accepted, in a form that can be compared and printed.
  public struct Attestation: Hashable, Sendable, CustomStringConvertible {
    /// The name of the check: `noTrustedRoot`, `signature(dac)`, …
    public let description: String
    /// The same in words for people: which certificate, which rule.
    public let explanation: String
    /// Whether nothing is wrong but that it depends on public test keys.
    public var isForTests: Bool { description == "\(AttestationError.testKeys)" }

    /// What the check of the certificates and the declaration says.
    public init(_ error: AttestationError) { (description, explanation) = ("\(error)", error.explanation) }
    init(_ check: String, _ explanation: String) { (description, self.explanation) = (check, explanation) }
    init(_ check: String) { (description, explanation) = (check, "the \(check) is wrong") }
  }

  /// Whether it is for the network's or the device's momentary state, and not for what was asked.
  var isTransport: Bool {
    switch self {
    case .unreachable, .handshake, .connectionLost, .noResponse, .timedOut, .busy, .notFound: true
    default: false
    }
  }
}

extension ControllerError {
  /// Whether the device has no root certificate in common with the fabric: it has forgotten it. Matter Core § 4.14.2.
  var isForgotten: Bool {
    guard case .handshake(.refused(let report)) = self else { return false }
    return report.code == .noSharedTrustRoots
  }
}

/// What a node that was removed from the fabric knows of that.
public enum Removal: String, Hashable, Sendable {
  /// It removed the fabric.
  case told
  /// It did not know the fabric any more.
  case notMember
  /// It could not be told: it may still have the fabric.
  case notTold
}
