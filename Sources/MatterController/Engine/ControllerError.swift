public import MatterCertificates
public import MatterClusters
public import MatterModel
public import MatterProtocol

/// An error of a controller's operation.
public indirect enum ControllerError: Error, Hashable, Sendable {
  /// The fabric has no such node.
  case unknownNode(NodeID)
  /// No matching device was found on the network.
  case notFound
  /// The device does not answer at any known address.
  case unreachable
  /// The handshake of a session failed.
  case handshake(HandshakeError)
  /// The device has another passcode.
  case wrongPasscode
  /// The session ended before the answer; the request may or may not have been carried out.
  case connectionLost
  /// The device did not acknowledge the request on an open session; the request may or may not have been carried out.
  case unacknowledged
  /// The operation's timeout passed.
  case timedOut
  /// The timeout passed while the node was asleep. It is active again within `longest`.
  case asleep(longest: Duration)
  /// The device acknowledged the request, but did not answer in time.
  case noResponse
  /// The device, or the controller itself, is busy.
  case busy
  case canceled
  /// The device refused the request with this status.
  case status(Status)
  /// A message of the device is malformed or unexpected, or a value to write is malformed.
  case interaction(InteractionError)
  /// The answer lacks a value or contradicts itself.
  case unexpectedResponse(String)
  /// A command of General Commissioning returned an error.
  case commissioning(GeneralCommissioning.CommissioningError, String)
  /// A command of Operational Credentials returned an error.
  case operationalCredentials(OperationalCredentials.NodeOperationalCertStatus, String)
  /// Attestation of the device failed.
  case attestation(Attestation)
  /// The device is not the product in its setup code.
  case otherProduct(expected: CommissioningRequest.Product, found: CommissioningRequest.Product)
  /// A certificate could not be read or issued.
  case certificate(String)
  /// A value in the request is out of range or too long; the text names it.
  case invalidRequest(String)
  /// Commissioning failed in this step.
  case commissioningFailed(CommissioningStep, ControllerError)

  /// An attestation failure that can be compared and printed.
  public struct Attestation: Hashable, Sendable, Codable, CustomStringConvertible {
    /// The name of the failed check: `noTrustedRoot`, `signature(dac)`, …
    public let description: String
    /// A description for users: which certificate, which rule.
    public let explanation: String
    /// Whether the only problem is that the chain ends in public test keys.
    public var isForTests: Bool { description == "\(AttestationError.testKeys)" }

    /// Creates a failure from an error of the verifier.
    public init(_ error: AttestationError) { (description, explanation) = ("\(error)", error.explanation) }
    init(_ check: String, _ explanation: String) { (description, self.explanation) = (check, explanation) }
    init(_ check: String) { (description, explanation) = (check, "the \(check) is invalid") }
  }

  init(_ error: InteractionError) {
    if case .status(let status) = error { self = .status(status) } else { self = .interaction(error) }
  }

  /// Whether the error is due to the state of the network or the device, not to the request.
  var isTransport: Bool {
    switch self {
    case .unreachable, .handshake, .connectionLost, .unacknowledged, .noResponse, .timedOut, .asleep, .busy, .notFound:
      true
    default: false
    }
  }
}

extension ControllerError {
  /// Whether the device has no root certificate of the fabric, as after it removed the fabric. Matter Core § 4.14.2.
  var isForgotten: Bool {
    guard case .handshake(.refused(let report)) = self else { return false }
    return report.code == .noSharedTrustRoots
  }
}

/// State of the fabric on a node that was removed from the controller.
public enum Removal: String, Hashable, Sendable, Codable {
  /// The node removed the fabric.
  case confirmed = "told"
  /// The node was not a member of the fabric.
  case notMember
  /// The node could not be reached and may still have the fabric.
  case unconfirmed = "notTold"
}
